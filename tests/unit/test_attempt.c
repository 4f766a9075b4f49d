/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is replaced on the host between looking and mounting: looked at again, a few times
 * at most, and never mounted unseen. Real runs of /bin/true in a directory of its own.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/list.h"
#include "backend/probe.h"
#include "base/path.h"
#include "run/attempt.h"

#define ARENA_MAX ((size_t)256 << 20)

enum replacement { BY_FILE, BY_DIRECTORY, BY_LINK, BY_NOTHING };

static struct arena a;
static struct cordon_error err;
static char *top;
static const char *environment[3];
static struct situation situation;
static struct caps caps;
static unsigned looks;
static unsigned replacements; /* still to be made, one after each look */
static enum replacement how;

static const char *at(const char *name)
{
	return arena_printf(&a, "%s/%s", top, name);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);

	cr_assert_geq(fd, 0, "%s", path);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void setup(void)
{
	char name[] = "/var/tmp/cordon-attempt-XXXXXX";

	arena_init(&a, ARENA_MAX);
	cr_assert(mkdtemp(name));
	top = realpath(name, NULL);
	cr_assert(top);
	for (const char *const *d = (const char *const[]){ "w", "home", "home/.cordon", "p", NULL };
	     *d; d++)
		cr_assert_eq(mkdir(at(*d), 0700), 0);
	write_file(at("p/secret"), "first\n");
	write_file(at("home/.cordon/config.toml"),
		   arena_printf(&a, "[sandbox]\ndeny = [\"%s/p/secret\"]\nread = [\"%s/p\"]\n", top,
				top));
	environment[0] = arena_printf(&a, "HOME=%s/home", top);
	environment[1] = "PATH=/usr/bin:/bin";
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static void teardown(void)
{
	nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(top);
	arena_free(&a);
}

TestSuite(attempt_replaced, .init = setup, .fini = teardown);

/* What a rule names is another object afterwards. */
static void replace(void)
{
	const char *path = at("p"), *old = arena_printf(&a, "%s/old%u", top, looks);

	cr_assert_eq(rename(path, old), 0);
	if (how == BY_FILE)
		write_file(path, "other\n");
	else if (how == BY_DIRECTORY)
		cr_assert_eq(mkdir(path, 0700), 0);
	else if (how == BY_LINK)
		cr_assert_eq(symlink(old, path), 0);
	if (how == BY_DIRECTORY)
		write_file(at("p/secret"), "next\n");
}

static int look(void *data, struct cordon_error *e)
{
	struct situation_options options = { .workdir = at("w"), .environ = environment };
	int r = situation_read(&a, &options, &situation, e);

	(void)data;
	looks++;
	return r;
}

/* After the plan was made, so that the plan is outdated. */
static int planned(void *data, struct cordon_error *e)
{
	(void)data;
	(void)e;
	if (replacements) {
		replacements--;
		replace();
	}
	return 0;
}

static void run_true(const char *backend, bool again, struct run_result *ret)
{
	static char command[] = "true";
	char *argv[] = { command, NULL };
	struct execute_options options = { .argv = argv, .stdin_null = true };
	struct attempt attempt = { .situation = &situation, .caps = &caps };

	cr_assert_eq(probe_cheap(&a, STR("/"), NULL, &caps, &err), 0);
	cr_assert_eq(look(NULL, &err), 0, "%s", err.message);
	situation.policy->effective[KEY_BACKEND].text = str_of(backend);
	situation.policy->effective[KEY_FALLBACK].number = FALLBACK_DEGRADE;
	cr_assert_eq(situation_plan(&situation, &caps, &attempt.backend, &attempt.plan, &err), 0,
		     "%s", err.message);
	planned(NULL, &err);
	attempt.again = again ? look : NULL;
	attempt.changed = planned;
	cr_assert_eq(attempt_execute(&a, &attempt, &options, ret, &err), 0, "%s", err.message);
}

static void expect_a_second_look(const char *backend, enum replacement by)
{
	struct run_result result = { 0 };

	how = by;
	replacements = 1;
	run_true(backend, true, &result);
	cr_assert_eq(result.cause, RUN_CAUSE_exited, "%s, replaced %d: %s", backend, (int)by,
		     result.error.message);
	cr_assert_eq(looks, 2, "%u looks", looks);
	run_result_free(&result);
}

Test(attempt_replaced, a_directory_is_looked_at_again)
{
	expect_a_second_look("native", BY_DIRECTORY);
}

Test(attempt_replaced, by_a_link)
{
	expect_a_second_look("native", BY_LINK);
}

Test(attempt_replaced, on_landlock)
{
	expect_a_second_look("landlock", BY_DIRECTORY);
}

Test(attempt_replaced, by_a_link_on_landlock)
{
	expect_a_second_look("landlock", BY_LINK);
}

static void expect_refusal(const char *backend, unsigned times, bool again)
{
	struct run_result result = { 0 };

	how = BY_DIRECTORY;
	replacements = times;
	run_true(backend, again, &result);
	cr_assert_eq(result.cause, RUN_CAUSE_setup);
	cr_assert(strstr(result.error.message, top), "%s", result.error.message);
	run_result_free(&result);
}

Test(attempt_replaced, again_and_again_is_refused)
{
	expect_refusal("native", 1000, true);
	cr_assert_leq(looks, 16, "%u looks", looks);
	cr_assert_gt(looks, 2);
}

Test(attempt_replaced, without_a_second_look_it_is_refused)
{
	expect_refusal("native", 1, false);
	cr_assert_eq(looks, 1);
}

Test(attempt_replaced, what_a_failure_says)
{
	static const struct {
		const char *stage;
		int errnum;
		bool overtaken;
	} rows[] = {
		{ "mount", ESTALE, true },    { "mount", ENOENT, true },
		{ "mount", EINVAL, true },    { "mount", ELOOP, true },
		{ "mount", EPERM, false },    { "mount", ENOMEM, false },
		{ "landlock", ESTALE, true }, { "landlock", EPERM, false },
		{ "exec", ENOENT, false },    { "clone", EINVAL, false },
		{ "bwrap", 0, true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cordon_error e;

		err_set(&e, CORDON_E_INIT, rows[i].errnum, rows[i].stage, "x");
		cr_assert_eq(attempt_was_overtaken(&e), rows[i].overtaken, "row %zu", i);
	}
}
