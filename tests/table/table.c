/* SPDX-License-Identifier: Apache-2.0 */
/* Reading of truth tables and the judgement of one row by the policy itself. */
#include "table.h"

#include <string.h>

#include "base/path.h"
#include "fmt/located.h"

struct reader {
	struct table *table;
	unsigned line;
	struct cordon_error *err;
};

static int fault(struct reader *r, const char *what, struct str word)
{
	struct place at = { r->line, 1 };

	return located_error(r->err, CORDON_E_SYNTAX, "table", r->table->name, at, "%s %s", what,
			     quote(word).text);
}

static bool next_word(struct str *line, struct str *ret)
{
	size_t n = 0;

	*line = str_trim(*line);
	while (n < line->n && line->p[n] != ' ' && line->p[n] != '\t')
		n++;
	*ret = str_take(*line, n);
	*line = str_skip(*line, n);
	return n > 0;
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 0;
}

/* A copy with \xNN replaced. */
static struct str unescape(struct reader *r, struct str s)
{
	char *copy = arena_dup(r->table->arena, s);
	size_t n = 0;

	for (size_t i = 0; copy && i < s.n; i++) {
		bool escape = s.n - i >= 4 && s.p[i] == '\\' && s.p[i + 1] == 'x';

		copy[n++] = escape ? (char)(hex(s.p[i + 2]) << 4 | hex(s.p[i + 3])) : s.p[i];
		i += escape ? 3 : 0;
	}
	if (copy)
		copy[n] = '\0';
	return (struct str){ copy, n };
}

/* --- fixture ----------------------------------------------------------------------- */

static int read_entries(struct reader *r, enum node_type type, struct str line)
{
	struct str word;

	while (next_word(&line, &word)) {
		struct fake_entry *e;

		word = unescape(r, word);
		if (!path_is_normal(word))
			return fault(r, "not a normal path:", word);
		e = fake_world_add(&r->table->fake, word, type);
		if (!e)
			return err_nomem(r->err, "table");
		if (type == NODE_SYMLINK) {
			if (!next_word(&line, &e->target))
				return fault(r, "a link without target:", word);
			return 0;
		}
	}
	return 0;
}

static int read_closed(struct reader *r, struct str line)
{
	int code = read_entries(r, NODE_DIR, line);

	if (code == 0)
		r->table->fake.entries.at[r->table->fake.entries.n - 1].closed = true;
	return code;
}

static int read_folding(struct reader *r, struct str line)
{
	int code = read_entries(r, NODE_DIR, line);

	if (code == 0)
		r->table->fake.entries.at[r->table->fake.entries.n - 1].folds = true;
	return code;
}

static int read_place(struct reader *r, struct str line)
{
	struct places *p = &r->table->places;
	const struct {
		const char *name;
		struct str *to;
	} names[] = {
		{ "workdir", &p->workdir },
		{ "home", &p->home },
		{ "own", &p->own_home },
		{ "tmp", &p->tmp },
		{ "data", &p->data },
		{ "gitdir", &p->git_dir },
		{ "gitcommon", &p->git_common },
		{ "top", &p->git_top },
		{ "cordon_home", &p->cordon_home },
	};
	struct str name, path;

	next_word(&line, &name);
	next_word(&line, &path);
	if (str_eq(name, STR("other"))) {
		*(struct str *)vec_push(&r->table->other_homes, r->table->arena) = path;
		p->other_homes = r->table->other_homes.at;
		p->other_home_count = r->table->other_homes.n;
		return path_is_normal(path) ? 0 : fault(r, "no path:", path);
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_eq(name, str_of(names[i].name))) {
			*names[i].to = unescape(r, path);
			return path_is_normal(*names[i].to) ? 0 : fault(r, "no path:", path);
		}
	return fault(r, "unknown place", name);
}

/* --- policies ---------------------------------------------------------------------- */

static struct table_policy *policy_by_name(struct table *t, struct str name)
{
	vec_each(p, &t->policies)
		if (str_eq((*p)->name, name))
			return *p;
	return NULL;
}

static int read_flag(struct reader *r, struct table_policy *p, struct str flag, struct str *line)
{
	struct arena *a = r->table->arena;
	struct origin origin = { SOURCE_FLAGS, arena_dup(a, flag), 0, 0 };
	struct str value = STR("true");
	enum key key;

	if (str_eq(flag, STR("--no-sandbox"))) {
		p->no_sandbox = true;
		return 0;
	}
	if (str_eq(flag, STR("--profile"))) {
		next_word(line, &value);
		p->profile = arena_dup(a, value);
		return 0;
	}
	if (!key_from_flag(flag, &key))
		return fault(r, "unknown flag", flag);
	if (key_rows[key].type == TYPE_BOOL)
		value = str_starts(flag, STR("--no-")) ? STR("false") : value;
	else if (!next_word(line, &value))
		return fault(r, "a flag without value:", flag);
	return layer_add_text(a, &p->flags, key, value, &origin, r->err);
}

static int read_policy(struct reader *r, struct str line)
{
	struct table_policy **slot = vec_push(&r->table->policies, r->table->arena);
	struct table_policy *p = arena_new(r->table->arena, struct table_policy);
	struct str word;

	if (!slot || !p)
		return err_nomem(r->err, "table");
	next_word(&line, &p->name);
	p->line = r->line;
	*slot = p;
	while (next_word(&line, &word)) {
		int code = read_flag(r, p, word, &line);

		if (code < 0)
			return code;
	}
	return 0;
}

/* "user NAME | text": one more line of that policy's configuration. */
static int read_toml_line(struct reader *r, struct str kind, struct str line)
{
	struct table_policy *p;
	struct str name, before, text;
	const char **to;

	next_word(&line, &name);
	p = policy_by_name(r->table, name);
	if (!p)
		return fault(r, "unknown policy", name);
	if (!str_cut(line, '|', &before, &text))
		return fault(r, "no | before the TOML of", name);
	to = &p->above_text;
	for (enum source s = SOURCE_SYSTEM; s <= SOURCE_PROJECT; s++)
		if (str_eq(kind, str_of(source_to_string(s))))
			to = &p->text[s];
	*to = arena_printf(r->table->arena, "%s%.*s\n", *to ? *to : "", STR_ARG(text));
	return *to ? 0 : err_nomem(r->err, "table");
}

/* --- rows -------------------------------------------------------------------------- */

static const char *const verdict_names[] = { "allow", "deny", "refused", "unconfined" };

static int read_verdict(struct reader *r, struct str word, struct table_row *row)
{
	for (unsigned i = 0; i < 4; i++)
		if (str_eq(word, str_of(verdict_names[i]))) {
			row->verdict = i;
			return 0;
		}
	return fault(r, "not a verdict:", word);
}

static int read_path(struct reader *r, struct str *line, struct str *ret)
{
	struct str word;

	next_word(line, &word);
	*ret = unescape(r, word);
	return path_is_normal(*ret) ? 0 : fault(r, "not a normal path:", word);
}

/* The operation and what it is done to. */
static int read_action(struct reader *r, struct str *line, struct table_row *row)
{
	static const char *const kinds[] = { [ROW_CONNECT] = "connect",
					     [ROW_RENAME] = "rename",
					     [ROW_EXCHANGE] = "exchange",
					     [ROW_LINK] = "link" };
	struct str word;
	int code;

	next_word(line, &word);
	for (unsigned i = ROW_CONNECT; i <= ROW_LINK; i++)
		if (str_eq(word, str_of(kinds[i])))
			row->kind = i;
	if (row->kind == ROW_CONNECT) {
		next_word(line, &word);
		row->object = unescape(r, word);
		return 0;
	}
	if (row->kind == ROW_PATH && !policy_op_from_string(word, &row->op))
		return fault(r, "not an operation:", word);
	code = read_path(r, line, &row->object);
	return code < 0 || row->kind == ROW_PATH ? code : read_path(r, line, &row->to);
}

static int read_row(struct reader *r, struct table_policy *policy, struct str whole,
		    struct str line)
{
	struct table_row *row = vec_push(&r->table->rows, r->table->arena);
	struct str word;
	int code;

	if (!row)
		return err_nomem(r->err, "table");
	*row = (struct table_row){ .line = r->line, .policy = policy, .text = whole };
	code = read_action(r, &line, row);
	next_word(&line, &word);
	if (code == 0)
		code = read_verdict(r, word, row);
	while (code == 0 && next_word(&line, &word)) {
		if (str_eq(word, STR("!model")))
			row->model_only = true;
		else if (!row->rule.n)
			row->rule = word;
		else
			code = fault(r, "one word too many:", word);
	}
	return code;
}

static int read_line(struct reader *r, struct str line)
{
	static const struct {
		const char *word;
		enum node_type type;
	} entries[] = { { "dir", NODE_DIR },
			{ "file", NODE_FILE },
			{ "socket", NODE_SOCKET },
			{ "link", NODE_SYMLINK } };
	struct str whole = str_trim(line), first;
	struct table_policy *policy;

	if (!next_word(&line, &first) || first.p[0] == '#')
		return 0;
	for (size_t i = 0; i < 4; i++)
		if (str_eq(first, str_of(entries[i].word)))
			return read_entries(r, entries[i].type, line);
	if (str_eq(first, STR("closed")))
		return read_closed(r, line);
	if (str_eq(first, STR("folding")))
		return read_folding(r, line);
	if (str_eq(first, STR("place")))
		return read_place(r, line);
	if (str_eq(first, STR("policy")))
		return read_policy(r, line);
	if (str_eq(first, STR("system")) || str_eq(first, STR("user")) ||
	    str_eq(first, STR("project")) || str_eq(first, STR("above")))
		return read_toml_line(r, first, line);
	policy = policy_by_name(r->table, first);
	return policy ? read_row(r, policy, whole, line) : fault(r, "unknown policy", first);
}

static void default_places(struct table *t)
{
	t->places = (struct places){
		.workdir = STR("/w"),
		.home = STR("/home/u"),
		.tmp = STR("/tmp"),
		.cordon_home = STR("/home/u/.cordon"),
	};
}

int table_read(struct arena *a, struct str text, const char *name, struct table *ret,
	       struct cordon_error *err)
{
	struct reader r = { ret, 0, err };
	struct str line;

	*ret = (struct table){ .arena = a, .name = name };
	fake_world_init(&ret->fake, a);
	default_places(ret);
	while (text.n) {
		int code;

		r.line++;
		str_cut(text, '\n', &line, &text);
		code = read_line(&r, line);
		if (code < 0)
			return code;
	}
	if (!ret->places.data.n)
		ret->places.data = ret->places.workdir;
	return 0;
}

static int build_one(struct table *t, struct table_policy *p, const struct config *builtin,
		     struct cordon_error *err)
{
	struct policy_input in = {
		.profile = p->profile,
		.builtin = builtin,
		.flags = &p->flags,
		.places = t->places,
		.world = &t->fake.world,
		.no_sandbox = p->no_sandbox,
	};
	const struct config **slots[] = {
		[SOURCE_SYSTEM] = &in.system,
		[SOURCE_USER] = &in.user,
		[SOURCE_PROJECT] = &in.project,
	};

	for (enum source s = SOURCE_SYSTEM; s <= SOURCE_PROJECT; s++) {
		int code;

		if (!p->text[s])
			continue;
		code = config_parse(t->arena, str_of(p->text[s]), source_to_string(s), s,
				    &p->config[s], err);
		if (code < 0)
			return code;
		*slots[s] = &p->config[s];
	}
	if (p->above_text) {
		int code = config_parse(t->arena, str_of(p->above_text), "/.cordon.toml",
					SOURCE_PROJECT, &p->above, err);

		if (code < 0)
			return code;
		p->config[SOURCE_PROJECT].above = &p->above;
		in.project = in.project ? in.project : &p->above;
	}
	return policy_build(t->arena, &in, &p->policy, err);
}

int table_build(struct table *t, const struct config *builtin, struct cordon_error *err)
{
	vec_each(p, &t->policies)
		if (build_one(t, *p, builtin, err) < 0)
			return err_wrap(err, "%s:%u: policy %.*s", t->name, (*p)->line,
					STR_ARG((*p)->name));
	return 0;
}

/* --- judging ------------------------------------------------------------------------ */

static const char *rule_text(struct arena *a, enum layer_id layer, const struct rule *rule)
{
	if (!rule)
		return "-";
	return arena_printf(a, "%s:%s:%.*s", layer_id_to_string(layer),
			    right_to_string(rule->right), STR_ARG(rule->spelled));
}

/* The rule column may name the layer alone. */
static bool rule_agrees(struct str wanted, const char *got)
{
	struct str layer, rest;

	str_cut(str_of(got), ':', &layer, &rest);
	return !wanted.n || str_eq(wanted, str_of(got)) || str_eq(wanted, layer);
}

static enum table_verdict judge_path(struct arena *a, const struct table_row *row,
				     const char **ret_rule)
{
	struct decision d;
	bool allowed = policy_allows(row->policy->policy, row->op, row->object, &d);

	*ret_rule = row->op == POLICY_EXEC ? rule_text(a, d.exec_layer, d.exec_rule)
					   : rule_text(a, d.data_layer, d.data_rule);
	if (row->op == POLICY_CREATE && d.data == ACCESS_WRITE && d.keep_directory)
		*ret_rule = "directory";
	return allowed ? VERDICT_ALLOW : VERDICT_DENY;
}

static enum table_verdict judge_host(struct arena *a, const struct table_row *row,
				     const char **ret_rule)
{
	struct cordon_error err;
	struct host_decision d;
	struct host target;
	autobuf struct buf b;

	*ret_rule = "";
	buf_init(&b, 1024);
	if (host_parse_target(row->object, &target, &err) < 0)
		return VERDICT_REFUSED;
	d = policy_decide_host(row->policy->policy, &target);
	buf_adds(&b, layer_id_to_string(d.layer));
	if (d.host) {
		buf_addc(&b, ':');
		host_print(&b, &d.host->host);
	}
	*ret_rule = arena_dup(a, buf_str(&b));
	return d.allowed ? VERDICT_ALLOW : VERDICT_DENY;
}

static enum table_verdict judge_move(const struct table *t, const struct table_row *row,
				     const char **ret_rule)
{
	const struct policy *policy = row->policy->policy;
	struct rename_decision d;
	bool allowed = row->kind == ROW_LINK
			       ? policy_allows_link(policy, row->object, row->to, &d)
			       : policy_decide_rename(policy, row->object, row->to,
						      row->kind == ROW_EXCHANGE, &t->fake.tree, &d);

	*ret_rule = arena_printf(t->arena, "%s%s%s", rename_why_to_string(d.why),
				 d.object[0] ? ":" : "", d.object);
	return allowed ? VERDICT_ALLOW : VERDICT_DENY;
}

bool table_row_holds(const struct table *t, const struct table_row *row, const char **ret_got)
{
	enum table_verdict verdict = VERDICT_UNCONFINED;
	const char *rule = "";

	if (!row->policy->policy->confined)
		verdict = VERDICT_UNCONFINED;
	else if (row->kind == ROW_CONNECT)
		verdict = judge_host(t->arena, row, &rule);
	else if (row->kind == ROW_PATH)
		verdict = judge_path(t->arena, row, &rule);
	else
		verdict = judge_move(t, row, &rule);
	*ret_got = arena_printf(t->arena, "%s %s", verdict_names[verdict], rule);
	return verdict == row->verdict && rule_agrees(row->rule, rule);
}
