/* SPDX-License-Identifier: Apache-2.0 */
/* See libproc.h. */
#include "libproc.h"

#include <dirent.h>
#include <errno.h>
#include <mach/mach_time.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/proc.h>
#include <unistd.h>

#define LAUNCHD 1
#define PIDS_MAX 65536

struct line {
	char state;
	int parent, group, threads;
	uint64_t user, system, child_user, child_system; /* ticks */
};

static bool read_text(int pid, const char *name, char *text, size_t size)
{
	char path[64];
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	file = fopen(path, "re");
	n = file ? fread(text, 1, size - 1, file) : 0;
	text[n] = '\0';
	if (file)
		fclose(file);
	return n;
}

static bool read_line(int pid, struct line *l)
{
	char text[1024];
	const char *after;

	if (!read_text(pid, "stat", text, sizeof(text)))
		return false;
	after = strrchr(text, ')');
	return after && sscanf(after + 1,
			       " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u"
			       " %lu %lu %lu %lu %*d %*d %d",
			       &l->state, &l->parent, &l->group, &l->user, &l->system,
			       &l->child_user, &l->child_system, &l->threads) == 8;
}

/* As it would be without a subreaper. */
static int parent_of(int pid)
{
	struct line l;
	int parent = read_line(pid, &l) ? l.parent : 0;

	for (int above = parent; above != getpid(); above = l.parent)
		if (above <= 1 || !read_line(above, &l))
			return LAUNCHD;
	return parent;
}

int proc_listpids(uint32_t kind, uint32_t which, void *pids, int bytes)
{
	int *to = pids, n = 0, room = bytes / (int)sizeof(int);
	const struct dirent *entry;
	DIR *dir = opendir("/proc");

	if (!to || kind != PROC_PPID_ONLY) {
		closedir(dir);
		return kind == PROC_PPID_ONLY ? PIDS_MAX : 0;
	}
	while (n < room && (entry = readdir(dir))) {
		int pid = (int)strtol(entry->d_name, NULL, 10);
		struct line l;

		/* Of those that have ended there is no list. */
		if (pid > 0 && read_line(pid, &l) && l.state != 'Z' && parent_of(pid) == (int)which)
			to[n++] = pid;
	}
	closedir(dir);
	return n * (int)sizeof(int);
}

static uint32_t status_of(char state)
{
	return state == 'Z' ? SZOMB : state == 'T' || state == 't' ? SSTOP : SRUN;
}

int proc_pidinfo(int pid, int flavour, uint64_t arg, void *to, int bytes)
{
	struct line l;
	bool ended;

	if (!read_line(pid, &l))
		return 0;
	ended = l.state == 'Z';
	if (flavour == PROC_PIDTBSDINFO && (arg || !ended)) {
		*(struct proc_bsdinfo *)to = (struct proc_bsdinfo){
			status_of(l.state), (uint32_t)parent_of(pid), (uint32_t)l.group
		};
		return bytes;
	}
	if (flavour == PROC_PIDTASKINFO && !ended) {
		*(struct proc_taskinfo *)to = (struct proc_taskinfo){ l.threads };
		return bytes;
	}
	return 0;
}

int mach_timebase_info(mach_timebase_info_data_t *to)
{
	*to = (mach_timebase_info_data_t){ 125, 3 };
	return KERN_SUCCESS;
}

static uint64_t to_mach(uint64_t ticks)
{
	return ticks * 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK) * 3 / 125;
}

static uint64_t field(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoull(at + strlen(name), NULL, 10) * 1024 : 0;
}

int proc_pid_rusage(int pid, int flavour, rusage_info_t *to)
{
	struct rusage_info_v4 *usage = (struct rusage_info_v4 *)to;
	char text[8192];
	struct line l;

	if (flavour != RUSAGE_INFO_V4 || !read_line(pid, &l) || l.state == 'Z' ||
	    !read_text(pid, "status", text, sizeof(text))) {
		errno = ESRCH;
		return -1;
	}
	*usage = (struct rusage_info_v4){
		.ri_user_time = to_mach(l.user),
		.ri_system_time = to_mach(l.system),
		.ri_child_user_time = to_mach(l.child_user),
		.ri_child_system_time = to_mach(l.child_system),
		.ri_phys_footprint = field(text, "\nRssAnon:") + field(text, "\nVmSwap:"),
		.ri_lifetime_max_phys_footprint = field(text, "\nVmHWM:"),
	};
	return 0;
}

/* What is inside is marked by a variable: there is no sandbox to ask. */
int sandbox_check(pid_t pid, const char *operation, int type, ...)
{
	(void)pid, (void)operation, (void)type;
	return getenv("CORDON_INSIDE") != NULL;
}
