/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup: a control group (version 2) of the run's own, where the one that cordon is in was
 * delegated to the user. The kernel then holds the limits of memory and processes for the
 * whole tree, knows its processor time, and ends all of it at once.
 *
 * It is made below cordon's own group and removed after the run. The controllers of memory
 * and processes can be switched on for it only while no process is in the group above: if
 * cordon is alone there, as under systemd-run, it moves itself aside into a second group
 * for the time of the run. Otherwise those two limits stay with the supervisor's samples.
 * Nothing here is required: each step that is refused leaves the run as it is without.
 *
 * A cordon that was killed leaves its empty groups; the next one below the same group
 * removes them.
 */
#ifndef CORDON_BACKEND_CGROUP_H
#define CORDON_BACKEND_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/str.h"

struct cgroup {
	int base;	/* the group cordon was started in; 0: there is none */
	int dir;	/* the run's; 0: there is none */
	bool aside;	/* cordon itself is in the second group */
	char name[32];	/* of the run's group in `base` */
};

/* The directory of this process's group, from the texts of /proc/self/cgroup and
 * /proc/self/mountinfo. NULL: none, or out of memory. */
const char *cgroup_path(struct arena *a, struct str groups, struct str mounts);
/* The same for this process, when its group was delegated to the user. */
const char *cgroup_find(struct arena *a);

/* Makes a group below `base` and removes what killed runs left there. 0 or -errno. */
int cgroup_open(struct cgroup *cg, const char *base);
/* Lets the kernel hold them, where it can; 0: no limit. True when it holds all of them. */
bool cgroup_hold(const struct cgroup *cg, uint64_t memory, uint64_t tasks);
/* Makes the controllers available below base. False: the limits cannot be held. */
bool cgroup_control(struct cgroup *cg);
/* Processor time of everything that was ever in it. */
bool cgroup_times(const struct cgroup *cg, uint64_t *ret_user_ms, uint64_t *ret_sys_ms);
/* Did the kernel end a process because of the memory? */
bool cgroup_ended_by_memory(const struct cgroup *cg);
/* Sends KILL to all of it. */
bool cgroup_kill(const struct cgroup *cg);
/* Removes it; accepts one that was never opened. */
void cgroup_close(struct cgroup *cg);

#endif
