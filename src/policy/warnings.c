/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warnings about secrets (DESIGN 4, rule 12): a rule that opens one, a workdir that
 * lies in one; about sockets that lead out; and about rules that do nothing. Decides nothing.
 */
#include "policy/warnings.h"

#include "base/path.h"
#include "fmt/glob.h"

static int warn(struct policy *p, const char *text, struct cordon_error *err)
{
	const char **slot = text ? vec_push(&p->warnings, p->arena) : NULL;

	if (!slot)
		return err_nomem(err, "policy");
	*slot = text;
	return 0;
}

/* A glob opens a secret when it matches nothing above it and something at it or below. */
static int secret_by_glob(const struct policy *p, const struct rule *rule, const struct rule **ret,
			  struct cordon_error *err)
{
	struct ruleset *alone = ruleset_new(p->arena);
	struct rule copy = *rule;
	int r;

	copy.right = RIGHT_READ;
	r = alone ? ruleset_add(alone, &copy, err) : err_nomem(err, "policy");
	for (size_t i = 0; r == 0 && !*ret && i < ruleset_count(p->trusted.rules); i++) {
		const struct rule *secret = ruleset_at(p->trusted.rules, i);
		struct match m;

		if (!(secret->flags & RULE_SECRET))
			continue;
		ruleset_match(alone, secret->path, &m);
		if (m.alive && (!m.data.rule || m.data.depth == path_depth(secret->path)))
			*ret = secret;
	}
	return r;
}

/* The secret that a rule opens, as a whole or in part; NULL when there is none. */
static int opened_secret(const struct policy *p, const struct rule *rule, const struct rule **ret,
			 struct cordon_error *err)
{
	struct match m;

	*ret = NULL;
	if (rule->origin.source < SOURCE_USER || rule->right == RIGHT_DENY ||
	    rule->flags & (RULE_ALIAS | RULE_CAP))
		return 0;
	if (rule->kind == RULE_GLOB)
		return secret_by_glob(p, rule, ret, err);
	ruleset_match(p->trusted.rules, rule->path, &m);
	if (m.secret.rule && m.secret.depth <= path_depth(rule->path))
		*ret = m.secret.rule;
	return 0;
}

static int warn_opened(struct policy *p, const struct rule *rule, const struct rule *secret,
		       struct cordon_error *err)
{
	autobuf struct buf text = buf_make(16384);

	origin_print(&text, &rule->origin);
	buf_addf(&text, ": %s ", right_to_string(rule->right));
	buf_add_escaped(&text, rule->spelled);
	buf_adds(&text, " opens a secret (");
	buf_add_escaped(&text, secret->spelled);
	buf_adds(&text, ")");
	return warn(p, text.failed ? NULL : arena_dup(p->arena, buf_str(&text)), err);
}

/* Nothing there is as it should be: files for many projects mention what only some of them
 * have, and a grant that was given for this run may be for what the command is to make. */
static bool may_be_absent(const struct policy *p, const struct rule *rule)
{
	enum source source = rule->origin.source;

	/* srt takes what is not there for nothing to do. */
	if (source == SOURCE_SETTINGS)
		return true;
	if (source == SOURCE_SYSTEM || source == SOURCE_USER)
		return rule->right == RIGHT_DENY || rule->right == RIGHT_READ;
	return source == SOURCE_FLAGS && rule->right == RIGHT_WRITE &&
	       policy_decide(p, path_parent(rule->path)).data == ACCESS_WRITE;
}

/* A rule that somebody wrote for a path where nothing is may be a typing error; a deny
 * holds all the same, should it appear. */
static int warn_absent(struct policy *p, const struct rule *rule, struct cordon_error *err)
{
	autobuf struct buf text = buf_make(16384);

	if (rule->origin.source == SOURCE_PROFILE || rule->kind == RULE_GLOB || rule->set ||
	    rule->flags & (RULE_ALIAS | RULE_OPTIONAL) || rule->node.type != NODE_ABSENT ||
	    may_be_absent(p, rule))
		return 0;
	origin_print(&text, &rule->origin);
	buf_addf(&text, ": %s ", right_to_string(rule->right));
	buf_add_escaped(&text, rule->spelled);
	buf_adds(&text, ": nothing is there now (");
	buf_add_escaped(&text, rule->path);
	buf_adds(&text, ")");
	return warn(p, text.failed ? NULL : arena_dup(p->arena, buf_str(&text)), err);
}

static int warn_absent_in(struct policy *p, const struct ruleset *rules, struct cordon_error *err)
{
	int r = 0;

	for (size_t i = 0; rules && r == 0 && i < ruleset_count(rules); i++)
		r = warn_absent(p, ruleset_at(rules, i), err);
	return r;
}

/* The rule of the same source that gives less on the same path, and so holds (DESIGN 4,
 * rule 5); NULL when the write rule is not idle. */
static const struct rule *tie_of(const struct policy *p, const struct rule *write)
{
	const struct rule *read;
	struct match m;

	if (write->right != RIGHT_WRITE || write->kind == RULE_GLOB || write->set)
		return NULL;
	ruleset_match(p->trusted.rules, write->path, &m);
	read = m.data.rule;
	if (!read || read->right != RIGHT_READ || read->kind == RULE_GLOB || read->set ||
	    read->origin.source != write->origin.source || !str_eq(read->path, write->path))
		return NULL;
	/* Of two that are spelled through a symlink the first pair was told of. */
	return read->flags & write->flags & RULE_ALIAS ? NULL : read;
}

/* The rules are as they should be, and the workdir is where another of them is. */
static int warn_shown_workdir(struct policy *p, const struct rule *read, struct cordon_error *err)
{
	autobuf struct buf text = buf_make(16384);

	buf_adds(&text, "the workdir is ");
	buf_add_escaped(&text, p->places.workdir);
	buf_adds(&text, ", which as such is not made writable: the profile has read ");
	buf_add_escaped(&text, read->spelled);
	buf_adds(&text, " [");
	origin_print(&text, &read->origin);
	buf_adds(&text, "], and of both on one path reading holds; choose a "
			"directory below it");
	return warn(p, text.failed ? NULL : arena_dup(p->arena, buf_str(&text)), err);
}

static int warn_tie(struct policy *p, const struct rule *write, struct cordon_error *err)
{
	const struct rule *read = tie_of(p, write);
	autobuf struct buf text = buf_make(16384);

	if (!read)
		return 0;
	if (write->origin.source == SOURCE_PROFILE && str_eq(write->path, p->places.workdir) &&
	    !str_eq(write->spelled, read->spelled) && str_starts(write->spelled, STR("{")))
		return warn_shown_workdir(p, read, err);
	origin_print(&text, &write->origin);
	buf_adds(&text, ": write ");
	buf_add_escaped(&text, write->spelled);
	buf_adds(&text, " does nothing: read ");
	buf_add_escaped(&text, read->spelled);
	buf_adds(&text, " [");
	origin_print(&text, &read->origin);
	buf_adds(&text, "] is for the same path, and the lower access holds; leave out the read "
			"to have it writable (write lets it be read, too)");
	return warn(p, text.failed ? NULL : arena_dup(p->arena, buf_str(&text)), err);
}

static int warn_workdir(struct policy *p, struct cordon_error *err)
{
	struct match m;

	ruleset_match(p->trusted.rules, p->places.workdir, &m);
	if (!m.secret.rule || m.secret.depth >= path_depth(p->places.workdir))
		return 0;
	return warn(p,
		    arena_printf(p->arena, "the workdir lies inside a secret (%s)",
				 m.secret.rule->spelled.p),
		    err);
}

#define ENGINE "a container engine starts what it is asked to, outside, mostly as root"
#define BUS "services there run programs outside for whoever asks, as systemd-run does"
#define AGENT "the agent there uses your keys for whoever asks"
#define SCREEN "who reaches it reads and types into the other windows, outside"

/* Sockets that are as good as no sandbox, by the names that they have everywhere. */
static const struct {
	const char *dir; /* the name of the directory; NULL: any */
	const char *name, *why;
} ways_out[] = {
	{ NULL, "docker.sock", ENGINE },
	{ NULL, "podman.sock", ENGINE },
	{ NULL, "containerd.sock", ENGINE },
	{ NULL, "crio.sock", ENGINE },
	{ NULL, "buildkitd.sock", ENGINE },
	{ NULL, "system_bus_socket", BUS },
	{ NULL, "bus", BUS },
	{ "dbus-*", "*", BUS },
	{ "systemd", "private", BUS },
	{ NULL, "agent.*", AGENT },
	{ NULL, "*.agent.*", AGENT },
	{ NULL, "ssh-agent*", AGENT },
	{ NULL, "S.gpg-agent*", AGENT },
	{ "keyring", "*", AGENT },
	{ "gcr", "ssh", AGENT },
	{ ".X11-unix", "X*", SCREEN },
	{ "tmux-*", "*", SCREEN },
};

const char *policy_way_out(struct str socket)
{
	struct str dir = path_last(path_parent(socket)), name = path_last(socket);

	for (size_t i = 0; i < sizeof(ways_out) / sizeof(ways_out[0]); i++)
		if (glob_component_match(str_of(ways_out[i].name), name) &&
		    (!ways_out[i].dir || glob_component_match(str_of(ways_out[i].dir), dir)))
			return ways_out[i].why;
	return NULL;
}

static int warn_socket(struct policy *p, const struct statement *s, struct cordon_error *err)
{
	autobuf struct buf text = buf_make(16384);
	const char *why = policy_way_out(s->text);

	if (!why)
		return 0;
	origin_print(&text, &s->origin);
	buf_adds(&text, ": unix ");
	buf_add_escaped(&text, s->text);
	buf_addf(&text, " leads out of the sandbox: %s", why);
	return warn(p, text.failed ? NULL : arena_dup(p->arena, buf_str(&text)), err);
}

int policy_warn(struct policy *p, struct cordon_error *err)
{
	for (size_t i = 0; i < ruleset_count(p->trusted.rules); i++) {
		const struct rule *rule = ruleset_at(p->trusted.rules, i), *secret;
		int r = opened_secret(p, rule, &secret, err);

		if (r == 0 && secret)
			r = warn_opened(p, rule, secret, err);
		if (r == 0)
			r = warn_tie(p, rule, err);
		if (r < 0)
			return r;
	}
	vec_each(s, &p->effective_lists[KEY_UNIX].items)
		if (warn_socket(p, s, err) < 0)
			return -err->code;
	if (warn_absent_in(p, p->trusted.rules, err) < 0)
		return -err->code;
	vec_each(o, &p->narrowing)
		if ((*o)->layer == LAYER_PROJECT &&
		    warn_absent_in(p, (*o)->settings.rules, err) < 0)
			return -err->code;
	return warn_workdir(p, err);
}
