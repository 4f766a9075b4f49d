/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Seatbelt profile in its three parts: what is allowed by default and what processes
 * need, files (seatbelt_files.c), network.
 *
 * Where the policy reads and executes everything and has the whole network, the text
 * starts from `allow default` and takes writing away (R2.4); otherwise from `deny default`.
 */
#include "backend/seatbelt.h"

#include <stdio.h>

#include "backend/sbpl.h"
#include "base/path.h"
#include "policy/hosts.h"

#define stage "seatbelt"

/* Services without which programs do not start, log or look up a user. Not among them:
 * what starts programs outside, keeps passwords, or knows the clipboard and the screen. */
static const char *const services[] = {
	"com.apple.bsd.dirhelper",
	"com.apple.logd",
	"com.apple.system.logger",
	"com.apple.system.notification_center",
	"com.apple.system.opendirectoryd.libinfo",
	"com.apple.system.opendirectoryd.membership",
};
/* For names, and for whom to trust. */
static const char *const network_services[] = {
	"com.apple.SystemConfiguration.DNSConfiguration",
	"com.apple.SystemConfiguration.configd",
	"com.apple.networkd",
	"com.apple.trustd",
	"com.apple.trustd.agent",
};
/* They would start a program outside, or act on one. */
static const char *const closed_services[] = {
	"com.apple.coreservices.appleevents",
	"com.apple.coreservices.launchservicesd",
};
/* They hand out what ~/Library/Keychains keeps. */
static const char *const secret_services[] = {
	"com.apple.SecurityServer",
	"com.apple.securityd.xpc",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool net_is_on(const struct plan *plan)
{
	return !plan_find_op(plan, OP_UNSHARE_NET);
}

static bool is_open(const struct plan *plan)
{
	struct decision root = policy_decide(plan->policy, STR("/"));
	struct decision below = policy_decide(plan->policy, STR("/x"));

	return root.data >= ACCESS_READ && below.data >= ACCESS_READ && root.exec && below.exec &&
	       net_is_on(plan) && !plan_find_op(plan, OP_LISTEN_PORT);
}

static void add_services(struct buf *b, const char *verb, const char *const *names, size_t n)
{
	buf_addf(b, "(%s mach-lookup", verb);
	for (size_t i = 0; i < n; i++)
		buf_addf(b, " (global-name \"%s\")", names[i]);
	buf_adds(b, ")\n");
}

/* --- processes ----------------------------------------------------------------------- */

static bool hides_keychains(const struct policy *policy)
{
	char path[PATH_BYTES_MAX + 1];
	int n = snprintf(path, sizeof(path), "%.*s/Library/Keychains",
			 STR_ARG(policy->places.home));

	return n < 0 || (size_t)n >= sizeof(path) ||
	       policy_decide(policy, str_of(path)).data == ACCESS_NONE;
}

/* What `allow default` lets through that would be a way round all of this. */
static void add_open_end(struct buf *b, const struct plan *plan)
{
	buf_adds(b, "(deny file-link file-clone)\n"
		    "(deny lsopen appleevent-send job-creation)\n");
	add_services(b, "deny", closed_services, COUNT(closed_services));
	if (hides_keychains(plan->policy))
		add_services(b, "deny", secret_services, COUNT(secret_services));
	if (plan_find_op(plan, OP_UNSHARE_PID))
		buf_adds(b, "(deny signal process-info* mach-priv-task-port)\n"
			    "(allow signal process-info* (target same-sandbox))\n");
	if (plan_find_op(plan, OP_UNSHARE_PID) && !plan_find_op(plan, OP_NO_PTRACE))
		buf_adds(b, "(allow mach-priv-task-port (target same-sandbox))\n");
}

static void add_closed_start(struct buf *b, const struct plan *plan)
{
	bool shared = !plan_find_op(plan, OP_UNSHARE_PID);

	buf_adds(b, "(deny default)\n"
		    "(allow process-fork)\n"
		    "(allow sysctl-read)\n");
	buf_addf(b, "(allow signal process-info*%s)\n", shared ? "" : " (target same-sandbox)");
	if (!plan_find_op(plan, OP_NO_PTRACE))
		buf_adds(b, "(allow mach-priv-task-port (target same-sandbox))\n");
	add_services(b, "allow", services, COUNT(services));
	buf_adds(b, "(allow ipc-posix-sem)\n"
		    "(allow ipc-posix-shm-read-data (ipc-posix-name "
		    "\"apple.shm.notification_center\"))\n"
		    "(allow file-read* (literal \"/\"))\n"
		    "(allow file-map-executable (subpath \"/System\") (subpath \"/usr/lib\") "
		    "(subpath \"/Library/Apple\"))\n"
		    "(allow file-read-metadata (literal \"/etc\") (literal \"/tmp\") "
		    "(literal \"/var\"))\n");
}

/* --- network ------------------------------------------------------------------------- */

/* The port of a service of the host that the language can name; 0: it cannot. */
static uint16_t local_port(struct str text)
{
	struct cordon_error ignored;
	struct host host;

	if (host_parse(text, &host, &ignored) < 0 || host.kind != HOST_NAME ||
	    !host_is_local(&host))
		return 0;
	return host.port;
}

static void add_network(struct buf *b, const struct plan *plan)
{
	bool listens = plan_find_op(plan, OP_LISTEN_PORT);

	if (net_is_on(plan)) {
		buf_adds(b, listens ? "(allow network-outbound)\n" : "(allow network*)\n");
		buf_adds(b, "(allow system-socket)\n");
		add_services(b, "allow", network_services, COUNT(network_services));
	}
	vec_each(op, &plan->ops) {
		if (op->kind == OP_LISTEN_PORT)
			buf_addf(b, "(allow network-bind network-inbound (local ip \"*:%u\"))\n",
				 (unsigned)op->number);
		if (op->kind == OP_NET_HOST && local_port(op->path))
			buf_addf(b, "(allow network-outbound (remote ip \"localhost:%u\"))\n",
				 local_port(op->path));
	}
}

/* A socket that is named may be connected to, whatever the network is. */
static void add_sockets(struct buf *b, const struct plan *plan)
{
	vec_each(op, &plan->ops)
		if (op->kind == OP_SOCKET) {
			buf_adds(b, "(allow network-outbound ");
			sbpl_filter(b, "literal", &plan->policy->places, op->path);
			buf_adds(b, ")\n");
		}
}

/* --- the whole ----------------------------------------------------------------------- */

static void add_header(struct buf *b, const struct plan *plan)
{
	buf_adds(b, "; profile ");
	buf_add_escaped(b, str_of(plan->policy->profile));
	buf_adds(b,
		 "\n; sandbox-exec -D WORKDIR=DIR -D HOME=DIR "
		 "[-D TMPDIR=DIR] -f FILE COMMAND\n"
		 "; Made for these two; another WORKDIR must not be one that holds HOME.\n");
	vec_each(loss, &plan->degraded)
		buf_addf(b, "; %s: %s (no %s)\n", loss->required ? "MISSING" : "degraded",
			 guarantee_rows[loss->guarantee].name, op_rows[loss->op].name);
	buf_adds(b, "(version 1)\n");
}

int seatbelt_profile(struct arena *a, const struct plan *plan, struct buf *b,
		     struct cordon_error *err)
{
	bool open = is_open(plan);

	add_header(b, plan);
	if (open)
		buf_adds(b, "(allow default)\n(deny file-write*)\n");
	else
		add_closed_start(b, plan);
	if (!seatbelt_files(a, plan->policy, open, b))
		return err_nomem(err, stage);
	if (open)
		add_open_end(b, plan);
	else
		add_network(b, plan);
	add_sockets(b, plan);
	if (!b->failed)
		return 0;
	err_set(err, CORDON_E_LIMIT, 0, stage, "the rules are more text than sandbox-exec takes");
	return err_hint(err, "use fewer rules, or name directories instead of files");
}

bool seatbelt_says_host(struct str text)
{
	return local_port(text) != 0;
}
