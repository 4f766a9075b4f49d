/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command followed from a program's own poll loop: follow COMMAND
 *
 * Standard output and error appear as they come, refusals as they happen; a line on
 * standard input cancels the run, as a person would press a button. Build:
 *	cc follow.c $(pkg-config --cflags --libs libcordon)
 */
#include <cordon/cordon.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

static void on_output(void *data, const char *bytes, size_t n)
{
	fwrite(bytes, 1, n, data);
	fflush(data);
}

static void on_violation(void *data, const struct cordon_violation *v)
{
	fprintf(data, "refused: %s %s\n", v->op, v->object);
}

static void on_remark(void *data, const char *text)
{
	fprintf(data, "cordon: %s\n", text);
}

/* 0: the run has ended; negative: there is no result. */
static int follow(struct cordon_run *run, struct cordon_error *err)
{
	struct pollfd fds[] = { { .fd = cordon_run_fd(run), .events = POLLIN },
				{ .fd = STDIN_FILENO, .events = POLLIN } };
	int going = 1;
	char line[256];

	while (going > 0) {
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents) {
			if (read(STDIN_FILENO, line, sizeof(line)) > 0)
				cordon_run_cancel(run, err);
			else
				fds[1].fd = -1; /* nobody is there to press it */
		}
		going = cordon_run_step(run, err);
	}
	return going;
}

int main(int argc, char **argv)
{
	struct cordon_policy *policy;
	struct cordon_request request = {
		.size = sizeof(request),
		.shell = argv[1],
		.on_stdout = on_output,
		.on_violation_seen = on_violation,
		.on_remark = on_remark,
		.data = stdout,
	};
	struct cordon_run *run;
	struct cordon_error err;
	int status = 125;

	if (argc != 2) {
		fprintf(stderr, "usage: follow COMMAND\n");
		return 2;
	}
	policy = cordon_policy_new("moderate");
	if (cordon_run_start(policy, &request, &run, &err) < 0) {
		fprintf(stderr, "%s: %s; %s\n", err.stage, err.message, err.hint);
		return status;
	}
	if (follow(run, &err) < 0)
		fprintf(stderr, "%s: %s\n", err.stage, err.message);
	else
		status = cordon_result_status(cordon_run_result(run));
	cordon_run_free(run);
	cordon_policy_free(policy);
	return status;
}
