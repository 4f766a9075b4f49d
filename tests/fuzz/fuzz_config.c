/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes configuration files of every kind: parse, build the policy with a fake file
 * system, decide. The first byte picks the source. An error names file and line; a
 * project file never allows what is not allowed without it.
 */
#include <string.h>

#include "fuzz.h"
#include "policy/policy.h"
#include "policy/profiles.h"
#include "world_fake.h"

#define ARENA_MAX ((size_t)128 << 20)

static const char *const objects[] = {
	"/",
	"/w",
	"/w/a",
	"/w/.env",
	"/w/.git/config",
	"/w/a/b/c/d/e",
	"/home/u/.ssh/id",
	"/home/u/.config/git/config",
	"/home/u/x",
	"/etc/shadow",
	"/tmp/x",
	"/usr/bin/env",
	"/data/real/x",
	"/home/u/.cordon/keys",
};

static void check_error(const struct cordon_error *err, int r)
{
	CHECK(r == -err->code && err->message[0]);
	for (const char *p = err->message; *p; p++)
		CHECK((unsigned char)*p >= 0x20);
	for (const char *p = err->hint; *p; p++)
		CHECK((unsigned char)*p >= 0x20);
	if (err->code == CORDON_E_SYNTAX || err->code == CORDON_E_CONFIG)
		CHECK(!strncmp(err->message, "fuzz:", 5) && err->message[5] > '0' &&
		      err->message[5] <= '9');
}

static void make_world(struct fake_world *fake, struct arena *a)
{
	struct fake_entry *link;

	fake_world_init(fake, a);
	CHECK(fake_world_add(fake, STR("/w/.git"), NODE_DIR));
	CHECK(fake_world_add(fake, STR("/data/real"), NODE_DIR));
	link = fake_world_add(fake, STR("/w/link"), NODE_SYMLINK);
	CHECK(link);
	link->target = STR("../data/real");
	link = fake_world_add(fake, STR("/w/loop"), NODE_SYMLINK);
	CHECK(link);
	link->target = STR("loop");
}

static struct policy_input input_with(const struct config *builtin, const struct world *world)
{
	return (struct policy_input){
		.builtin = builtin,
		.world = world,
		.places = { .workdir = STR("/w"),
			    .home = STR("/home/u"),
			    .tmp = STR("/tmp"),
			    .data = STR("/w"),
			    .cordon_home = STR("/home/u/.cordon"),
			    .git_dir = STR("/w/.git") },
	};
}

static void check_decisions(const struct policy *policy, const struct policy *without)
{
	bool project = policy->narrowing.n && policy->narrowing.at[0]->layer == LAYER_PROJECT;
	static const char *const hosts[] = { "example.com:443", "a.example.org", "127.0.0.1:80" };

	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
		struct decision d = policy_decide(policy, str_of(objects[i]));
		struct decision w = policy_decide(without, str_of(objects[i]));

		CHECK(d.exec ? d.data >= ACCESS_READ : true);
		CHECK(d.data == ACCESS_NONE || d.data_rule);
		if (d.data_rule && d.data_rule->flags & RULE_PRIVATE)
			continue; /* not the object of the host */
		CHECK(!project || (d.data <= w.data && d.exec <= w.exec));
	}
	for (size_t i = 0; i < 3; i++) {
		struct cordon_error err;
		struct host h;

		CHECK(host_parse_target(str_of(hosts[i]), &h, &err) == 0);
		if (project && policy_decide_host(policy, &h).allowed)
			CHECK(policy_decide_host(without, &h).allowed);
	}
}

static void check_policy(struct arena *a, const struct config *builtin, const struct config *c)
{
	struct cordon_error err = { 0 };
	struct fake_world fake;
	struct policy *without, *policy;
	struct policy_input in;
	int r;

	make_world(&fake, a);
	in = input_with(builtin, &fake.world);
	CHECK(policy_build(a, &in, &without, &err) == 0);
	if (c->origin.source == SOURCE_SYSTEM)
		in.system = c;
	else if (c->origin.source == SOURCE_USER)
		in.user = c;
	else
		in.project = c;
	if (c->profiles.n)
		in.profile = c->profiles.at[0].name.p;
	r = policy_build(a, &in, &policy, &err);
	if (r == 0)
		check_decisions(policy, without);
	else
		check_error(&err, r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum source sources[] = { SOURCE_SYSTEM, SOURCE_USER, SOURCE_PROJECT };
	struct cordon_error err = { 0 };
	autoarena struct arena a;
	struct config builtin, config;
	struct str text;
	int r;

	arena_init(&a, ARENA_MAX);
	if (!size)
		return 0;
	CHECK(profiles_load(&a, &builtin, &err) == 0);
	text = (struct str){ (const char *)data + 1, size - 1 };
	r = config_parse(&a, text, "fuzz", sources[data[0] % 3], &config, &err);
	if (r < 0)
		check_error(&err, r);
	else
		check_policy(&a, &builtin, &config);
	return 0;
}
