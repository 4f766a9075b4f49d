/* SPDX-License-Identifier: Apache-2.0 */
/* From the TOML tree of a configuration file to statements. */
#include "policy/config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fmt/located.h"
#include "fmt/toml.h"

/* Which keys a table may hold. */
enum table_kind { TABLE_SANDBOX, TABLE_PROFILE, TABLE_LOCKED };

struct reader {
	struct arena *arena;
	struct config *config;
	struct layer *layer;  /* where statements go now */
	struct origin origin; /* of those statements; line 0 */
	enum table_kind kind;
	bool given[KEY_COUNT]; /* in this table, by name or alias */
	struct cordon_error *err;
};

__attribute__((format(printf, 3, 4))) static int fault(struct reader *r, struct place at,
						       const char *fmt, ...)
{
	char text[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return located_error(r->err, CORDON_E_CONFIG, "config", r->config->origin.file, at, "%s",
			     text);
}

/* Tables that hold other tables, beside the keys of keys.def. */
static const char *const group_names[] = { "env", "limits", "profiles", "locked" };
#define GROUPS (sizeof(group_names) / sizeof(group_names[0]))

static int unknown_key(struct reader *r, const char *prefix, const struct toml_entry *entry)
{
	const char *words[2 * KEY_COUNT + GROUPS + 1];
	const char *full = arena_join(r->arena, str_of(prefix), entry->key);
	const char *near;
	size_t n = 0;
	int code;

	for (unsigned k = 0; k < KEY_COUNT; k++) {
		words[n++] = key_rows[k].name;
		if (key_rows[k].alias)
			words[n++] = key_rows[k].alias;
	}
	for (size_t i = 0; i < GROUPS; i++)
		words[n++] = group_names[i];
	words[n] = NULL;
	if (!full)
		return err_nomem(r->err, "config");
	code = fault(r, entry->at, "unknown key %s", quote(str_of(full)).text);
	near = str_nearest(str_of(full), words);
	if (near)
		err_hint(r->err, "did you mean '%s'?", near);
	return code;
}

static int check_allowed(struct reader *r, enum key key, const struct toml_entry *entry)
{
	const struct key_row *row = &key_rows[key];
	enum source source = r->config->origin.source;

	if (row->scope == SCOPE_SANDBOX && r->kind != TABLE_SANDBOX)
		return fault(r, entry->at, "'%s' belongs in [sandbox], not in a profile",
			     row->name);
	if (key == KEY_EXTENDS && r->kind != TABLE_PROFILE)
		return fault(r, entry->at, "'extends' belongs in a profile");
	if (r->kind == TABLE_LOCKED && row->narrow == NARROW_FORBID)
		return fault(r, entry->at, "'%s' cannot be locked: it does not narrow anything",
			     row->name);
	if (source == SOURCE_PROJECT && row->narrow == NARROW_FORBID) {
		fault(r, entry->at, "a project file may not set '%s': it can only narrow",
		      row->name);
		return err_hint(r->err, "put it into your own config.toml, or use a flag");
	}
	return 0;
}

static int read_keys(struct reader *r, const char *prefix, const struct toml_table *table);

static int read_group(struct reader *r, const char *prefix, const struct toml_entry *entry)
{
	if (entry->value.type != TOML_TABLE)
		return fault(r, entry->value.at, "%s must be a table, not %s",
			     quote(entry->key).text, toml_type_to_string(entry->value.type));
	return read_keys(r, prefix, entry->value.table);
}

static int read_key(struct reader *r, const char *prefix, const struct toml_entry *entry)
{
	const char *full = arena_join(r->arena, str_of(prefix), entry->key);
	enum key key;
	bool by_alias;
	int code;

	if (!full)
		return err_nomem(r->err, "config");
	/* A dotted key may only match through its own table: "limits.x" quoted in one
	 * piece is a different, unknown key. */
	if (str_find(entry->key, '.') < entry->key.n || str_find(entry->key, '\0') < entry->key.n ||
	    !key_from_string(str_of(full), &key))
		return unknown_key(r, prefix, entry);
	code = check_allowed(r, key, entry);
	if (code < 0)
		return code;
	by_alias = !str_eq(str_of(full), str_of(key_rows[key].name));
	if (r->given[key])
		return fault(r, entry->at, "'%s' and '%s' are the same setting; give one of them",
			     key_rows[key].name, key_rows[key].alias);
	r->given[key] = true;
	return layer_add_toml(r->arena, r->layer, key, by_alias, &entry->value, &r->origin, r->err);
}

static int read_profile(struct reader *r, const struct toml_entry *entry)
{
	struct reader inner = *r;
	struct profile *profile;

	if (entry->value.type != TOML_TABLE)
		return fault(r, entry->value.at, "a profile must be a table, not %s",
			     toml_type_to_string(entry->value.type));
	if (!entry->key.n || entry->key.n > 64 || str_find(entry->key, '\0') < entry->key.n)
		return fault(r, entry->at, "a profile's name has 1 to 64 characters");
	if (r->config->profiles.n >= PROFILES_MAX)
		return fault(r, entry->at, "more than %d profiles", PROFILES_MAX);
	profile = vec_push(&r->config->profiles, r->arena);
	if (!profile)
		return err_nomem(r->err, "config");
	profile->name = entry->key;
	profile->origin = r->config->origin;
	profile->origin.line = entry->at.line;
	profile->origin.column = entry->at.column;
	inner.layer = &profile->layer;
	inner.kind = TABLE_PROFILE;
	memset(inner.given, 0, sizeof(inner.given));
	return read_keys(&inner, "", entry->value.table);
}

static int read_profiles(struct reader *r, const struct toml_entry *entry)
{
	if (r->config->origin.source == SOURCE_PROJECT)
		return fault(r, entry->at,
			     "a project file may not define profiles; write its "
			     "rules directly below [sandbox]");
	if (entry->value.type != TOML_TABLE)
		return fault(r, entry->value.at, "'profiles' must be a table, not %s",
			     toml_type_to_string(entry->value.type));
	vec_each(profile, &entry->value.table->entries) {
		int code = read_profile(r, profile);

		if (code < 0)
			return code;
	}
	return 0;
}

static int read_locked(struct reader *r, const struct toml_entry *entry)
{
	struct reader inner = *r;

	if (r->config->origin.source != SOURCE_SYSTEM)
		return fault(r, entry->at, "only the system's configuration may lock rules");
	inner.layer = &r->config->locked;
	inner.kind = TABLE_LOCKED;
	inner.origin.source = SOURCE_LOCKED;
	memset(inner.given, 0, sizeof(inner.given));
	return read_group(&inner, "", entry);
}

static int read_entry(struct reader *r, const char *prefix, const struct toml_entry *entry)
{
	bool top = !*prefix;

	if (top && str_eq(entry->key, STR("env")))
		return read_group(r, "env.", entry);
	if (top && str_eq(entry->key, STR("limits")))
		return read_group(r, "limits.", entry);
	if (top && r->kind == TABLE_SANDBOX && str_eq(entry->key, STR("profiles")))
		return read_profiles(r, entry);
	if (top && r->kind == TABLE_SANDBOX && str_eq(entry->key, STR("locked")))
		return read_locked(r, entry);
	return read_key(r, prefix, entry);
}

static int read_keys(struct reader *r, const char *prefix, const struct toml_table *table)
{
	vec_each(entry, &table->entries) {
		int code = read_entry(r, prefix, entry);

		if (code < 0)
			return code;
	}
	return 0;
}

int config_parse(struct arena *a, struct str text, const char *file, enum source source,
		 struct config *ret, struct cordon_error *err)
{
	struct config config = { .origin = { .source = source, .file = file } };
	struct reader r = { .arena = a,
			    .config = &config,
			    .layer = &config.sandbox,
			    .origin = config.origin,
			    .err = err };
	struct toml_table *root;
	int code = toml_read(a, text, file, &root, err);

	if (code < 0)
		return code;
	vec_each(entry, &root->entries) {
		if (!str_eq(entry->key, STR("sandbox"))) {
			static const char *const known[] = { "sandbox", NULL };

			code = fault(&r, entry->at, "unknown key %s", quote(entry->key).text);
			if (str_nearest(entry->key, known))
				return err_hint(err, "did you mean 'sandbox'?");
			return err_hint(err, "settings live below [sandbox]");
		}
		code = read_group(&r, "", entry);
		if (code < 0)
			return code;
	}
	*ret = config;
	return 0;
}

const struct profile *config_profile(const struct config *config, struct str name)
{
	vec_each(profile, &config->profiles)
		if (str_eq(profile->name, name))
			return profile;
	return NULL;
}
