/* SPDX-License-Identifier: Apache-2.0 */
/* Telling what was learned. */
#include "cli/lesson.h"

#include "base/path.h"
#include "cli/merge_file.h"
#include "cli/out.h"
#include "fmt/json.h"

#define stage "learn"
#define TEXT_MAX ((size_t)4 << 20)
#define PLACES_SHOWN 8

/* For the comment beside an addition. */
static const char *remark(const struct lesson *s, const struct learner_rule *rule)
{
	autobuf struct buf b = buf_make(512);

	if (!rule->program)
		return "given as a flag";
	if (!*rule->program)
		return NULL;
	buf_add_escaped(&b, str_of(rule->program));
	if (rule->refusals > 1)
		buf_addf(&b, ", %zu refused", rule->refusals);
	return b.failed ? NULL : arena_dup(s->o->arena, buf_str(&b));
}

static struct amendment *amendments(const struct lesson *s)
{
	size_t n = s->learner.rules.n;
	struct amendment *items = arena_array(s->o->arena, n + 1, sizeof(*items));

	for (size_t i = 0; items && i < n; i++) {
		items[i] = s->learner.rules.at[i].add;
		items[i].remark = remark(s, &s->learner.rules.at[i]);
	}
	return items;
}

static const char *what_of(const struct learn_refusal *r)
{
	return r->key == KEY_COUNT ? "call" : key_rows[r->key].name;
}

static void print_left_out(struct buf *b, const struct learn_refusal *r)
{
	buf_addf(b, "%s ", what_of(r));
	buf_add_escaped(b, r->object);
	if (*r->program) {
		buf_adds(b, " (");
		buf_add_escaped(b, str_of(r->program));
		buf_addc(b, ')');
	}
	buf_adds(b, ": ");
	out_add_message(b, str_of(r->left_out));
}

/* Where it wrote; the workdir as one place. */
static void print_written(struct buf *b, const struct lesson *s)
{
	uint64_t inside = 0;
	size_t shown = 0, more = 0;

	for (size_t i = 0; i < accesses_count(s->accesses); i++) {
		const struct used_dir *u = accesses_at(s->accesses, i);

		if (u->op != VIOLATION_write)
			continue;
		if (path_below(u->dir, s->workdir)) {
			inside += u->count;
		} else if (shown < PLACES_SHOWN) {
			buf_addf(b, "%s%llu in ", shown++ ? ", " : "",
				 (unsigned long long)u->count);
			buf_add_escaped(b, u->dir);
		} else {
			more++;
		}
	}
	if (inside)
		buf_addf(b, "%s%llu below the workdir", shown ? ", " : "",
			 (unsigned long long)inside);
	if (more)
		buf_addf(b, ", and in %zu more directories", more);
}

static void print_granted(struct buf *b, const struct lesson *s)
{
	uint64_t writes = accesses_total(s->accesses, VIOLATION_write);

	buf_addf(b, "%llu reads, %llu writes",
		 (unsigned long long)accesses_total(s->accesses, VIOLATION_read),
		 (unsigned long long)writes);
	if (!writes)
		return;
	buf_adds(b, " (");
	print_written(b, s);
	buf_addc(b, ')');
}

static void print_head(struct buf *b, const struct lesson *s)
{
	buf_addf(b, "# Learned on top of %s, %llu round%s.\n# Granted already: ", s->base,
		 (unsigned long long)s->rounds, s->rounds == 1 ? "" : "s");
	print_granted(b, s);
	buf_addc(b, '\n');
	vec_each(r, &s->learner.last.left_out) {
		buf_adds(b, "# Left out: ");
		print_left_out(b, r);
		buf_addc(b, '\n');
	}
}

/* What was learned is added to the flags of the next round. */
static bool is_learned(const struct lesson *s, const struct statement *said)
{
	vec_each(rule, &s->learner.rules)
		if (rule->add.key == said->key && str_eq(str_of(rule->add.text), said->text))
			return true;
	return false;
}

/* The runs had them, and what they grant was not refused. */
static void say_flags(const struct lesson *s)
{
	autobuf struct buf b = buf_make(TEXT_MAX);
	/* learn itself sets the report. */
	bool seen[KEY_COUNT] = { [KEY_REPORT] = true };

	vec_each(said, &s->o->flags.statements) {
		if (seen[said->key] || is_learned(s, said))
			continue;
		seen[said->key] = true;
		buf_addf(&b, "%s%s", b.n ? ", " : "", key_rows[said->key].flag);
	}
	if (b.n)
		out_note(s->o, "the profile lacks what was given as flags: run with %s, too", b.p);
}

static bool succeeded(const struct lesson *s)
{
	return s->cause == RUN_CAUSE_exited && s->exit_code == 0;
}

/* What somebody has to do. */
static void say_rest(const struct lesson *s)
{
	const struct opts *o = s->o;

	vec_each(r, &s->learner.last.left_out) {
		autobuf struct buf b = buf_make(TEXT_MAX);

		print_left_out(&b, r);
		out_note(o, "left out: %s", b.p);
	}
	if (!succeeded(s))
		out_note(o, "the command did not succeed in the last round (%s%s)",
			 run_cause_meaning(s->cause),
			 s->cause == RUN_CAUSE_exited ? ", with a status that is not 0" : "");
	say_flags(s);
	if (s->dropped)
		out_note(o, "%llu more refusals found no room", (unsigned long long)s->dropped);
	if (s->fresh)
		out_note(o, "it was refused something that is granted now: learn again, or use "
			    "--rounds, to see what it does then");
	else if (!s->learner.rules.n && !s->learner.last.left_out.n)
		out_note(o, succeeded(s) ? "nothing was refused: the profile %s is enough"
				      : "no refusal was seen under the profile %s",
			 s->base);
}

static json_t *rules_to_json(const struct lesson *s)
{
	json_t *list = json_array();
	int bad = !list;

	vec_each(rule, &s->learner.rules) {
		json_t *row = json_pack("{s:s, s:I}", "key", key_rows[rule->add.key].name,
					"refusals", (json_int_t)rule->refusals);

		bad |= !row || !json_set_text(row, "value", str_of(rule->add.text)) ||
		       !json_set_text(row, "program", str_of(rule->program));
		bad |= json_array_append_new(list, row);
	}
	if (!bad)
		return list;
	json_decref(list);
	return NULL;
}

static json_t *left_out_to_json(const struct lesson *s)
{
	json_t *list = json_array();
	int bad = !list;

	vec_each(r, &s->learner.last.left_out) {
		json_t *row = json_pack("{s:s}", "key", what_of(r));

		bad |= !row || !json_set_text(row, "object", r->object) ||
		       !json_set_text(row, "program", str_of(r->program)) ||
		       !json_set_text(row, "reason", str_of(r->left_out));
		bad |= json_array_append_new(list, row);
	}
	if (!bad)
		return list;
	json_decref(list);
	return NULL;
}

static int answer_json(const struct lesson *s, const struct buf *toml)
{
	json_t *granted = json_pack("{s:I, s:I}", "reads",
				    (json_int_t)accesses_total(s->accesses, VIOLATION_read),
				    "writes",
				    (json_int_t)accesses_total(s->accesses, VIOLATION_write));
	json_t *answer = json_pack("{s:s, s:I, s:s, s:i, s:b, s:o, s:o, s:o}", "extends", s->base,
				   "rounds", (json_int_t)s->rounds, "cause",
				   run_cause_to_string(s->cause), "exit_code", s->exit_code,
				   "complete",
				   !s->fresh && !s->dropped && !s->learner.last.left_out.n, "rules",
				   rules_to_json(s), "left_out", left_out_to_json(s), "granted",
				   granted);

	if (answer && json_set_text(answer, "profile", str_of(s->name)) &&
	    json_set_text(answer, "toml", buf_str(toml)))
		return out_json(s->o, answer);
	json_decref(answer);
	return out_json(s->o, NULL);
}

int lesson_tell(struct lesson *s)
{
	autobuf struct buf b = buf_make(TEXT_MAX);
	const char *file = s->o->value[OPTION_MERGE];
	const struct amendment *items = amendments(s);
	size_t n = s->learner.rules.n;

	if (!items) {
		err_nomem(&s->err, stage);
		return out_error(s->o, &s->err);
	}
	if (file && merge_file(s->o->arena, file, s->name, s->base, items, n, &s->err) < 0)
		return out_error(s->o, &s->err);
	say_rest(s);
	print_head(&b, s);
	amend_print(&b, s->name, s->base, items, n);
	if (opts_given(s->o, OPTION_JSON))
		return answer_json(s, &b);
	if (!file)
		return out_text(s->o, &b);
	out_note(s->o, "%s: the profile %s has what was learned", file, s->name);
	return 0;
}
