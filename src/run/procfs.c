/* SPDX-License-Identifier: Apache-2.0 */
/* Reading /proc/PID/stat and /proc/PID/status. */
#include "run/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/major.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/linux_compat.h"
#include "base/num.h"

#define STATUS_BYTES_MAX 8192

/* NUL-terminated; false when there is nothing to read. */
static bool read_text(const char *path, char *text, size_t size)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (n <= 0)
		return false;
	text[n] = '\0';
	return true;
}

bool procfs_parse_stat(const char *text, struct procfs_stat *ret)
{
	uint64_t user, sys;
	int64_t waited_user, waited_sys;
	unsigned flags;
	/* The name in parentheses is the process's own choice: only its last
	 * parenthesis can be trusted to end it. */
	const char *after = strrchr(text, ')');

	if (!after || sscanf(after + 1,
			     " %c %d %d %d %*d %*d %u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
			     " %" SCNd64 " %" SCNd64 " %*d %*d %u",
			     &ret->state, &ret->parent, &ret->group, &ret->session, &flags,
			     &user, &sys, &waited_user, &waited_sys, &ret->threads) != 10)
		return false;
	ret->user_ticks = user + (uint64_t)waited_user;
	ret->sys_ticks = sys + (uint64_t)waited_sys;
	ret->alive = ret->state != 'Z' && ret->state != 'X';
	ret->executes = !(flags & PF_FORKNOEXEC);
	return true;
}

static bool read_stat(const char *path, struct procfs_stat *ret)
{
	char text[1024];

	return read_text(path, text, sizeof(text)) && procfs_parse_stat(text, ret);
}

/* The first thread has ended and others go on: what /proc says of the process is then
 * that it is a zombie without memory. */
static void find_living_thread(pid_t pid, struct procfs_stat *ret)
{
	char path[64];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && !ret->alive && (entry = readdir(dir))) {
		struct procfs_stat thread;
		uint64_t tid;

		if (!num_parse_u64(str_of(entry->d_name), INT32_MAX, &tid))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
		if (!read_stat(path, &thread) || !thread.alive)
			continue;
		ret->alive = true;
		ret->state = thread.state;
		ret->thread = (pid_t)tid;
	}
	if (dir)
		closedir(dir);
}

bool procfs_stat(pid_t pid, struct procfs_stat *ret)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (!read_stat(path, ret))
		return false;
	ret->thread = pid;
	if (!ret->alive && ret->threads > 1)
		find_living_thread(pid, ret);
	return true;
}

/* Looked at once more, for its number may have gone to another in between. */
bool procfs_hides(pid_t pid)
{
	struct procfs_stat line;

	return (kill(pid, 0) == 0 || errno == EPERM) && !procfs_stat(pid, &line);
}

pid_t procfs_of_pidfd(int pidfd)
{
	char path[64], text[STATUS_BYTES_MAX];
	const char *at;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	at = read_text(path, text, sizeof(text)) ? strstr(text, "\nPid:") : NULL;
	return at ? (pid_t)strtol(at + sizeof("\nPid:") - 1, NULL, 10) : 0;
}

uint64_t procfs_field(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, name, n) == 0 && at[n] == ':')
			return strtoull(at + n + 1, NULL, 10) * 1024;
	}
	return 0;
}

bool procfs_memory(pid_t thread, struct procfs_memory *ret)
{
	char path[64], text[STATUS_BYTES_MAX];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)thread);
	if (!read_text(path, text, sizeof(text)))
		return false;
	*ret = (struct procfs_memory){
		.anon = procfs_field(text, "RssAnon") + procfs_field(text, "HugetlbPages"),
		.shmem = procfs_field(text, "RssShmem"),
		.swap = procfs_field(text, "VmSwap"),
		.tables = procfs_field(text, "VmPTE"),
		.peak = procfs_field(text, "VmHWM"),
	};
	return true;
}

bool procfs_reads_terminal(pid_t thread)
{
	char path[64], text[256];
	unsigned fd;
	struct stat st;
	int nr;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)thread);
	if (!read_text(path, text, sizeof(text)) || sscanf(text, "%d 0x%x", &nr, &fd) != 2 ||
	    nr != SYS_read)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/fd/%u", (int)thread, fd);
	return stat(path, &st) == 0 && S_ISCHR(st.st_mode) &&
	       ((major(st.st_rdev) >= UNIX98_PTY_SLAVE_MAJOR &&
		 major(st.st_rdev) < UNIX98_PTY_SLAVE_MAJOR + UNIX98_PTY_MAJOR_COUNT) ||
		major(st.st_rdev) == TTYAUX_MAJOR);
}

uint64_t procfs_machine_shmem(void)
{
	char text[STATUS_BYTES_MAX];

	return read_text("/proc/meminfo", text, sizeof(text)) ? procfs_field(text, "Shmem") : 0;
}
