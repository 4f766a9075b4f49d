/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes what libcordon makes of an answer: every accessor gives something usable, or the
 * answer is an error.
 */
#include "fuzz.h"
#include "lib/lib.h"

static void check_violations(const struct cordon_result *r)
{
	const struct cordon_violation *v;

	for (size_t i = 0; (v = cordon_result_violation(r, i)); i++)
		CHECK(v->op && v->object && v->source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cordon_error err = { 0 };
	struct cordon_result *r = NULL;
	size_t i;

	if (lib_read_result((struct str){ (const char *)data, size }, &r, &err) < 0) {
		CHECK(!r && err.code > 0 && err.code < CORDON_CODE_COUNT);
		return 0;
	}
	CHECK(cordon_result_cause(r) < CORDON_CAUSE_COUNT);
	CHECK(cordon_result_status(r) < 1 << 30);
	CHECK(cordon_result_backend(r) && cordon_result_profile(r) && cordon_result_json(r));
	check_violations(r);
	for (i = 0; cordon_result_enforced(r, i); i++)
		;
	for (i = 0; cordon_result_degraded(r, i); i++)
		;
	for (i = 0; cordon_result_host(r, i); i++)
		CHECK(cordon_result_host(r, i)->host);
	for (i = 0; cordon_result_change(r, i); i++)
		CHECK(cordon_result_change(r, i)->path);
	cordon_result_free(r);
	return 0;
}
