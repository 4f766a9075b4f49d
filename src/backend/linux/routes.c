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

static bool add_route(struct routes *routes, struct arena *a, struct native *n,
		      const struct host *h)
{
	autobuf struct buf text = buf_make(64);
	struct native_route *r = vec_push(&routes->all, a);
	bool four = host_is_v4(h);
	struct host net = *h;

	if (!r)
		return false;
	net.port = 0;
	host_print(&text, &net);
	r->family = four ? AF_INET : AF_INET6;
	r->bits = (unsigned char)(four ? h->prefix_bits - 96 : h->prefix_bits);
	memcpy(r->address, h->address + (four ? 12 : 0), four ? 4 : 16);
	r->text = arena_dup(a, buf_str(&text));
	n->routes_six |= !four;
	return r->text;
}

static bool is_loopback_six(const struct host *h)
{
	return h->kind == HOST_ADDRESS && host_is_loopback(h) && !host_is_v4(h);
}

/* The loopback stays the sandbox's own; a service of the host on it needs a socket. */
int routes_collect(struct arena *a, const struct policy *policy, struct native *n,
		   struct cordon_error *err)
{
	struct routes routes = { 0 };
	struct host names;
	int r = host_parse(STR(HOST_SYNTHETIC_NET), &names, err);

	if (r < 0)
		return r;
	if (!add_route(&routes, a, n, &names))
		return err_nomem(err, stage);
	vec_each(h, &policy->hosts)
		n->routes_six |= is_loopback_six(&h->host);
	vec_each(h, &policy->hosts)
		if (h->host.kind == HOST_ADDRESS && !host_is_loopback(&h->host) &&
		    !add_route(&routes, a, n, &h->host))
			return err_nomem(err, stage);
	n->routes = routes.all.at;
	n->n_routes = routes.all.n;
	return 0;
}
