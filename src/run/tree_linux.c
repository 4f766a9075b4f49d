/* SPDX-License-Identifier: Apache-2.0 */
/* Processes found through /proc, held by pidfds, and kept together by a subreaper. */
#include "run/tree_in.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/num.h"
#include "run/procfs.h"

#define CHILDREN_BYTES_MAX ((size_t)4 << 20)

/* A list of children under way. */
struct listing {
	pid_t parent;
	void (*one)(void *data, pid_t pid);
	void *data;
};

static void add_listed(const struct listing *l, const char *path)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	autobuf struct buf text = { 0 };
	char *at, *end;

	buf_init(&text, CHILDREN_BYTES_MAX);
	if (fd < 0)
		return;
	while (buf_read(&text, fd, 4096) > 0)
		;
	for (at = text.p;; at = end) {
		long pid = strtol(at, &end, 10);

		if (end == at)
			break;
		l->one(l->data, (pid_t)pid);
	}
}

/* Calls back for each numeric name in a directory of /proc. False: it cannot be read. */
static bool each_number(const char *path, void (*one)(const struct listing *l, pid_t number),
			const struct listing *l)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	uint64_t number;

	if (!dir)
		return false;
	while ((entry = readdir(dir)))
		if (num_parse_u64(str_of(entry->d_name), INT32_MAX, &number) && number)
			one(l, (pid_t)number);
	closedir(dir);
	return true;
}

/* Each thread has its own list of children. */
static void add_of_thread(const struct listing *l, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)l->parent, (int)tid);
	add_listed(l, path);
}

static void add_if_child(const struct listing *l, pid_t pid)
{
	struct procfs_stat line;

	if (procfs_stat(pid, &line) && line.parent == l->parent)
		l->one(l->data, pid);
}

void tree_list_children(const struct tree *t, pid_t parent, void (*one)(void *data, pid_t pid),
			void *data)
{
	struct listing l = { parent, one, data };
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)parent);
	/* The children of one that is hidden, as a sandbox's first process is under hidepid,
	 * are not. */
	if (t->no_children_files || (!each_number(path, add_of_thread, &l) && procfs_hides(parent)))
		each_number("/proc", add_if_child, &l);
}

/* Holds a process that is still the one that was found: its pid may have been given to
 * a stranger since it was read, so hold it first, then look again. -1 when it is gone. */
static int hold(const struct tree_process *p, struct procfs_stat *ret)
{
	autoclose int pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);

	if (pidfd < 0 || !procfs_stat(p->pid, ret) ||
	    (ret->parent != p->parent && ret->parent != getpid()))
		return -1;
	return steal_fd(&pidfd);
}

/* Our own child keeps its pid until we reap it; any other is held. */
bool tree_send(const struct tree_process *p, int sig)
{
	autoclose int pidfd = -1;
	struct procfs_stat line;

	if (p->parent == getpid())
		return kill(p->pid, sig) == 0;
	pidfd = hold(p, &line);
	return pidfd >= 0 && syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0) == 0;
}

bool tree_send_to_group(const struct tree_process *p, int sig)
{
	struct procfs_stat line;
	autoclose int pidfd = hold(p, &line);

	if (pidfd < 0)
		return false;
	if (line.group > 1 && line.session != getsid(0))
		return kill(-line.group, sig) == 0;
	return syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0) == 0;
}

/* waitid with the rusage that the C library leaves out. Never blocks; 0 when nothing
 * has ended, -1 when there is no such child. */
static pid_t take_in(const struct tree *t, idtype_t type, pid_t pid)
{
	struct rusage usage;
	siginfo_t info = { 0 };

	if (syscall(SYS_waitid, type, pid, &info, WEXITED | WNOHANG, &usage) < 0)
		return -1;
	if (info.si_pid)
		t->reaped(t->data, &info, &usage);
	return info.si_pid;
}

struct round {
	const struct tree *tree;
	bool left, again;
};

static void take_one(void *data, pid_t pid)
{
	struct round *round = data;
	pid_t taken = take_in(round->tree, P_PID, pid);

	round->again |= taken > 0;
	round->left |= taken == 0;
}

/* A reaped process may have handed us its children, so a round that reaped is
 * followed by another. */
static bool reap_beside_foreign(const struct tree *t)
{
	struct round round;

	do {
		round = (struct round){ .tree = t };
		tree_each_child(t, take_one, &round);
	} while (round.again);
	return round.left;
}

bool tree_reap(const struct tree *t)
{
	pid_t pid;

	if (t->foreign.n)
		return reap_beside_foreign(t);
	while ((pid = take_in(t, P_ALL, 0)) > 0)
		;
	return pid == 0;
}

int tree_adopt(struct tree *t, struct cordon_error *err)
{
	int was = 0;

	t->no_children_files = access("/proc/thread-self/children", R_OK) < 0;
	prctl(PR_GET_CHILD_SUBREAPER, &was);
	t->was_subreaper = was;
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return err_set(err, CORDON_E_SYSTEM, errno, "run",
			       "cannot become the reaper of the command's processes");
	return 0;
}

void tree_release(struct tree *t)
{
	prctl(PR_SET_CHILD_SUBREAPER, t->was_subreaper);
}
