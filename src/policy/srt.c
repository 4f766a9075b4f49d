/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a settings file of srt, key by key. Paths are srt_paths.c. */
#include "policy/srt.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "fmt/json.h"
#include "fmt/located.h"
#include "policy/resolve.h"
#include "policy/srt_in.h"

#define stage "config"
#define WARNING_BYTES_MAX 8192

const struct srt_row srt_rows[SRT_KEY_COUNT] = {
#define SRT_KEY(id, key, shape, duty, fate, ours, why) \
	[SRT_KEY_##id] = { key, SRT_##shape, SRT_##duty, SRT_##fate, ours, why },
#include "policy/srt.def"
#undef SRT_KEY
};

struct walk {
	struct srt_reader r;
	struct json_places places;
};

/* A value and where it stands. */
struct given {
	const char *name; /* "network.allowedDomains" */
	const json_t *value;
	struct origin origin;
};

int srt_warn(struct srt_reader *r, const struct origin *origin, const char *fmt, ...)
{
	autobuf struct buf b = buf_make(WARNING_BYTES_MAX);
	const char **slot = vec_push(&r->to->warnings, r->arena);
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	origin_print(&b, origin);
	buf_addf(&b, ": %s", text);
	if (slot)
		*slot = b.failed ? NULL : arena_dup(r->arena, buf_str(&b));
	return slot && *slot ? 0 : err_nomem(r->err, stage);
}

static struct origin origin_of(struct walk *w, const json_t *container, size_t index)
{
	struct place at = json_place(&w->places, container, index);

	return (struct origin){ SOURCE_SETTINGS, w->r.to->file, at.line, at.column };
}

static struct str text_of(const json_t *value)
{
	return (struct str){ json_string_value(value), json_string_length(value) };
}

__attribute__((format(printf, 3, 4))) static int fault(struct walk *w, const struct given *g,
						       const char *fmt, ...)
{
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return origin_error(w->r.err, CORDON_E_CONFIG, stage, &g->origin, "%s %s", g->name, text);
}

/* --- shapes ------------------------------------------------------------------------- */

static const char *const wanted[] = {
	[SRT_TEXTS] = "a list of strings",  [SRT_BOOL] = "true or false",
	[SRT_NUMBER] = "a number",	    [SRT_TEXT] = "a string",
	[SRT_OBJECT] = "an object",	    [SRT_ENTRIES] = "a list of objects",
};

static bool has_shape(enum srt_shape shape, const json_t *value)
{
	switch (shape) {
	case SRT_TEXTS:
	case SRT_ENTRIES:
		return json_is_array(value);
	case SRT_BOOL:
		return json_is_boolean(value);
	case SRT_NUMBER:
		return json_is_integer(value);
	case SRT_TEXT:
		return json_is_string(value);
	case SRT_OBJECT:
		return json_is_object(value);
	}
	return false;
}

/* The elements are checked where they are used, and here where they are not. */
static int check_shape(struct walk *w, const struct srt_row *row, const struct given *g)
{
	size_t n = json_array_size(g->value);

	if (!has_shape(row->shape, g->value))
		return fault(w, g, "must be %s", wanted[row->shape]);
	if (n > SRT_LIST_MAX)
		return fault(w, g, "has more than %d elements", SRT_LIST_MAX);
	for (size_t i = 0; i < n; i++) {
		const json_t *item = json_array_get(g->value, i);
		struct given one = { g->name, item, origin_of(w, g->value, i) };

		if (row->shape == SRT_TEXTS ? !json_is_string(item) : !json_is_object(item))
			return fault(w, &one, "must be %s", wanted[row->shape]);
	}
	return 0;
}

/* Does it say anything, or is it what srt takes when nothing is said? */
static bool says_something(const json_t *value)
{
	return !json_is_false(value) && !(json_is_array(value) && !json_array_size(value)) &&
	       !(json_is_object(value) && !json_object_size(value));
}

/* --- the network ---------------------------------------------------------------------- */

static int add_each(struct walk *w, const struct given *g, enum key key)
{
	size_t n = json_array_size(g->value);
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		struct origin o = origin_of(w, g->value, i);

		r = layer_add_item(w->r.arena, &w->r.to->layer, key,
				   text_of(json_array_get(g->value, i)), &o, w->r.err);
	}
	return r;
}

/* H64: an empty list is a list, and allows nothing. */
static int allowed_domains(struct walk *w, const struct given *g)
{
	if (!json_array_size(g->value))
		return layer_add_empty(w->r.arena, &w->r.to->layer, KEY_NETWORK, &g->origin,
				       w->r.err);
	return add_each(w, g, KEY_NETWORK);
}

static int denied_domains(struct walk *w, const struct given *g)
{
	int r = 0;

	for (size_t i = 0; i < json_array_size(g->value) && r == 0; i++) {
		struct str text = text_of(json_array_get(g->value, i));
		struct origin *o = arena_new(w->r.arena, struct origin);

		if (!o)
			return err_nomem(w->r.err, stage);
		*o = origin_of(w, g->value, i);
		if (str_eq(text, STR("*")))
			w->r.deny_all = o;
		else if (str_starts(text, STR("*:")))
			w->r.deny_port = o;
		else
			r = layer_add_item(w->r.arena, &w->r.to->layer, KEY_DENY_HOSTS, text, o,
					   w->r.err);
	}
	return r;
}

/* What "*" in deniedDomains leaves of the list of hosts. */
static int end_network(struct walk *w)
{
	struct layer *layer = &w->r.to->layer;
	bool any = false;

	vec_each(s, &layer->statements)
		any |= s->key == KEY_NETWORK && !s->empty;
	if (w->r.deny_all)
		return layer_add_empty(w->r.arena, layer, KEY_NETWORK, w->r.deny_all, w->r.err);
	if (!w->r.deny_port || !any)
		return 0;
	origin_error(w->r.err, CORDON_E_CONFIG, stage, w->r.deny_port,
		     "network.deniedDomains: a port of every host cannot be denied");
	return err_hint(w->r.err, "give the hosts of allowedDomains the ports that are meant");
}

/* --- files -------------------------------------------------------------------------- */

static int add_paths(struct walk *w, const struct given *g, struct srt_path_list *list, bool closes)
{
	size_t n = json_array_size(g->value);
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		struct origin o = origin_of(w, g->value, i);

		r = srt_add_path(&w->r, list, text_of(json_array_get(g->value, i)), closes, &o);
	}
	return r;
}

/* A file that names sockets of several machines is not refused on one that lacks some. */
static int add_socket(struct walk *w, const struct given *g, const struct srt_path *p)
{
	struct srt_reader *r = &w->r;
	struct str real;
	struct node node;
	int failed = resolve_path(r->arena, r->world, r->places, p->text, &real, &node, r->err);

	if (failed)
		return origin_wrap(r->err, &p->origin);
	if (node.type == NODE_ABSENT)
		failed = srt_warn(r, &p->origin, "%s: %s does not exist and stays closed", g->name,
				  quote(p->text).text);
	return failed ? failed
		      : layer_add_item(r->arena, &r->to->layer, KEY_UNIX, p->text, &p->origin,
				       r->err);
}

static int add_sockets(struct walk *w, const struct given *g)
{
	struct srt_path_list list = { 0 };
	int r = add_paths(w, g, &list, false);

	vec_each(p, &list.items)
		if (r == 0)
			r = add_socket(w, g, p);
	return r;
}

/* --- credentials -------------------------------------------------------------------- */

/* Of an entry: its subject and that it is to be denied. The rest is about masking. */
static int read_entry(struct walk *w, const struct given *g, const char *subject, struct str *ret)
{
	static const char *const masking[] = { "extract",    "onExtractNoMatch", "decode",
					       "maskClaims", "maskDuplicates",	 "injectHosts" };
	const json_t *mode = json_object_get(g->value, "mode");
	const json_t *what = json_object_get(g->value, subject), *value;
	size_t left = json_object_size(g->value) - !!mode - !!what;

	for (size_t i = 0; i < sizeof(masking) / sizeof(masking[0]); i++) {
		value = json_object_get(g->value, masking[i]);
		left -= value != NULL;
	}
	if (left)
		return fault(w, g, "holds a key that is not known");
	if (!json_is_string(what) || !json_is_string(mode))
		return fault(w, g, "wants \"%s\" and \"mode\", both strings", subject);
	if (str_eq(text_of(mode), STR("mask"))) {
		fault(w, g, "\"mask\" cannot be kept: nothing is put in a secret's place");
		return err_hint(w->r.err, "\"deny\" closes it");
	}
	if (!str_eq(text_of(mode), STR("deny")))
		return fault(w, g, "mode %s is neither \"deny\" nor \"mask\"",
			     quote(text_of(mode)).text);
	*ret = text_of(what);
	return 0;
}

static int add_credentials(struct walk *w, const struct given *g, const char *subject)
{
	size_t n = json_array_size(g->value);
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		struct given one = { g->name, json_array_get(g->value, i),
				     origin_of(w, g->value, i) };
		struct str text;

		r = read_entry(w, &one, subject, &text);
		if (r == 0 && strcmp(subject, "path") == 0)
			r = srt_add_path(&w->r, &w->r.credentials, text, true, &one.origin);
		else if (r == 0)
			r = layer_add_item(w->r.arena, &w->r.to->layer, KEY_ENV_UNSET, text,
					   &one.origin, w->r.err);
	}
	return r;
}

/* --- keys --------------------------------------------------------------------------- */

static int map(struct walk *w, enum srt_key key, const struct given *g)
{
	struct srt_reader *r = &w->r;

	if (key == SRT_KEY_ALLOWED_DOMAINS)
		return allowed_domains(w, g);
	if (key == SRT_KEY_DENIED_DOMAINS)
		return denied_domains(w, g);
	if (key == SRT_KEY_DENIED_ADDRESSES)
		return add_each(w, g, KEY_DENY_HOSTS);
	if (key == SRT_KEY_UNIX_SOCKETS)
		return add_sockets(w, g);
	if (key == SRT_KEY_DENY_READ)
		return add_paths(w, g, &r->deny_read, true);
	if (key == SRT_KEY_ALLOW_READ)
		return add_paths(w, g, &r->allow_read, false);
	if (key == SRT_KEY_ALLOW_WRITE)
		return add_paths(w, g, &r->allow_write, false);
	if (key == SRT_KEY_DENY_WRITE)
		return add_paths(w, g, &r->deny_write, true);
	if (key == SRT_KEY_CREDENTIAL_FILES)
		return add_credentials(w, g, "path");
	if (key == SRT_KEY_CREDENTIAL_VARIABLES)
		return add_credentials(w, g, "name");
	BUG("a key of srt.def that is mapped and has no reader");
	return 0;
}

static int read_known(struct walk *w, enum srt_key key, const struct given *g)
{
	const struct srt_row *row = &srt_rows[key];
	int r = check_shape(w, row, g);

	if (r < 0)
		return r;
	w->r.to->given[key] = true;
	switch (row->fate) {
	case SRT_MAPPED:
		return map(w, key, g);
	case SRT_SAME:
		return 0;
	case SRT_IGNORED:
		return says_something(g->value) ? srt_warn(&w->r, &g->origin, "%s is ignored: %s",
							   row->name, row->why)
						: 0;
	case SRT_REFUSED:
		return says_something(g->value) ? fault(w, g, "cannot be kept: %s", row->why) : 0;
	}
	return 0;
}

static int unknown_key(struct walk *w, const struct given *g)
{
	const char *words[SRT_KEY_COUNT + 1], *near;
	int r = origin_error(w->r.err, CORDON_E_CONFIG, stage, &g->origin, "unknown key %s",
			     quote(str_of(g->name)).text);

	for (unsigned i = 0; i < SRT_KEY_COUNT; i++)
		words[i] = srt_rows[i].name;
	words[SRT_KEY_COUNT] = NULL;
	near = str_nearest(str_of(g->name), words);
	if (near)
		err_hint(w->r.err, "did you mean '%s'?", near);
	else
		err_hint(w->r.err, "docs/srt.md lists the keys of srt that cordon knows");
	return r;
}

static bool is_group(struct str name)
{
	for (unsigned i = 0; i < SRT_KEY_COUNT; i++) {
		struct str row = str_of(srt_rows[i].name);

		if (str_starts(row, name) && row.n > name.n && row.p[name.n] == '.')
			return true;
	}
	return false;
}

static int read_object(struct walk *w, const char *prefix, const json_t *object);

static int read_member(struct walk *w, const char *prefix, const char *name, struct given *g)
{
	g->name = arena_printf(w->r.arena, "%s%s", prefix, name);
	if (!g->name)
		return err_nomem(w->r.err, stage);
	/* A key that holds a dot itself is another one. */
	if (strchr(name, '.'))
		return unknown_key(w, g);
	for (unsigned i = 0; i < SRT_KEY_COUNT; i++)
		if (strcmp(g->name, srt_rows[i].name) == 0)
			return read_known(w, i, g);
	if (*prefix || !is_group(str_of(name)))
		return unknown_key(w, g);
	if (!json_is_object(g->value))
		return fault(w, g, "must be an object");
	g->name = arena_printf(w->r.arena, "%s.", name);
	return g->name ? read_object(w, g->name, g->value) : err_nomem(w->r.err, stage);
}

static int read_object(struct walk *w, const char *prefix, const json_t *object)
{
	const char *name;
	json_t *value;
	size_t index = 0;
	int r = 0;

	json_object_foreach((json_t *)object, name, value) {
		struct given g = { NULL, value, origin_of(w, object, index++) };

		r = read_member(w, prefix, name, &g);
		if (r < 0)
			break;
	}
	return r;
}

/* srt takes no file without these, and neither is guessed at what was meant. */
static int check_required(struct walk *w)
{
	struct origin start = { SOURCE_SETTINGS, w->r.to->file, 1, 1 };

	for (unsigned i = 0; i < SRT_KEY_COUNT; i++) {
		if (srt_rows[i].duty != SRT_REQUIRED || w->r.to->given[i])
			continue;
		origin_error(w->r.err, CORDON_E_CONFIG, stage, &start, "%s is missing",
			     srt_rows[i].name);
		return err_hint(w->r.err, "write [] where nothing is meant, as for srt itself");
	}
	return 0;
}

static int read_root(struct walk *w, const json_t *root)
{
	struct given whole = { "the file", root, { SOURCE_SETTINGS, w->r.to->file, 1, 1 } };
	int r = json_is_object(root) ? read_object(w, "", root)
				     : fault(w, &whole, "must hold an object");

	if (r == 0)
		r = check_required(w);
	if (r == 0)
		r = end_network(w);
	return r < 0 ? r : srt_add_rules(&w->r);
}

int srt_read(struct arena *a, struct str text, const char *file, const struct places *places,
	     const struct world *world, struct srt_settings *ret, struct cordon_error *err)
{
	struct srt_settings to = { .file = file };
	struct walk w = {
		.r = { .arena = a, .places = places, .world = world, .to = &to, .err = err },
		.places = { .arena = a },
	};
	json_t *root;
	int r = json_read_placed(text, file, SRT_BYTES_MAX, &w.places, &root, err);

	if (r < 0)
		return r;
	r = read_root(&w, root);
	json_decref(root);
	if (r == 0)
		*ret = to;
	return r;
}
