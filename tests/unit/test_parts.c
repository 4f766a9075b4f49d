/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a run: they get what is handed over, and without it nothing is executed. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "run/supervise.h"

extern char **environ;

/* What the child does before it executes. */
struct inside {
	int handover;
	unsigned sends;	 /* HANDOVER_BIT */
	unsigned again;	 /* of these, a second one */
	bool no_finish;	 /* executes without asking */
	struct spawn_request command;
};

/* What a part saw. */
struct seen {
	unsigned begun, ended, took;
	unsigned kinds;
	int refuse_begin, refuse_take;
	bool breaks;
	struct run *run;
	int fd;
};

static int child(void *data, int error_fd)
{
	struct inside *in = data;
	int r = 0;

	fcntl(in->handover, F_SETFD, FD_CLOEXEC);
	for (unsigned kind = 0; r == 0 && kind < HANDOVER_KIND_COUNT; kind++) {
		if (in->sends & 1u << kind)
			r = handover_send(in->handover, kind, 0, error_fd);
		if (r == 0 && in->again & 1u << kind)
			r = handover_send(in->handover, kind, 0, error_fd);
	}
	if (r == 0 && !in->no_finish)
		r = handover_finish(in->handover, error_fd);
	return r < 0 ? r : spawn_child_exec(&in->command, error_fd);
}

static int start(void *data, struct run *run, const struct spawn_request *request,
		 struct spawned *ret, struct cordon_error *err)
{
	struct inside *in = data;
	struct spawn_request own = *request;
	struct spawn_fd fds[8];
	int r;

	(void)run;
	memcpy(fds, request->fds, request->n_fds * sizeof(*fds));
	fds[own.n_fds++] = (struct spawn_fd){ in->handover, 9 };
	own.fds = fds;
	own.child = child;
	own.child_data = in;
	in->command = *request;
	in->handover = 9;
	r = spawn_start(&own, ret, err);
	return r;
}

static int begin(struct run_part *part, struct run *run, struct cordon_error *err)
{
	struct seen *seen = part->data;

	seen->begun++;
	seen->run = run;
	cr_assert_not_null(run_loop(run));
	return seen->refuse_begin ? err_set(err, CORDON_E_INIT, 0, "test", "no") : 0;
}

static int took(struct run_part *part, enum handover_kind kind, int fd, struct cordon_error *err)
{
	struct seen *seen = part->data;

	seen->took++;
	seen->kinds |= 1u << kind;
	cr_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	fd_close(&fd);
	if (seen->breaks) {
		err_set(err, CORDON_E_SYSTEM, 0, "test", "it broke");
		run_break(seen->run, err);
		return 0;
	}
	return seen->refuse_take ? err_set(err, CORDON_E_INIT, 0, "test", "will not") : 0;
}

static void end(struct run_part *part, struct run_result *result)
{
	struct seen *seen = part->data;

	seen->ended++;
	cr_assert_not_null(result);
	cr_assert_eq(waitpid(-1, NULL, WNOHANG), -1, "a process is left");
}

static int run(struct inside *in, struct run_part *parts, size_t n, struct run_result *ret,
	       struct cordon_error *err)
{
	static const char *const argv[] = { "sh", "-c", "echo ran; ls /proc/self/fd | tr '\\n' ' '",
					    NULL };
	struct run_part *list[4];
	struct run_request q = {
		.program = "/bin/sh", .argv = (char *const *)argv, .envp = environ,
		.capture = true, .stdin_null = true, .start = start, .start_data = in,
		.parts = list, .n_parts = n,
	};
	int keep, r;

	for (size_t i = 0; i < n; i++)
		list[i] = &parts[i];
	cr_assert_eq(handover_open(&q.handover_fd, &in->handover, err), 0);
	keep = in->handover;
	r = run_supervise(&q, ret, err);
	close(keep);
	return r;
}

static struct run_part part(unsigned takes, struct seen *seen)
{
	return (struct run_part){ .name = "test", .takes = takes, .begin = begin, .took = took,
				  .end = end, .data = seen };
}

static void assert_not_executed(const struct run_result *r, const char *message)
{
	cr_assert_eq(r->cause, RUN_CAUSE_setup);
	cr_assert_str_eq(r->error.message, message);
	cr_assert_eq(r->out.text.n, 0, "the command was executed");
}

Test(parts, get_what_they_take)
{
	struct inside in = { .sends = HANDOVER_BIT(LISTENER) | HANDOVER_BIT(DNS_UDP) };
	struct seen one = { 0 }, two = { 0 };
	struct run_part parts[] = { part(HANDOVER_BIT(LISTENER), &one),
				    part(HANDOVER_BIT(DNS_UDP), &two) };
	struct cordon_error err;
	struct run_result r;

	cr_assert_eq(run(&in, parts, 2, &r, &err), 0);
	cr_assert_eq(r.cause, RUN_CAUSE_exited, "%s", r.error.message);
	cr_assert_str_eq(r.out.text.p, "ran\n0 1 2 3 ");
	cr_assert_eq(one.kinds, HANDOVER_BIT(LISTENER));
	cr_assert_eq(two.kinds, HANDOVER_BIT(DNS_UDP));
	cr_assert_eq(one.begun + one.took + one.ended, 3);
	cr_assert_eq(two.begun + two.took + two.ended, 3);
	run_result_free(&r);
}

Test(parts, without_a_hand_over_still_begin_and_end)
{
	struct inside in = { 0 };
	struct seen seen = { 0 };
	struct run_part parts[] = { part(0, &seen) };
	struct cordon_error err;
	struct run_result r;

	cr_assert_eq(run(&in, parts, 1, &r, &err), 0);
	cr_assert_eq(r.cause, RUN_CAUSE_exited);
	cr_assert_eq(seen.begun, 1);
	cr_assert_eq(seen.ended, 1);
	run_result_free(&r);
}

Test(parts, are_not_run_without)
{
	struct inside in = { .sends = HANDOVER_BIT(LISTENER) };
	struct seen seen = { 0 };
	struct run_part parts[] = { part(HANDOVER_BIT(LISTENER) | HANDOVER_BIT(TERMINAL), &seen) };
	struct cordon_error err;
	struct run_result r;

	cr_assert_eq(run(&in, parts, 1, &r, &err), 0);
	assert_not_executed(&r, "the sandbox did not hand over the terminal");
	cr_assert_eq(seen.ended, 1);
	run_result_free(&r);
}

Test(parts, may_refuse_what_they_get)
{
	struct inside in = { .sends = HANDOVER_BIT(LISTENER) };
	struct seen seen = { .refuse_take = 1 };
	struct run_part parts[] = { part(HANDOVER_BIT(LISTENER), &seen) };
	struct cordon_error err;
	struct run_result r;

	cr_assert_eq(run(&in, parts, 1, &r, &err), 0);
	assert_not_executed(&r, "will not");
	cr_assert_eq(seen.ended, 1);
	run_result_free(&r);
}

Test(parts, may_refuse_to_begin)
{
	struct inside in = { 0 };
	struct seen first = { 0 }, second = { .refuse_begin = 1 }, third = { 0 };
	struct run_part parts[] = { part(0, &first), part(0, &second), part(0, &third) };
	struct cordon_error err;
	struct run_result r;

	/* What did not ask for anything may have begun by then: so it asks. */
	parts[0].takes = HANDOVER_BIT(LISTENER);
	cr_assert_eq(run(&in, parts, 3, &r, &err), 0);
	assert_not_executed(&r, "no");
	cr_assert_eq(first.ended, 1);
	cr_assert_eq(second.ended, 1);
	cr_assert_eq(third.begun + third.ended, 0);
	run_result_free(&r);
}

Test(parts, get_nothing_twice_and_nothing_unasked)
{
	struct inside twice = { .sends = HANDOVER_BIT(LISTENER), .again = HANDOVER_BIT(LISTENER) };
	struct inside unasked = { .sends = HANDOVER_BIT(TERMINAL) };
	struct seen seen = { 0 };
	struct run_part parts[] = { part(HANDOVER_BIT(LISTENER), &seen) };
	struct cordon_error err;
	struct run_result r;

	cr_assert_eq(run(&twice, parts, 1, &r, &err), 0);
	assert_not_executed(&r, "the sandbox handed over a listener that nobody asked for");
	cr_assert_eq(seen.took, 1);
	run_result_free(&r);
	cr_assert_eq(run(&unasked, parts, 1, &r, &err), 0);
	assert_not_executed(&r, "the sandbox handed over a terminal that nobody asked for");
	run_result_free(&r);
}

Test(parts, break_a_run_that_was_executed_without)
{
	struct inside in = { .no_finish = true };
	struct seen seen = { 0 };
	struct run_part parts[] = { part(HANDOVER_BIT(LISTENER), &seen) };
	struct cordon_error err;
	struct run_result r;

	cr_assert_eq(run(&in, parts, 1, &r, &err), -CORDON_E_INIT);
	cr_assert_str_eq(err.message, "the sandbox did not hand over the listener");
	cr_assert_eq(seen.ended, 1);
}

Test(parts, can_break_the_run)
{
	struct inside in = { .sends = HANDOVER_BIT(LISTENER) };
	struct seen seen = { .breaks = true };
	struct run_part parts[] = { part(HANDOVER_BIT(LISTENER), &seen) };
	struct cordon_error err;
	struct run_result r;

	cr_assert_eq(run(&in, parts, 1, &r, &err), -CORDON_E_SYSTEM);
	cr_assert_str_eq(err.message, "it broke");
	cr_assert_eq(seen.ended, 1);
}
