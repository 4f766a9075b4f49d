/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes found through libproc.
 *
 * There is no subreaper: what loses its parent goes to launchd, and is found again by its
 * session, where the command has one of its own. One that makes a session of its own and
 * lets its parent end is out of reach; docs/backends.md says so. Nor is there a hold on a
 * process: between the look at it and the signal its number may change hands.
 */
#include "run/tree_in.h"

#include <libproc.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/procfs.h"

#define LAUNCHD 1
/* Room for processes that are made between asking how many there are and listing them. */
#define MORE 64

/* Calls back for each pid of the kind; nothing where there is no memory for the list. */
static void each_pid(uint32_t kind, uint32_t which, void (*one)(void *data, pid_t pid), void *data)
{
	int bytes = proc_listpids(kind, which, NULL, 0);
	size_t room = bytes > 0 ? (size_t)bytes + MORE * sizeof(pid_t) : 0;
	pid_t *pids = room ? calloc(1, room) : NULL;

	bytes = pids ? proc_listpids(kind, which, pids, (int)room) : 0;
	for (size_t i = 0; bytes > 0 && i < (size_t)bytes / sizeof(pid_t); i++)
		if (pids[i] > 0)
			one(data, pids[i]);
	free(pids);
}

/* Orphans of the run, among the children of launchd. */
struct orphans {
	pid_t session;
	void (*one)(void *data, pid_t pid);
	void *data;
};

static void add_orphan(void *data, pid_t pid)
{
	const struct orphans *o = data;

	if (getsid(pid) == o->session)
		o->one(o->data, pid);
}

void tree_list_children(const struct tree *t, pid_t parent, void (*one)(void *data, pid_t pid),
			void *data)
{
	struct orphans orphans = { t->main, one, data };

	each_pid(PROC_PPID_ONLY, (uint32_t)parent, one, data);
	if (parent == getpid() && t->main > 0)
		each_pid(PROC_PPID_ONLY, LAUNCHD, add_orphan, &orphans);
}

static bool is_same(const struct tree_process *p, struct procfs_stat *ret)
{
	return procfs_stat(p->pid, ret) &&
	       (ret->parent == p->parent || (p->depth == TREE_ORPHAN && ret->parent == LAUNCHD));
}

bool tree_send(const struct tree_process *p, int sig)
{
	struct procfs_stat line;

	return is_same(p, &line) && kill(p->pid, sig) == 0;
}

bool tree_send_to_group(const struct tree_process *p, int sig)
{
	struct procfs_stat line;

	if (!is_same(p, &line))
		return false;
	if (line.group > 1 && line.session != getsid(0))
		return kill(-line.group, sig) == 0;
	return kill(p->pid, sig) == 0;
}

/* As waitid would have told it. */
static siginfo_t explain(pid_t pid, int status)
{
	siginfo_t info = { .si_signo = SIGCHLD, .si_pid = pid };

	info.si_code = WIFEXITED(status) ? CLD_EXITED
		       : WCOREDUMP(status) ? CLD_DUMPED : CLD_KILLED;
	info.si_status = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
	return info;
}

static void count_living(void *data, pid_t pid)
{
	struct procfs_stat line;
	size_t *n = data;

	*n += procfs_stat(pid, &line) && line.alive;
}

/* Of the run only the main process is a child of ours. */
bool tree_reap(const struct tree *t)
{
	struct rusage usage;
	size_t living = 0;
	int status;
	pid_t pid = t->main > 0 ? wait4(t->main, &status, WNOHANG, &usage) : -1;

	if (pid > 0) {
		siginfo_t info = explain(pid, status);

		t->reaped(t->data, &info, &usage);
	}
	if (pid == 0)
		return true;
	tree_each_child(t, count_living, &living);
	return living;
}

int tree_adopt(struct tree *t, struct cordon_error *err)
{
	(void)t, (void)err;
	return 0;
}

void tree_release(struct tree *t)
{
	(void)t;
}
