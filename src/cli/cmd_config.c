/* SPDX-License-Identifier: Apache-2.0 */
/* cordon config: show, check, path. */
#include "base/path.h"
#include "cli/check.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "cli/show.h"
#include "fmt/json.h"

/* --file: the built-in profiles and that file, nothing else. */
static int read_only(struct opts *o, const char *path, struct policy **ret,
		     struct cordon_error *err)
{
	struct situation_options options;
	struct policy_input in;
	struct config config;
	struct situation s;
	int r = check_read(o, path, SOURCE_USER, &config, err);

	opts_situation(o, &options);
	options.no_files = true;
	/* Named profiles may be the file's own: they are looked up below. */
	options.profile = NULL;
	if (r == 0)
		r = situation_read(o->arena, &options, &s, err);
	if (r < 0)
		return r;
	in = (struct policy_input){
		.profile = o->value[OPTION_PROFILE], .builtin = &s.builtin, .user = &config,
		.settings = s.settings, .flags = &o->flags, .places = s.places, .world = &s.world,
		.no_sandbox = options.no_sandbox,
	};
	return policy_build(o->arena, &in, ret, err);
}

static int config_show(struct opts *o)
{
	struct cordon_error err;
	struct situation s;
	struct policy *policy;
	autobuf struct buf b = buf_make(OUT_BYTES_MAX);
	json_t *json = NULL;
	int r;

	if (opts_given(o, OPTION_FILE)) {
		r = read_only(o, o->value[OPTION_FILE], &policy, &err);
	} else {
		r = setup_policy(o, &s, &err);
		policy = s.policy;
	}
	if (r < 0)
		return out_error(o, &err);
	setup_warn(o, policy);
	if (opts_given(o, OPTION_JSON))
		r = show_json(o->arena, policy, &json, &err);
	else
		r = show_toml(o->arena, policy, &b, &err);
	if (r < 0)
		return out_error(o, &err);
	return json ? out_json(o, json) : out_text(o, &b);
}

static int config_check(struct opts *o)
{
	static const char *const words[] = { "system", "user", "project", NULL };
	static const enum source sources[] = { SOURCE_SYSTEM, SOURCE_USER, SOURCE_PROJECT };
	bool project = str_eq(path_last(str_of(o->words.at[1])), STR(PROJECT_CONFIG));
	struct cordon_error err;
	int as = opts_choice(o, OPTION_AS, words, project ? 2 : 1, &err);

	return as < 0 ? out_error(o, &err) : check_file(o, o->words.at[1], sources[as]);
}

static void add_file(json_t *list, struct buf *b, const char *kind, const char *path,
		     bool present)
{
	json_t *row = json_pack("{s:s, s:b}", "kind", kind, "present", present);

	json_set_text(row, "path", str_of(path));
	json_array_append_new(list, row);
	buf_addf(b, "%-8s", kind);
	buf_add_escaped(b, str_of(path));
	buf_adds(b, present ? "\n" : " (absent)\n");
}

static int config_path(struct opts *o)
{
	struct cordon_error err;
	struct situation s;
	json_t *list;
	autobuf struct buf b = buf_make(OUT_BYTES_MAX);

	if (setup_policy(o, &s, &err) < 0)
		return out_error(o, &err);
	list = json_array();
	add_file(list, &b, "system", s.system.path, s.system.present);
	add_file(list, &b, "user", s.user.path, s.user.present);
	vec_each(file, &s.projects)
		add_file(list, &b, "project", (*file)->path, true);
	/* Looked for in every parent, so none has a place where it is not. */
	if (!s.projects.n)
		add_file(list, &b, "project", PROJECT_CONFIG, false);
	if (opts_given(o, OPTION_JSON))
		return out_json(o, json_pack("{s:o}", "files", list));
	json_decref(list);
	return out_text(o, &b);
}

int cmd_config(struct opts *o)
{
	static const char *const names[] = { "show", "check", "path", NULL };
	struct cordon_error err;
	int which = opts_subcommand(o, names, &err);
	int r = which < 0 ? which : opts_words(o, which == 1 ? 2 : 1, which == 1 ? 2 : 1, &err);

	if (r < 0)
		return out_error(o, &err);
	if (which == 0)
		return config_show(o);
	return which == 1 ? config_check(o) : config_path(o);
}
