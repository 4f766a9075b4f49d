/* SPDX-License-Identifier: Apache-2.0 */
/* observe_host: the part of observe.h that is about hosts. */
#ifndef CORDON_RUN_OBSERVE_HOST_H
#define CORDON_RUN_OBSERVE_HOST_H

#include "run/observe.h"

/* Does a call of connect lead where the policy does not allow it, or on the sandbox's own
 * loopback to nobody? The text says host and port. */
bool observe_host(struct observer *o, const struct request *q, struct observed_object *ret);
/* Is it refused, and of what is on the loopback, is there something on the host's? */
bool observe_judge_host(const struct observer *o, const struct observed_object *found);

#endif
