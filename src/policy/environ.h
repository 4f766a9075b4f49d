/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of the caller's variables the command gets.
 *
 * A variable is dropped when its name looks like a secret or points to a service of
 * the caller's session, or its value holds a password where those are known to stand, or it
 * names a proxy that cannot be reached from inside (with a list of hosts cordon-relay uses
 * it), unless env.pass or a bare --env NAME lets it through; env.unset drops more, env.set
 * adds. The later
 * source wins where both speak.
 */
#ifndef CORDON_POLICY_ENVIRON_H
#define CORDON_POLICY_ENVIRON_H

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "policy/policy.h"

struct variable {
	struct str name;
	struct str value;
	const struct origin *origin;	/* NULL: the caller's, handed on */
	size_t order;			/* of two with one name the later one counts */
};

struct variables {
	VEC(struct variable) items;	/* sorted by name, no name twice */
	VEC(struct str) dropped;	/* names only */
};

/* The value of a variable in a NULL-terminated "NAME=VALUE" list; NULL: not there. */
const char *environ_get(const char *const *environ, const char *name);

/* environ: NULL-terminated "NAME=VALUE"; entries without '=' or with a name that is
 * not a variable name are dropped. */
int environ_filter(struct arena *a, const struct policy *policy, const char *const *environ,
		   struct variables *ret, struct cordon_error *err);
/* Does the name look like a secret, in small letters or capitals? */
bool environ_is_secret(struct str name);
/* Is there a password in it: in a URL (scheme://user:password@host), in a property of
 * Java's (-Dhttp.proxyPassword=...), or in what names a proxy (user:password@host)? */
bool environ_has_credentials(struct str name, struct str value);

#endif
