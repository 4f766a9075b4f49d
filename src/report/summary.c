/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences about violations, and putting many of them into few. */
#include "report/summary.h"

#include "base/path.h"
#include "report/history.h"

/* Deeper names start as their directory at this depth: a path of a thousand components
 * must not cost a thousand rounds. */
#define DEPTH_MAX 16

/* Violations of one operation at or below one place; a single one is its own place. */
struct group {
	const struct violation *first;
	struct str place; /* empty: of no path, as for hosts */
	size_t depth;
	size_t n;
	bool gone;    /* merged into an earlier one */
	bool history; /* of what was typed: stays apart */
};

struct groups {
	struct group at[VIOLATIONS_MAX];
	size_t n, alive;
};

static bool is_path(const struct violation *v)
{
	return v->object.n && v->object.p[0] == '/';
}

static void gather(struct groups *g, const struct violations *all, size_t from)
{
	g->n = 0;
	for (size_t i = from; i < violations_count(all); i++) {
		const struct violation *v = violations_at(all, i);

		if (v->need == VIOLATION_SPARED)
			continue;
		g->at[g->n++] = (struct group){
			.first = v,
			.place = v->object,
			.depth = is_path(v) ? path_depth(v->object) : 1,
			.n = 1,
		};
	}
	g->alive = g->n;
}

/* Several calls serve the same end, and what is said of them is the same. */
static void merge_reasons(struct groups *g)
{
	for (size_t i = 0; i < g->n; i++)
		for (size_t j = i + 1; j < g->n && !g->at[i].gone && g->at[i].first->reason; j++) {
			if (g->at[j].gone || g->at[j].first->reason != g->at[i].first->reason)
				continue;
			g->at[i].n++;
			g->at[j].gone = true;
			g->alive--;
		}
}

/* That programs cannot keep what was typed is as it should be, and one line is enough for all of
 * them. */
static void merge_histories(struct groups *g)
{
	struct group *first = NULL;

	for (size_t i = 0; i < g->n; i++) {
		struct group *one = &g->at[i];

		if (one->gone || !history_is(one->first))
			continue;
		one->history = true;
		if (!first) {
			first = one;
			continue;
		}
		first->n++;
		one->gone = true;
		g->alive--;
	}
}

static void lift(struct group *g, size_t to)
{
	for (; g->depth > to; g->depth--)
		g->place = is_path(g->first) ? path_parent(g->place) : (struct str){ 0 };
}

static void merge(struct groups *g, size_t depth)
{
	for (size_t i = 0; i < g->n; i++)
		for (size_t j = i + 1; j < g->n && !g->at[i].gone && g->at[i].depth == depth; j++) {
			struct group *one = &g->at[i], *other = &g->at[j];

			if (other->gone || other->history || one->history ||
			    other->depth != depth || other->first->op != one->first->op ||
			    !str_eq(other->place, one->place))
				continue;
			one->n += other->n;
			other->gone = true;
			g->alive--;
		}
}

/* Lifts the deepest to their directories until few enough are left. */
static void collapse(struct groups *g, size_t most)
{
	while (g->alive > most) {
		size_t deepest = 0, to;

		for (size_t i = 0; i < g->n; i++)
			if (!g->at[i].gone && !g->at[i].history && g->at[i].depth > deepest)
				deepest = g->at[i].depth;
		if (!deepest)
			return;
		to = deepest > DEPTH_MAX ? DEPTH_MAX : deepest - 1;
		for (size_t i = 0; i < g->n; i++)
			if (!g->at[i].gone && !g->at[i].history)
				lift(&g->at[i], to);
		merge(g, to);
	}
}

static void print_source(struct buf *b, const struct violation *v)
{
	buf_adds(b, " (");
	if (v->program[0]) {
		buf_add_escaped(b, str_of(v->program));
		buf_adds(b, ", ");
	}
	buf_adds(b, violation_source_how(v->source));
	if (v->count > 1)
		buf_addf(b, ", %llu times", (unsigned long long)v->count);
	buf_addc(b, ')');
}

static void print_fix(struct buf *b, const struct fix *fix)
{
	if (fix->flags && !fix->remark)
		buf_addf(b, "; to allow it: %s%s%s", fix->first ? fix->first : "",
			 fix->first ? ", then " : "", fix->flags);
	else if (fix->why_not)
		buf_addf(b, "; %s", fix->why_not);
	else if (fix->remark)
		buf_addf(b, "; nothing allows it as things are (%s)", fix->remark);
	if (fix->remark)
		return;
	if (fix->note)
		buf_addf(b, " (%s)", fix->note);
	if (fix_warning(fix))
		buf_addf(b, " (warning: %s)", fix_warning(fix));
}

static void print_advice(struct buf *b, const struct violation *v,
			 const struct violation_advisor *advisor)
{
	struct violation_advice advice = { 0 };

	if (!advisor)
		return;
	advisor->advise(advisor->data, v, &advice);
	if (advice.rule)
		buf_addf(b, ": %s", advice.rule);
	if (advice.origin)
		buf_addf(b, " [%s]", advice.origin);
	print_fix(b, &advice.fix);
}

/* What was inferred is not known, and the sentence must not sound as if it were. */
static void print_start(struct buf *b, const struct violation *v)
{
	buf_addf(b, "%srefused: %s ", v->source == VIOLATION_BY_inferred ? "probably " : "",
		 v->removes ? "removing" : violation_op_doing(v->op));
	buf_add_escaped(b, v->object);
}

void violation_print(struct buf *b, const struct violation *v,
		     const struct violation_advisor *advisor)
{
	print_start(b, v);
	print_source(b, v);
	/* Opening another repository's hooks for it is the wrong advice. */
	if (v->need == VIOLATION_DOUBTED)
		buf_adds(b, ": git status and git diff go on without it");
	else
		print_advice(b, v, advisor);
}

static void print_histories(struct buf *b, const struct group *g)
{
	print_start(b, g->first);
	if (g->n > 1)
		buf_addf(b, " and %zu more", g->n - 1);
	buf_adds(b, ": what is typed inside is not kept outside");
}

/* The advice is on the place that all of them share. */
static void print_group(struct buf *b, const struct group *g,
			const struct violation_advisor *advisor)
{
	struct violation shared = *g->first;

	if (g->history) {
		print_histories(b, g);
		return;
	}
	if (g->n == 1) {
		violation_print(b, g->first, advisor);
		return;
	}
	print_start(b, g->first);
	buf_addf(b, " and %zu more", g->n - 1);
	if (g->place.n && is_path(g->first)) {
		buf_adds(b, " under ");
		buf_add_escaped(b, g->place);
	}
	shared.count = 1;
	print_source(b, &shared);
	shared.object = g->place;
	/* Whoever may write there may do it to every name in it. */
	shared.removes = shared.moves = shared.opens = shared.opens_new = false;
	shared.directory = shared.several = true;
	if (g->depth > 1 || shared.reason)
		print_advice(b, &shared, advisor);
}

void violations_summary(struct buf *b, const struct violations *all, struct summary_told *told,
			const struct violation_advisor *advisor)
{
	struct groups g;
	uint64_t left = violations_dropped(all) - (told ? told->dropped : 0);
	size_t most, lines = 0;

	gather(&g, all, told ? told->kept : 0);
	if (told)
		*told = (struct summary_told){ violations_count(all), violations_dropped(all) };
	merge_reasons(&g);
	merge_histories(&g);
	most = SUMMARY_LINES_MAX - (left ? 1 : 0);
	collapse(&g, most);
	if (g.alive > most)
		most = SUMMARY_LINES_MAX - 1;
	for (size_t i = 0; i < g.n; i++) {
		if (g.at[i].gone)
			continue;
		if (lines++ >= most) {
			left += g.at[i].n;
			continue;
		}
		print_group(b, &g.at[i], advisor);
		buf_addc(b, '\n');
	}
	if (left)
		buf_addf(b, "%llu more refusals; 'cordon explain --last' lists what was kept\n",
			 (unsigned long long)left);
}
