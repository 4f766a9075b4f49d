/* SPDX-License-Identifier: Apache-2.0 */
/* Which private caches a policy has. */
#include "policy/caches.h"

#include <inttypes.h>
#include <string.h>

#include "base/path.h"
#include "policy/build_in.h"
#include "policy/environ.h"

#define stage "caches"
#define SHARED_NAME_MAX 64
/* A word for no cache at all, which no list can spell. */
#define NO_CACHE "none"

const struct cache_row cache_rows[] = {
#define CACHE(id, dir, at, variable, tail, names, before, keeps) \
	{ id, dir, at, variable, tail, names, before, keeps },
#include "policy/caches.def"
#undef CACHE
	{ NULL },
};

int cache_check_name(const struct statement *s, struct cordon_error *err)
{
	const char *names[sizeof(cache_rows) / sizeof(cache_rows[0])] = { NULL };
	const char *near;
	size_t n = 0;

	if (str_eq(s->text, STR(NO_CACHE)))
		return 0;
	for (const struct cache_row *row = cache_rows; row->name; row++) {
		if (str_eq(s->text, str_of(row->name)))
			return 0;
		names[n++] = row->name;
	}
	near = str_nearest(s->text, names);
	origin_error(err, CORDON_E_CONFIG, stage, &s->origin, "there is no cache '%.*s'",
		     STR_ARG(s->text));
	return near ? err_hint(err, "did you mean '%s'?", near)
		    : err_hint(err, "cordon.toml(5) lists them");
}

/* The name of the directory of a project: two that share one are told apart by the path
 * that is kept in it. */
static uint64_t hash(struct str path)
{
	uint64_t h = 14695981039346656037u;

	for (size_t i = 0; i < path.n; i++)
		h = (h ^ (uint8_t)path.p[i]) * 1099511628211u;
	return h;
}

static bool is_listed(const struct policy *p, const struct cache_row *row)
{
	vec_each(s, &p->effective_lists[KEY_CACHES].items)
		if (str_eq(s->text, str_of(row->name)))
			return true;
	return false;
}

/* Lists of several sources add up, so the word undoes what the profile lists. */
static bool any_is_wanted(const struct policy *p)
{
	vec_each(s, &p->effective_lists[KEY_CACHES].items)
		if (str_eq(s->text, STR(NO_CACHE)))
			return false;
	return p->effective_lists[KEY_CACHES].items.n > 0;
}

static const char *moved_to(const struct builder *b, const struct cache_row *row)
{
	const char *value = row->finds ? environ_get(b->in->environ, row->finds) : NULL;

	return value && value[0] == '/' ? value : NULL;
}

/* Below a directory that is taken care of already, and not moved elsewhere? */
static bool is_covered(const struct builder *b, const struct cache_row *row)
{
	if (moved_to(b, row))
		return false;
	vec_each(c, &b->policy->caches) {
		size_t n = strlen(c->row->root);

		if (!*c->row->below && strncmp(row->root, c->row->root, n) == 0 &&
		    row->root[n] == '/')
			return true;
	}
	return false;
}

/* A variable may say anything; what holds the places of this run is not covered. */
static bool holds_a_place(const struct places *p, struct str path)
{
	return path_below(p->workdir, path) || path_below(p->home, path) ||
	       path_below(p->cordon_home, path) || path_below(path, p->cordon_home);
}

static int add_rule(struct builder *b, struct str path, struct node node)
{
	struct rule rule = {
		.right = RIGHT_WRITE,
		.kind = RULE_SUBTREE,
		.flags = RULE_PRIVATE | RULE_OPTIONAL | RULE_CACHE,
		.path = path,
		.spelled = path,
		.origin = { SOURCE_PROFILE, "private caches", 0, 0 },
		.node = node,
	};

	return ruleset_add(b->policy->trusted.rules, &rule, b->err);
}

/* A directory of the project; NULL name: the project's own. Its real path, for a home
 * may be kept elsewhere through a link. */
static int private_directory(struct builder *b, const char *name, struct str *ret,
			     struct node *ret_node)
{
	const char *path = arena_printf(b->arena, "%s/%s", b->policy->cache_dir.p, name);

	if (!path)
		return err_nomem(b->err, stage);
	return b->in->world->resolve(b->in->world, b->arena, str_of(path), ret, ret_node, b->err);
}

/* Where the tool keeps it, or its root when nothing is below. */
static int find(struct builder *b, const struct cache_row *row, const char *below, struct str *ret,
		struct node *ret_node)
{
	const char *root = moved_to(b, row), *text, *path;
	struct str home = b->policy->places.home;
	struct cordon_error ignored;
	int r;

	text = root ? arena_printf(b->arena, "%s%s", root, below)
		    : arena_printf(b->arena, "%.*s%s%s", STR_ARG(home), row->root + 1, below);
	path = text ? path_normalise(b->arena, STR("/"), str_of(text)) : NULL;
	if (!path)
		return err_nomem(b->err, stage);
	r = b->in->world->resolve(b->in->world, b->arena, str_of(path), ret, ret_node, &ignored);
	if (r == -CORDON_E_NOMEM)
		return err_nomem(b->err, stage);
	/* Out of the caller's reach, it is of no use to the tool either. */
	if (r < 0) {
		*ret = str_of(path);
		*ret_node = (struct node){ .type = NODE_ABSENT };
	}
	return 0;
}

static int cover(struct builder *b, struct cache *cache, struct node node)
{
	int r = private_directory(b, cache->row->directory, &cache->source, &cache->node);

	cache->covers = true;
	return r < 0 ? r : add_rule(b, cache->path, node);
}

/* Is anything below the root that the variable would take away? */
static int keeps_any(struct builder *b, const struct cache_row *row, bool *ret)
{
	struct str rest = str_of(row->keeps ? row->keeps : "");
	bool more = row->keeps;
	int r = 0;

	for (*ret = false; more && !*ret && r == 0;) {
		struct node node;
		struct str name, ignored;
		const char *below;

		more = str_cut(rest, ' ', &name, &rest);
		below = arena_dup(b->arena, name);
		r = below ? find(b, row, below, &ignored, &node) : err_nomem(b->err, stage);
		*ret = r == 0 && node.type != NODE_ABSENT;
	}
	return r;
}

/* Is there a variable, and one that takes nothing else of the caller's away? */
static int may_name(struct builder *b, struct cache *cache)
{
	const struct cache_row *row = cache->row;
	bool keeps;
	int r = keeps_any(b, row, &keeps);

	cache->named = row->sets && !keeps &&
		       !(*row->text && environ_get(b->in->environ, row->sets));
	return r;
}

static int add_cache(struct builder *b, const struct cache_row *row)
{
	struct policy *p = b->policy;
	struct cache cache = { .row = row }, *slot;
	struct node node;
	struct decision d;
	int r = find(b, row, row->below, &cache.path, &node);

	if (r < 0)
		return r;
	d = policy_decide(p, cache.path);
	/* What somebody opened or closed in so many words stays so. */
	if (d.data == ACCESS_WRITE || (d.data_rule && d.data_rule->origin.source != SOURCE_PROFILE))
		return 0;
	/* Of a home that can be written, or lies in the private /tmp, nothing is made up for. */
	if (d.data == ACCESS_NONE && policy_decide(p, p->places.home).data == ACCESS_WRITE)
		return 0;
	if (node.type == NODE_DIR && !holds_a_place(&p->places, cache.path))
		r = cover(b, &cache, node);
	if (r == 0)
		r = may_name(b, &cache);
	if (r < 0 || (!cache.covers && !cache.named))
		return r;
	slot = vec_push(&p->caches, b->arena);
	if (!slot)
		return err_nomem(b->err, stage);
	*slot = cache;
	return 0;
}

/* The directory that the variables name. It lies in cordon's home, which is closed but
 * for it. */
static int open_own(struct builder *b)
{
	struct policy *p = b->policy;
	struct rule rule = {
		.right = RIGHT_WRITE,
		.kind = RULE_SUBTREE,
		.flags = RULE_OPTIONAL | RULE_PRIVATE,
		.origin = { SOURCE_CORDON, "private caches", 0, 0 },
	};
	int r = private_directory(b, "own", &p->cache_own.path, &p->cache_own.node);

	p->cache_own.source = p->cache_own.path;
	rule.path = rule.spelled = p->cache_own.path;
	rule.node = p->cache_own.node;
	if (r == 0)
		r = ruleset_add(p->own, &rule, b->err);
	return r < 0 ? r : add_rule(b, p->cache_own.path, p->cache_own.node);
}

int build_caches(struct builder *b)
{
	struct policy *p = b->policy;
	const char *dir;
	int r = 0;

	if (!p->confined || !p->places.cordon_home.n || !any_is_wanted(p))
		return 0;
	p->caches_lost = b->in->no_caches;
	if (p->caches_lost)
		return 0;
	dir = arena_printf(b->arena, "%s/cache/project/%016" PRIx64, p->places.cordon_home.p,
			   hash(p->places.workdir));
	if (!dir)
		return err_nomem(b->err, stage);
	p->cache_dir = str_of(dir);
	for (const struct cache_row *row = cache_rows; row->name && r == 0; row++)
		if (is_listed(p, row) && !is_covered(b, row))
			r = add_cache(b, row);
	return r < 0 || !p->caches.n ? r : open_own(b);
}

/* A name that is one component and shows in listings. */
static bool is_plain_name(struct str name)
{
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

		if (!letter && !(c >= '0' && c <= '9') && c != '-' && c != '_' &&
		    (c != '.' || i == 0))
			return false;
	}
	return name.n > 0 && name.n <= SHARED_NAME_MAX;
}

static int check_shared_tmp(struct builder *b, const struct setting *name)
{
	if (policy_number(b->policy, KEY_TMP) != TMP_PRIVATE) {
		origin_error(b->err, CORDON_E_CONFIG, stage, &name->origin,
			     "share_tmp needs a private /tmp, and tmp is \"shared\"");
		return err_hint(b->err, "add --tmp private");
	}
	if (is_plain_name(name->text))
		return 0;
	origin_error(b->err, CORDON_E_CONFIG, stage, &name->origin,
		     "'%.*s' cannot name a shared /tmp", STR_ARG(name->text));
	return err_hint(b->err, "use at most %d letters, digits, '-', '_' and '.'",
			SHARED_NAME_MAX);
}

int build_shared_tmp(struct builder *b)
{
	struct policy *p = b->policy;
	const struct setting *name = &p->effective[KEY_SHARE_TMP];
	struct cache *tmp = &p->shared_tmp;
	const char *path;
	struct node ignored;
	int r;

	if (!name->set || !p->confined || !p->places.cordon_home.n)
		return 0;
	r = check_shared_tmp(b, name);
	if (r < 0)
		return r;
	path = arena_printf(b->arena, "%s/tmp/%.*s", p->places.cordon_home.p, STR_ARG(name->text));
	if (!path)
		return err_nomem(b->err, stage);
	r = b->in->world->resolve(b->in->world, b->arena, STR("/tmp"), &tmp->path, &ignored,
				  b->err);
	if (r == 0)
		r = b->in->world->resolve(b->in->world, b->arena, str_of(path), &tmp->source,
					  &tmp->node, b->err);
	return r;
}

const struct cache *policy_cache_at(const struct policy *policy, struct str path)
{
	vec_each(c, &policy->caches)
		if (c->covers && str_eq(c->path, path))
			return c;
	return str_eq(path, policy->cache_own.path) ? &policy->cache_own : NULL;
}

bool cache_named_by(const struct policy *policy, struct str variable)
{
	vec_each(c, &policy->caches)
		if (!c->covers && str_eq(variable, str_of(c->row->sets)))
			return true;
	return false;
}

const char *cache_value(struct arena *a, const struct policy *policy, const struct cache *cache)
{
	return cache->row && cache->row->sets
		       ? arena_printf(a, "%s%s/%s", cache->row->text, policy->cache_own.path.p,
				      cache->row->directory)
		       : NULL;
}
