/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "policy/config.h"

#define ARENA_MAX ((size_t)64 << 20)

static struct arena a;

static void setup(void)
{
	arena_init(&a, ARENA_MAX);
}

static void teardown(void)
{
	arena_free(&a);
}

TestSuite(config, .init = setup, .fini = teardown);

static int parse(enum source source, const char *text, struct config *ret, struct cordon_error *err)
{
	memset(err, 0, sizeof(*err));
	return config_parse(&a, str_of(text), "f.toml", source, ret, err);
}

static void refused(enum source source, const char *text, const char *message)
{
	struct cordon_error err;
	struct config c;

	cr_assert_lt(parse(source, text, &c, &err), 0, "accepted: %s", text);
	cr_assert_str_eq(err.message, message, "%s", err.message);
}

static const struct statement *only(const struct layer *layer)
{
	cr_assert_eq(layer->statements.n, 1);
	return &layer->statements.at[0];
}

/* One right value of each type, and what it becomes. */
static const char *right_value(const struct key_row *row)
{
	switch (row->type) {
	case TYPE_PATHS:
	case TYPE_PATTERNS:
		return "[\"/a\"]";
	case TYPE_PUBLISH:
		return "[\"8080:3000\"]";
	case TYPE_HOSTS:
		return "[\"b.com\"]";
	case TYPE_PORTS:
		return "[8080]";
	case TYPE_NETWORK:
		return "[\"a.com\"]";
	case TYPE_CHOICE:
		return arena_printf(&a, "\"%s\"", choice_to_string(row->choices, 0));
	case TYPE_BOOL:
		return "true";
	case TYPE_DURATION:
		return "\"10m\"";
	case TYPE_SIZE:
		return "\"2G\"";
	case TYPE_COUNT:
		return "7";
	case TYPE_NAME:
		return "\"name\"";
	case TYPE_NAMES:
		return "[\"N_*\"]";
	case TYPE_ENVIRON:
		return "{ A = \"1\" }";
	}
	return NULL;
}

static const char *header(const struct key_row *row)
{
	return row->scope == SCOPE_PROFILE ? "[sandbox.profiles.p]" : "[sandbox]";
}

static const struct layer *layer_of(const struct config *c, const struct key_row *row)
{
	return row->scope == SCOPE_PROFILE ? &c->profiles.at[0].layer : &c->sandbox;
}

Test(config, every_key_takes_its_type)
{
	for (unsigned k = 0; k < KEY_COUNT; k++) {
		const struct key_row *row = &key_rows[k];
		const char *text = arena_printf(&a, "%s\n%s = %s\n", header(row), row->name,
						right_value(row));
		const struct statement *s;
		struct cordon_error err;
		struct config c;

		cr_assert_eq(parse(SOURCE_USER, text, &c, &err), 0, "%s: %s", text, err.message);
		s = only(layer_of(&c, row));
		cr_assert_eq(s->key, k);
		cr_assert_eq(s->origin.line, 2);
		cr_assert_eq(s->origin.source, SOURCE_USER);
	}
}

Test(config, every_key_refuses_other_types)
{
	static const char *const values[] = { "1979-05-27",  "1.5",	  "[[1]]",
					      "[{ a = 1 }]", "-1",	  "\"\"",
					      "[1.5]",	     "{ a = 1 }", "[\"\"]" };

	for (unsigned k = 0; k < KEY_COUNT; k++)
		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			const struct key_row *row = &key_rows[k];
			const char *text = arena_printf(&a, "%s\n%s = %s\n", header(row), row->name,
							values[i]);
			struct cordon_error err;
			struct config c;

			cr_assert_eq(parse(SOURCE_USER, text, &c, &err), -CORDON_E_CONFIG,
				     "accepted: %s", text);
			cr_assert_eq(strncmp(err.message, "f.toml:2:", 9), 0, "%s", err.message);
			cr_assert(row->type == TYPE_NETWORK || row->type == TYPE_HOSTS ||
					  strstr(err.message, row->name),
				  "%s", err.message);
		}
}

Test(config, empty_lists_are_kept)
{
	for (unsigned k = 0; k < KEY_COUNT; k++) {
		const struct key_row *row = &key_rows[k];
		const char *empty = row->type == TYPE_ENVIRON ? "{}" : "[]";
		const char *text = arena_printf(&a, "%s\n%s = %s\n", header(row), row->name, empty);
		struct cordon_error err;
		struct config c;

		if (!key_type_is_list(row->type))
			continue;
		cr_assert_eq(parse(SOURCE_USER, text, &c, &err), 0, "%s: %s", text, err.message);
		cr_assert(only(layer_of(&c, row))->empty, "%s", row->name);
	}
}

Test(config, project_file_may_only_narrow)
{
	for (unsigned k = 0; k < KEY_COUNT; k++) {
		const struct key_row *row = &key_rows[k];
		const char *text = arena_printf(&a, "[sandbox]\n%s = %s\n", row->name,
						right_value(row));
		struct cordon_error err;
		struct config c;
		int r = parse(SOURCE_PROJECT, text, &c, &err);

		cr_assert_eq(r == 0, row->narrow != NARROW_FORBID, "%s", row->name);
		if (r < 0 && k != KEY_EXTENDS)
			cr_assert_not_null(
				strstr(err.message, arena_printf(&a,
								 ": a project file may not set "
								 "'%s': it can only narrow",
								 row->name)));
	}
}

Test(config, which_keys_are_forbidden)
{
	static const enum key forbidden[] = {
		KEY_ENABLED,  KEY_DEFAULT_PROFILE, KEY_FALLBACK, KEY_BACKEND,
		KEY_MODE,     KEY_EXTENDS,	   KEY_UNIX,	 KEY_BIND,
		KEY_PUBLISH,  KEY_CACHES,	   KEY_ENV_PASS, KEY_ENV_SET,
		KEY_SHARE_TMP
	};
	unsigned count = 0;

	for (unsigned k = 0; k < KEY_COUNT; k++)
		count += key_rows[k].narrow == NARROW_FORBID;
	cr_assert_eq(count, sizeof(forbidden) / sizeof(forbidden[0]));
	for (unsigned i = 0; i < count; i++)
		cr_assert_eq(key_rows[forbidden[i]].narrow, NARROW_FORBID);
}

Test(config, aliases)
{
	struct cordon_error err;
	struct config c;
	const struct statement *s;
	int r = parse(SOURCE_USER,
		      "[sandbox.profiles.p]\n"
		      "readonly_paths = [\"/r\"]\n"
		      "writable_paths = [\"/w\"]\n"
		      "blocked_paths = [\"/b\"]\n"
		      "allow_network = true\n"
		      "timeout = 90\n"
		      "memory_limit_mb = 512\n"
		      "share_pid = true\n"
		      "new_session = false\n",
		      &c, &err);

	cr_assert_eq(r, 0, "%s", err.message);
	s = c.profiles.at[0].layer.statements.at;
	cr_assert_eq(s[0].key, KEY_READ);
	cr_assert_eq(s[1].key, KEY_WRITE);
	cr_assert_eq(s[2].key, KEY_DENY);
	cr_assert(s[3].key == KEY_NETWORK && str_eq(s[3].text, STR("on")));
	cr_assert(s[4].key == KEY_TIMEOUT && s[4].number == 90000);
	cr_assert(s[5].key == KEY_MEMORY && s[5].number == (uint64_t)512 << 20);
	cr_assert(s[6].key == KEY_SHARE_PID && s[6].number == 1);
	cr_assert(s[7].key == KEY_NEW_SESSION && s[7].number == 0);
	r = parse(SOURCE_USER, "[sandbox]\nallow_network = false\n", &c, &err);
	cr_assert(r == 0 && str_eq(only(&c.sandbox)->text, STR("off")));
	r = parse(SOURCE_USER, "[sandbox]\nfallback = \"degrade\"\n", &c, &err);
	cr_assert(r == 0 && only(&c.sandbox)->number == FALLBACK_DEGRADE);
	r = parse(SOURCE_USER, "[sandbox]\nmemory_limit_mb = \"none\"\n", &c, &err);
	cr_assert(r == 0 && only(&c.sandbox)->number == 0);
}

Test(config, one_value_per_setting)
{
	refused(SOURCE_USER, "[sandbox]\ntimeout = 1\nlimits.timeout = 2\n",
		"f.toml:3:8: 'limits.timeout' and 'timeout' are the same setting; give one of "
		"them");
	refused(SOURCE_USER, "[sandbox]\nnetwork = \"off\"\nallow_network = true\n",
		"f.toml:3:1: 'network' and 'allow_network' are the same setting; give one of them");
}

Test(config, unknown_things)
{
	struct cordon_error err;
	struct config c;

	refused(SOURCE_USER, "[sandbox]\nraed = []\n", "f.toml:2:1: unknown key 'raed'");
	cr_assert_lt(parse(SOURCE_USER, "[sandbox]\nraed = []\n", &c, &err), 0);
	cr_assert_str_eq(err.hint, "did you mean 'read'?");
	refused(SOURCE_USER, "x = 1\n", "f.toml:1:1: unknown key 'x'");
	refused(SOURCE_USER, "[sandbox]\n\"limits.timeout\" = 1\n",
		"f.toml:2:1: unknown key 'limits.timeout'");
	refused(SOURCE_USER, "[sandbox]\nlimits = 1\n",
		"f.toml:2:10: 'limits' must be a table, not an integer");
	refused(SOURCE_USER, "[sandbox]\nlimits.timeout.x = 1\n",
		"f.toml:2:8: limits.timeout must be a time such as \"10m\" or a number of seconds, "
		"not a table");
	refused(SOURCE_USER, "sandbox = 1\n",
		"f.toml:1:11: 'sandbox' must be a table, not an "
		"integer");
	refused(SOURCE_USER, "[sandbox.locked]\ndeny = []\n",
		"f.toml:1:10: only the system's configuration may lock rules");
	refused(SOURCE_PROJECT, "[sandbox.profiles.x]\n",
		"f.toml:1:10: a project file may not define profiles; write its rules directly "
		"below [sandbox]");
	refused(SOURCE_USER, "[sandbox.profiles.x]\nenabled = true\n",
		"f.toml:2:1: 'enabled' belongs in [sandbox], not in a profile");
	refused(SOURCE_USER, "[sandbox]\nextends = \"x\"\n",
		"f.toml:2:1: 'extends' belongs in a profile");
	refused(SOURCE_SYSTEM, "[sandbox.locked]\nunix = [\"/x\"]\n",
		"f.toml:2:1: 'unix' cannot be locked: it does not narrow anything");
}

Test(config, wrong_values)
{
	refused(SOURCE_USER, "[sandbox]\nprotect = \"gaurd\"\n",
		"f.toml:2:11: protect: 'gaurd' is not one of off, guard, exact");
	refused(SOURCE_USER, "[sandbox]\nlimits.timeout = \"1x\"\n",
		"f.toml:2:18: limits.timeout: '1x' is not a time such as 30s, 10m, 1h30m or "
		"500ms, or none");
	refused(SOURCE_USER, "[sandbox]\nlimits.procs = 0\n",
		"f.toml:2:16: limits.procs: '0' is not a number above 0, or none");
	refused(SOURCE_USER, "[sandbox]\nbind = [70000]\n",
		"f.toml:2:9: bind: '70000' is not a port from 1 to 65535");
	refused(SOURCE_USER, "[sandbox]\nnetwork = [\"a.com\", \"on\"]\n",
		"f.toml:2:21: network: 'on' is not a host: \"on\" and \"off\" stand alone, not "
		"in a list");
	refused(SOURCE_USER, "[sandbox]\nnetwork = \"yes\"\n",
		"f.toml:2:11: network: 'yes' is not \"off\", \"on\" or a list of hosts");
	refused(SOURCE_USER, "[sandbox]\nnetwork = [\"1.2.3\"]\n",
		"f.toml:2:12: host '1.2.3': looks like a number; write an address in full");
	refused(SOURCE_USER, "[sandbox]\nmemory_limit_mb = \"512\"\n",
		"f.toml:2:19: limits.memory must be a number of megabytes by this name, not a "
		"string");
	refused(SOURCE_USER, "[sandbox]\nmemory_limit_mb = 9223372036854775807\n",
		"f.toml:2:19: limits.memory: '9223372036854775807' is not a size that fits 64 "
		"bits");
	refused(SOURCE_USER, "[sandbox]\nenv.set = { \"A=B\" = \"c\" }\n",
		"f.toml:2:13: env.set: 'A=B' is not the name of a variable");
	refused(SOURCE_USER, "[sandbox]\nenv.set = { \"A\\u0000B\" = \"c\" }\n",
		"f.toml:2:13: env.set: 'A\\x00B' is not the name of a variable");
	refused(SOURCE_USER, "[sandbox]\nenv.set = { A = \"c\\u0000\" }\n",
		"f.toml:2:13: env.set: 'A' is not a variable: its value holds a NUL");
	refused(SOURCE_USER, "[sandbox]\nenv.unset = [\"[A\"]\n",
		"f.toml:2:14: env.unset: '[A' is not a name or pattern");
	refused(SOURCE_USER, "[sandbox]\nread = [\"a\\u0000b\"]\n",
		"f.toml:2:9: read: 'a\\x00b' is not a path");
}

Test(config, locked_rules_have_their_own_source)
{
	struct cordon_error err;
	struct config c;

	cr_assert_eq(parse(SOURCE_SYSTEM,
			   "[sandbox]\nread = [\"/a\"]\n[sandbox.locked]\nread = "
			   "[\"/b\"]\n",
			   &c, &err),
		     0, "%s", err.message);
	cr_assert_eq(only(&c.sandbox)->origin.source, SOURCE_SYSTEM);
	cr_assert_eq(only(&c.locked)->origin.source, SOURCE_LOCKED);
}

Test(config, flags_as_text)
{
	struct origin o = { SOURCE_FLAGS, "--x", 0, 0 };
	struct cordon_error err;
	struct layer l = { 0 };

	cr_assert_eq(layer_add_text(&a, &l, KEY_NETWORK, STR("a.com,b.com:1"), &o, &err), 0);
	cr_assert_eq(l.statements.n, 2);
	cr_assert_eq(layer_add_text(&a, &l, KEY_NETWORK, STR(""), &o, &err), 0);
	cr_assert(str_eq(l.statements.at[2].text, STR("on")));
	cr_assert_eq(layer_add_text(&a, &l, KEY_BIND, STR("80,81"), &o, &err), 0);
	cr_assert_eq(l.statements.at[4].number, 81);
	cr_assert_eq(layer_add_text(&a, &l, KEY_READ, STR("a,b"), &o, &err), 0);
	cr_assert(str_eq(l.statements.at[5].text, STR("a,b")), "a path may hold a comma");
	cr_assert_lt(layer_add_text(&a, &l, KEY_NETWORK, STR("a.com,on"), &o, &err), 0);
	cr_assert_str_eq(err.message, "--x: 'on' is not a host: \"on\" and \"off\" stand "
				      "alone, not in a list");
	cr_assert_lt(layer_add_text(&a, &l, KEY_BIND, STR("80,"), &o, &err), 0);
	cr_assert_lt(layer_add_text(&a, &l, KEY_READ, STR(""), &o, &err), 0);
}

Test(config, long_lists_and_names)
{
	autobuf struct buf b = buf_make(1 << 20);
	struct cordon_error err;
	struct config c;

	buf_adds(&b, "[sandbox]\nread = [");
	for (int i = 0; i <= LIST_MAX; i++)
		buf_adds(&b, "\"a\",");
	buf_adds(&b, "]\n");
	cr_assert_eq(parse(SOURCE_USER, b.p, &c, &err), -CORDON_E_LIMIT);
	cr_assert_str_eq(err.message, "f.toml:2:8: read has more than 10000 elements");
	buf_clear(&b);
	for (int i = 0; i <= PROFILES_MAX; i++)
		buf_addf(&b, "[sandbox.profiles.p%d]\n", i);
	cr_assert_eq(parse(SOURCE_USER, b.p, &c, &err), -CORDON_E_CONFIG);
	cr_assert_str_eq(err.message, "f.toml:257:19: more than 256 profiles");
}
