/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libproc says about one process, in the words of /proc. A pid stands for all threads
 * of a process, and a process that has ended for itself only.
 */
#include "run/procfs.h"

#include <libproc.h>
#include <mach/mach_time.h>
#include <sys/proc.h>
#include <sys/resource.h>
#include <unistd.h>

/* For proc_pidinfo: one that has ended counts, too. */
#define ENDED_TOO 1

static uint64_t to_ticks(uint64_t mach_units)
{
	mach_timebase_info_data_t base;
	uint64_t tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);

	if (mach_timebase_info(&base) != KERN_SUCCESS || !base.denom)
		return 0;
	return (uint64_t)((__uint128_t)mach_units * base.numer / base.denom) / tick_ns;
}

static char state_of(uint32_t status)
{
	switch (status) {
	case SSTOP:
		return 'T';
	case SZOMB:
		return 'Z';
	}
	return 'R';
}

static bool read_usage(pid_t pid, struct rusage_info_v4 *ret)
{
	return proc_pid_rusage(pid, RUSAGE_INFO_V4, (rusage_info_t *)ret) == 0;
}

bool procfs_stat(pid_t pid, struct procfs_stat *ret)
{
	struct rusage_info_v4 usage;
	struct proc_bsdinfo about;
	struct proc_taskinfo task;

	if (proc_pidinfo(pid, PROC_PIDTBSDINFO, ENDED_TOO, &about, sizeof(about)) !=
	    (int)sizeof(about))
		return false;
	*ret = (struct procfs_stat){
		.state = state_of(about.pbi_status),
		.alive = about.pbi_status != SZOMB,
		.thread = pid,
		.parent = (pid_t)about.pbi_ppid,
		.group = (pid_t)about.pbi_pgid,
		.session = getsid(pid),
		.threads = 1,
	};
	if (proc_pidinfo(pid, PROC_PIDTASKINFO, 0, &task, sizeof(task)) == (int)sizeof(task))
		ret->threads = (unsigned)task.pti_threadnum;
	if (read_usage(pid, &usage)) {
		ret->user_ticks = to_ticks(usage.ri_user_time + usage.ri_child_user_time);
		ret->sys_ticks = to_ticks(usage.ri_system_time + usage.ri_child_system_time);
	}
	return true;
}

/* The footprint holds what was compressed and the page tables. */
bool procfs_memory(pid_t thread, struct procfs_memory *ret)
{
	struct rusage_info_v4 usage;

	if (!read_usage(thread, &usage))
		return false;
	*ret = (struct procfs_memory){
		.anon = usage.ri_phys_footprint,
		.peak = usage.ri_lifetime_max_phys_footprint,
	};
	return true;
}

bool procfs_hides(pid_t pid)
{
	(void)pid;
	return false;
}

/* The kernel does not say what a process waits for. */
bool procfs_reads_terminal(pid_t thread)
{
	(void)thread;
	return false;
}

uint64_t procfs_machine_shmem(void)
{
	return 0;
}
