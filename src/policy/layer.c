/* SPDX-License-Identifier: Apache-2.0 */
/* Values of settings, read from flags and from TOML into statements. */
#include "policy/layer.h"

#include <string.h>

#include "base/num.h"
#include "fmt/glob.h"
#include "policy/hosts.h"

#define MEBIBYTE ((uint64_t)1 << 20)

static int bad_value(struct cordon_error *err, enum key key, const struct origin *o,
		     struct str text, const char *wanted)
{
	return origin_error(err, CORDON_E_CONFIG, "config", o, "%s%s%s is not %s",
			    o->line ? key_rows[key].name : "", o->line ? ": " : "",
			    quote(text).text, wanted);
}

static int push(struct arena *a, struct layer *layer, const struct statement *s,
		struct cordon_error *err)
{
	struct statement *slot = vec_push(&layer->statements, a);

	if (!slot)
		return err_nomem(err, "config");
	*slot = *s;
	return 0;
}

/* "error, degrade or passthrough" */
static const char *wanted_choice(struct arena *a, enum choice_set set)
{
	const char *const *words = choice_words(set);
	const char *list = "one of";

	for (; *words && list; words++)
		list = arena_printf(a, "%s%s %s", list, words == choice_words(set) ? "" : ",",
				    *words);
	return list ? list : "a known word";
}

static int choice_value(struct arena *a, struct statement *s, struct cordon_error *err)
{
	enum choice_set set = key_rows[s->key].choices;
	const char *near = str_nearest(s->text, choice_words(set));
	unsigned value;
	int r;

	if (choice_from_string(set, s->text, &value)) {
		s->number = value;
		return 0;
	}
	r = bad_value(err, s->key, &s->origin, s->text, wanted_choice(a, set));
	if (near)
		err_hint(err, "did you mean '%s'?", near);
	return r;
}

static bool is_identifier(struct str s, bool pattern)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ||
		      c == '.' || (c >= '0' && c <= '9') || (pattern && strchr("*?[]!", c))))
			return false;
	}
	return s.n > 0;
}

/* network = "on" | "off": kept as a statement whose text is that word. */
static bool is_network_word(struct str text)
{
	return str_eq(text, STR("on")) || str_eq(text, STR("off"));
}

/* "*", with a port or without. */
static int hint_at_all_hosts(const struct statement *s, struct cordon_error *err)
{
	struct str name, port;

	str_cut(s->text, ':', &name, &port);
	if (!str_eq(name, STR("*")))
		return -err->code;
	if (s->key == KEY_DENY_HOSTS)
		return err_hint(err, "network = \"off\" leaves no host");
	return err_hint(err, "--allow-network alone (network = \"on\") opens everything");
}

static int host_value(struct statement *s, struct cordon_error *err)
{
	struct host host;

	/* The words of a setting would be taken for it when the layers are folded. */
	if (key_rows[s->key].type == TYPE_NETWORK && is_network_word(s->text))
		return bad_value(err, s->key, &s->origin, s->text,
				 "a host: \"on\" and \"off\" stand alone, not in a list");
	if (host_parse(s->text, &host, err) == 0)
		return 0;
	origin_wrap(err, &s->origin);
	return hint_at_all_hosts(s, err);
}

static bool is_path(struct statement *s)
{
	return s->text.n && str_find(s->text, '\0') == s->text.n;
}

static bool is_port(struct statement *s)
{
	return num_parse_u64(s->text, 65535, &s->number) && s->number;
}

/* HOSTPORT:PORT, or one number for both. */
static bool is_publication(struct statement *s)
{
	struct str outside, inside;
	uint64_t from, to;
	bool two = str_cut(s->text, ':', &outside, &inside);

	if (!num_parse_u64(outside, 65535, &from) || !from)
		return false;
	to = from;
	if (two && !num_parse_u64(inside, 65535, &to))
		return false;
	/* Nobody inside can have a lower one. */
	if (to < 1024)
		return false;
	s->number = from << 16 | to;
	return true;
}

static bool is_bool(struct statement *s)
{
	s->number = str_eq(s->text, STR("true"));
	return s->number || str_eq(s->text, STR("false"));
}

/* "none" lifts a limit and is kept as 0. */
static bool is_lifted(struct statement *s)
{
	s->number = 0;
	return str_eq(s->text, STR("none"));
}

static bool is_duration(struct statement *s)
{
	return is_lifted(s) || (num_parse_duration(s->text, &s->number) && s->number);
}

static bool is_size(struct statement *s)
{
	return is_lifted(s) || (num_parse_size(s->text, &s->number) && s->number);
}

static bool is_count(struct statement *s)
{
	return is_lifted(s) || (num_parse_u64(s->text, UINT32_MAX, &s->number) && s->number);
}

static bool is_name(struct statement *s)
{
	return is_identifier(s->text, false);
}

static bool is_name_pattern(struct statement *s)
{
	return is_identifier(s->text, true) && !glob_component_fault(s->text);
}

static bool is_variable(struct statement *s)
{
	struct str name, value;

	str_cut(s->text, '=', &name, &value);
	return is_identifier(name, false) && str_find(value, '\0') == value.n;
}

/* What makes text a value of a type; it may fill the statement's number. */
static const struct {
	bool (*holds)(struct statement *s);
	const char *wanted;
} values[] = {
	[TYPE_PATHS] = { is_path, "a path" },
	[TYPE_PATTERNS] = { is_path, "a path" },
	[TYPE_PORTS] = { is_port, "a port from 1 to 65535" },
	[TYPE_PUBLISH] = { is_publication,
			   "HOSTPORT:PORT, without an address (it is the host's loopback), and "
			   "PORT is from 1024 on inside, as in 8080:3000 or 80:8080" },
	[TYPE_BOOL] = { is_bool, "true or false" },
	[TYPE_DURATION] = { is_duration, "a time such as 30s, 10m, 1h30m or 500ms, or none" },
	[TYPE_SIZE] = { is_size, "a size such as 512M or 2G, or none" },
	[TYPE_COUNT] = { is_count, "a number above 0, or none" },
	[TYPE_NAME] = { is_name, "a name of letters, digits, '.', '_' and '-'" },
	[TYPE_NAMES] = { is_name_pattern, "a name or pattern" },
	[TYPE_ENVIRON] = { is_variable, "the name of a variable" },
};

/* Checks one element of a list, or a scalar given as text, and fills s->number. */
static int text_value(struct arena *a, struct statement *s, struct cordon_error *err)
{
	enum key_type type = key_rows[s->key].type;
	struct str shown = s->text, value;

	if (type == TYPE_NETWORK || type == TYPE_HOSTS)
		return host_value(s, err);
	if (type == TYPE_CHOICE)
		return choice_value(a, s, err);
	if (values[type].holds(s))
		return 0;
	/* The value of a variable may be a secret. */
	if (type == TYPE_ENVIRON)
		str_cut(s->text, '=', &shown, &value);
	return bad_value(err, s->key, &s->origin, shown, values[type].wanted);
}

static int add_checked(struct arena *a, struct layer *layer, struct statement s,
		       struct cordon_error *err)
{
	char *copy = arena_dup(a, s.text);
	int r;

	if (!copy)
		return err_nomem(err, "config");
	s.text.p = copy;
	r = text_value(a, &s, err);
	return r < 0 ? r : push(a, layer, &s, err);
}

int layer_add_item(struct arena *a, struct layer *layer, enum key key, struct str text,
		   const struct origin *origin, struct cordon_error *err)
{
	struct statement s = { .key = key, .text = text, .origin = *origin };

	return add_checked(a, layer, s, err);
}

int layer_add_empty(struct arena *a, struct layer *layer, enum key key,
		    const struct origin *origin, struct cordon_error *err)
{
	struct statement s = { .key = key, .empty = true, .origin = *origin };

	return push(a, layer, &s, err);
}

static bool takes_several(enum key_type type)
{
	return type == TYPE_NETWORK || type == TYPE_HOSTS || type == TYPE_NAMES ||
	       type == TYPE_PORTS || type == TYPE_PUBLISH;
}

int layer_add_text(struct arena *a, struct layer *layer, enum key key, struct str text,
		   const struct origin *origin, struct cordon_error *err)
{
	enum key_type type = key_rows[key].type;
	struct statement s = { .key = key, .text = text, .origin = *origin };
	struct str rest = text;
	bool more = true;

	if (type == TYPE_NETWORK && (!text.n || is_network_word(text))) {
		s.text = str_eq(text, STR("off")) ? STR("off") : STR("on");
		return push(a, layer, &s, err);
	}
	if (!takes_several(type))
		return add_checked(a, layer, s, err);
	while (more) {
		int r;

		more = str_cut(rest, ',', &s.text, &rest);
		r = add_checked(a, layer, s, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static struct origin origin_at(const struct origin *file, struct place at)
{
	struct origin o = *file;

	o.line = at.line;
	o.column = at.column;
	return o;
}

static int wrong_type(struct cordon_error *err, enum key key, const struct origin *o,
		      const struct toml_value *value, const char *wanted)
{
	return origin_error(err, CORDON_E_CONFIG, "config", o, "%s must be %s, not %s",
			    key_rows[key].name, wanted, toml_type_to_string(value->type));
}

/* An integer where a limit is meant: seconds, bytes, or megabytes by the alias. */
static int integer_value(struct arena *a, struct layer *layer, struct statement *s, bool by_alias,
			 const struct toml_value *value, struct cordon_error *err)
{
	const char *text = arena_printf(a, "%lld", (long long)value->integer);
	uint64_t unit = s->key == KEY_MEMORY && by_alias ? MEBIBYTE : 1;
	int r;

	if (!text)
		return err_nomem(err, "config");
	s->text = str_of(text);
	r = text_value(a, s, err);
	if (r < 0)
		return r;
	if (__builtin_mul_overflow(s->number, unit, &s->number))
		return bad_value(err, s->key, &s->origin, s->text, "a size that fits 64 bits");
	return push(a, layer, s, err);
}

static int environ_table(struct arena *a, struct layer *layer, struct statement s,
			 const struct toml_value *value, struct cordon_error *err)
{
	if (!value->table->entries.n) {
		s.empty = true;
		return push(a, layer, &s, err);
	}
	vec_each(entry, &value->table->entries) {
		struct origin at = origin_at(&s.origin, entry->at);
		struct statement one = { .key = s.key, .origin = at };
		const char *pair;
		int r;

		if (entry->value.type != TOML_STRING)
			return wrong_type(err, s.key, &at, &entry->value, "a table of strings");
		if (!is_identifier(entry->key, false))
			return bad_value(err, s.key, &at, entry->key, "the name of a variable");
		if (str_find(entry->value.string, '\0') < entry->value.string.n)
			return bad_value(err, s.key, &at, entry->key,
					 "a variable: its value holds a NUL");
		pair = arena_printf(a, "%s=%s", entry->key.p, entry->value.string.p);
		if (!pair)
			return err_nomem(err, "config");
		one.text = str_of(pair);
		r = add_checked(a, layer, one, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int list_array(struct arena *a, struct layer *layer, struct statement s,
		      const struct toml_value *value, struct cordon_error *err)
{
	bool ports = key_rows[s.key].type == TYPE_PORTS;

	if (!value->array->items.n) {
		s.empty = true;
		return push(a, layer, &s, err);
	}
	if (value->array->items.n > LIST_MAX)
		return origin_error(err, CORDON_E_LIMIT, "config", &s.origin,
				    "%s has more than %d elements", key_rows[s.key].name, LIST_MAX);
	vec_each(item, &value->array->items) {
		struct statement one = { .key = s.key, .origin = origin_at(&s.origin, item->at) };
		int r;

		if (item->type != (ports ? TOML_INTEGER : TOML_STRING))
			return wrong_type(err, s.key, &one.origin, item,
					  ports ? "a list of numbers" : "a list of strings");
		one.text = ports ? (struct str){ 0 } : item->string;
		r = ports ? integer_value(a, layer, &one, false, item, err)
			  : add_checked(a, layer, one, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static const char *wanted_type(enum key_type type)
{
	switch (type) {
	case TYPE_PATHS:
	case TYPE_PATTERNS:
	case TYPE_NAMES:
	case TYPE_PUBLISH:
		return "a list of strings";
	case TYPE_PORTS:
		return "a list of numbers";
	case TYPE_HOSTS:
		return "a list of hosts";
	case TYPE_NETWORK:
		return "\"off\", \"on\" or a list of hosts";
	case TYPE_CHOICE:
	case TYPE_NAME:
		return "a string";
	case TYPE_BOOL:
		return "true or false";
	case TYPE_DURATION:
		return "a time such as \"10m\" or a number of seconds";
	case TYPE_SIZE:
		return "a size such as \"512M\" or a number of bytes";
	case TYPE_COUNT:
		return "a number";
	case TYPE_ENVIRON:
		return "a table of strings";
	}
	return "something else";
}

static int toml_network(struct arena *a, struct layer *layer, struct statement s,
			const struct toml_value *value, struct cordon_error *err)
{
	/* allow_network = true is what R4.1 calls it. */
	if (value->type == TOML_BOOLEAN)
		s.text = value->boolean ? STR("on") : STR("off");
	else if (value->type == TOML_STRING && is_network_word(value->string))
		s.text = value->string;
	else if (value->type == TOML_ARRAY)
		return list_array(a, layer, s, value, err);
	else if (value->type == TOML_STRING)
		return bad_value(err, s.key, &s.origin, value->string,
				 "\"off\", \"on\" or a list of hosts");
	else
		return wrong_type(err, s.key, &s.origin, value, wanted_type(TYPE_NETWORK));
	return push(a, layer, &s, err);
}

static bool is_none(const struct toml_value *value)
{
	return value->type == TOML_STRING && str_eq(value->string, STR("none"));
}

static bool is_limit(enum key_type type)
{
	return type == TYPE_DURATION || type == TYPE_SIZE || type == TYPE_COUNT;
}

static int toml_scalar(struct arena *a, struct layer *layer, struct statement s, bool by_alias,
		       const struct toml_value *value, struct cordon_error *err)
{
	enum key_type type = key_rows[s.key].type;

	if (type == TYPE_BOOL && value->type == TOML_BOOLEAN) {
		s.number = value->boolean;
		return push(a, layer, &s, err);
	}
	if (is_limit(type) && value->type == TOML_INTEGER)
		return integer_value(a, layer, &s, by_alias, value, err);
	/* memory_limit_mb = "512" would be 512 bytes. */
	if (s.key == KEY_MEMORY && by_alias && !is_none(value))
		return wrong_type(err, s.key, &s.origin, value,
				  "a number of megabytes by this name");
	if (value->type != TOML_STRING || type == TYPE_BOOL)
		return wrong_type(err, s.key, &s.origin, value, wanted_type(type));
	s.text = value->string;
	return add_checked(a, layer, s, err);
}

int layer_add_toml(struct arena *a, struct layer *layer, enum key key, bool by_alias,
		   const struct toml_value *value, const struct origin *origin,
		   struct cordon_error *err)
{
	enum key_type type = key_rows[key].type;
	struct statement s = { .key = key, .origin = origin_at(origin, value->at) };

	if (type == TYPE_NETWORK)
		return toml_network(a, layer, s, value, err);
	if (!key_type_is_list(type))
		return toml_scalar(a, layer, s, by_alias, value, err);
	if (type == TYPE_ENVIRON && value->type == TOML_TABLE)
		return environ_table(a, layer, s, value, err);
	if (type != TYPE_ENVIRON && value->type == TOML_ARRAY)
		return list_array(a, layer, s, value, err);
	return wrong_type(err, key, &s.origin, value, wanted_type(type));
}
