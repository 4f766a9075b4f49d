/* SPDX-License-Identifier: Apache-2.0 */
/* There are no control groups: cgroup_find offers none, so nothing else is called. */
#include "backend/cgroup.h"

#include <errno.h>

const char *cgroup_find(struct arena *a)
{
	(void)a;
	return NULL;
}

int cgroup_open(struct cgroup *cg, const char *base)
{
	(void)cg, (void)base;
	return -ENOTSUP;
}

bool cgroup_hold(const struct cgroup *cg, uint64_t memory, uint64_t tasks)
{
	(void)cg, (void)memory, (void)tasks;
	return false;
}

bool cgroup_control(struct cgroup *cg)
{
	(void)cg;
	return false;
}

bool cgroup_times(const struct cgroup *cg, uint64_t *ret_user_ms, uint64_t *ret_sys_ms)
{
	(void)cg, (void)ret_user_ms, (void)ret_sys_ms;
	return false;
}

bool cgroup_ended_by_memory(const struct cgroup *cg)
{
	(void)cg;
	return false;
}

bool cgroup_kill(const struct cgroup *cg)
{
	(void)cg;
	return false;
}

void cgroup_close(struct cgroup *cg)
{
	(void)cg;
}
