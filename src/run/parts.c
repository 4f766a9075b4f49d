/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a run: their begin and end, and who gets what the sandbox hands over. */
#include "run/state.h"

#include <poll.h>

#include "base/fd.h"

static struct run_part *part_for(const struct run *run, enum handover_kind kind)
{
	for (size_t i = 0; i < run->request->n_parts; i++)
		if (run->request->parts[i]->takes & 1u << kind)
			return run->request->parts[i];
	return NULL;
}

static unsigned all_wanted(const struct run *run)
{
	unsigned kinds = 0;

	for (size_t i = 0; i < run->request->n_parts; i++)
		kinds |= run->request->parts[i]->takes;
	return kinds;
}

static int give(struct run *run, enum handover_kind kind, int fd, struct cordon_error *err)
{
	struct run_part *part = part_for(run, kind);

	if (!part || run->handed_over & 1u << kind) {
		fd_close(&fd);
		return err_set(err, CORDON_E_INIT, 0, "hand-over",
			       "the sandbox handed over a %s that nobody asked for",
			       handover_kind_to_string(kind));
	}
	run->handed_over |= 1u << kind;
	return part->took(part, kind, fd, err);
}

int run_parts_complete(const struct run *run, struct cordon_error *err)
{
	unsigned missing = all_wanted(run) & ~run->handed_over;

	for (unsigned kind = 0; kind < HANDOVER_KIND_COUNT; kind++)
		if (missing & 1u << kind)
			return err_set(err, CORDON_E_INIT, 0, "hand-over",
				       "the sandbox did not hand over the %s",
				       handover_kind_to_string(kind));
	return 0;
}

static int let_begin(struct run *run, struct cordon_error *err)
{
	int failed = run_parts_complete(run, err);

	return failed ? failed : handover_agree(run->handover_watch.fd, err);
}

static void close_handover(struct run *run)
{
	loop_unwatch(run->loop, &run->handover_watch);
	fd_close(&run->handover_watch.fd);
}

/* One message. Closing our end is the refusal: the inside then reports and exits. */
static void handover_ready(void *data, uint32_t events)
{
	struct run *run = data;
	struct cordon_error why;
	int fd = -1, kind = handover_take(run->handover_watch.fd, &fd, &why);
	int failed = kind < 0 ? kind : 0;

	(void)events;
	if (kind == HANDOVER_NOTHING)
		return;
	if (kind >= 0 && kind < HANDOVER_KIND_COUNT)
		failed = give(run, (enum handover_kind)kind, fd, &why);
	else if (kind == HANDOVER_END)
		failed = let_begin(run, &why);
	/* What is being ended breaks off wherever it is. */
	if (failed && !run->failed && !run->cause_set) {
		run->failed = true;
		run->result.error = why;
	}
	if (failed || kind == HANDOVER_END || kind == HANDOVER_GONE)
		close_handover(run);
}

int run_begin_parts(struct run *run, struct cordon_error *err)
{
	const struct run_request *q = run->request;
	int failed = 0;

	run->handover_watch.ready = handover_ready;
	run->handover_watch.data = run;
	if (run->handover_watch.fd >= 0)
		failed = loop_watch(run->loop, &run->handover_watch, POLLIN, err);
	while (!failed && run->n_begun < q->n_parts) {
		struct run_part *part = q->parts[run->n_begun++];

		if (part->begin)
			failed = part->begin(part, run, err);
	}
	return failed;
}

bool run_parts_have_more(const struct run *run)
{
	bool more = false;

	for (size_t i = 0; i < run->n_begun; i++) {
		struct run_part *part = run->request->parts[i];

		more |= part->has_more && part->has_more(part);
	}
	return more;
}

void run_end_parts(struct run *run)
{
	while (run->n_begun > 0) {
		struct run_part *part = run->request->parts[--run->n_begun];

		if (part->end)
			part->end(part, &run->result);
	}
	close_handover(run);
}
