/* SPDX-License-Identifier: Apache-2.0 */
/* report/learn: refusals to rules; report/accesses: what was allowed. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "report/accesses.h"
#include "report/learn.h"

static struct arena a;
static struct buf b;

static struct places places;

static void setup(void)
{
	arena_init(&a, (size_t)16 << 20);
	buf_init(&b, 1 << 20);
	places = (struct places){ .workdir = STR("/home/u/src/work"), .home = STR("/home/u") };
}

static void teardown(void)
{
	arena_free(&a);
	buf_free(&b);
}

TestSuite(learn, .init = setup, .fini = teardown);

/* "read PATH", "write PATH", "exec PATH", "network HOST"; "!read PATH": not to be granted. */
static struct learn_refusal refusal(const char *text)
{
	bool closed = *text == '!';
	struct str word, object;
	enum key key;

	str_cut(str_of(text + closed), ' ', &word, &object);
	key = str_eq(word, STR("read"))	   ? KEY_READ
	      : str_eq(word, STR("write")) ? KEY_WRITE
	      : str_eq(word, STR("exec"))  ? KEY_EXEC
					   : KEY_NETWORK;
	return (struct learn_refusal){ .key = key,
				       .object = object,
				       .place = object,
				       .program = "sh",
				       .left_out = closed ? "closed" : NULL };
}

static void learn(const char *const *texts, struct learned *ret)
{
	struct learn_refusal list[64];
	struct cordon_error err;
	size_t n = 0;

	for (; texts[n]; n++)
		list[n] = refusal(texts[n]);
	cr_assert_eq(learn_rules(&a, list, n, &places, ret, &err), 0);
}

/* Each rule as "key place refusals", then each that was left out as "!key object". */
static void gives(const char *const *texts, const char *wanted)
{
	struct learned l;

	learn(texts, &l);
	buf_clear(&b);
	vec_each(rule, &l.rules)
		buf_addf(&b, "%s %.*s %zu\n", key_rows[rule->key].name, STR_ARG(rule->place),
			 rule->refusals);
	vec_each(r, &l.left_out)
		buf_addf(&b, "!%s %.*s\n", key_rows[r->key].name, STR_ARG(r->object));
	cr_assert_str_eq(b.p, wanted, "%s", b.p);
}

#define GIVES(wanted, ...) gives((const char *const[]){ __VA_ARGS__, NULL }, wanted)

Test(learn, single_names_stay_single)
{
	GIVES("read /data/a/x 1\nread /data/b 1\n", "read /data/b", "read /data/a/x");
	GIVES("read /data/x 2\n", "read /data/x", "read /data/x");
	GIVES("write /data/x 1\nexec /data/tool 1\n", "exec /data/tool", "write /data/x");
	GIVES("network a.example 2\nnetwork b.example 1\n", "network a.example",
	      "network b.example", "network a.example");
}

Test(learn, several_in_one_directory_become_the_directory)
{
	GIVES("read /data/a 1\nread /data/b 1\nread /data/c 1\n", "read /data/a", "read /data/b",
	      "read /data/c");
	GIVES("read /opt/data 4\n", "read /opt/data/a", "read /opt/data/b", "read /opt/data/c",
	      "read /opt/data/d");
	/* And directories their own. */
	GIVES("write /opt/data 16\n", "write /opt/data/1/a", "write /opt/data/1/b",
	      "write /opt/data/1/c", "write /opt/data/1/d", "write /opt/data/2/a",
	      "write /opt/data/2/b", "write /opt/data/2/c", "write /opt/data/2/d",
	      "write /opt/data/3/a", "write /opt/data/3/b", "write /opt/data/3/c",
	      "write /opt/data/3/d", "write /opt/data/4/a", "write /opt/data/4/b",
	      "write /opt/data/4/c", "write /opt/data/4/d");
	/* Kinds are counted apart. */
	GIVES("read /opt/data/a 1\nread /opt/data/b 1\nwrite /opt/data/c 1\nwrite /opt/data/d 1\n",
	      "read /opt/data/a", "read /opt/data/b", "write /opt/data/c", "write /opt/data/d");
}

Test(learn, what_another_rule_grants_is_not_said_again)
{
	GIVES("write /opt/data 2\n", "read /opt/data/a", "write /opt/data");
	GIVES("read /opt/data/a 1\nexec /opt/data 1\n", "exec /opt/data", "read /opt/data/a");
	GIVES("read /opt/data 3\n", "read /opt/data/a", "read /opt/data", "read /opt/data/b/c");
	GIVES("read /opt/data 1\nread /opt/database 1\n", "read /opt/data", "read /opt/database");
}

Test(learn, no_rule_for_where_everything_lies)
{
	/* Four dot files are no reason to open the home. */
	GIVES("read /home/u/.a 1\nread /home/u/.b 1\nread /home/u/.c 1\nread /home/u/.d 1\n",
	      "read /home/u/.a", "read /home/u/.b", "read /home/u/.c", "read /home/u/.d");
	GIVES("read /data/a 1\nread /data/b 1\nread /data/c 1\nread /data/d 1\n", "read /data/a",
	      "read /data/b", "read /data/c", "read /data/d");
	GIVES("!read /\n!read /home\n!read /home/u\n!write /home/u/src\n", "read /", "read /home",
	      "read /home/u", "write /home/u/src");
	GIVES("write /home/u/src/work 1\n", "write /home/u/src/work");
}

Test(learn, homes_of_others_are_not_opened_whole)
{
	static const struct str others[] = { STR("/home/v") };

	places.other_homes = others;
	places.other_home_count = 1;
	places.own_home = STR("/root/me");
	GIVES("read /home/v/x 1\n!read /home/v\n!read /root/me\n", "read /home/v", "read /root/me",
	      "read /home/v/x");
}

Test(learn, what_others_execute_is_left_out)
{
	GIVES("!write /usr/lib/python3/x.pyc\n!write /etc/hosts\n", "write /usr/lib/python3/x.pyc",
	      "write /etc/hosts");
	GIVES("read /etc/app/conf 1\n", "read /etc/app/conf");
	GIVES("!write /home/u/other/.git\n!write /home/u/other/.git/hooks/pre-commit\n"
	      "!write /home/u/other/Makefile\n",
	      "write /home/u/other/.git", "write /home/u/other/.git/hooks/pre-commit",
	      "write /home/u/other/Makefile");
	/* Four names in it do not open it, either. */
	GIVES("write /home/u/o/.git/1 1\nwrite /home/u/o/.git/2 1\nwrite /home/u/o/.git/3 1\n"
	      "write /home/u/o/.git/4 1\n",
	      "write /home/u/o/.git/1", "write /home/u/o/.git/2", "write /home/u/o/.git/3",
	      "write /home/u/o/.git/4");
	/* In the workdir the policy decides. */
	GIVES("write /home/u/src/work/Makefile 1\n", "write /home/u/src/work/Makefile");
}

Test(learn, what_the_caller_closes_is_left_out_once)
{
	GIVES("read /opt/data/x 1\n!read /opt/data/key\n", "!read /opt/data/key",
	      "read /opt/data/x", "!read /opt/data/key");
	GIVES("!network evil.example\n", "!network evil.example");
}

Test(learn, the_place_is_what_the_rule_names)
{
	struct learn_refusal list[] = { refusal("write /opt/data/new/file"),
					refusal("write /home/u/new/file") };
	struct cordon_error err;
	struct learned l;

	list[0].place = STR("/opt/data");
	list[1].place = STR("/home/u");
	cr_assert_eq(learn_rules(&a, list, 2, &places, &l, &err), 0);
	cr_assert_eq(l.rules.n, 1);
	cr_assert(str_eq(l.rules.at[0].place, STR("/opt/data")));
	cr_assert(learn_answers(&l.rules.at[0], &list[0]));
	cr_assert(!learn_answers(&l.rules.at[0], &list[1]));
	cr_assert_eq(l.left_out.n, 1);
	cr_assert(strstr(l.left_out.at[0].left_out, "make a directory"));
}

Test(learn, out_of_memory_is_an_error)
{
	struct learn_refusal list[] = { refusal("read /opt/data/x") };
	struct arena none = { .max = 1 };
	struct cordon_error err;
	struct learned l;

	cr_assert_eq(learn_rules(&none, list, 1, &places, &l, &err), -CORDON_E_NOMEM);
	list[0].left_out = "closed";
	cr_assert_eq(learn_rules(&none, list, 1, &places, &l, &err), -CORDON_E_NOMEM);
}

Test(learn, accesses_by_directory)
{
	struct accesses *all = accesses_new();

	accesses_add(all, VIOLATION_write, STR("/opt/data/x"));
	accesses_add(all, VIOLATION_write, STR("/opt/data/y"));
	accesses_add(all, VIOLATION_read, STR("/opt/data/y"));
	accesses_add(all, VIOLATION_read, STR("/"));
	cr_assert_eq(accesses_count(all), 3);
	cr_assert(str_eq(accesses_at(all, 0)->dir, STR("/opt/data")));
	cr_assert_eq(accesses_at(all, 0)->op, VIOLATION_write);
	cr_assert_eq(accesses_at(all, 0)->count, 2);
	cr_assert_eq(accesses_at(all, 1)->op, VIOLATION_read);
	cr_assert_eq(accesses_total(all, VIOLATION_write), 2);
	cr_assert_eq(accesses_total(all, VIOLATION_read), 2);
	accesses_free(all);
	cr_assert_eq(accesses_count(NULL), 0);
	cr_assert_eq(accesses_total(NULL, VIOLATION_read), 0);
	accesses_free(NULL);
}

Test(learn, accesses_have_a_ceiling)
{
	struct accesses *all = accesses_new();
	char path[64];

	for (unsigned i = 0; i < ACCESSES_MAX + 10; i++) {
		snprintf(path, sizeof(path), "/d%u/x", i);
		accesses_add(all, VIOLATION_read, str_of(path));
	}
	cr_assert_eq(accesses_count(all), ACCESSES_MAX);
	cr_assert_eq(accesses_total(all, VIOLATION_read), ACCESSES_MAX + 10);
	accesses_free(all);
}
