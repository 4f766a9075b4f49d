/* SPDX-License-Identifier: Apache-2.0 */
/* libcordon, function by function, as linked from libcordon.a. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cordon/cordon.h>

#include "skip.h"

#define CEILING_MS 30000
#define GRACE_MS 1900 /* a little less than is given a command that runs */

/* In the caller's home: what is refused to a user by ordinary permissions is no violation,
 * and temporary places are private. */
static char ground[256];
static char home[300], dir[300], outside[300]; /* in it */
static struct cordon_policy *policy;
static struct cordon_result *result;
static struct cordon_error err;

static void open_ground(void)
{
	snprintf(ground, sizeof(ground), "%s/cordon-lib-XXXXXX", getenv("HOME"));
	cr_assert_not_null(mkdtemp(ground));
	snprintf(home, sizeof(home), "%s/home", ground);
	snprintf(dir, sizeof(dir), "%s/work", ground);
	snprintf(outside, sizeof(outside), "%s/outside", ground);
	cr_assert(mkdir(home, 0755) == 0 && mkdir(dir, 0755) == 0 && mkdir(outside, 0755) == 0);
	cr_assert_eq(chdir(dir), 0);
	setenv("OUTSIDE", outside, 1);
	setenv("PATH", "/usr/bin:/bin", 1);
	setenv("HOME", home, 1);
	unsetenv("CORDON_HOME");
	policy = cordon_policy_new("moderate");
	cordon_policy_program(policy, CORDON);
	if (cordon_execute_shell(policy, "true", dir, 0, &result, &err) < 0)
		must_or_skip("no backend works here");
	cordon_result_free(result);
	result = NULL;
}

static void close_ground(void)
{
	char command[300];

	cordon_result_free(result);
	cordon_policy_free(policy);
	snprintf(command, sizeof(command), "rm -rf %s", ground);
	if (strstr(ground, "/cordon-lib-") && fork() == 0) {
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(1);
	}
	wait(NULL);
}

TestSuite(lib, .init = open_ground, .fini = close_ground);

static int shell(const char *text)
{
	return cordon_execute_shell(policy, text, dir, CEILING_MS, &result, &err);
}

static int count_children(void)
{
	int n = 0;

	while (waitpid(-1, NULL, __WALL) > 0)
		n++;
	return n;
}

/* --- R1.1 ------------------------------------------------------------------------------ */

Test(lib, output_and_exit_code)
{
	size_t n = 0;

	err.code = 77;
	cr_assert_eq(shell("echo out; printf 'a\\0b' >&2; exit 7"), 0, "%s", err.message);
	cr_assert_eq(err.code, 77, "success leaves the error alone");
	cr_assert_str_eq(cordon_result_stdout(result, NULL), "out\n");
	cr_assert_arr_eq(cordon_result_stderr(result, &n), "a\0b", 4);
	cr_assert_eq(n, 3);
	cr_assert_eq(cordon_result_exit_code(result), 7);
	cr_assert_eq(cordon_result_status(result), 7);
	cr_assert_eq(cordon_result_signal(result), 0);
	cr_assert_eq(cordon_result_cause(result), CORDON_CAUSE_exited);
	cr_assert_str_eq(cordon_result_profile(result), "moderate");
	cr_assert_not_null(cordon_result_enforced(result, 0));
	cr_assert_null(cordon_result_enforced(result, 1000));
	cr_assert_null(cordon_result_error(result));
	cr_assert_not_null(strstr(cordon_result_json(result), "\"cause\": \"exited\""));
	cr_assert_null(strstr(cordon_result_json(result), "\"stdout\""));
}

Test(lib, signal)
{
	cr_assert_eq(shell("kill -USR1 $$"), 0);
	cr_assert_eq(cordon_result_cause(result), CORDON_CAUSE_signal);
	cr_assert_eq(cordon_result_signal(result), SIGUSR1);
	cr_assert_eq(cordon_result_exit_code(result), -1);
	cr_assert_eq(cordon_result_status(result), 128 + SIGUSR1);
}

/* R1.7: nothing in the command or its words is read by anybody but the command. */
Test(lib, words_are_data)
{
	const char *const argv[] = { "printf", "%s|", "--no-sandbox", "$HOME; exit 9", "a b", "",
				     "caf\xe9", "x\ny", NULL };

	cr_assert_eq(cordon_execute(policy, argv, dir, 0, &result, &err), 0, "%s", err.message);
	cr_assert_str_eq(cordon_result_stdout(result, NULL),
			 "--no-sandbox|$HOME; exit 9|a b||caf\xe9|x\ny|");
}

Test(lib, refused_is_an_error_that_names_it)
{
	const struct cordon_violation *v;

	cr_assert_eq(shell("echo x > $OUTSIDE/x"), -CORDON_E_BLOCKED);
	cr_assert_not_null(strstr(err.message, "/outside/x was refused"), "%s",
			   err.message);
	cr_assert_not_null(strstr(err.hint, "--allow-write"), "%s", err.hint);
	v = cordon_result_violation(result, 0);
	cr_assert_not_null(v);
	cr_assert_str_eq(v->op, "write");
	cr_assert_not_null(strstr(v->object, "/outside/x"));
	cr_assert_not_null(v->rule);
	cr_assert_not_null(v->fix);
	cr_assert_not_null(v->fix_toml);
	cr_assert_eq(v->count, 1);
	cr_assert_null(cordon_result_violation(result, 1));
}

/* R1.6: from the output, where opens are not observed; said to be a deduction. */
Test(lib, a_secret_that_was_not_read)
{
	cr_assert_eq(mkdir("../home/.ssh", 0700), 0);
	cr_assert_eq(close(open("../home/.ssh/id_rsa", O_CREAT | O_WRONLY | O_CLOEXEC, 0600)), 0);
	cr_assert_eq(shell("cat ~/.ssh/id_rsa"), -CORDON_E_BLOCKED, "%d",
		     cordon_result_exit_code(result));
	cr_assert_not_null(strstr(err.message, "/.ssh/id_rsa"), "%s", err.message);
	cr_assert(cordon_result_violation(result, 0)->opens_secret);
}

Test(lib, what_was_refused_and_did_not_matter_is_no_error)
{
	cr_assert_eq(shell("echo x 2>&- > $OUTSIDE/x; exit 0"), 0);
	cr_assert_not_null(cordon_result_violation(result, 0));
}

Test(lib, timeout)
{
	cr_assert_eq(cordon_execute_shell(policy, "sleep 100", dir, 200, &result, &err),
		     -CORDON_E_TIMEOUT);
	cr_assert_eq(cordon_result_cause(result), CORDON_CAUSE_timeout);
	cr_assert_eq(cordon_result_status(result), 124);
	cr_assert_geq(cordon_result_duration_ms(result), 200);
}

Test(lib, not_found)
{
	const char *const argv[] = { "no-such-program-at-all", NULL };

	cr_assert_eq(cordon_execute(policy, argv, dir, 0, &result, &err), -CORDON_E_NOT_FOUND);
	cr_assert_eq(cordon_result_cause(result), CORDON_CAUSE_setup);
	cr_assert_eq(cordon_result_error(result)->code, CORDON_E_NOT_FOUND);
	cr_assert_eq(cordon_result_status(result), 127);
}

Test(lib, another_limit_is_an_error)
{
	cordon_policy_set(policy, "limits.output", "1000");
	cr_assert_eq(shell("yes"), -CORDON_E_EXEC);
	cr_assert_eq(cordon_result_cause(result), CORDON_CAUSE_output);
	cr_assert_not_null(strstr(err.message, "output"));
}

/* --- R4.1 ------------------------------------------------------------------------------ */

Test(lib, builder)
{
	char path[512], *toml;

	cordon_policy_free(policy);
	policy = cordon_policy_new("strict");
	cordon_policy_program(policy, CORDON);
	snprintf(path, sizeof(path), "%s/in", dir);
	cr_assert_eq(mkdir("in", 0755), 0);
	cr_assert_eq(mkdir("no", 0755), 0);
	cr_assert_eq(close(open("no/x", O_CREAT | O_WRONLY | O_CLOEXEC, 0644)), 0);
	cordon_policy_writable_path(policy, path);
	cordon_policy_readonly_path(policy, "/opt");
	snprintf(path, sizeof(path), "%s/no", dir);
	cordon_policy_blocked_path(policy, path);
	cordon_policy_allow_network(policy, NULL);
	cordon_policy_timeout(policy, 90000);
	cordon_policy_memory_limit_mb(policy, 256);
	cordon_policy_share_pid(policy, false);
	cordon_policy_new_session(policy, true);
	cordon_policy_set(policy, "limits.procs", "200");
	cordon_policy_set(policy, "ptrace", "false");
	cordon_policy_set(policy, "env.set", "COLOUR=blue");
	cr_assert_eq(cordon_policy_check(policy, &err), 0, "%s", err.message);
	cr_assert_eq(cordon_policy_print(policy, "mine", &toml, &err), 0);
	cr_assert_not_null(strstr(toml, "extends = \"strict\""), "%s", toml);
	cr_assert_not_null(strstr(toml, "limits.memory = \"256M\""), "%s", toml);
	cr_assert_not_null(strstr(toml, "ptrace = false"), "%s", toml);
	cr_assert_not_null(strstr(toml, "network = \"off\""), "%s", toml);
	cordon_free(toml);
	cr_assert_eq(shell("echo $COLOUR; touch in/x && cat no/x"), -CORDON_E_BLOCKED, "%s",
		     err.message);
	cr_assert_str_eq(cordon_result_stdout(result, NULL), "blue\n");
	cr_assert_str_eq(cordon_result_profile(result), "strict");
	cr_assert_eq(access("in/x", F_OK), 0);
}

Test(lib, every_profile_has_a_name_here)
{
	static const char *const profiles[] = { "strict", "moderate", "permissive" };

	for (size_t i = 0; i < 3; i++) {
		struct cordon_policy *p = cordon_policy_new(profiles[i]);

		cordon_policy_program(p, CORDON);
		cr_assert_eq(cordon_execute_shell(p, "echo yes", dir, 0, &result, &err), 0,
			     "%s: %s", profiles[i], err.message);
		cr_assert_str_eq(cordon_result_profile(result), profiles[i]);
		cordon_result_free(result);
		result = NULL;
		cordon_policy_free(p);
	}
}

/* custom has nothing but what is said. */
Test(lib, custom)
{
	struct cordon_policy *p = cordon_policy_new("custom");

	cordon_policy_program(p, CORDON);
	cr_assert_lt(cordon_execute_shell(p, "true", dir, 0, &result, &err), 0);
	cordon_result_free(result);
	cordon_policy_readonly_path(p, "@runtime");
	cordon_policy_set(p, "exec", "@system-exec");
	cr_assert_eq(cordon_execute_shell(p, "echo yes", dir, 0, &result, &err), 0, "%s (%s)",
		     err.message, err.hint);
	cordon_policy_free(p);
}

struct mistake {
	const char *key, *value, *says;
};

Test(lib, mistakes_are_kept)
{
	static const struct mistake mistakes[] = {
		{ "no.such.key", "1", "no such key" },
		{ NULL, "1", "no such key" },
		{ "limits.timeout", "soon", "soon" },
		{ "limits.timeout", NULL, "no value" },
		{ "read", "", "" },
		{ "share_pid", "maybe", "maybe" },
		{ "extends", "strict", "configuration file" },
		{ "network", "host name with blanks", "host" },
	};

	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		struct cordon_policy *p = cordon_policy_new(NULL);

		cordon_policy_set(p, mistakes[i].key, mistakes[i].value);
		cordon_policy_set(p, "read", "/usr"); /* changes nothing */
		cr_assert_eq(cordon_policy_check(p, &err), -CORDON_E_CONFIG, "%zu", i);
		cr_assert_not_null(strstr(err.message, mistakes[i].says), "%zu: %s", i,
				   err.message);
		cr_assert_eq(cordon_execute_shell(p, "true", NULL, 0, &result, &err),
			     -CORDON_E_CONFIG);
		cr_assert_null(result);
		cordon_policy_free(p);
	}
}

/* An empty allow-list allows nothing. */
Test(lib, empty_network_is_off)
{
	cordon_policy_set(policy, "network", "");
	cr_assert_eq(cordon_decide(policy, "connect", "example.com:443", &err), 0, "%s",
		     err.message);
}

Test(lib, environment)
{
	char where[400];
	const char *const variables[] = { "PATH=/usr/bin:/bin", "COLOUR=red", where, NULL };

	snprintf(where, sizeof(where), "HOME=%s", home);
	setenv("OTHER", "1", 1);
	cordon_policy_environment(policy, variables);
	cr_assert_eq(shell("echo $COLOUR$OTHER"), 0);
	cr_assert_str_eq(cordon_result_stdout(result, NULL), "red\n");
}

/* --- following a run ------------------------------------------------------------------- */

struct seen {
	struct cordon_run *run;
	size_t out, err, violations, remarks;
	bool cancel;
};

static void on_out(void *data, const char *bytes, size_t n)
{
	struct seen *s = data;

	(void)bytes;
	s->out += n;
	if (s->cancel)
		cr_assert_eq(cordon_run_cancel(s->run, &err), 0, "%s", err.message);
}

static void on_err(void *data, const char *bytes, size_t n)
{
	struct seen *s = data;

	(void)bytes;
	s->err += n;
}

static void on_violation(void *data, const struct cordon_violation *v)
{
	struct seen *s = data;

	cr_assert_str_eq(v->op, "write");
	s->violations++;
}

static void on_remark(void *data, const char *text)
{
	struct seen *s = data;

	cr_assert_neq(*text, '\0');
	s->remarks++;
}

static struct cordon_request request_for(const char *text, struct seen *seen)
{
	return (struct cordon_request){
		.size = sizeof(struct cordon_request),
		.shell = text,
		.workdir = dir,
		.on_stdout = on_out,
		.on_stderr = on_err,
		.on_violation_seen = on_violation,
		.on_remark = on_remark,
		.data = seen,
	};
}

static void start(const struct cordon_request *request, struct seen *seen)
{
	cr_assert_eq(cordon_run_start(policy, request, &seen->run, &err), 0, "%s", err.message);
}

Test(lib, own_poll_loop)
{
	struct seen seen = { 0 };
	struct cordon_request q =
		request_for("echo out; echo err >&2; echo x >$OUTSIDE/x; exit 3", &seen);
	int r = 1;

	start(&q, &seen);
	while (r > 0) {
		struct pollfd fd = { .fd = cordon_run_fd(seen.run), .events = POLLIN };

		cr_assert_eq(poll(&fd, 1, CEILING_MS), 1);
		r = cordon_run_step(seen.run, &err);
	}
	cr_assert_eq(r, 0, "%s", err.message);
	cr_assert_eq(seen.out, 4);
	cr_assert_gt(seen.err, 4);
	cr_assert_eq(seen.violations, 1);
	cr_assert_geq(seen.remarks, 1);
	cr_assert_eq(cordon_result_exit_code(cordon_run_result(seen.run)), 3);
	cr_assert_eq(cordon_run_step(seen.run, &err), 0, "an ended run stays ended");
	cr_assert_eq(cordon_run_cancel(seen.run, &err), 0);
	cordon_run_free(seen.run);
}

Test(lib, cancel_from_a_callback)
{
	struct seen seen = { .cancel = true };
	struct cordon_request q = request_for("echo going; sleep 1000", &seen);

	start(&q, &seen);
	cr_assert_eq(cordon_run_wait(seen.run, CEILING_MS, &err), 0, "%s", err.message);
	cr_assert_eq(cordon_result_cause(cordon_run_result(seen.run)), CORDON_CAUSE_signal);
	cordon_run_free(seen.run);
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Together with the request, before anything was started, and soon after it: at once, for
 * there is nobody yet to whom time could be given. */
Test(lib, cancel_at_once)
{
	for (int i = 0; i < 8; i++) {
		struct seen seen = { 0 };
		struct cordon_request q = request_for("sleep 1000", &seen);
		int64_t began = now_ms();

		start(&q, &seen);
		usleep((useconds_t)i * 500);
		cr_assert_eq(cordon_run_cancel(seen.run, &err), 0);
		cr_assert_eq(cordon_run_cancel(seen.run, &err), 0);
		cr_assert_eq(cordon_run_wait(seen.run, CEILING_MS, &err), 0, "%d: %s", i,
			     err.message);
		cr_assert_neq(cordon_result_cause(cordon_run_result(seen.run)),
			      CORDON_CAUSE_exited);
		cr_assert_lt(now_ms() - began, GRACE_MS, "%d", i);
		cordon_run_free(seen.run);
	}
}

Test(lib, waiting_has_an_end)
{
	struct seen seen = { 0 };
	struct cordon_request q = request_for("sleep 1000", &seen);

	start(&q, &seen);
	cr_assert_eq(cordon_run_wait(seen.run, 50, &err), 1);
	cr_assert_null(cordon_run_result(seen.run));
	cordon_run_free(seen.run);
}

/* A reader that takes its time: nothing is lost, and the command waits meanwhile. */
Test(lib, much_output_for_a_slow_reader)
{
	struct seen seen = { 0 };
	/* As much as fits into the buffers on the way, then a word, then far more. */
	struct cordon_request q = request_for("head -c 500000 /dev/zero; echo >told;"
					      "head -c 29500000 /dev/zero", &seen);
	char word;
	int told;

	cr_assert_eq(mkfifo("told", 0600), 0);
	cordon_policy_set(policy, "limits.output", "none");
	start(&q, &seen);
	told = open("told", O_RDONLY | O_CLOEXEC);
	cr_assert_eq(read(told, &word, 1), 1);
	close(told);
	cr_assert_eq(cordon_run_wait(seen.run, CEILING_MS, &err), 0, "%s", err.message);
	cr_assert_eq(seen.out, 30000000);
	cr_assert_eq(cordon_result_exit_code(cordon_run_result(seen.run)), 0);
	cordon_run_free(seen.run);
}

Test(lib, more_output_than_is_kept)
{
	cordon_policy_set(policy, "limits.output", "none");
	cr_assert_eq(shell("head -c 20000000 /dev/zero"), 0);
	cr_assert(cordon_result_truncated(result));
}

Test(lib, standard_input)
{
	struct seen seen = { 0 };
	struct cordon_request q = request_for("wc -c | tr -d ' \n'", &seen);
	int ends[2];

	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	cr_assert_eq(write(ends[1], "hello", 5), 5);
	close(ends[1]);
	q.stdin_fd = ends[0];
	q.on_stdout = NULL;
	start(&q, &seen);
	close(ends[0]);
	cr_assert_eq(cordon_run_wait(seen.run, CEILING_MS, &err), 0, "%s", err.message);
	cr_assert_str_eq(cordon_result_stdout(cordon_run_result(seen.run), NULL), "5");
	cordon_run_free(seen.run);
}

Test(lib, changes_and_on_violation)
{
	struct seen seen = { 0 };
	struct cordon_request q = request_for("echo x > made; echo >$OUTSIDE/x", &seen);
	const struct cordon_change *change;

	q.changes = true;
	q.on_violation = CORDON_VIOLATION_fail;
	start(&q, &seen);
	cr_assert_eq(cordon_run_wait(seen.run, CEILING_MS, &err), 0, "%s", err.message);
	cr_assert_eq(cordon_result_cause(cordon_run_result(seen.run)), CORDON_CAUSE_policy);
	change = cordon_result_change(cordon_run_result(seen.run), 0);
	cr_assert_not_null(change);
	cr_assert_str_eq(change->kind, "created");
	cr_assert_not_null(strstr(change->path, "/made"));
	cordon_run_free(seen.run);
}

Test(lib, wrong_requests)
{
	static const char *const argv[] = { "true", NULL };
	struct seen seen = { 0 };
	struct cordon_request q = request_for("true", &seen);

	q.size = 8;
	cr_assert_eq(cordon_run_start(policy, &q, &seen.run, &err), -CORDON_E_USAGE);
	q = request_for(NULL, &seen);
	cr_assert_eq(cordon_run_start(policy, &q, &seen.run, &err), -CORDON_E_USAGE);
	q.shell = "true";
	q.argv = argv;
	cr_assert_eq(cordon_run_start(policy, &q, &seen.run, &err), -CORDON_E_USAGE);
	q = request_for("true", &seen);
	q.on_violation = (enum cordon_on_violation)77;
	cr_assert_eq(cordon_run_start(policy, &q, &seen.run, NULL), -CORDON_E_USAGE);
	cr_assert_eq(cordon_execute_shell(NULL, "true", NULL, 0, &result, NULL),
		     -CORDON_E_NOMEM);
}

Test(lib, a_request_that_is_too_long)
{
	size_t n = (size_t)5 << 20;
	char *text = malloc(n + 1);

	cr_assert_not_null(text);
	memset(text, ' ', n);
	text[n] = '\0';
	cr_assert_eq(shell(text), -CORDON_E_LIMIT, "%s", err.message);
	text[200000] = '\0'; /* more than one word may have */
	cr_assert_eq(shell(text), -CORDON_E_EXEC, "%s", err.message);
	free(text);
}

/* A mistake that only cordon itself can find. */
Test(lib, refused_before_the_run)
{
	cr_assert_eq(cordon_execute_shell(policy, "true", "/no/such/dir", 0, &result, &err),
		     -CORDON_E_PATH, "%d %s", err.code, err.message);
}

/* --- whose life it is ------------------------------------------------------------------ */

/* True when nobody holds the other end any more. */
/* By reading: what ended before the pipe was opened is an end to read, but none to wait for. */
static bool ends_soon(int fd)
{
	char byte;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	for (int i = 0; i < CEILING_MS / 10; i++) {
		if (read(fd, &byte, 1) == 0)
			return true;
		poll(NULL, 0, 10);
	}
	return false;
}

/* The command holds the pipe as long as it lives, and writes to it when it is there. */
static int start_holder(struct seen *seen)
{
	struct cordon_request q = request_for("exec 3>held; echo >&3; sleep 1000", seen);
	char byte;
	int fd;

	cr_assert_eq(mkfifo("held", 0600), 0);
	fd = open("held", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	cr_assert_geq(fd, 0);
	fcntl(fd, F_SETFL, 0);
	start(&q, seen);
	for (int i = 0; i < CEILING_MS / 10; i++) {
		struct pollfd there = { .fd = fd, .events = POLLIN };

		cordon_run_step(seen->run, &err);
		if (poll(&there, 1, 10) == 1 && there.revents & POLLIN &&
		    read(fd, &byte, 1) == 1)
			return fd;
	}
	cr_assert_fail("the command did not start");
	return -1;
}

Test(lib, freeing_ends_the_run)
{
	struct seen seen = { 0 };
	int held = start_holder(&seen);

	cordon_run_free(seen.run);
	cr_assert(ends_soon(held));
	close(held);
}

/* Killed, while a process it forked still has copies of all its descriptors. */
Test(lib, the_end_of_the_host_ends_the_run)
{
	int life[2], held;
	pid_t host;

	cr_assert_eq(pipe2(life, O_CLOEXEC), 0);
	host = fork();
	if (host == 0) {
		struct seen seen = { 0 };

		held = start_holder(&seen);
		if (fork() == 0) {
			char byte;

			close(held);
			close(life[1]);
			_exit(read(life[0], &byte, 1) != 0); /* until the test ends */
		}
		kill(getpid(), SIGKILL);
	}
	cr_assert_eq(waitpid(host, NULL, 0), host);
	close(life[0]);
	held = open("held", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	cr_assert(ends_soon(held));
	close(life[1]);
}

Test(lib, a_supervisor_that_is_killed_is_an_error)
{
	struct seen seen = { 0 };
	int held = start_holder(&seen);
	char text[64], *at;
	FILE *info;
	long pid = 0;

	snprintf(text, sizeof(text), "/proc/self/fdinfo/%d", cordon_run_fd(seen.run));
	info = fopen(text, "r");
	cr_assert_not_null(info);
	/* The epoll names what it watches; the pidfd among it names the process. */
	while (fgets(text, sizeof(text), info) && !pid) {
		char path[64], line[64];
		FILE *of;

		at = strstr(text, "tfd:");
		if (!at)
			continue;
		snprintf(path, sizeof(path), "/proc/self/fdinfo/%ld", strtol(at + 4, NULL, 10));
		of = fopen(path, "r");
		while (of && fgets(line, sizeof(line), of))
			if (strncmp(line, "Pid:", 4) == 0)
				pid = strtol(line + 4, NULL, 10);
		if (of)
			fclose(of);
	}
	fclose(info);
	cr_assert_gt(pid, 1);
	cr_assert_eq(kill((pid_t)pid, SIGKILL), 0);
	cr_assert_eq(cordon_run_wait(seen.run, CEILING_MS, &err), -CORDON_E_SYSTEM);
	cr_assert_not_null(strstr(err.message, "without an answer"));
	cr_assert_eq(cordon_run_step(seen.run, &err), -CORDON_E_SYSTEM);
	cr_assert(ends_soon(held));
	cordon_run_free(seen.run);
	close(held);
}

Test(lib, a_program_that_is_not_cordon)
{
	cordon_policy_program(policy, "/bin/true");
	cr_assert_lt(shell("true"), 0);
	cordon_policy_program(policy, "/no/such/cordon");
	cr_assert_eq(shell("true"), -CORDON_E_UNAVAILABLE);
	cordon_policy_program(policy, "cordon");
	cr_assert_eq(shell("true"), -CORDON_E_CONFIG);
}

/* As in the first process of a container: what is nobody's child becomes ours. */
Test(lib, a_host_that_adopts_orphans_keeps_no_zombie)
{
	cr_assert_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	for (int i = 0; i < 20; i++) {
		cordon_policy_program(policy, i % 2 ? "/nonexistent/cordon" : ground);
		cr_assert_lt(shell("true"), 0);
	}
	cr_assert_eq(count_children(), 0);
	cordon_policy_program(policy, CORDON);
	cr_assert_eq(shell("exit 3"), 0, "%s", err.message);
	cr_assert_eq(cordon_result_exit_code(result), 3);
	/* Of the supervisor only if it has not quite ended yet. */
	cr_assert_leq(count_children(), 1);
}

/* What speaks, but another language. */
Test(lib, another_release)
{
	static const char script[] =
		"#!/bin/sh\nprintf '\\020\\000\\000\\000\\007\\000\\000\\0009 9.9.9' >&3\n";
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/cordon", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	cr_assert_eq(write(fd, script, sizeof(script) - 1), (ssize_t)sizeof(script) - 1);
	close(fd);
	cordon_policy_program(policy, path);
	cr_assert_eq(shell("true"), -CORDON_E_UNAVAILABLE, "%s", err.message);
	cr_assert_not_null(strstr(err.message, "9.9.9"), "%s", err.message);
}

/* --- asking ---------------------------------------------------------------------------- */

Test(lib, decide)
{
	cr_assert_eq(cordon_decide(policy, "read", "/etc/passwd", &err), 1, "%s", err.message);
	cr_assert_eq(cordon_decide(policy, "write", "/etc/passwd", &err), 0);
	cr_assert_eq(cordon_decide(policy, "write", "new-file", &err), 1, "%s", err.message);
	cr_assert_eq(cordon_decide(policy, "write", "--odd name", &err), 1, "%s", err.message);
	cr_assert_eq(cordon_decide(policy, "exec", "/bin/sh", &err), 1);
	cr_assert_eq(cordon_decide(policy, "connect", "example.com:443", &err), 0);
	cordon_policy_allow_network(policy, "example.com:443");
	cr_assert_eq(cordon_decide(policy, "connect", "example.com:443", &err), 1);
	cr_assert_eq(cordon_decide(policy, "connect", "/etc/passwd", &err), -CORDON_E_USAGE);
	cr_assert_eq(cordon_decide(policy, "lick", "/etc/passwd", &err), -CORDON_E_USAGE);
	cr_assert_eq(cordon_decide(policy, "connect", "--json", &err), -CORDON_E_USAGE);
	cr_assert_eq(cordon_decide(policy, "read", "", &err), -CORDON_E_USAGE);
	cr_assert_eq(cordon_decide(NULL, "read", "/", NULL), -CORDON_E_NOMEM);
}

Test(lib, explain)
{
	struct cordon_explanation *e;
	const struct cordon_verdict *v;

	cr_assert_eq(cordon_explain(policy, "/etc/passwd", &e, &err), 0, "%s", err.message);
	v = cordon_explanation_verdict(e, 1);
	cr_assert_not_null(v);
	cr_assert_str_eq(v->object, "/etc/passwd");
	cr_assert_str_eq(v->op, "write");
	cr_assert_not(v->allowed);
	cr_assert_str_eq(v->rule, "read /");
	cr_assert_not_null(strstr(v->origin, "moderate"));
	cr_assert_not_null(v->fix);
	cr_assert_null(cordon_explanation_verdict(e, 3));
	cr_assert_not_null(strstr(cordon_explanation_json(e), "\"objects\""));
	cordon_explanation_free(e);
}

/* --- R2 -------------------------------------------------------------------------------- */

Test(modes, names_and_prompts)
{
	enum cordon_mode mode;
	char *text;

	cr_assert_eq(cordon_mode_from_string("rx", &mode, &err), 0);
	cr_assert_eq(mode, CORDON_MODE_rx);
	cr_assert_eq(cordon_mode_from_string("RX", &mode, &err), -CORDON_E_CONFIG);
	cr_assert_eq(cordon_mode_from_string(NULL, &mode, NULL), -CORDON_E_CONFIG);
	cr_assert_str_eq(cordon_mode_name(CORDON_MODE_sandbox), "Sandbox");
	cr_assert_str_eq(cordon_mode_name(CORDON_MODE_rwx), "Unconfined");
	cr_assert_eq(cordon_mode_prompt_constraint(CORDON_MODE_rwx, "/w", &text, &err), 0);
	cr_assert_str_eq(text, "");
	cordon_free(text);
	cr_assert_eq(cordon_mode_prompt_constraint(CORDON_MODE_sandbox, "/w\"x", &text, &err), 0);
	cr_assert_not_null(strstr(text, "/w\\\"x"), "%s", text);
	cordon_free(text);
}

Test(modes, sandboxed_command)
{
	char **argv;
	int r = cordon_sandboxed_command("claude", CORDON_MODE_sandbox, "/data", &argv, &err);

	/* Where nothing is installed it says so. */
	if (r == -CORDON_E_UNAVAILABLE) {
		cr_assert_not_null(strstr(err.hint, "install"));
	} else {
		cr_assert_eq(r, 0, "%s", err.message);
		cr_assert_str_eq(argv[1], "run");
		cr_assert_str_eq(argv[5], "/data");
		cr_assert_str_eq(argv[7], "claude");
		cr_assert_null(argv[8]);
		cordon_free(argv);
	}
	cr_assert_eq(cordon_sandboxed_command("claude", CORDON_MODE_rwx, NULL, &argv, &err), 0);
	cr_assert_str_eq(argv[0], "claude");
	cr_assert_null(argv[1]);
	cordon_free(argv);
	cr_assert_eq(cordon_sandboxed_command("", CORDON_MODE_rwx, NULL, &argv, NULL),
		     -CORDON_E_USAGE);
}

Test(version, version_and_abi)
{
	cr_assert_str_eq(cordon_version(), VERSION);
	cr_assert_eq(cordon_abi(), CORDON_ABI);
}

/* NULL is a run that never was. */
Test(null, accessors)
{
	size_t n = 1;

	cr_assert_eq(cordon_result_cause(NULL), CORDON_CAUSE_setup);
	cr_assert_eq(cordon_result_exit_code(NULL), -1);
	cr_assert_eq(cordon_result_status(NULL), 125);
	cr_assert_str_eq(cordon_result_stdout(NULL, &n), "");
	cr_assert_eq(n, 0);
	cr_assert_str_eq(cordon_result_json(NULL), "{}");
	cr_assert_null(cordon_result_violation(NULL, 0));
	cr_assert_null(cordon_result_host(NULL, 0));
	cr_assert_null(cordon_result_degraded(NULL, 0));
	cr_assert_str_eq(cordon_cause_to_string((enum cordon_cause)99), "unknown");
	cordon_result_free(NULL);
	cordon_policy_free(NULL);
	cordon_explanation_free(NULL);
	cordon_run_free(NULL);
	cordon_policy_workdir(NULL, "/");
	cordon_policy_data_dir(NULL, "/");
	cordon_policy_set(NULL, "read", "/");
	cordon_policy_program(NULL, "/");
	cordon_policy_environment(NULL, NULL);
}
