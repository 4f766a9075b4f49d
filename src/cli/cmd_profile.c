/* SPDX-License-Identifier: Apache-2.0 */
/* cordon profile: list, show, check; import is import_srt.c. */
#include <string.h>

#include "base/fd.h"
#include "cli/check.h"
#include "cli/cmd.h"
#include "cli/import_srt.h"
#include "cli/out.h"
#include "fmt/json.h"
#include "fmt/located.h"
#include "policy/profiles.h"

#define NAME_WIDTH 12

/* The comment at the top of a built-in profile is its summary. */
static const char *summary(struct arena *a, const struct builtin_file *file)
{
	struct str text = { file->text, file->size }, line;
	autobuf struct buf b = buf_make(4096);

	while (str_cut(text, '\n', &line, &text) && str_starts(line, STR("#"))) {
		if (b.n)
			buf_addc(&b, ' ');
		buf_add(&b, str_trim(str_skip(line, 1)));
	}
	return arena_dup(a, buf_str(&b));
}

static bool is_profile(const struct builtin_file *file)
{
	return strcmp(file->name, "defaults") != 0;
}

static int list_json(struct opts *o, const struct situation *s)
{
	const struct config *files[] = { &s->system.config, &s->user.config };
	json_t *list = json_array();
	int bad = !list;

	for (const struct builtin_file *f = builtin_files; f->name; f++)
		if (is_profile(f))
			bad |= json_array_append_new(
				list, json_pack("{s:s, s:s, s:s}", "name", f->name, "from",
						"built in", "summary", summary(o->arena, f)));
	for (unsigned i = 0; i < 2; i++)
		vec_each(p, &files[i]->profiles) {
			json_t *row = json_object();

			bad |= !row || !json_set_text(row, "name", p->name) ||
			       !json_set_text(row, "from", str_of(p->origin.file));
			bad |= json_array_append_new(list, row);
		}
	if (!bad)
		return out_json(o, json_pack("{s:o}", "profiles", list));
	json_decref(list);
	return out_json(o, NULL);
}

/* As wide as the column of names; a longer one moves what follows. */
static void print_padded(struct buf *b, struct str name)
{
	size_t from = b->n;

	buf_add_escaped(b, name);
	while (b->n < from + NAME_WIDTH && !b->failed)
		buf_addc(b, ' ');
}

static int profile_list(struct opts *o)
{
	const struct config *files[2];
	struct cordon_error err;
	struct situation s;
	autobuf struct buf b = buf_make(OUT_BYTES_MAX);

	if (setup_policy(o, &s, &err) < 0)
		return out_error(o, &err);
	if (opts_given(o, OPTION_JSON))
		return list_json(o, &s);
	for (const struct builtin_file *f = builtin_files; f->name; f++)
		if (is_profile(f))
			buf_addf(&b, "%-*s %s\n", NAME_WIDTH, f->name, summary(o->arena, f));
	files[0] = &s.system.config;
	files[1] = &s.user.config;
	for (unsigned i = 0; i < 2; i++)
		vec_each(p, &files[i]->profiles) {
			print_padded(&b, p->name);
			buf_adds(&b, " (");
			origin_print(&b, &p->origin);
			buf_adds(&b, ")\n");
		}
	return out_text(o, &b);
}

static const char *nearest(struct opts *o, const struct situation *s, struct str name)
{
	const struct config *files[] = { &s->system.config, &s->user.config };
	VEC(const char *) names = { 0 };

	for (const struct builtin_file *f = builtin_files; f->name; f++) {
		const char **slot = vec_push(&names, o->arena);

		if (slot)
			*slot = f->name;
	}
	for (unsigned i = 0; i < 2; i++)
		vec_each(p, &files[i]->profiles) {
			const char **slot = vec_push(&names, o->arena);

			if (slot)
				*slot = p->name.p;
		}
	return vec_push(&names, o->arena) ? str_nearest(name, names.at) : NULL;
}

static int unknown_profile(struct opts *o, const struct situation *s)
{
	struct str name = str_of(o->words.at[1]);
	const char *near = nearest(o, s, name);
	struct cordon_error err;

	err_set(&err, CORDON_E_USAGE, 0, "profile", "there is no profile %s", quote(name).text);
	if (near)
		err_hint(&err, "did you mean '%s'?", near);
	else
		err_hint(&err, "'cordon profile list' shows what there is");
	return out_error(o, &err);
}

/* Is the line "[sandbox.profiles.NAME]", or the head of a table below that one? *ret_head
 * says whether it is the head of any table. */
static bool opens_table(struct str line, struct str name, bool *ret_head)
{
	autobuf struct buf head = buf_make(CONFIG_BYTES_MAX);
	autobuf struct buf wanted = buf_make(CONFIG_BYTES_MAX);
	struct str text, rest;

	*ret_head = str_starts(str_trim(line), STR("["));
	str_cut(str_skip(str_trim(line), 1), ']', &text, &rest);
	for (size_t i = 0; i < text.n; i++)
		if (!strchr(" \t\"'", text.p[i]))
			buf_addc(&head, text.p[i]);
	buf_addc(&head, '.');
	buf_addf(&wanted, "sandbox.profiles.%.*s.", STR_ARG(name));
	return *ret_head && str_starts(buf_str(&head), buf_str(&wanted));
}

static bool states(const struct profile *p, unsigned line)
{
	vec_each(s, &p->layer.statements)
		if (s->origin.line == line)
			return true;
	return false;
}

/* The lines of the profile's tables; where it has none, those its statements are on. */
static int print_lines(struct opts *o, const struct profile *p, struct buf *b,
		       struct cordon_error *err)
{
	struct str text, line, rest;
	bool in_table = false, any = false, head;
	int r = fd_read_file(o->arena, p->origin.file, CONFIG_BYTES_MAX, &text, err);

	if (r < 0)
		return r;
	for (rest = text; rest.n;) {
		str_cut(rest, '\n', &line, &rest);
		if (opens_table(line, p->name, &head))
			in_table = any = true;
		else if (head)
			in_table = false;
		if (in_table)
			buf_addf(b, "%.*s\n", STR_ARG(line));
	}
	rest = text;
	for (unsigned n = 1; rest.n && !any; n++) {
		str_cut(rest, '\n', &line, &rest);
		if (states(p, n))
			buf_addf(b, "%.*s\n", STR_ARG(line));
	}
	return 0;
}

/* Every profile is printed as it was written, a built-in one and what a file says. */
static int profile_show(struct opts *o)
{
	const struct builtin_file *builtin;
	const struct profile *found = NULL;
	struct cordon_error err;
	struct situation s;
	autobuf struct buf b = buf_make(OUT_BYTES_MAX);

	if (setup_policy(o, &s, &err) < 0)
		return out_error(o, &err);
	builtin = profiles_text(str_of(o->words.at[1]));
	if (builtin)
		buf_add(&b, (struct str){ builtin->text, builtin->size });
	for (unsigned i = 0; i < 2; i++) {
		const struct config *file = i ? &s.user.config : &s.system.config;
		const struct profile *p = config_profile(file, str_of(o->words.at[1]));

		if (!p)
			continue;
		found = p;
		buf_adds(&b, builtin ? "# amended in " : "# defined in ");
		origin_print(&b, &p->origin);
		buf_addc(&b, '\n');
		if (print_lines(o, p, &b, &err) < 0)
			return out_error(o, &err);
	}
	if (!builtin && !found)
		return unknown_profile(o, &s);
	if (opts_given(o, OPTION_JSON))
		return out_json(o, json_pack("{s:s, s:s%}", "name", o->words.at[1], "toml", b.p,
					     b.n));
	return out_text(o, &b);
}

int cmd_profile(struct opts *o)
{
	static const char *const names[] = { "list", "show", "check", "import", NULL };
	static const size_t words[] = { 1, 2, 2, 3 };
	struct cordon_error err;
	int which = opts_subcommand(o, names, &err);
	int r = which < 0 ? which : opts_words(o, words[which], words[which], &err);

	if (r < 0)
		return out_error(o, &err);
	if (which == 0)
		return profile_list(o);
	if (which == 1)
		return profile_show(o);
	return which == 2 ? check_file(o, o->words.at[1], SOURCE_USER) : import_srt(o);
}
