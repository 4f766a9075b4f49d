/* SPDX-License-Identifier: Apache-2.0 */
/* What a policy allows and its owner should hear about. */
#ifndef CORDON_POLICY_WARNINGS_H
#define CORDON_POLICY_WARNINGS_H

#include "policy/policy.h"

/* Fills policy->warnings; the rest of the policy is finished. */
int policy_warn(struct policy *policy, struct cordon_error *err);

/* What the server of a socket with such a name does for whoever reaches it, as one clause; NULL:
 * the name says nothing. */
const char *policy_way_out(struct str socket);

#endif
