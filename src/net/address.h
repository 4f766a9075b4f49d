/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address: which addresses a name may lead to.
 *
 * A name is allowed because of who it belongs to; whoever answers for it must not be able
 * to lead the command to the host itself, its network or the machine's administration.
 * Those are reached only where the policy gives the address.
 */
#ifndef CORDON_NET_ADDRESS_H
#define CORDON_NET_ADDRESS_H

#include <stddef.h>

#include "policy/hosts.h"

/* What kind of address it is that no name may lead to; NULL: an ordinary one. */
const char *address_why_not(const struct host *address);

enum address_listed {
	ADDRESS_NOT_LISTED,
	ADDRESS_IN_LISTED, /* a pattern covers it, and means this kind of address */
	ADDRESS_LISTED,	   /* it is given itself */
};
/* What the patterns say of it. 0.0.0.0/0 does not mean the private addresses in it: for
 * those a pattern must lie among them. */
enum address_listed address_listed(const struct host *address, const struct host *patterns,
				   size_t n);

#endif
