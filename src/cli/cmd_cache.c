/* SPDX-License-Identifier: Apache-2.0 */
/* cordon cache: private caches of toolchains and shared /tmp directories, listed and cleared. */
#include <time.h>

#include "base/num.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "fmt/json.h"
#include "run/keep.h"

static json_t *kept_to_json(const struct kept *kept)
{
	json_t *row = json_pack("{s:I, s:I, s:b}", "bytes", (json_int_t)kept->bytes, "used",
				(json_int_t)kept->used, "busy", kept->busy);

	if (row && json_set_text(row, kept->shared.n ? "shared_tmp" : "project",
				 kept->shared.n ? kept->shared : kept->project) &&
	    json_set_text(row, "path", str_of(kept->path)))
		return row;
	json_decref(row);
	return NULL;
}

/* With `failed`, what went wrong besides. */
static int print_json(const struct opts *o, const char *key, const struct kept_list *list,
		      const struct cordon_error *failed)
{
	json_t *rows = json_array(), *answer;
	int bad = !rows;

	vec_each(kept, &list->items)
		bad |= json_array_append_new(rows, kept_to_json(kept));
	answer = bad ? NULL : json_pack("{s:O}", key, rows);
	json_decref(rows);
	if (answer && failed &&
	    json_object_set_new(answer, "error", out_error_to_json(failed)) < 0) {
		json_decref(answer);
		answer = NULL;
	}
	return out_json(o, answer);
}

static void print_row(struct buf *b, const struct kept *kept)
{
	autobuf struct buf size = buf_make(64);
	time_t used = (time_t)kept->used;
	struct tm when;
	char date[32] = "?";

	num_print_size(&size, kept->bytes);
	if (localtime_r(&used, &when))
		strftime(date, sizeof(date), "%Y-%m-%d", &when);
	buf_addf(b, "%-10s %s  ", size.p, date);
	if (kept->shared.n) {
		buf_adds(b, "--share-tmp ");
		buf_add_escaped(b, kept->shared);
	} else if (kept->project.n)
		buf_add_escaped(b, kept->project);
	else
		buf_add_escaped(b, str_of(kept->path));
	buf_adds(b, kept->busy ? " (in use)\n" : "\n");
}

static int cache_list(const struct opts *o, const struct kept_list *list)
{
	autobuf struct buf b = buf_make(OUT_BYTES_MAX);

	if (opts_given(o, OPTION_JSON))
		return print_json(o, "caches", list, NULL);
	vec_each(kept, &list->items)
		print_row(&b, kept);
	if (!list->items.n)
		buf_adds(&b, "no project has private caches, and no /tmp is shared\n");
	return out_text(o, &b);
}

/* Those of this project, a shared /tmp, or all. */
static bool is_meant(const struct opts *o, const struct kept *kept, struct str workdir)
{
	if (opts_given(o, OPTION_ALL))
		return true;
	if (opts_given(o, OPTION_SHARED))
		return kept->shared.n && str_eq(kept->shared, str_of(o->value[OPTION_SHARED]));
	return !kept->shared.n && str_eq(kept->project, workdir);
}

/* What was removed is said also when something could not be. */
static int say_cleared(const struct opts *o, const struct kept_list *gone,
		       const struct cordon_error *failed)
{
	autobuf struct buf b = buf_make(OUT_BYTES_MAX);
	int status;

	if (opts_given(o, OPTION_JSON)) {
		status = print_json(o, "cleared", gone, failed);
		return failed ? STATUS_FAILED : status;
	}
	vec_each(kept, &gone->items) {
		buf_adds(&b, "cleared ");
		print_row(&b, kept);
	}
	if (!gone->items.n && !failed)
		buf_adds(&b, "nothing to clear\n");
	status = out_text(o, &b);
	return failed ? out_error(o, failed) : status;
}

static int cache_clear(const struct opts *o, const struct kept_list *list,
		       const struct places *places)
{
	struct kept_list gone = { 0 };
	struct cordon_error err, ignored;
	bool failed = keep_sweep(o->arena, places->cordon_home, &err) < 0;

	vec_each(kept, &list->items) {
		struct kept *slot;

		if (!is_meant(o, kept, places->workdir))
			continue;
		if (keep_clear(o->arena, kept, failed ? &ignored : &err) < 0) {
			failed = true;
			continue;
		}
		slot = vec_push(&gone.items, o->arena);
		if (!slot) {
			err_nomem(&err, "cache");
			return out_error(o, &err);
		}
		*slot = *kept;
	}
	return say_cleared(o, &gone, failed ? &err : NULL);
}

/* What is not of one project is found wherever one is, also in a directory that is gone: any
 * workdir will do that holds nobody's home. */
static int find_places(const struct opts *o, bool list, struct places *ret,
		       struct cordon_error *err)
{
	bool any = list || opts_given(o, OPTION_ALL) || opts_given(o, OPTION_SHARED);
	struct situation_options options;
	int r;

	opts_situation(o, &options);
	r = situation_places(o->arena, &options, ret, err);
	if (r == 0 || options.workdir || !any)
		return r;
	options.workdir = "/proc";
	return situation_places(o->arena, &options, ret, err);
}

int cmd_cache(struct opts *o)
{
	static const char *const words[] = { "list", "clear", NULL };
	struct kept_list list = { 0 };
	struct cordon_error err;
	struct places places;
	int word = opts_subcommand(o, words, &err);
	int r = word < 0 ? word : opts_words(o, 1, 1, &err);

	if (r == 0)
		r = find_places(o, word == 0, &places, &err);
	if (r == 0)
		r = keep_list(o->arena, places.cordon_home, &list, &err);
	if (r < 0)
		return out_error(o, &err);
	return word == 0 ? cache_list(o, &list) : cache_clear(o, &list, &places);
}
