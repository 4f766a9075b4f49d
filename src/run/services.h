/* SPDX-License-Identifier: Apache-2.0 */
/* services: who listens on a loopback. */
#ifndef CORDON_RUN_SERVICES_H
#define CORDON_RUN_SERVICES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum service {
	SERVICE_UNKNOWN,
	SERVICE_THERE,
	SERVICE_NOT_THERE,
};

/* Does anybody listen for TCP on that port of the loopback, in the network of the process;
 * 0: in that of this one. */
enum service service_find(pid_t pid, uint16_t port);

#endif
