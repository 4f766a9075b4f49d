/* SPDX-License-Identifier: Apache-2.0 */
/* The network part of a plan: listed and denied hosts, ports, and who answers for names. */
#include "plan/plan_in.h"

#include <inttypes.h>

#include "fmt/located.h"

#define stage "compile"

/* A connection to the loopback says nothing but its port. */
static int check_host(struct compiler *c, const struct net_host *h, const char *text)
{
	if (!host_is_local(&h->host) || (h->host.port && h->host.prefix_bits == 128))
		return 0;
	origin_error(c->err, CORDON_E_CONFIG, stage, &h->origin,
		     "network: %s means services of the host, one by one", text);
	return err_hint(c->err, "name the port: localhost:8080");
}

/* In the host's own network nobody asks before a connection is made. */
static int check_denied(struct compiler *c)
{
	const struct policy *policy = c->in->policy;

	if (!policy->confined || policy_net_mode(policy) != NET_ON || !policy->denied.n)
		return 0;
	origin_error(c->err, CORDON_E_CONFIG, stage, &policy->denied.at[0].origin,
		     "deny_hosts takes from a list of hosts, and the network is on");
	return err_hint(c->err, "list what may be reached (--allow-network=HOST,...), or leave "
				"the denied hosts out");
}

bool plan_counts_connections(enum key key)
{
	return key == KEY_CONNECTIONS || key == KEY_TRAFFIC;
}

/* Nor is anything counted there. */
static int check_counted(struct compiler *c)
{
	const struct policy *policy = c->in->policy;

	if (!policy->confined || policy_net_mode(policy) != NET_ON)
		return 0;
	for (enum key key = 0; key < KEY_COUNT; key++) {
		if (!plan_counts_connections(key) || !policy_number(policy, key))
			continue;
		origin_error(c->err, CORDON_E_CONFIG, stage, &policy->effective[key].origin,
			     "%s counts connections to a list of hosts, and the network is on",
			     key_rows[key].name);
		return err_hint(c->err,
				"list what may be reached (--allow-network=HOST,...), or lift the "
				"limit (%s none)",
				key_rows[key].flag);
	}
	return 0;
}

static void emit_denied(struct compiler *c)
{
	vec_each(h, &c->in->policy->denied) {
		autobuf struct buf b = buf_make(512);

		host_print(&b, &h->host);
		plan_emit(c, OP_NET_DENY, str_of(arena_dup(c->arena, buf_str(&b))));
	}
}

/* What is listed as a service of the host must be one: a connection to a port that is the
 * command's own outside would go round, out and in again. */
static int check_published(struct compiler *c, const struct statement *s)
{
	unsigned outside = (unsigned)(s->number >> 16);

	vec_each(h, &c->in->policy->hosts) {
		if (!host_is_local(&h->host) || h->host.port != outside)
			continue;
		origin_error(c->err, CORDON_E_CONFIG, stage, &s->origin,
			     "publish: the host's port %u would be the command's own, and "
			     "localhost:%u is listed as a service of the host: connections would "
			     "go round", outside, outside);
		return err_hint(c->err, "leave one of the two out, or publish at another port: "
					"--publish OTHER:%" PRIu64, s->number & 0xffff);
	}
	return 0;
}

/* With the host's network the command listens there itself. */
static int emit_published(struct compiler *c)
{
	const struct policy *policy = c->in->policy;

	vec_each(s, &policy->effective_lists[KEY_PUBLISH].items) {
		const char *text = arena_printf(c->arena, "%" PRIu64 ":%" PRIu64, s->number >> 16,
						s->number & 0xffff);

		if (policy->confined && policy_net_mode(policy) == NET_ON) {
			origin_error(c->err, CORDON_E_CONFIG, stage, &s->origin,
				     "publish needs a network of the command's own, and the "
				     "network is on");
			return err_hint(c->err, "leave --publish out: what the command listens on "
						"is the host's already");
		}
		if (!text)
			return err_nomem(c->err, stage);
		if (check_published(c, s) < 0)
			return -CORDON_E_CONFIG;
		plan_emit(c, OP_PUBLISH, str_of(text));
	}
	return 0;
}

int plan_network(struct compiler *c)
{
	const struct policy *policy = c->in->policy;
	int r = check_denied(c);

	if (r == 0)
		r = check_counted(c);
	if (r < 0)
		return r;

	vec_each(h, &policy->hosts) {
		autobuf struct buf b = buf_make(512);

		host_print(&b, &h->host);
		if (check_host(c, h, b.p) < 0)
			return -CORDON_E_CONFIG;
		plan_emit(c, OP_NET_HOST, str_of(arena_dup(c->arena, buf_str(&b))));
	}
	if (policy->hosts.n)
		emit_denied(c);
	if (policy_net_mode(policy) == NET_ON)
		vec_each(s, &policy->effective_lists[KEY_BIND].items)
			plan_emit_number(c, OP_LISTEN_PORT, STR(""), s->number);
	return emit_published(c);
}

/* A file of the resolver is covered where the command sees it. */
static int emit_resolver_file(struct compiler *c, struct str path, enum resolver_file which)
{
	const struct world *world = c->in->world;
	struct node node;
	struct str real;
	struct op *op;
	bool seen;
	int r = world->resolve(world, c->arena, path, &real, &node, c->err);

	if (r < 0)
		return r;
	seen = node.type == NODE_FILE && policy_decide(c->in->policy, real).data == ACCESS_READ;
	if (!seen && which == RESOLVER_HOSTS)
		return 0;
	op = plan_emit(c, OP_RESOLVER, seen ? real : STR(""));
	if (op) {
		op->number = which;
		op->node = seen ? node : (struct node){ 0 };
	}
	return 0;
}

/* Without a file that names the server, programs ask 127.0.0.1, where it is. Names that
 * the host's own file knows would be looked up past it. */
int plan_resolver(struct compiler *c)
{
	const struct policy *policy = c->in->policy;
	int r;

	if (policy_net_mode(policy) == NET_ON ||
	    (!policy->hosts.n && policy_number(policy, KEY_REPORT) < REPORT_WRITES))
		return 0;
	r = emit_resolver_file(c, STR("/etc/resolv.conf"), RESOLVER_SERVERS);
	if (r == 0 && policy->hosts.n)
		r = emit_resolver_file(c, STR("/etc/hosts"), RESOLVER_HOSTS);
	return r;
}
