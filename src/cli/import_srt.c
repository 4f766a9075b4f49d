/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A settings file of srt as a profile of cordon's own. The same statements that --settings
 * makes, printed; only denyWrite needs care, since a file says "read" for it, which could
 * open what is closed.
 */
#include "cli/import_srt.h"

#include <string.h>

#include "cli/cmd.h"
#include "cli/out.h"
#include "fmt/glob.h"
#include "fmt/json.h"
#include "fmt/located.h"
#include "policy/builder.h"
#include "policy/resolve.h"

#define stage "import"

/* Would "read" open what is closed here? A pattern below the workdir cannot. */
static int would_open(struct opts *o, const struct situation *s, const struct statement *said,
		      bool *ret, struct cordon_error *err)
{
	struct str real;
	struct node node;
	int r;

	*ret = false;
	if (glob_has_magic(said->text)) {
		if (said->text.p[0] != '/' && said->text.p[0] != '~')
			return 0;
		origin_error(err, CORDON_E_CONFIG, stage, &said->origin,
			     "filesystem.denyWrite: %s reaches beyond the workdir, which no "
			     "profile can say",
			     quote(said->text).text);
		return err_hint(err, "use the file itself: cordon run --settings");
	}
	r = resolve_path(o->arena, &s->world, &s->places, said->text, &real, &node, err);
	if (r == 0)
		*ret = policy_decide(s->policy, real).data == ACCESS_NONE;
	return r;
}

static int take_statements(struct opts *o, const struct situation *s, struct policy_builder *b,
			   struct cordon_error *err)
{
	vec_each(said, &s->settings->layer.statements) {
		struct statement *slot;
		bool opens = false;
		int r = said->cap ? would_open(o, s, said, &opens, err) : 0;

		if (r < 0)
			return r;
		if (opens)
			continue;
		slot = vec_push(&b->said.statements, o->arena);
		if (!slot)
			return err_nomem(err, stage);
		*slot = *said;
	}
	return 0;
}

static void say_fates(struct buf *b, const struct srt_settings *settings)
{
	buf_adds(b, "# Made by 'cordon profile import srt' from ");
	buf_add_escaped(b, str_of(settings->file));
	buf_adds(b, ".\n# What became of its keys:\n");
	for (unsigned i = 0; i < SRT_KEY_COUNT; i++)
		if (settings->given[i] && srt_rows[i].fate == SRT_MAPPED)
			buf_addf(b, "#   %s -> %s\n", srt_rows[i].name, srt_rows[i].ours);
	for (unsigned i = 0; i < SRT_KEY_COUNT; i++)
		if (settings->given[i] && srt_rows[i].fate != SRT_MAPPED)
			buf_addf(b, "#   %s: %s\n", srt_rows[i].name, srt_rows[i].why);
	buf_adds(b, "# Which paths lie in each other was looked at where this was made; where a\n"
		    "# relative path means another place, import again or use --settings.\n");
}

static int print_profile(struct opts *o, const struct situation *s, const char *name, struct buf *b,
			 struct cordon_error *err)
{
	struct policy_builder builder;
	int r;

	policy_builder_init(&builder, o->arena, SRT_PROFILE);
	r = take_statements(o, s, &builder, err);
	if (r < 0)
		return r;
	say_fates(b, s->settings);
	return policy_builder_print(&builder, name, b, err);
}

int import_srt(struct opts *o)
{
	const char *name = opts_given(o, OPTION_NAME) ? o->value[OPTION_NAME] : "imported";
	struct situation_options options;
	struct cordon_error err;
	struct situation s;
	autobuf struct buf b = buf_make(OUT_BYTES_MAX);

	if (strcmp(o->words.at[1], "srt") != 0) {
		err_set(&err, CORDON_E_USAGE, 0, "usage", "there is no import from %s",
			quote(str_of(o->words.at[1])).text);
		err_hint(&err, "wanted: cordon profile import srt FILE");
		return out_error(o, &err);
	}
	opts_situation(o, &options);
	options.settings = o->words.at[2];
	if (situation_read(o->arena, &options, &s, &err) < 0 ||
	    print_profile(o, &s, name, &b, &err) < 0)
		return out_error(o, &err);
	setup_warn(o, s.policy);
	if (opts_given(o, OPTION_JSON))
		return out_json(o, json_pack("{s:s, s:s%}", "name", name, "toml", b.p, b.n));
	return out_text(o, &b);
}
