/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hosts that a policy lists: what somebody names and nobody refuses, each pattern once.
 * A list may be long, so whether one is there already is not asked of each.
 */
#include "policy/build_in.h"

#include "base/map.h"

/* A pattern of a name, or of what is below it. */
struct named {
	const struct host *host;
	const struct named *before; /* another one of that name */
};

struct kept {
	struct map by_name;
	VEC(const struct host *) addresses;
};

static struct str name_of(const struct host *h)
{
	return (struct str){ h->name, h->name_length };
}

static bool add_kept(struct kept *kept, struct arena *a, const struct host *host)
{
	const struct host **slot;
	struct named *named;

	if (host->kind == HOST_ADDRESS) {
		slot = vec_push(&kept->addresses, a);
		if (slot)
			*slot = host;
		return slot;
	}
	named = arena_new(a, struct named);
	if (!named)
		return false;
	*named = (struct named){ host, map_get(&kept->by_name, name_of(host)) };
	return map_put(&kept->by_name, a, name_of(host), named);
}

/* By itself, and by what is above it. */
static bool name_is_kept(const struct kept *kept, const struct host *host)
{
	struct str name = name_of(host), label;

	do
		for (const struct named *n = map_get(&kept->by_name, name); n; n = n->before)
			if (host_covers(n->host, host))
				return true;
	while (str_cut(name, '.', &label, &name));
	return false;
}

static bool is_kept(const struct kept *kept, const struct host *host)
{
	if (host->kind != HOST_ADDRESS)
		return name_is_kept(kept, host);
	vec_each(h, &kept->addresses)
		if (host_covers(*h, host))
			return true;
	return false;
}

static bool net_covers(const struct net *net, const struct host *host)
{
	if (!net->set || net->mode == NET_ON)
		return true;
	vec_each(h, &net->hosts)
		if (net->mode == NET_LIST && host_covers(&h->host, host))
			return true;
	return false;
}

/* Does everybody else allow the pattern as a whole? */
static bool is_allowed(const struct policy *p, const struct net *from, const struct host *host)
{
	if (policy_denies_host(p, host))
		return false;
	vec_each(o, &p->narrowing)
		if (&(*o)->settings.net != from && !net_covers(&(*o)->settings.net, host))
			return false;
	return from == &p->trusted.net || net_covers(&p->trusted.net, host);
}

static int keep_hosts(struct builder *b, const struct net *from, struct kept *kept)
{
	vec_each(h, &from->hosts) {
		struct net_host *slot;

		if (is_kept(kept, &h->host) || !is_allowed(b->policy, from, &h->host))
			continue;
		slot = vec_push(&b->policy->hosts, b->arena);
		if (!slot || !add_kept(kept, b->arena, &h->host))
			return err_nomem(b->err, "policy");
		*slot = *h;
	}
	return 0;
}

int build_denied_hosts(struct builder *b)
{
	vec_each(s, &b->policy->effective_lists[KEY_DENY_HOSTS].items) {
		struct net_host *slot = vec_push(&b->policy->denied, b->arena);
		int r;

		if (!slot)
			return err_nomem(b->err, "policy");
		r = host_parse(s->text, &slot->host, b->err);
		if (r < 0)
			return r;
		slot->origin = s->origin;
	}
	return 0;
}

int build_hosts(struct builder *b)
{
	struct kept kept = { 0 };
	int r = 0;

	if (policy_net_mode(b->policy) == NET_LIST)
		r = keep_hosts(b, &b->policy->trusted.net, &kept);
	vec_each(o, &b->policy->narrowing)
		if (r == 0 && policy_net_mode(b->policy) == NET_LIST)
			r = keep_hosts(b, &(*o)->settings.net, &kept);
	return r;
}
