/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policies as their callers make them. Each statement is checked at once by the code that
 * reads flags and files, and kept as the flag that says the same.
 */
#include "lib/lib.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

#define stage "policy"
#define POLICY_MEMORY_MAX ((size_t)16 << 20)
#define TOML_MAX ((size_t)4 << 20)
#define NUMBER_MAX 32

struct cordon_policy *cordon_policy_new(const char *profile)
{
	struct cordon_policy *policy = calloc(1, sizeof(*policy));

	if (!policy)
		return NULL;
	arena_init(&policy->arena, POLICY_MEMORY_MAX);
	if (profile)
		policy->profile = arena_dup(&policy->arena, str_of(profile));
	policy_builder_init(&policy->said, &policy->arena, policy->profile);
	if (profile && !policy->profile)
		policy->said.failed = err_nomem(&policy->said.error, stage);
	else if (profile && !*profile)
		policy->said.failed = err_set(&policy->said.error, CORDON_E_CONFIG, 0, stage,
					      "the name of the profile is empty");
	return policy;
}

void cordon_policy_free(struct cordon_policy *policy)
{
	struct arena arena;

	if (!policy)
		return;
	arena = policy->arena;
	arena_free(&arena);
	free(policy);
}

int cordon_policy_check(const struct cordon_policy *policy, struct cordon_error *err)
{
	err = LIB_ERR(err);
	if (!policy)
		return err_nomem(err, stage);
	if (policy->said.failed)
		*err = policy->said.error;
	return policy->said.failed;
}

static bool is_usable(const struct cordon_policy *policy)
{
	return policy && !policy->said.failed;
}

static void fail_nomem(struct cordon_policy *policy)
{
	policy->said.failed = err_nomem(&policy->said.error, stage);
}

static void refuse(struct cordon_policy *policy, const char *key, const char *why)
{
	policy->said.failed =
		err_set(&policy->said.error, CORDON_E_CONFIG, 0, stage, "%s: %s", key, why);
}

static void keep_word(struct cordon_policy *policy, const char *word)
{
	const char **slot = word ? vec_push(&policy->words, &policy->arena) : NULL;

	if (slot)
		*slot = word;
	else
		fail_nomem(policy);
}

/* "--ptrace=false" is understood although its row says --no-ptrace. */
static const char *flag_of(enum key key, struct str *ret_name)
{
	struct str flag = str_of(key_rows[key].flag);
	bool negative = key_rows[key].type == TYPE_BOOL && str_starts(flag, STR("--no-"));

	*ret_name = str_skip(flag, negative ? 5 : 2);
	return key_rows[key].flag;
}

static void say(struct cordon_policy *policy, enum key key, const char *value)
{
	struct str name;

	if (!is_usable(policy))
		return;
	if (!value) {
		refuse(policy, key_rows[key].name, "no value");
		return;
	}
	if (!flag_of(key, &name)) {
		refuse(policy, key_rows[key].name, "can only be said in a configuration file");
		return;
	}
	policy_builder_add(&policy->said, key, value);
	if (is_usable(policy))
		keep_word(policy, arena_printf(&policy->arena, "--%.*s=%s", STR_ARG(name), value));
}

void cordon_policy_readonly_path(struct cordon_policy *policy, const char *path)
{
	say(policy, KEY_READ, path);
}

void cordon_policy_writable_path(struct cordon_policy *policy, const char *path)
{
	say(policy, KEY_WRITE, path);
}

void cordon_policy_blocked_path(struct cordon_policy *policy, const char *path)
{
	say(policy, KEY_DENY, path);
}

void cordon_policy_allow_network(struct cordon_policy *policy, const char *hosts)
{
	say(policy, KEY_NETWORK, hosts && *hosts ? hosts : "off");
}

static void say_number(struct cordon_policy *policy, enum key key, const struct buf *text)
{
	if (is_usable(policy) && text->failed)
		fail_nomem(policy);
	say(policy, key, text->n ? text->p : "none");
}

void cordon_policy_timeout(struct cordon_policy *policy, uint64_t milliseconds)
{
	autobuf struct buf text = buf_make(NUMBER_MAX);

	if (milliseconds)
		num_print_duration(&text, milliseconds);
	say_number(policy, KEY_TIMEOUT, &text);
}

void cordon_policy_memory_limit_mb(struct cordon_policy *policy, uint64_t mb)
{
	autobuf struct buf text = buf_make(NUMBER_MAX);

	if (mb)
		buf_addf(&text, "%lluM", (unsigned long long)mb);
	say_number(policy, KEY_MEMORY, &text);
}

static void say_bool(struct cordon_policy *policy, enum key key, bool yes)
{
	say(policy, key, yes ? "true" : "false");
}

void cordon_policy_share_pid(struct cordon_policy *policy, bool yes)
{
	say_bool(policy, KEY_SHARE_PID, yes);
}

void cordon_policy_new_session(struct cordon_policy *policy, bool yes)
{
	say_bool(policy, KEY_NEW_SESSION, yes);
}

void cordon_policy_set(struct cordon_policy *policy, const char *key, const char *value)
{
	enum key found;

	if (!is_usable(policy))
		return;
	if (!key || !key_from_string(str_of(key), &found)) {
		refuse(policy, key ? key : "NULL", "there is no such key");
		return;
	}
	if (found == KEY_NETWORK)
		cordon_policy_allow_network(policy, value);
	else
		say(policy, found, value);
}

/* NULL takes back what was said. */
static void keep_text(struct cordon_policy *policy, const char **member, const char *text)
{
	if (!is_usable(policy))
		return;
	*member = text ? arena_dup(&policy->arena, str_of(text)) : NULL;
	if (text && !*member)
		fail_nomem(policy);
	else if (text && !*text)
		refuse(policy, "a path", "it is empty");
}

void cordon_policy_workdir(struct cordon_policy *policy, const char *path)
{
	if (policy)
		keep_text(policy, &policy->workdir, path);
}

void cordon_policy_data_dir(struct cordon_policy *policy, const char *path)
{
	if (policy)
		keep_text(policy, &policy->data_dir, path);
}

void cordon_policy_program(struct cordon_policy *policy, const char *path)
{
	if (!is_usable(policy))
		return;
	if (path && path[0] != '/')
		refuse(policy, "the program cordon", "the path must be absolute");
	else
		keep_text(policy, &policy->program, path);
}

void cordon_policy_environment(struct cordon_policy *policy, const char *const *variables)
{
	size_t n = 0;
	char **copy;

	if (!is_usable(policy))
		return;
	policy->environment = NULL;
	if (!variables)
		return;
	while (variables[n])
		n++;
	copy = arena_array(&policy->arena, n + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < n; i++) {
		copy[i] = arena_dup(&policy->arena, str_of(variables[i]));
		if (!copy[i])
			copy = NULL;
	}
	policy->environment = copy;
	if (!copy)
		fail_nomem(policy);
}

int cordon_policy_print(const struct cordon_policy *policy, const char *name, char **ret,
			struct cordon_error *err)
{
	autobuf struct buf text = buf_make(TOML_MAX);
	autoarena struct arena scratch = { .max = POLICY_MEMORY_MAX };
	struct policy_builder said;
	int failed;

	err = LIB_ERR(err);
	failed = cordon_policy_check(policy, err);
	if (failed)
		return failed;
	/* The policy itself is only read, by however many threads. */
	said = policy->said;
	said.arena = &scratch;
	failed = policy_builder_print(&said, name, &text, err);
	if (failed)
		return failed;
	*ret = lib_copy(text.p);
	return *ret ? 0 : err_nomem(err, stage);
}
