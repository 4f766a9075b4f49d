/* SPDX-License-Identifier: Apache-2.0 */
/* report/summary: the sentences, and how many become few. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "report/summary.h"

static struct violations *all;
static struct buf b;

static void setup(void)
{
	all = violations_new();
	buf_init(&b, 1 << 20);
}

static void teardown(void)
{
	violations_free(all);
	buf_free(&b);
}

TestSuite(summary, .init = setup, .fini = teardown);

static void add(enum violation_op op, enum violation_source source, const char *object)
{
	struct violation v = { .op = op, .source = source, .object = str_of(object),
			       .program = "sh" };

	violations_add(all, &v);
}

static void advise(void *data, const struct violation *v, struct violation_advice *ret)
{
	(void)data;
	ret->rule = "read /";
	ret->origin = "profile moderate:5";
	if (str_eq(v->object, STR("/secret"))) {
		ret->fix.flags = "--allow-read /secret";
		ret->fix.opens_secret = true;
	} else if (str_eq(v->object, STR("/hooks"))) {
		ret->fix.flags = "--allow-write /hooks";
		ret->fix.opens_control = true;
	} else if (str_eq(v->object, STR("/absent"))) {
		ret->fix.flags = "--allow-write /absent";
		ret->fix.remark = "it does not exist";
		ret->fix.opens_secret = true;
	} else if (str_eq(v->object, STR("/own"))) {
		ret->fix.why_not = "nothing opens cordon's own home";
	} else {
		ret->fix.flags = "--allow-write it";
	}
}

static const struct violation_advisor advisor = { .advise = advise };

static void told(const char *wanted)
{
	buf_clear(&b);
	violations_summary(&b, all, NULL, &advisor);
	cr_assert_str_eq(b.p, wanted);
}

static size_t lines(void)
{
	size_t n = 0;

	for (size_t i = 0; i < b.n; i++)
		n += b.p[i] == '\n';
	return n;
}

Test(summary, nothing)
{
	told("");
}

Test(summary, histories_are_one_line)
{
	add(VIOLATION_write, VIOLATION_BY_notify, "/home/u/.bash_history");
	add(VIOLATION_write, VIOLATION_BY_notify, "/home/u/.lesshst");
	add(VIOLATION_write, VIOLATION_BY_notify, "/home/u/x/.viminfo");
	told("refused: writing /home/u/.bash_history and 2 more: what is typed inside is not kept "
	     "outside\n");
}

/* Whoever reads one wants what is in it. */
Test(summary, a_history_that_is_read_is_told_like_all)
{
	add(VIOLATION_read, VIOLATION_BY_notify, "/home/u/.bash_history");
	told("refused: reading /home/u/.bash_history (sh, seen at the system call): read / "
	     "[profile moderate:5]; to allow it: --allow-write it\n");
}

/* They take one line of those there are, and lend their directory to nobody. */
Test(summary, histories_among_many)
{
	char object[64];

	add(VIOLATION_write, VIOLATION_BY_notify, "/a/b/c/d/e/.bash_history");
	add(VIOLATION_write, VIOLATION_BY_notify, "/a/.viminfo");
	for (unsigned i = 0; i < 100; i++) {
		snprintf(object, sizeof(object), "/a/b/%u/%u/x", i % 12, i);
		add(VIOLATION_write, VIOLATION_BY_notify, object);
	}
	violations_summary(&b, all, NULL, &advisor);
	cr_assert(lines() <= SUMMARY_LINES_MAX);
	cr_assert(strstr(b.p, "/a/b/c/d/e/.bash_history and 1 more: what is typed"));
	cr_assert_null(strstr(b.p, ".viminfo"));
}

/* A fix that does not work here is no advice: neither the flag nor its warning. */
Test(summary, what_nothing_allows)
{
	add(VIOLATION_write, VIOLATION_BY_notify, "/absent");
	told("refused: writing /absent (sh, seen at the system call): read / [profile moderate:5]; "
	     "nothing allows it as things are (it does not exist)\n");
}

Test(summary, what_runs_later_has_a_warning)
{
	add(VIOLATION_write, VIOLATION_BY_notify, "/hooks");
	told("refused: writing /hooks (sh, seen at the system call): read / [profile moderate:5]; "
	     "to allow it: --allow-write /hooks (warning: what runs later, outside, can be changed "
	     "with it)\n");
}

Test(summary, one_sentence_each)
{
	add(VIOLATION_write, VIOLATION_BY_guard, "/home/u/.bashrc");
	add(VIOLATION_write, VIOLATION_BY_guard, "/home/u/.bashrc");
	add(VIOLATION_read, VIOLATION_BY_inferred, "/secret");
	add(VIOLATION_read, VIOLATION_BY_notify, "/own");
	told("refused: writing /home/u/.bashrc (sh, seen by the guard, 2 times): read / "
	     "[profile moderate:5]; to allow it: --allow-write it\n"
	     "probably refused: reading /secret (sh, inferred from the output): read / "
	     "[profile moderate:5]; to allow it: --allow-read /secret (warning: that gives a "
	     "secret away)\n"
	     "refused: reading /own (sh, seen at the system call): read / "
	     "[profile moderate:5]; nothing opens cordon's own home\n");
}

Test(summary, what_comes_from_inside_is_escaped)
{
	add(VIOLATION_write, VIOLATION_BY_guard, "/w/\033[2Jx\ny");
	buf_clear(&b);
	violations_summary(&b, all, NULL, NULL);
	cr_assert_str_eq(b.p,
			 "refused: writing /w/\\x1b[2Jx\\ny (sh, seen by the guard)\n");
}

Test(summary, ten_are_told_one_by_one)
{
	char name[64];

	for (unsigned i = 0; i < SUMMARY_LINES_MAX; i++) {
		snprintf(name, sizeof(name), "/w/node_modules/%u/x", i);
		add(VIOLATION_write, VIOLATION_BY_guard, name);
	}
	violations_summary(&b, all, NULL, NULL);
	cr_assert_eq(lines(), SUMMARY_LINES_MAX);
	cr_assert_null(strstr(b.p, "more"));
}

Test(summary, many_become_one_line)
{
	char name[64];

	add(VIOLATION_read, VIOLATION_BY_notify, "/home/u/.ssh/id");
	for (unsigned i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "/w/node_modules/p%u/index.js", i);
		add(VIOLATION_write, VIOLATION_BY_guard, name);
	}
	add(VIOLATION_resolve, VIOLATION_BY_dns, "example.com");
	told("refused: reading /home/u/.ssh/id (sh, seen at the system call): read / "
	     "[profile moderate:5]; to allow it: --allow-write it\n"
	     "refused: writing /w/node_modules/p0/index.js and 199 more under /w/node_modules "
	     "(sh, seen by the guard): read / [profile moderate:5]; to allow it: --allow-write it\n"
	     "refused: looking up example.com (sh, seen by the name server): read / "
	     "[profile moderate:5]; to allow it: --allow-write it\n");
}

Test(summary, calls_of_one_reason_become_one_line)
{
	static const char *const names[] = { "mount", "fsopen", "keyctl", "open_tree" };
	static const char mounting[] = "no mounting", keys[] = "no keys";
	struct violation v = { .op = VIOLATION_call, .source = VIOLATION_BY_notify };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		v.object = str_of(names[i]);
		v.reason = i == 2 ? keys : mounting;
		violations_add(all, &v);
	}
	told("refused: calling mount and 2 more (seen at the system call): read / "
	     "[profile moderate:5]; to allow it: --allow-write it\n"
	     "refused: calling keyctl (seen at the system call): read / "
	     "[profile moderate:5]; to allow it: --allow-write it\n");
}

Test(summary, never_more_than_ten_lines)
{
	char name[64];

	for (unsigned i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "/%u/%u", i % 97, i);
		add(i % 5, VIOLATION_BY_guard, name);
		snprintf(name, sizeof(name), "h%u.example", i);
		add(VIOLATION_resolve, VIOLATION_BY_dns, name);
	}
	violations_summary(&b, all, NULL, &advisor);
	cr_assert_leq(lines(), SUMMARY_LINES_MAX);
	cr_assert(strstr(b.p, "more refusals; 'cordon explain --last'"));
	cr_assert(strstr(b.p, "refused: looking up h0.example and "));
}

/* A thousand components must not cost a thousand rounds; that they differ only at the
 * end makes each look the same to the first comparison. */
Test(summary, deep_names)
{
	char name[4096];
	size_t n;

	for (unsigned i = 0; i < VIOLATIONS_MAX; i++) {
		for (n = 0; n < 4000; n += 2)
			memcpy(name + n, "/a", 2);
		snprintf(name + n, sizeof(name) - n, "/%u", i);
		add(VIOLATION_write, VIOLATION_BY_guard, name);
	}
	violations_summary(&b, all, NULL, NULL);
	cr_assert_eq(lines(), 1);
	cr_assert(strstr(b.p, " and 255 more under /a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a (sh"));
}
