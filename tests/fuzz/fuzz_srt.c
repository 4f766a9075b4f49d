/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes settings files of srt: read, build the policy with a fake file system, decide. An
 * error has a place; whatever the file says, files that decide what runs later are not
 * written, nor the file itself, and secrets open only with a warning.
 */
#include <string.h>

#include "fuzz.h"
#include "policy/policy.h"
#include "policy/profiles.h"
#include "world_fake.h"

#define ARENA_MAX ((size_t)128 << 20)

static void check_error(const struct cordon_error *err, int r)
{
	CHECK(r == -err->code && err->message[0]);
	for (const char *p = err->message; *p; p++)
		CHECK((unsigned char)*p >= 0x20);
	if (err->code == CORDON_E_SYNTAX || err->code == CORDON_E_CONFIG)
		CHECK(!strncmp(err->message, "/s.json:", 8) && err->message[8] > '0' &&
		      err->message[8] <= '9');
}

static void check_policy(const struct policy *p)
{
	static const char *const kept[] = { "/s.json", "/w/.git/hooks/x", "/w/.git/config",
					    "/home/u/.bashrc", "/w/.zshrc", "/w/.mcp.json",
					    "/home/u/.srt-settings.json" };

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		CHECK(policy_decide(p, str_of(kept[i])).data < ACCESS_WRITE);
	if (policy_decide(p, STR("/home/u/.ssh/id")).data > ACCESS_NONE)
		CHECK(p->warnings.n);
	CHECK(policy_net_mode(p) != NET_ON);
	CHECK(policy_decide(p, STR("/home/u/.cordon/keys")).data == ACCESS_NONE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cordon_error err = { 0 };
	struct srt_settings settings;
	autoarena struct arena a;
	struct fake_world fake;
	struct config builtin;
	struct policy *policy;
	struct policy_input in = {
		.builtin = &builtin,
		.world = &fake.world,
		.settings = &settings,
		.places = { .workdir = STR("/w"),
			    .home = STR("/home/u"),
			    .tmp = STR("/tmp"),
			    .data = STR("/w"),
			    .cordon_home = STR("/home/u/.cordon"),
			    .git_dir = STR("/w/.git") },
	};
	int r;

	arena_init(&a, ARENA_MAX);
	fake_world_init(&fake, &a);
	CHECK(fake_world_add(&fake, STR("/w/.git"), NODE_DIR));
	CHECK(profiles_load(&a, &builtin, &err) == 0);
	r = srt_read(&a, (struct str){ (const char *)data, size }, "/s.json", &in.places, in.world,
		     &settings, &err);
	if (r == 0)
		r = policy_build(&a, &in, &policy, &err);
	if (r < 0)
		check_error(&err, r);
	else
		check_policy(policy);
	return 0;
}
