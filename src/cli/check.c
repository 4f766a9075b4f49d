/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a configuration file, and builds each profile in it, to find what is wrong. */
#include "cli/check.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "cli/show.h"
#include "fmt/located.h"

int check_read(struct opts *o, const char *path, enum source source, struct config *ret,
	       struct cordon_error *err)
{
	struct str text;
	struct stat st;
	int r;

	/* What is not there has no line to jump to. */
	if (strcmp(path, "-") != 0 && lstat(path, &st) < 0 && errno == ENOENT)
		return err_set(err, CORDON_E_CONFIG, ENOENT, "config", "%s",
			       quote(str_of(path)).text);
	if (strcmp(path, "-") != 0)
		return situation_read_config(o->arena, path, source, ret, err);
	r = fd_read_stream(o->arena, 0, "<stdin>", CONFIG_BYTES_MAX, &text, err);
	return r < 0 ? r : config_parse(o->arena, text, "<stdin>", source, ret, err);
}

static int build(struct opts *o, const struct situation *s, const struct config *config,
		 const char *profile, struct cordon_error *err)
{
	struct policy_input in = {
		.profile = profile, .builtin = &s->builtin, .places = s->places,
		.world = &s->world,
	};
	struct policy *policy;

	if (config->origin.source == SOURCE_PROJECT)
		in.project = config;
	else if (config->origin.source == SOURCE_SYSTEM)
		in.system = config;
	else
		in.user = config;
	return policy_build(o->arena, &in, &policy, err);
}

/* Paths, hosts and names of parents are looked at only when a policy is built. */
static int build_all(struct opts *o, const struct config *config, struct cordon_error *err)
{
	struct situation_options options;
	struct situation s;
	int r;

	opts_situation(o, &options);
	options.no_files = true;
	r = situation_read(o->arena, &options, &s, err);
	if (r == 0)
		r = build(o, &s, config, NULL, err);
	for (size_t i = 0; i < config->profiles.n && r == 0; i++)
		r = build(o, &s, config, config->profiles.at[i].name.p, err);
	return r;
}

/* A project file is right and does nothing where it would widen; `config show` says so of
 * those in force. */
static void warn_idle(struct opts *o, const struct config *config)
{
	autobuf struct buf b = buf_make((size_t)1 << 20);
	struct situation_options options;
	struct cordon_error ignored;
	struct policy_input in;
	struct situation s;
	struct policy *policy;
	struct str line, rest;

	opts_situation(o, &options);
	if (situation_read(o->arena, &options, &s, &ignored) < 0)
		return;
	in = situation_input(&s);
	in.profile = options.profile;
	in.flags = &o->flags;
	in.project = config;
	if (policy_build(o->arena, &in, &policy, &ignored) < 0)
		return;
	show_idle(&b, policy);
	for (rest = buf_str(&b); str_cut(rest, '\n', &line, &rest);)
		out_note(o, "warning: %.*s", STR_ARG(line));
}

int check_file(struct opts *o, const char *path, enum source source)
{
	struct cordon_error err;
	struct config config;
	autobuf struct buf b = buf_make(64);
	int r = check_read(o, path, source, &config, &err);

	if (r == 0)
		r = build_all(o, &config, &err);
	if (r < 0)
		return out_error(o, &err);
	if (source == SOURCE_PROJECT)
		warn_idle(o, &config);
	if (opts_given(o, OPTION_JSON))
		return out_json(o, json_pack("{s:b}", "ok", 1));
	buf_adds(&b, "ok\n");
	return out_text(o, &b);
}
