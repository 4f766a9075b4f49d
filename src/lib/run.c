/* SPDX-License-Identifier: Apache-2.0 */
/* One run: what is asked for, what comes back, and its end. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fd.h"
#include "base/num.h"
#include "fmt/json.h"
#include "lib/link.h"

#define stage "run"
/* Kept of each stream; more is said to be missing. */
#define OUTPUT_MAX ((size_t)16 << 20)
#define VIOLATION_MAX ((size_t)1 << 20)
/* A step that never ended would keep the caller's loop from everything else. */
#define READS_A_STEP 16

struct cordon_run {
	struct link link;
	struct cordon_request request; /* pointers to the caller's texts are not used again */
	struct buf out, err;
	bool truncated;
	struct buf answer; /* max 0: none yet */
	struct cordon_result *result;
	struct cordon_error error; /* of a run without a result */
};

static const char *const on_violation_words[] = { "report", "fail", "kill" };

static int check_request(const struct cordon_request *q, struct cordon_error *err)
{
	bool has_argv = q->argv && q->argv[0];

	if (q->size != sizeof(*q))
		return err_set(err, CORDON_E_USAGE, 0, stage,
			       "the size of the request is not that of this library");
	if (has_argv == (q->shell != NULL))
		return err_set(err, CORDON_E_USAGE, 0, stage,
			       "either argv or shell says what to run");
	if ((unsigned)q->on_violation > CORDON_VIOLATION_kill)
		return err_set(err, CORDON_E_USAGE, 0, stage, "on_violation is out of range");
	return 0;
}

static void add_timeout(struct buf *words, uint64_t ms)
{
	buf_adds(words, "--timeout=");
	num_print_duration(words, ms);
	buf_addc(words, '\0');
}

static void add_command(struct buf *words, const struct cordon_request *q)
{
	lib_add_word(words, "--");
	if (q->shell) {
		lib_add_word(words, "sh");
		lib_add_word(words, "-c");
		lib_add_word(words, q->shell);
	}
	for (const char *const *arg = q->shell ? NULL : q->argv; arg && *arg; arg++)
		lib_add_word(words, *arg);
}

static int request_words(const struct cordon_policy *policy, const struct cordon_request *q,
			 struct buf *words, struct cordon_error *err)
{
	int failed = check_request(q, err);

	if (!failed)
		failed = lib_begin_words(words, policy, "run", q->workdir, err);
	if (failed)
		return failed;
	if (q->timeout_ms)
		add_timeout(words, q->timeout_ms);
	if (q->on_violation) {
		lib_add_word(words, "--on-violation");
		lib_add_word(words, on_violation_words[q->on_violation]);
	}
	if (q->changes)
		lib_add_word(words, "--changes");
	if (!q->on_remark)
		lib_add_word(words, "--quiet");
	add_command(words, q);
	return 0;
}

int cordon_run_start(const struct cordon_policy *policy, const struct cordon_request *request,
		     struct cordon_run **ret_run, struct cordon_error *err)
{
	autobuf struct buf words = lib_words();
	struct cordon_run *run;
	int failed;

	err = LIB_ERR(err);
	failed = request_words(policy, request, &words, err);
	if (failed)
		return failed;
	run = calloc(1, sizeof(*run));
	if (!run)
		return err_nomem(err, stage);
	run->request = *request;
	buf_init(&run->out, OUTPUT_MAX);
	buf_init(&run->err, OUTPUT_MAX);
	failed = link_open(policy, &words, request->stdin_fd, &run->link, err);
	if (failed)
		cordon_run_free(run);
	else
		*ret_run = run;
	return failed;
}

int cordon_run_fd(const struct cordon_run *run)
{
	return run->link.both;
}

/* --- what comes back ------------------------------------------------------------------ */

static void keep(struct cordon_run *run, struct buf *b, struct str text)
{
	struct str kept = str_take(text, b->max - b->n);

	buf_add(b, kept);
	if (kept.n < text.n || b->failed)
		run->truncated = true;
}

static void take_violation(const struct cordon_run *run, struct str text)
{
	struct lib_reader reader = { .arena.max = 4 * VIOLATION_MAX };
	struct cordon_violation v;
	struct cordon_error ignored;
	json_t *row;

	/* It comes again, with all others, in the answer. */
	if (!run->request.on_violation_seen ||
	    json_read(text, "violation", VIOLATION_MAX, &row, &ignored) < 0)
		return;
	lib_read_violation(&reader, row, &v);
	json_decref(row);
	if (!reader.failed)
		run->request.on_violation_seen(run->request.data, &v);
	arena_free(&reader.arena);
}

static void take_remark(const struct cordon_run *run, struct str text)
{
	autobuf struct buf line = buf_make(text.n);

	buf_add(&line, text);
	if (run->request.on_remark && !line.failed)
		run->request.on_remark(run->request.data, line.p);
}

static int take_answer(struct cordon_run *run, struct str text, struct cordon_error *err)
{
	if (run->answer.max)
		return err_set(err, CORDON_E_BUG, 0, stage, "a second answer");
	buf_init(&run->answer, text.n + 1);
	buf_add(&run->answer, text);
	return run->answer.failed ? err_nomem(err, stage) : 0;
}

static int take(struct cordon_run *run, const struct frame *frame, struct cordon_error *err)
{
	const struct cordon_request *q = &run->request;

	switch (frame->kind) {
	case FRAME_out:
		if (q->on_stdout)
			q->on_stdout(q->data, frame->body.p, frame->body.n);
		else
			keep(run, &run->out, frame->body);
		return 0;
	case FRAME_err:
		if (q->on_stderr)
			q->on_stderr(q->data, frame->body.p, frame->body.n);
		else
			keep(run, &run->err, frame->body);
		return 0;
	case FRAME_violation:
		take_violation(run, frame->body);
		return 0;
	case FRAME_remark:
		take_remark(run, frame->body);
		return 0;
	case FRAME_answer:
		return take_answer(run, frame->body, err);
	case FRAME_request:
	case FRAME_cancel:
	case FRAME_hello:
		break;
	}
	return err_set(err, CORDON_E_BUG, 0, stage, "a message that does not belong here");
}

static int take_all(struct cordon_run *run, struct cordon_error *err)
{
	struct frame frame;
	int found;

	while ((found = link_find(&run->link, &frame, err)) > 0) {
		found = take(run, &frame, err);
		if (found < 0)
			break;
	}
	return found;
}

/* The supervisor is gone, and with it everything it watched over. */
static int conclude(struct cordon_run *run, struct cordon_error *err)
{
	int failed = lib_read_result(buf_str(&run->answer), &run->result, err);

	if (failed)
		return failed;
	lib_set_output(run->result, &run->out, &run->err, run->truncated);
	return 0;
}

static int step(struct cordon_run *run, struct cordon_error *err)
{
	struct cordon_error ended;

	for (int i = 0; i < READS_A_STEP; i++) {
		int got = link_receive(&run->link, &ended);
		int failed = got > 0 ? take_all(run, err) : 0;

		if (failed < 0)
			return failed;
		if (got == 0)
			return 1;
		if (got < 0 && run->answer.max)
			return conclude(run, err);
		if (got < 0) {
			*err = ended;
			return got;
		}
	}
	return 1;
}

int cordon_run_step(struct cordon_run *run, struct cordon_error *err)
{
	int r;

	err = LIB_ERR(err);
	if (run->result)
		return 0;
	if (run->error.code) {
		*err = run->error;
		return -err->code;
	}
	r = step(run, err);
	if (r < 0) {
		run->error = *err;
		/* Whatever it is, it ends with nobody to talk to. */
		fd_close(&run->link.socket);
	}
	return r;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int cordon_run_wait(struct cordon_run *run, int timeout_ms, struct cordon_error *err)
{
	int64_t end = now_ms() + timeout_ms;
	int r;

	err = LIB_ERR(err);
	while ((r = cordon_run_step(run, err)) > 0) {
		int64_t left = timeout_ms < 0 ? -1 : end - now_ms();

		if (timeout_ms >= 0 && left <= 0)
			break;
		link_wait(&run->link, (int)left);
	}
	return r;
}

int cordon_run_cancel(struct cordon_run *run, struct cordon_error *err)
{
	err = LIB_ERR(err);
	return run->result || run->error.code ? 0 : link_cancel(&run->link, err);
}

const struct cordon_result *cordon_run_result(const struct cordon_run *run)
{
	return run->result;
}

void cordon_run_free(struct cordon_run *run)
{
	if (!run)
		return;
	link_close(&run->link);
	buf_free(&run->out);
	buf_free(&run->err);
	buf_free(&run->answer);
	cordon_result_free(run->result);
	free(run);
}

/* --- and waiting ---------------------------------------------------------------------- */

/* The first refusal, named; what was only inferred is said to be. */
static int blocked(const struct cordon_result *result, struct cordon_error *err)
{
	const struct cordon_violation *v = cordon_result_violation(result, 0);

	for (size_t i = 0; v && strcmp(v->source, "inferred") == 0;)
		v = cordon_result_violation(result, ++i);
	if (!v)
		v = cordon_result_violation(result, 0);
	err_set(err, CORDON_E_BLOCKED, 0, stage, "%s %s was%s refused%s%s", v->op, v->object,
		strcmp(v->source, "inferred") == 0 ? " seemingly" : "", v->rule ? ": " : "",
		v->rule ? v->rule : "");
	return v->fix ? err_hint(err, "%s", v->fix) : -err->code;
}

/* What the end of a run is to a caller who waits for success. */
static int verdict(const struct cordon_result *result, struct cordon_error *err)
{
	enum cordon_cause cause = cordon_result_cause(result);
	uint64_t ms = cordon_result_duration_ms(result);

	if (cordon_result_error(result)) {
		*err = *cordon_result_error(result);
		return -err->code;
	}
	if (cause == CORDON_CAUSE_timeout)
		return err_set(err, CORDON_E_TIMEOUT, 0, stage,
			       "the time was up after %llu.%03llu seconds",
			       (unsigned long long)ms / 1000, (unsigned long long)ms % 1000);
	if (cordon_result_exit_code(result) != 0 && cordon_result_violation(result, 0))
		return blocked(result, err);
	if (cause == CORDON_CAUSE_policy && cordon_result_violation(result, 0))
		return blocked(result, err);
	if (cause == CORDON_CAUSE_exited || cause == CORDON_CAUSE_signal)
		return 0;
	return err_set(err, CORDON_E_EXEC, 0, stage, "the command was ended by its limit: %s",
		       cordon_cause_to_string(cause));
}

static int execute(const struct cordon_policy *policy, const struct cordon_request *request,
		   struct cordon_result **ret, struct cordon_error *err)
{
	struct cordon_run *run;
	int failed;

	err = LIB_ERR(err);
	*ret = NULL;
	failed = cordon_run_start(policy, request, &run, err);
	if (failed)
		return failed;
	failed = cordon_run_wait(run, -1, err);
	if (!failed) {
		*ret = run->result;
		run->result = NULL;
		failed = verdict(*ret, err);
	}
	cordon_run_free(run);
	return failed;
}

int cordon_execute(const struct cordon_policy *policy, const char *const *argv,
		   const char *workdir, uint64_t timeout_ms, struct cordon_result **ret_result,
		   struct cordon_error *err)
{
	const struct cordon_request request = {
		.size = sizeof(request),
		.argv = argv,
		.workdir = workdir,
		.timeout_ms = timeout_ms,
	};

	return execute(policy, &request, ret_result, err);
}

int cordon_execute_shell(const struct cordon_policy *policy, const char *text,
			 const char *workdir, uint64_t timeout_ms,
			 struct cordon_result **ret_result, struct cordon_error *err)
{
	const struct cordon_request request = {
		.size = sizeof(request),
		.shell = text,
		.workdir = workdir,
		.timeout_ms = timeout_ms,
	};

	return execute(policy, &request, ret_result, err);
}
