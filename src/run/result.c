/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the causes and the exit status contract. */
#include "run/result.h"

#define RUN_STATUS_OWN (-1)
#define RUN_STATUS_ERROR (-2)

static const struct cause_row {
	const char *name;
	int status;
	const char *meaning;
} cause_rows[RUN_CAUSE_COUNT] = {
#define RUN_CAUSE(n, st, mean) [RUN_CAUSE_##n] = { #n, st, mean },
#include <cordon/causes.def>
#undef RUN_CAUSE
};

void run_result_free(struct run_result *r)
{
	buf_free(&r->out.text);
	buf_free(&r->err.text);
	buf_free(&r->shown);
}

void run_result_add_quarantined(struct run_result *r, struct arena *a, struct str object,
				struct run_quarantined one)
{
	const char *kept = one.kept;

	if (r->n_quarantined < RUN_QUARANTINED_MAX) {
		one.object = arena_dup(a, object);
		one.kept = kept ? arena_dup(a, str_of(kept)) : NULL;
	}
	if (one.object && (one.kept || !kept)) {
		r->quarantined[r->n_quarantined++] = one;
	} else {
		r->more_quarantined++;
		r->more_left += !one.restorable;
	}
}

const char *run_cause_to_string(enum run_cause cause)
{
	return cause_rows[cause].name;
}

const char *run_cause_meaning(enum run_cause cause)
{
	return cause_rows[cause].meaning;
}

int run_result_status(const struct run_result *r)
{
	int status = cause_rows[r->cause].status;

	if (status == RUN_STATUS_ERROR)
		return cordon_code_exit_status(r->error.code);
	if (status == RUN_STATUS_OWN)
		return r->signal ? 128 + r->signal : r->exit_code;
	return status;
}
