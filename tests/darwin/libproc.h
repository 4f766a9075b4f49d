/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As much of libproc, Mach time and the sandbox's library as cordon uses, on /proc, so that
 * what is written for macOS can be run where there is none of it. What has no ancestor in
 * this process is a child of launchd, whoever took it in.
 */
#ifndef CORDON_TESTS_DARWIN_LIBPROC_H
#define CORDON_TESTS_DARWIN_LIBPROC_H

#include <stdint.h>
#include <sys/types.h>

#define PROC_PPID_ONLY 6
#define PROC_PIDTBSDINFO 3
#define PROC_PIDTASKINFO 4
#define RUSAGE_INFO_V4 4

struct proc_bsdinfo {
	uint32_t pbi_status, pbi_ppid, pbi_pgid;
};

struct proc_taskinfo {
	int32_t pti_threadnum;
};

struct rusage_info_v4 {
	uint64_t ri_user_time, ri_system_time; /* in Mach's units */
	uint64_t ri_child_user_time, ri_child_system_time;
	uint64_t ri_phys_footprint, ri_lifetime_max_phys_footprint;
};

typedef void *rusage_info_t;

int proc_listpids(uint32_t kind, uint32_t which, void *pids, int bytes);
int proc_pidinfo(int pid, int flavour, uint64_t arg, void *to, int bytes);
int proc_pid_rusage(int pid, int flavour, rusage_info_t *to);

int sandbox_check(pid_t pid, const char *operation, int type, ...);

#endif
