/* SPDX-License-Identifier: Apache-2.0 */
/* cordon explain: verdicts on paths, hosts and commands, for people and as JSON. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "base/path.h"
#include "base/spawn.h"
#include "cli/last_run.h"
#include "cli/out.h"
#include "cli/remedy.h"
#include "cli/verdict.h"
#include "fmt/json.h"

struct answer {
	struct opts *o;
	struct explainer explainer;
	struct buf text;
	json_t *list;
	bool out_of_memory;
	struct cordon_error err;
};

/* --- printing ----------------------------------------------------------------------------- */

#define INDENT "                   "

/* A line for each key, as it is pasted: quoted as TOML already. */
static void print_toml(struct buf *b, struct str toml)
{
	struct str line;
	bool more = true;
	bool several = str_find(toml, '\n') < toml.n;

	buf_addf(b, INDENT "or in config.toml, below [sandbox]:%s", several ? "\n" : " ");
	while (more) {
		more = str_cut(toml, '\n', &line, &toml);
		buf_adds(b, several ? INDENT : "");
		out_add_message(b, line);
		buf_addc(b, '\n');
	}
}

static void print_verdict(struct buf *b, const struct verdict *v)
{
	buf_addf(b, "  %-8s%-9s%s", v->op, v->allowed ? "allowed" : "denied", v->by);
	if (v->origin) {
		buf_adds(b, " [");
		origin_print(b, v->origin);
		buf_addc(b, ']');
	}
	buf_addc(b, '\n');
	if (v->held_by)
		buf_addf(b, "%19senforced by %s\n", "", v->held_by);
	else
		buf_addf(b, "%19snot enforced here: %s\n", "", v->loose);
	if (v->fix.first)
		buf_addf(b, "%19sto allow it, first, outside: %s\n", "", v->fix.first);
	if (v->fix.flags) {
		buf_addf(b, "%19s%s: %s\n", "", v->fix.first ? "then" : "to allow it",
			 v->fix.flags);
		if (v->fix.toml)
			print_toml(b, str_of(v->fix.toml));
	}
	if (v->fix.remark) {
		buf_addf(b, "%19sbut not as things are: ", "");
		out_add_message(b, str_of(v->fix.remark));
		buf_addc(b, '\n');
	}
	if (v->fix.note)
		buf_addf(b, "%19s%s\n", "", v->fix.note);
	if (v->fix.why_not)
		buf_addf(b, "%19s%s\n", "", v->fix.why_not);
	if (fix_warning(&v->fix))
		buf_addf(b, "%19swarning: %s\n", "", fix_warning(&v->fix));
}

static json_t *verdict_to_json(const struct verdict *v)
{
	json_t *row = json_pack("{s:s, s:b, s:s, s:s?, s:o?}", "op", v->op, "allowed", v->allowed,
				"layer", layer_id_to_string(v->layer), "reason", v->fix.why_not,
				"fix", fix_to_json(&v->fix));
	autobuf struct buf from = buf_make(16384);

	if (v->origin)
		origin_print(&from, v->origin);
	if (row && json_set_text(row, "rule", str_of(v->by)) &&
	    json_set_text(row, "from", buf_str(&from)) &&
	    json_set_text(row, v->held_by ? "enforced_by" : "not_enforced",
			  str_of(v->held_by ? v->held_by : v->loose)))
		return row;
	json_decref(row);
	return NULL;
}

static void add_verdict(struct answer *a, json_t *verdicts, const struct verdict *v)
{
	if (opts_given(a->o, OPTION_JSON))
		a->out_of_memory |= json_array_append_new(verdicts, verdict_to_json(v)) < 0;
	else
		print_verdict(&a->text, v);
}

/* Starts the answer for one object; returns the array its verdicts go to. */
static json_t *begin(struct answer *a, const char *kind, struct str object, struct str real)
{
	json_t *row = json_object(), *verdicts = json_array();

	a->out_of_memory |= !row || !json_set_text(row, kind, object) ||
			    (real.n && !json_set_text(row, "real", real));
	a->out_of_memory |= json_object_set_new(row, "verdicts", verdicts) < 0;
	a->out_of_memory |= json_array_append_new(a->list, row) < 0;
	buf_add_escaped(&a->text, object);
	if (real.n && !str_eq(real, object)) {
		buf_adds(&a->text, " -> ");
		buf_add_escaped(&a->text, real);
	}
	buf_addc(&a->text, '\n');
	return verdicts;
}

/* --- objects -------------------------------------------------------------------------------- */

static bool wanted(const struct opts *o, enum policy_op op)
{
	bool any = opts_given(o, OPTION_READ) || opts_given(o, OPTION_WRITE) ||
		   opts_given(o, OPTION_EXEC);

	if (!any)
		return true;
	return opts_given(o, op == POLICY_READ	? OPTION_READ :
			     op == POLICY_WRITE ? OPTION_WRITE :
						  OPTION_EXEC);
}

/* Of what is not there nobody knows whether a file or a directory is meant. */
static int verdict_of_absent(const struct explainer *e, enum policy_op op, struct str real,
			     struct verdict *ret, struct cordon_error *err)
{
	struct verdict made;
	int r = verdict_of_path(e, op, real, ret, err);

	if (r < 0 || op != POLICY_WRITE || !ret->allowed || ret->fix.why_not)
		return r;
	r = verdict_of_path(e, POLICY_CREATE, real, &made, err);
	if (r < 0 || made.allowed)
		return r;
	ret->fix.why_not = arena_printf(e->opts->arena, "%s: %s", made.by, made.fix.why_not);
	return ret->fix.why_not ? 0 : err_nomem(err, "explain");
}

static int explain_path(struct answer *a, const char *word)
{
	static const enum policy_op ops[] = { POLICY_READ, POLICY_WRITE, POLICY_EXEC };
	const struct situation *s = &a->explainer.setup.situation;
	char cwd[PATH_BYTES_MAX + 1];
	struct str real;
	struct node node;
	const char *path;
	json_t *verdicts;
	struct verdict v;
	int r;

	if (word[0] == '~' && (!word[1] || word[1] == '/'))
		word = arena_printf(a->o->arena, "%s%s", s->places.home.p, word + 1);
	if (!word)
		return err_nomem(&a->err, "explain");
	path = path_normalise(a->o->arena,
			      word[0] == '/'		       ? STR("/") :
			      getcwd(cwd, sizeof(cwd)) ? str_of(cwd) :
							       s->places.workdir,
			      str_of(word));
	if (!path)
		return err_set(&a->err, CORDON_E_USAGE, 0, "explain", "not a path");
	r = s->world.resolve(&s->world, a->o->arena, str_of(path), &real, &node, &a->err);
	if (r < 0)
		return r;
	verdicts = begin(a, "path", str_of(path), real);
	/* It is not opened, so there is nothing else to say of it. */
	if (node.type == NODE_SOCKET) {
		r = verdict_of_socket(&a->explainer, real, &v, &a->err);
		if (r == 0)
			add_verdict(a, verdicts, &v);
		return r;
	}
	for (unsigned i = 0; i < 3 && r == 0; i++) {
		if (!wanted(a->o, ops[i]))
			continue;
		r = node.type == NODE_ABSENT
			    ? verdict_of_absent(&a->explainer, ops[i], real, &v, &a->err)
			    : verdict_of_file(&a->explainer, ops[i], real, &v, &a->err);
		if (r == 0 && ops[i] == POLICY_EXEC) {
			remedy_by_link(&a->explainer, ops[i], real, str_of(path), &v.fix);
			remedy_of_shim(&a->explainer, str_of(path), &v.fix);
		}
		if (r == 0)
			add_verdict(a, verdicts, &v);
	}
	return r;
}

static int explain_host(struct answer *a, const struct host *host, const char *word,
			bool could_be_path)
{
	struct verdict v;
	json_t *verdicts;
	int r = verdict_of_host(&a->explainer, host, &v, &a->err);

	if (r < 0)
		return r;
	verdicts = begin(a, "host", str_of(word), (struct str){ 0 });
	if (could_be_path) {
		buf_adds(&a->text, "  taken for a host, as there is no such file; the path is ./");
		buf_add_escaped(&a->text, str_of(word));
		buf_addc(&a->text, '\n');
	}
	add_verdict(a, verdicts, &v);
	return 0;
}

/* The part of a URL that names the host; false when it is none. */
static bool url_host(struct str url, struct str *ret_scheme, struct str *ret_host)
{
	struct str rest, user;

	if (!str_cut(url, ':', ret_scheme, &rest) || !ret_scheme->n ||
	    !str_starts(rest, STR("//")) || str_find(*ret_scheme, '/') < ret_scheme->n)
		return false;
	str_cut(str_skip(rest, 2), '/', &rest, &user);
	str_cut(rest, '?', &rest, &user);
	str_cut(rest, '#', &rest, &user);
	*ret_host = rest;
	while (str_cut(*ret_host, '@', &user, &rest))
		*ret_host = rest;
	return true;
}

static int explain_url(struct answer *a, const char *word, struct str scheme, struct str name)
{
	autobuf struct buf shown = buf_make(512);
	struct host host;
	int r = host_parse_target(name, &host, &a->err);

	if (r < 0)
		return r;
	if (!host.port)
		host.port = str_eq(scheme, STR("https")) ? 443 :
			    str_eq(scheme, STR("http"))	 ? 80 :
							   0;
	host_print(&shown, &host);
	out_note(a->o, "%s is a URL: its host is explained", quote(str_of(word)).text);
	return explain_host(a, &host, shown.p, false);
}

/* A word with a slash, or that names a file, is a path; so is one that no host is
 * likely to be called. */
static bool is_host(const struct opts *o, const char *word, struct host *ret)
{
	struct cordon_error ignored;

	if (strchr(word, '/') || word[0] == '.' || word[0] == '~' || access(word, F_OK) == 0 ||
	    opts_given(o, OPTION_READ) || opts_given(o, OPTION_WRITE) ||
	    opts_given(o, OPTION_EXEC))
		return false;
	if (!strpbrk(word, ".:") && strcmp(word, "localhost") != 0)
		return false;
	return host_parse_target(str_of(word), ret, &ignored) == 0;
}

/* ":8080", unless a file is called that: a service of this machine. */
static bool is_port(const char *word)
{
	uint64_t port;

	return word[0] == ':' && num_parse_u64(str_of(word + 1), UINT16_MAX, &port) && port &&
	       access(word, F_OK) < 0;
}

static int explain_word(struct answer *a, const char *word)
{
	struct str scheme, name;
	struct host host;

	if (!*word)
		return err_set(&a->err, CORDON_E_USAGE, 0, "usage", "an empty word names nothing");
	if (url_host(str_of(word), &scheme, &name))
		return explain_url(a, word, scheme, name);
	if (is_port(word))
		word = arena_printf(a->o->arena, "localhost%s", word);
	if (!word)
		return err_nomem(&a->err, "explain");
	if (!is_host(a->o, word, &host))
		return explain_path(a, word);
	return explain_host(a, &host, word, host.kind == HOST_NAME && !strchr(word, ':') &&
						    strcmp(word, "localhost") != 0);
}

/* The variables the command would get decide where its program is found. */
static const char *path_variable(const struct answer *a)
{
	const struct plan *plan = a->explainer.setup.plan;
	const char *path = plan ? plan_variable(plan, "PATH") : NULL;

	return path ? path : getenv("PATH");
}

/* Does an argument name a file? Text for a shell may start like one. */
static bool names_path(const char *argument)
{
	if (access(argument, F_OK) == 0)
		return true;
	if (argument[strcspn(argument, " \t\n;|&<>()$`'\"")])
		return false;
	return argument[0] == '/' || argument[0] == '~' || strncmp(argument, "./", 2) == 0 ||
	       strncmp(argument, "../", 3) == 0;
}

/* The program, and those of its arguments that name something. */
static int explain_command(struct answer *a, char **argv)
{
	const struct situation *s = &a->explainer.setup.situation;
	const char *program;
	int r = spawn_search_path(a->o->arena, argv[0], path_variable(a), s->places.workdir.p,
				  &program, &a->err);

	if (r == 0)
		r = explain_path(a, program);
	for (char **arg = argv + 1; *arg && r == 0; arg++)
		if (names_path(*arg))
			r = explain_path(a, *arg);
	return r;
}

static int explain_all(struct answer *a)
{
	int r = explainer_open(a->o, &a->explainer, &a->err);

	if (r < 0)
		return r;
	setup_warn(a->o, a->explainer.setup.situation.policy);
	for (size_t i = 0; i < a->o->words.n && r == 0; i++)
		r = explain_word(a, a->o->words.at[i]);
	if (r == 0 && a->o->rest && *a->o->rest)
		r = explain_command(a, a->o->rest);
	return r;
}

/* --- the last run --------------------------------------------------------------------------- */

/* Appends obj[key], which may have come from inside a sandbox; nothing when it is not
 * there. */
static void print_member(struct answer *a, const char *before, const json_t *obj, const char *key,
			 const char *after)
{
	struct str text;

	if (!json_get_text(obj, key, a->o->arena, &text))
		return;
	buf_adds(&a->text, before);
	buf_add_escaped(&a->text, text);
	buf_adds(&a->text, after);
}

/* The same of what is quoted for a shell already, to be pasted. */
static void print_quoted(struct answer *a, const char *before, const json_t *obj, const char *key)
{
	struct str text;

	if (!json_get_text(obj, key, a->o->arena, &text))
		return;
	buf_adds(&a->text, before);
	out_add_message(&a->text, text);
	buf_addc(&a->text, '\n');
}

/* The member, followed by blanks up to a width. */
static void print_padded(struct answer *a, const char *before, const json_t *obj, const char *key,
			 size_t width)
{
	size_t wanted = a->text.n + strlen(before) + width;

	print_member(a, before, obj, key, "");
	while (a->text.n < wanted && !a->text.failed)
		buf_addc(&a->text, ' ');
}

static void print_last_fix(struct answer *a, const json_t *fix)
{
	bool several = json_object_get(fix, "first");
	struct str toml;

	print_quoted(a, INDENT "to allow it, first, outside: ", fix, "first");
	print_quoted(a, several ? INDENT "then: " : INDENT "to allow it: ", fix, "flags");
	if (json_get_text(fix, "toml", a->o->arena, &toml))
		print_toml(&a->text, toml);
	print_member(a, INDENT "but not as things are: ", fix, "remark", "\n");
	print_member(a, INDENT, fix, "note", "\n");
	print_member(a, INDENT "warning: ", fix, "warning", "\n");
}

static void print_last_violation(struct answer *a, const json_t *v)
{
	json_int_t count = json_integer_value(json_object_get(v, "count"));

	print_member(a, "", v, "object", "\n");
	print_padded(a, "  ", v, "op", 8);
	buf_adds(&a->text, "denied   ");
	print_member(a, "", v, "rule", "");
	print_member(a, " [", v, "origin", "]");
	print_member(a, "\n" INDENT "source ", v, "source", "");
	print_member(a, ", by ", v, "program", "");
	print_member(a, ", first at ", v, "time", "");
	if (count > 1)
		buf_addf(&a->text, ", %lld times", (long long)count);
	buf_addc(&a->text, '\n');
	print_last_fix(a, json_object_get(v, "fix"));
	print_member(a, INDENT, v, "reason", "\n");
}

static void print_last(struct answer *a, const json_t *run)
{
	json_int_t dropped = json_integer_value(json_object_get(run, "violations_dropped"));
	const json_t *v;
	size_t i;

	print_member(a, "the last run that was refused something: ", run, "program", "");
	print_member(a, ", ended ", run, "time", "");
	print_member(a, " in ", run, "workdir", "");
	print_member(a, ", profile ", run, "profile", "");
	print_member(a, ", backend ", run, "backend", "\n");
	json_array_foreach(json_object_get(run, "violations"), i, v)
		print_last_violation(a, v);
	if (dropped)
		buf_addf(&a->text, "and %lld more that were not kept\n", (long long)dropped);
}

static int explain_last(struct answer *a)
{
	struct situation_options options;
	struct places places;
	json_t *run = NULL;
	int status;

	opts_situation(a->o, &options);
	if (situation_places(a->o->arena, &options, &places, &a->err) < 0 ||
	    last_run_read(a->o->arena, places.cordon_home.p, &run, &a->err) < 0)
		return out_error(a->o, &a->err);
	if (opts_given(a->o, OPTION_JSON))
		return out_json(a->o, run ? run : json_pack("{s:[]}", "violations"));
	buf_init(&a->text, OUT_BYTES_MAX);
	if (run)
		print_last(a, run);
	else
		buf_adds(&a->text, "no run with a refused action is on record\n");
	status = out_text(a->o, &a->text);
	buf_free(&a->text);
	json_decref(run);
	return status;
}

/* The first option given that --last has no use for: the run had its own policy. */
static const char *useless_for_last(const struct opts *o)
{
	static const enum option useless[] = {
		OPTION_PROFILE,	   OPTION_SETTINGS, OPTION_WORKDIR, OPTION_DATA_DIR, OPTION_SANDBOX,
		OPTION_NO_SANDBOX, OPTION_READ,	    OPTION_WRITE,   OPTION_EXEC,
	};

	for (size_t i = 0; i < sizeof(useless) / sizeof(useless[0]); i++)
		if (opts_given(o, useless[i]))
			return option_rows[useless[i]].flag;
	return o->flags.statements.n ? o->flags.statements.at[0].origin.file : NULL;
}

static int check_words(struct answer *a)
{
	const struct opts *o = a->o;
	bool any = o->words.n || (o->rest && *o->rest);
	const char *useless = useless_for_last(o);

	if (opts_given(o, OPTION_LAST) && !any && useless)
		return err_set(&a->err, CORDON_E_USAGE, 0, "usage",
			       "--last explains a run as it was: %s has no place beside it",
			       useless);
	if (opts_given(o, OPTION_LAST) != any)
		return 0;
	if (any)
		return err_set(&a->err, CORDON_E_USAGE, 0, "usage",
			       "--last explains a run, not what is named besides it");
	err_set(&a->err, CORDON_E_USAGE, 0, "usage", "explain what?");
	return err_hint(&a->err, "cordon explain %s", o->command->synopsis);
}

int cmd_explain(struct opts *o)
{
	struct answer a = { .o = o };
	int status;

	if (check_words(&a) < 0)
		return out_error(o, &a.err);
	if (opts_given(o, OPTION_LAST))
		return explain_last(&a);
	a.list = json_array();
	buf_init(&a.text, OUT_BYTES_MAX);
	if (explain_all(&a) < 0) {
		status = out_error(o, &a.err);
	} else if (a.out_of_memory) {
		err_nomem(&a.err, "explain");
		status = out_error(o, &a.err);
	} else if (opts_given(o, OPTION_JSON)) {
		status = out_json(o, json_pack("{s:s, s:O}", "profile",
					       a.explainer.setup.situation.policy->profile,
					       "objects", a.list));
	} else {
		status = out_text(o, &a.text);
	}
	buf_free(&a.text);
	json_decref(a.list);
	return status;
}
