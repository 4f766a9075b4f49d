/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of srt: what each key becomes, and what srt means by its lists together. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "policy_fixture.h"

static struct srt_settings settings;

TestSuite(srt, .init = fixture_setup, .fini = fixture_teardown);

#define FILES(read, again, write, deny) \
	"{\"network\":{\"allowedDomains\":[],\"deniedDomains\":[]},\"filesystem\":{" \
	"\"denyRead\":[" read "],\"allowRead\":[" again "],\"allowWrite\":[" write \
	"],\"denyWrite\":[" deny "]}}"
#define HOSTS(allowed, denied) \
	"{\"network\":{\"allowedDomains\":[" allowed "],\"deniedDomains\":[" denied \
	"]},\"filesystem\":{\"denyRead\":[],\"allowWrite\":[],\"denyWrite\":[]}}"
#define BEGIN "{\"network\":{\"allowedDomains\":[],\"deniedDomains\":[]"
#define FS "},\"filesystem\":{\"denyRead\":[],\"allowWrite\":[],\"denyWrite\":[]"

static int read_text(const char *text)
{
	return srt_read(&a, str_of(text), "/s.json", &in.places, in.world, &settings, &err);
}

static struct policy *policy_of(const char *text)
{
	cr_assert_eq(read_text(text), 0, "%s", err.message);
	in.settings = &settings;
	return built();
}

static enum access verdict(const struct policy *p, const char *object)
{
	return policy_decide(p, str_of(object)).data;
}

static bool reaches(const struct policy *p, const char *host)
{
	struct host h;

	cr_assert_eq(host_parse_target(str_of(host), &h, &err), 0);
	return policy_decide_host(p, &h).allowed;
}

static bool warned(const char *words)
{
	vec_each(w, &settings.warnings)
		if (strstr(*w, words))
			return true;
	return false;
}

Test(srt, nothing_is_written_that_is_not_named)
{
	struct policy *p = policy_of(FILES("", "", "", ""));

	cr_assert_eq(verdict(p, "/w/a"), ACCESS_READ);
	cr_assert_eq(verdict(p, "/home/u/x"), ACCESS_READ);
	cr_assert_eq(verdict(p, "/home/u/.ssh/id"), ACCESS_NONE);
	cr_assert_eq(policy_net_mode(p), NET_OFF);
	cr_assert_str_eq(p->profile, "srt");
}

Test(srt, control_files_stay_closed_whatever_is_allowed)
{
	struct policy *p = policy_of(
		FILES("", "", "\".\", \".git/hooks/pre-commit\", \".bashrc\", \"~/.bashrc\"", ""));

	cr_assert_eq(verdict(p, "/w/a"), ACCESS_WRITE);
	cr_assert_eq(verdict(p, "/w/.git/index"), ACCESS_WRITE);
	cr_assert_eq(verdict(p, "/w/.git/hooks/pre-commit"), ACCESS_READ);
	cr_assert_eq(verdict(p, "/w/.bashrc"), ACCESS_READ);
	cr_assert_eq(verdict(p, "/home/u/.bashrc"), ACCESS_READ);
	cr_assert(warned(".git/hooks/pre-commit"));
}

Test(srt, a_denied_write_holds_at_any_depth)
{
	struct fake_entry *link = fake_world_add(&fake, STR("/alias"), NODE_SYMLINK);
	struct policy *p;

	link->target = STR("/w/gen");
	p = policy_of(FILES("", "", "\"/\", \"/w\", \"/alias/deep\", \"gen/deep\"",
			    "\"gen\", \"a/*.key\""));
	cr_assert_eq(verdict(p, "/w/gen/deep/x"), ACCESS_READ);
	cr_assert_eq(verdict(p, "/w/x"), ACCESS_WRITE);
	cr_assert_eq(verdict(p, "/w/a/b.key"), ACCESS_READ);
	cr_assert(warned("gen/deep"));
	cr_assert(warned("/alias/deep"));
	cr_assert_eq(policy_number(p, KEY_PROTECT), PROTECT_EXACT);
}

Test(srt, a_denied_write_above_everything_leaves_nothing)
{
	struct policy *p = policy_of(FILES("", "", "\"/\", \"/w\"", "\"/\""));

	cr_assert_eq(verdict(p, "/w/x"), ACCESS_READ);
}

Test(srt, a_denied_write_opens_no_secret)
{
	struct policy *p = policy_of(FILES("\"/data\"", "", "\"~\"", "\"~/.ssh\", \"/data/x\""));

	cr_assert_eq(verdict(p, "/home/u/.ssh/id"), ACCESS_NONE);
	cr_assert_eq(verdict(p, "/data/x/y"), ACCESS_NONE);
	cr_assert_eq(p->warnings.n, 0);
}

Test(srt, what_is_read_again_stays_writable)
{
	struct policy *p = policy_of(FILES("\"/w\", \"private\"", "\".\", \"gen/x\"", "\".\"",
					   "\"gen\""));

	cr_assert_eq(verdict(p, "/w/a"), ACCESS_WRITE);
	cr_assert_eq(verdict(p, "/w/private/a"), ACCESS_NONE);
	cr_assert_eq(verdict(p, "/w/gen/x"), ACCESS_READ);
}

Test(srt, a_flag_goes_above_and_a_project_file_below)
{
	static const char project[] = "[sandbox]\ndeny = [\"sub\"]\n";
	struct config config;
	struct policy *p;

	with_flag("--allow-write", "/w/gen");
	with_flag("--allow-network", "flag.example");
	cr_assert_eq(config_parse(&a, str_of(project), "/w/.cordon.toml", SOURCE_PROJECT, &config,
				  &err),
		     0);
	in.project = &config;
	p = policy_of(FILES("", "", "\".\"", "\"gen\""));
	cr_assert_eq(verdict(p, "/w/gen/a"), ACCESS_WRITE);
	cr_assert_eq(verdict(p, "/w/sub/a"), ACCESS_NONE);
	cr_assert(reaches(p, "flag.example:1"));
}

Test(srt, the_settings_file_itself_is_not_written)
{
	struct policy *p = policy_of(FILES("", "", "\"/\", \"/s.json\"", ""));

	cr_assert_eq(verdict(p, "/s.json"), ACCESS_READ);
	cr_assert_eq(verdict(p, "/t.json"), ACCESS_WRITE);
}

Test(srt, characters_that_mean_something_here_stand_for_themselves)
{
	struct policy *p = policy_of(FILES("\"{home}\", \"@secrets\", \"=x\", \"a\\\\b\"", "",
					   "\"src/**\"", ""));

	cr_assert_eq(verdict(p, "/w/{home}"), ACCESS_NONE);
	cr_assert_eq(verdict(p, "/home/u/x"), ACCESS_READ);
	cr_assert_eq(verdict(p, "/w/@secrets/k"), ACCESS_NONE);
	cr_assert_eq(verdict(p, "/w/=x/k"), ACCESS_NONE);
	cr_assert_eq(verdict(p, "/w/a\\b"), ACCESS_NONE);
	cr_assert_eq(verdict(p, "/w/src/k"), ACCESS_WRITE);
}

Test(srt, hosts)
{
	struct policy *p = policy_of(HOSTS("\"a.example\", \"*.b.example:443\"",
					   "\"c.b.example\""));

	cr_assert(reaches(p, "a.example:1"));
	cr_assert(reaches(p, "x.b.example:443"));
	cr_assert_not(reaches(p, "x.b.example:80"));
	cr_assert_not(reaches(p, "b.example:443"));
	cr_assert_not(reaches(p, "c.b.example:443"));
}

Test(srt, denying_all_hosts_leaves_none)
{
	cr_assert_eq(policy_net_mode(policy_of(HOSTS("\"a.example\"", "\"*\""))), NET_OFF);
	cr_assert_eq(policy_net_mode(policy_of(HOSTS("", "\"*:22\""))), NET_OFF);
}

Test(srt, credentials)
{
	struct policy *p = policy_of(BEGIN FS
		"},\"credentials\":{\"files\":[{\"path\":\"~/t\",\"mode\":\"deny\"}],"
		"\"envVars\":[{\"name\":\"TOKEN\",\"mode\":\"deny\"}]}}");

	cr_assert_eq(verdict(p, "/home/u/t"), ACCESS_NONE);
	cr_assert_eq(p->effective_lists[KEY_ENV_UNSET].items.n, 1);
}

/* Every key that is only said something about, by its row. */
Test(srt, every_row_of_the_table)
{
	static const char *const values[] = { [SRT_TEXTS] = "[\"x\"]", [SRT_BOOL] = "true",
					      [SRT_NUMBER] = "7",      [SRT_TEXT] = "\"x\"",
					      [SRT_OBJECT] = "{\"x\":{}}",
					      [SRT_ENTRIES] = "[{}]" };

	for (unsigned i = 0; i < SRT_KEY_COUNT; i++) {
		const struct srt_row *row = &srt_rows[i];
		struct str group, key;
		bool nested = str_cut(str_of(row->name), '.', &group, &key);
		char member[200], text[1600];
		int r;

		if (row->fate == SRT_MAPPED)
			continue;
		snprintf(member, sizeof(member), "\"%s\":%s", nested ? key.p : row->name,
			 values[row->shape]);
		snprintf(text, sizeof(text), BEGIN "%s%s" FS "%s%s}%s%s%s}",
			 nested && str_eq(group, STR("network")) ? "," : "",
			 nested && str_eq(group, STR("network")) ? member : "",
			 nested && str_eq(group, STR("filesystem")) ? "," : "",
			 nested && str_eq(group, STR("filesystem")) ? member : "",
			 nested && str_eq(group, STR("credentials")) ? ",\"credentials\":{" :
			 nested					      ? "" :
									",",
			 nested && !str_eq(group, STR("credentials")) ? "" : member,
			 nested && str_eq(group, STR("credentials")) ? "}" : "");
		memset(&settings, 0, sizeof(settings));
		r = read_text(text);
		cr_assert_eq(r < 0, row->fate == SRT_REFUSED, "%s: %s\n%s", row->name, err.message,
			     text);
		if (row->fate == SRT_REFUSED)
			cr_assert(strstr(err.message, row->name) &&
				  strncmp(err.message, "/s.json:1:", 10) == 0,
				  "%s", err.message);
		else
			cr_assert_eq(warned(row->name), row->fate == SRT_IGNORED, "%s", row->name);
	}
}

Test(srt, faults_have_a_place)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
		{ "{\n \"netwrk\": {}}", "/s.json:2:2: unknown key 'netwrk'" },
		{ BEGIN ",\n\"allowedDomain\":[]}}", "/s.json:2:1: unknown key" },
		{ BEGIN "}}", "/s.json:1:1: filesystem.denyRead is missing" },
		{ "{\"network\":{\"allowedDomains\":\"x\"}}",
		  "network.allowedDomains must be a list of strings" },
		{ HOSTS("\n\"on\"", ""), "/s.json:2:1: network: 'on' is not a host" },
		{ HOSTS("\n\"\"", ""), "/s.json:2:1: host ''" },
		{ HOSTS("\"a.example,b.example\"", ""), "labels are letters" },
		{ HOSTS("\"*\"", ""), "/s.json:1:" },
		{ HOSTS("\"a.example\"", "\n\"*:22\""), "/s.json:2:1: network.deniedDomains" },
		{ FILES("\"\"", "", "", ""), "is empty" },
		{ FILES("\"/x/*/\"", "", "", ""), "ends in '/'" },
		{ FILES("\"**.pem\"", "", "", ""), NULL },
		{ FILES("", "", "\n \"src/*.c\"", ""), "/s.json:2:2: filesystem.allowWrite" },
		{ FILES("\"/w\"", "\"*.c\"", "", ""), "filesystem.allowRead" },
		{ FILES("3", "", "", ""), "filesystem.denyRead must be a list of strings" },
		{ BEGIN FS "},\"credentials\":{\"files\":[\n{\"path\":\"x\",\"mode\":\"mask\"}]}}",
		  "/s.json:2:1: credentials.files \"mask\" cannot be kept" },
		{ BEGIN FS "},\"credentials\":{\"envVars\":[{\"name\":\"x\",\"mode\":\"deny\","
			   "\"y\":1}]}}",
		  "not known" },
		{ "[]", "the file must hold an object" },
		{ "", "/s.json:1:1" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct policy *p = NULL;
		int r;

		memset(&settings, 0, sizeof(settings));
		r = read_text(rows[i].text);
		in.settings = &settings;
		if (r == 0)
			r = policy_build(&a, &in, &p, &err);
		cr_assert_lt(r, 0, "%s", rows[i].text);
		cr_assert(!rows[i].message || strstr(err.message, rows[i].message), "%s\n%s",
			  rows[i].text, err.message);
	}
}

Test(srt, goes_with_no_other_profile)
{
	struct policy *p;

	cr_assert_eq(read_text(FILES("", "", "", "")), 0);
	in.settings = &settings;
	in.profile = "permissive";
	cr_assert_eq(policy_build(&a, &in, &p, &err), -CORDON_E_USAGE);
}
