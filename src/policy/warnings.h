/* SPDX-License-Identifier: Apache-2.0 */
/* What a policy allows and its owner should hear about. */
#ifndef CORDON_POLICY_WARNINGS_H
#define CORDON_POLICY_WARNINGS_H

#include "policy/policy.h"

/* Fills policy->warnings; the rest of the policy is finished. */
int policy_warn(struct policy *policy, struct cordon_error *err);

#endif
