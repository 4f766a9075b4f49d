/* SPDX-License-Identifier: Apache-2.0 */
/* cordon quarantine: what slipped past the guard, listed, given back and removed. */
#include <time.h>

#include "cli/cmd.h"
#include "cli/out.h"
#include "fmt/json.h"
#include "fmt/located.h"
#include "run/quarantine.h"

enum word { LIST, SHOW, RESTORE, CLEAR };

static bool set_known(json_t *row, const char *key, struct str text)
{
	return text.n ? json_set_text(row, key, text)
		      : json_object_set_new(row, key, json_null()) == 0;
}

static json_t *to_json(const struct quarantined *q)
{
	json_t *row = json_pack("{s:I, s:s, s:I}", "time", (json_int_t)q->time, "kind", q->kind,
				"bytes", (json_int_t)q->bytes);

	if (row && json_set_text(row, "id", str_of(q->id)) && set_known(row, "from", q->from) &&
	    json_set_text(row, "run", q->run) && set_known(row, "workdir", q->workdir) &&
	    json_set_text(row, "path", str_of(q->path)))
		return row;
	json_decref(row);
	return NULL;
}

static json_t *list_to_json(const struct quarantined_list *list)
{
	json_t *rows = json_array();
	int bad = !rows;

	vec_each(q, &list->items)
		bad |= json_array_append_new(rows, to_json(q));
	if (!bad)
		return rows;
	json_decref(rows);
	return NULL;
}

static void print_time(struct buf *b, int64_t seconds)
{
	time_t t = (time_t)seconds;
	struct tm when;
	char date[64] = "?";

	if (localtime_r(&t, &when))
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &when);
	buf_adds(b, date);
}

static void print_known(struct buf *b, struct str text)
{
	if (text.n)
		buf_add_escaped(b, text);
	else
		buf_adds(b, "(not known)");
}

static void print_row(struct buf *b, const struct quarantined *q)
{
	buf_add_escaped(b, str_of(q->id));
	buf_adds(b, "  ");
	print_time(b, q->time);
	buf_addf(b, "  %-9s  ", q->kind);
	print_known(b, q->from);
	buf_addc(b, '\n');
}

static int print_list(const struct opts *o, const struct quarantined_list *list)
{
	autobuf struct buf b = buf_make(OUT_BYTES_MAX);

	if (opts_given(o, OPTION_JSON)) {
		json_t *rows = list_to_json(list);

		return out_json(o, rows ? json_pack("{s:o}", "quarantine", rows) : NULL);
	}
	vec_each(q, &list->items)
		print_row(&b, q);
	if (!list->items.n)
		buf_adds(&b, "nothing is in quarantine\n");
	return out_text(o, &b);
}

static int show(const struct opts *o, const struct quarantined *q)
{
	autobuf struct buf b = buf_make(OUT_BYTES_MAX);

	if (opts_given(o, OPTION_JSON))
		return out_json(o, to_json(q));
	buf_adds(&b, "id       ");
	buf_add_escaped(&b, str_of(q->id));
	buf_adds(&b, "\nfrom     ");
	print_known(&b, q->from);
	buf_adds(&b, "\ntaken    ");
	print_time(&b, q->time);
	buf_adds(&b, "\nrun      ");
	buf_add_escaped(&b, q->run);
	buf_adds(&b, "\nworkdir  ");
	print_known(&b, q->workdir);
	buf_addf(&b, "\nkind     %s", q->kind);
	if (q->bytes)
		buf_addf(&b, ", %llu bytes", (unsigned long long)q->bytes);
	buf_adds(&b, "\nkept in  ");
	buf_add_escaped(&b, str_of(q->path));
	buf_addc(&b, '\n');
	return out_text(o, &b);
}

static int restore(const struct opts *o, const struct quarantined *q)
{
	autobuf struct buf b = buf_make(OUT_BYTES_MAX);
	struct cordon_error err;
	const char *path;
	json_t *answer;

	if (quarantine_restore(o->arena, q, o->value[OPTION_TO], &path, &err) < 0)
		return out_error(o, &err);
	if (!opts_given(o, OPTION_JSON)) {
		buf_adds(&b, "restored ");
		buf_add_escaped(&b, str_of(path));
		buf_addc(&b, '\n');
		return out_text(o, &b);
	}
	answer = json_object();
	if (answer && json_set_text(answer, "restored", str_of(path)) &&
	    json_set_text(answer, "id", str_of(q->id)))
		return out_json(o, answer);
	json_decref(answer);
	return out_json(o, NULL);
}

/* What was removed is said also when something could not be. */
static int say_cleared(const struct opts *o, const struct quarantined_list *gone,
		       const struct cordon_error *err)
{
	autobuf struct buf b = buf_make(OUT_BYTES_MAX);
	int status = 0;

	if (opts_given(o, OPTION_JSON)) {
		json_t *rows = list_to_json(gone);
		json_t *answer = rows ? json_pack("{s:o}", "cleared", rows) : NULL;

		if (answer && err &&
		    json_object_set_new(answer, "error", out_error_to_json(err)) < 0) {
			json_decref(answer);
			answer = NULL;
		}
		status = out_json(o, answer);
		return err ? STATUS_FAILED : status;
	}
	vec_each(q, &gone->items) {
		buf_adds(&b, "removed ");
		print_row(&b, q);
	}
	if (!gone->items.n && !err)
		buf_adds(&b, "nothing is in quarantine\n");
	status = out_text(o, &b);
	return err ? out_error(o, err) : status;
}

/* One, or with NULL all. */
static int clear(const struct opts *o, const struct quarantined_list *list,
		 const struct quarantined *only)
{
	struct quarantined_list gone = { 0 };
	struct cordon_error err, ignored;
	bool failed = false;

	vec_each(q, &list->items) {
		struct quarantined *slot;

		if (only && q != only)
			continue;
		if (quarantine_clear(q, failed ? &ignored : &err) < 0) {
			failed = true;
			continue;
		}
		slot = vec_push(&gone.items, o->arena);
		if (!slot) {
			err_nomem(&err, "quarantine");
			return out_error(o, &err);
		}
		*slot = *q;
	}
	return say_cleared(o, &gone, failed ? &err : NULL);
}

static const char *nearest(const struct opts *o, const struct quarantined_list *list, struct str id)
{
	VEC(const char *) ids = { 0 };

	vec_each(q, &list->items) {
		const char **slot = vec_push(&ids, o->arena);

		if (slot)
			*slot = q->id;
	}
	return vec_push(&ids, o->arena) ? str_nearest(id, ids.at) : NULL;
}

/* NULL with *err filled. */
static const struct quarantined *find(const struct opts *o, const struct quarantined_list *list,
				      struct cordon_error *err)
{
	struct str id = str_of(o->words.at[1]);
	const char *near;

	vec_each(q, &list->items)
		if (str_eq(str_of(q->id), id))
			return q;
	near = nearest(o, list, id);
	err_set(err, CORDON_E_USAGE, 0, "quarantine", "nothing in quarantine has the id %s",
		quote(id).text);
	if (near)
		err_hint(err, "did you mean %s?", quote(str_of(near)).text);
	else if (list->items.n)
		err_hint(err, "'cordon quarantine list' shows what there is");
	else
		err_hint(err, "nothing is in quarantine");
	return NULL;
}

static int check_words(const struct opts *o, int word, struct cordon_error *err)
{
	int r = opts_words(o, word == SHOW || word == RESTORE ? 2 : 1, word == LIST ? 1 : 2, err);

	if (r == 0 && word != RESTORE && opts_given(o, OPTION_TO))
		return err_set(err, CORDON_E_USAGE, 0, "quarantine", "--to is for restore alone");
	return r;
}

int cmd_quarantine(struct opts *o)
{
	static const char *const words[] = { "list", "show", "restore", "clear", NULL };
	const struct quarantined *one = NULL;
	struct quarantined_list list = { 0 };
	struct situation_options options;
	struct cordon_error err;
	struct places places;
	int word = opts_subcommand(o, words, &err);
	int r = word < 0 ? word : check_words(o, word, &err);

	opts_situation(o, &options);
	if (r == 0)
		r = situation_places(o->arena, &options, &places, &err);
	if (r == 0)
		r = quarantine_list(o->arena, places.cordon_home, &list, &err);
	if (r == 0 && o->words.n > 1) {
		one = find(o, &list, &err);
		r = one ? 0 : -1;
	}
	if (r < 0)
		return out_error(o, &err);
	switch ((enum word)word) {
	case LIST:
		return print_list(o, &list);
	case SHOW:
		return show(o, one);
	case RESTORE:
		return restore(o, one);
	case CLEAR:
		break;
	}
	return clear(o, &list, one);
}
