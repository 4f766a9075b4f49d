/* SPDX-License-Identifier: Apache-2.0 */
/* In the parent: what egress.c adds in the child. */
#include "backend/linux/routes.h"

#include <string.h>
#include <sys/socket.h>

#include "base/vec.h"

#define stage "egress"

struct routes {
	VEC(struct native_route) all;
};

static struct native_route *add_route(struct routes *routes, struct arena *a,
				      const struct host *h)
{
	autobuf struct buf text = buf_make(64);
	struct native_route *r = vec_push(&routes->all, a);
	bool four = host_is_v4(h);
	struct host net = *h;

	if (!r)
		return NULL;
	net.port = 0;
	host_print(&text, &net);
	r->family = four ? AF_INET : AF_INET6;
	r->bits = (unsigned char)(four ? h->prefix_bits - 96 : h->prefix_bits);
	memcpy(r->address, h->address + (four ? 12 : 0), four ? 4 : 16);
	r->text = arena_dup(a, buf_str(&text));
	return r->text ? r : NULL;
}

/* Without IPv6 names have addresses of IPv4 only. */
static int add_synthetic(struct routes *routes, struct arena *a, struct cordon_error *err)
{
	static const struct str nets[] = { STR(HOST_SYNTHETIC_NET), STR(HOST_SYNTHETIC_NET_SIX) };

	for (size_t i = 0; i < sizeof(nets) / sizeof(nets[0]); i++) {
		struct native_route *route;
		struct host net;
		int r = host_parse(nets[i], &net, err);

		if (r < 0)
			return r;
		route = add_route(routes, a, &net);
		if (!route)
			return err_nomem(err, stage);
		route->assigned = true;
		route->optional = !host_is_v4(&net);
	}
	return 0;
}

/* The loopback stays the sandbox's own. */
int routes_collect(struct arena *a, const struct policy *policy, struct native *n,
		   struct cordon_error *err)
{
	struct routes routes = { 0 };
	int r = add_synthetic(&routes, a, err);

	if (r < 0)
		return r;
	vec_each(h, &policy->hosts)
		if (h->host.kind == HOST_ADDRESS && !host_is_loopback(&h->host) &&
		    !add_route(&routes, a, &h->host))
			return err_nomem(err, stage);
	n->routes = routes.all.at;
	n->n_routes = routes.all.n;
	return 0;
}
