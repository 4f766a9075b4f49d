/* SPDX-License-Identifier: Apache-2.0 */
/* The store of violations: a bounded table, found by operation and object. */
#include "report/violation.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/path.h"
#include "report/history.h"

/* Open addressing; four times what is kept, so that a probe is short. */
#define SLOTS (4 * VIOLATIONS_MAX)

struct violations {
	struct violation kept[VIOLATIONS_MAX];
	uint16_t slots[SLOTS]; /* index into kept, plus one; 0: free */
	size_t n, observed, advisory;
	uint64_t dropped;
	struct violation_listener *listeners;
};

static const char *const op_names[] = {
#define VIOLATION_OP(name, doing) #name,
#include "report/violation.def"
#undef VIOLATION_OP
};

static const char *const op_doing[] = {
#define VIOLATION_OP(name, doing) doing,
#include "report/violation.def"
#undef VIOLATION_OP
};

static const char *const source_names[] = {
#define VIOLATION_SOURCE(name, how) #name,
#include "report/violation.def"
#undef VIOLATION_SOURCE
};

static const char *const source_how[] = {
#define VIOLATION_SOURCE(name, how) how,
#include "report/violation.def"
#undef VIOLATION_SOURCE
};

const char *violation_op_to_string(enum violation_op op)
{
	return op_names[op];
}

bool violation_op_from_string(struct str text, enum violation_op *ret)
{
	for (unsigned i = 0; i < VIOLATION_OP_COUNT; i++)
		if (str_eq(text, str_of(op_names[i]))) {
			*ret = (enum violation_op)i;
			return true;
		}
	return false;
}

const char *violation_op_doing(enum violation_op op)
{
	return op_doing[op];
}

const char *violation_source_to_string(enum violation_source source)
{
	return source_names[source];
}

bool violation_source_from_string(struct str text, enum violation_source *ret)
{
	for (unsigned i = 0; i < VIOLATION_SOURCE_COUNT; i++)
		if (str_eq(text, str_of(source_names[i]))) {
			*ret = (enum violation_source)i;
			return true;
		}
	return false;
}

const char *violation_source_how(enum violation_source source)
{
	return source_how[source];
}

struct violations *violations_new(void)
{
	return calloc(1, sizeof(struct violations));
}

void violations_free(struct violations *all)
{
	if (!all)
		return;
	for (size_t i = 0; i < all->n; i++)
		free((char *)(uintptr_t)all->kept[i].object.p);
	free(all);
}

/* FNV-1a. Colliding on purpose lengthens a probe to VIOLATIONS_MAX steps and no more. */
static uint32_t hash(enum violation_op op, struct str object)
{
	uint32_t h = 2166136261u ^ (uint32_t)op;

	for (size_t i = 0; i < object.n; i++)
		h = (h ^ (uint8_t)object.p[i]) * 16777619u;
	return h;
}

/* The slot that holds the violation, or the free one where it belongs. */
static uint16_t *find_slot(struct violations *all, enum violation_op op, struct str object)
{
	size_t at = hash(op, object) % SLOTS;

	for (;; at = (at + 1) % SLOTS) {
		const struct violation *v;

		if (!all->slots[at])
			return &all->slots[at];
		v = &all->kept[all->slots[at] - 1];
		if (v->op == op && str_eq(v->object, object))
			return &all->slots[at];
	}
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

bool violation_counts(const struct violation *v)
{
	return v->source != VIOLATION_BY_inferred && !v->advisory;
}

/* The first one that counts always finds some. */
static bool has_room(const struct violations *all, const struct violation *v)
{
	return all->n < VIOLATIONS_MAX &&
	       (!v->advisory || all->advisory < VIOLATIONS_ADVISORY_MAX);
}

static uint64_t times(const struct violation *v)
{
	return v->count ? v->count : 1;
}

static struct violation *keep(struct violations *all, const struct violation *v)
{
	struct violation *slot = &all->kept[all->n];
	char *object = malloc(v->object.n + 1);

	if (!object)
		return NULL;
	memcpy(object, v->object.p, v->object.n);
	object[v->object.n] = '\0';
	*slot = *v;
	slot->object.p = object;
	slot->program[sizeof(slot->program) - 1] = '\0';
	slot->count = times(v);
	if (!slot->time_ms)
		slot->time_ms = now_ms();
	all->n++;
	all->observed += violation_counts(v);
	all->advisory += v->advisory;
	return slot;
}

static void tell_listeners(struct violations *all, const struct violation *v)
{
	for (struct violation_listener *l = all->listeners; l; l = l->next)
		l->first(l->data, v);
}

/* Whatever it is called, it happened. */
static struct str object_of(const struct violation *v)
{
	if (!v->object.n)
		return STR("(no name)");
	return str_take(v->object, v->object.n > VIOLATION_OBJECT_MAX ? VIOLATION_OBJECT_MAX
								       : v->object.n);
}

/* git takes another repository's objects over by links, and copies all of them when the first
 * is refused. */
static bool is_local_clone(const struct violation *v)
{
	struct str rest = v->object, part;

	if (!v->links || !str_eq(str_of(v->program), STR("git")))
		return false;
	while (path_next(&rest, &part))
		if (str_eq(part, STR("objects")))
			return true;
	return false;
}

/* An inner cordon tries what there is to be had, and says itself what it makes do with. */
static bool is_inner_probe(const struct violation *v)
{
	return v->op == VIOLATION_call && v->inner;
}

/* What was told of nobody, or only as advice, is told after all. */
static void add_again(struct violations *all, struct violation *kept, const struct violation *v)
{
	kept->count += times(v);
	kept->moves |= v->moves || v->removes;
	kept->inner &= v->inner;
	if (kept->advisory && !v->advisory) {
		kept->advisory = kept->links = false;
		all->advisory--;
		all->observed += violation_counts(kept);
	} else if (kept->need != VIOLATION_SPARED || is_inner_probe(kept)) {
		return;
	}
	kept->pid = v->pid;
	memcpy(kept->program, v->program, sizeof(kept->program) - 1);
	kept->need = VIOLATION_NEEDED;
	tell_listeners(all, kept);
}

bool violations_add(struct violations *all, const struct violation *v)
{
	struct violation named = *v;
	struct violation *kept = NULL;
	uint16_t *slot;

	if (!all)
		return false;
	named.object = object_of(v);
	named.advisory |= is_local_clone(v);
	if (is_inner_probe(v))
		named.need = VIOLATION_SPARED;
	slot = find_slot(all, v->op, named.object);
	if (*slot) {
		add_again(all, &all->kept[*slot - 1], &named);
		return false;
	}
	if (has_room(all, &named))
		kept = keep(all, &named);
	if (!kept) {
		all->dropped++;
		all->observed += violation_counts(&named);
		return false;
	}
	*slot = (uint16_t)all->n;
	tell_listeners(all, kept);
	return true;
}

void violations_listen(struct violations *all, struct violation_listener *listener)
{
	listener->next = all->listeners;
	all->listeners = listener;
}

void violations_unlisten(struct violations *all, struct violation_listener *listener)
{
	for (struct violation_listener **at = &all->listeners; *at; at = &(*at)->next)
		if (*at == listener) {
			*at = listener->next;
			return;
		}
}

size_t violations_count(const struct violations *all)
{
	return all ? all->n : 0;
}

const struct violation *violations_at(const struct violations *all, size_t i)
{
	return &all->kept[i];
}

bool violations_has_object(const struct violations *all, struct str object)
{
	for (size_t i = 0; i < violations_count(all); i++)
		if (str_eq(all->kept[i].object, object))
			return true;
	return false;
}

uint64_t violations_dropped(const struct violations *all)
{
	return all ? all->dropped : 0;
}

size_t violations_observed(const struct violations *all)
{
	return all ? all->observed : 0;
}

/* --- what was not needed ------------------------------------------------------------------- */

/* NAME.pyc.NUMBER: it is renamed when it is whole. */
static bool is_unfinished_bytecode(struct str name)
{
	size_t digits = 0;

	while (digits < name.n && strchr("0123456789", name.p[name.n - digits - 1]))
		digits++;
	return digits > 0 && str_ends(str_take(name, name.n - digits), STR(".pyc."));
}

/* Python keeps what it has compiled where it may, and goes on without. Only how it begins to: what
 * a module is loaded from is nobody's to change unseen. */
static bool is_bytecode(const struct violation *v)
{
	struct str name = path_last(v->object);

	if (v->removes || v->moves)
		return false;
	return (v->directory && str_eq(name, STR("__pycache__"))) ||
	       (is_unfinished_bytecode(name) &&
		str_eq(path_last(path_parent(v->object)), STR("__pycache__")));
}

/* git status and git diff refresh the index where they may; others need the lock. */
static bool is_index_lock(const struct violation *v)
{
	return str_eq(str_of(v->program), STR("git")) &&
	       str_ends(v->object, STR("/index.lock"));
}

/* cargo goes on without what it cannot lock: it locks and dates its cache where it may. */
static bool is_cargo_cache(const struct violation *v)
{
	static const struct str names[] = {
		STR("/.package-cache"), STR("/.package-cache-mutate"), STR("/.global-cache"),
	};

	if (!str_eq(str_of(v->program), STR("cargo")) || v->removes || v->moves)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_ends(v->object, names[i]))
			return true;
	return false;
}

void violations_settle(struct violations *all, struct str program, bool ended_well)
{
	bool is_git = str_eq(path_last(program), STR("git"));

	for (size_t i = 0; i < all->n; i++) {
		struct violation *v = &all->kept[i];

		if (!ended_well || v->op != VIOLATION_write || !v->object.n ||
		    v->object.p[0] != '/')
			continue;
		if (is_bytecode(v) || history_is_own(v) || is_local_clone(v) ||
		    is_cargo_cache(v) || (is_git && is_index_lock(v)))
			v->need = VIOLATION_SPARED;
		else if (is_index_lock(v))
			v->need = VIOLATION_DOUBTED;
	}
}
