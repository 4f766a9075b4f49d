/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding processes through /proc and acting on them.
 *
 * Order that matters when killing: a process is stopped before its children are
 * read. fork fails over a pending signal, so from then on the list is complete, and
 * only orphans, which appear among our own children, can be missing from it. Passes
 * are repeated until one finds everything stopped.
 */
#include "run/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/num.h"
#include "run/procfs.h"

#define CHILDREN_BYTES_MAX ((size_t)4 << 20)
#define FREEZE_PASSES_MAX 50

struct walk {
	struct arena memory;
	VEC(struct tree_process) found;
	/* Called for each process when it is found, before its children are. */
	void (*visit)(const struct tree *t, struct walk *w, const struct tree_process *p);
	struct tree_stopped *stopped; /* for the visit that suspends */
};

static bool is_foreign(const struct tree *t, pid_t pid)
{
	for (size_t i = 0; i < t->foreign.n; i++)
		if (t->foreign.at[i] == pid)
			return true;
	return false;
}

static void add_process(const struct tree *t, struct walk *w, pid_t pid, pid_t parent,
			unsigned depth)
{
	struct tree_process *p;

	if (is_foreign(t, pid))
		return;
	p = vec_push(&w->found, &w->memory);
	if (!p)
		return;
	*p = (struct tree_process){ pid, parent, pid == t->main ? 0 : depth };
	if (w->visit)
		w->visit(t, w, p);
}

static void add_listed(const struct tree *t, struct walk *w, const char *path, pid_t parent,
		       unsigned depth)
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
		add_process(t, w, (pid_t)pid, parent, depth);
	}
}

/* Calls back for each numeric name in a directory of /proc. */
static void each_number(const char *path,
			void (*one)(const struct tree *, struct walk *, pid_t, pid_t, unsigned),
			const struct tree *t, struct walk *w, pid_t parent, unsigned depth)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	uint64_t pid;

	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (num_parse_u64(str_of(entry->d_name), INT32_MAX, &pid) && pid)
			one(t, w, (pid_t)pid, parent, depth);
	closedir(dir);
}

/* Each thread has its own list of children. */
static void add_of_thread(const struct tree *t, struct walk *w, pid_t tid, pid_t parent,
			  unsigned depth)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent, (int)tid);
	add_listed(t, w, path, parent, depth);
}

static void add_if_child(const struct tree *t, struct walk *w, pid_t pid, pid_t parent,
			 unsigned depth)
{
	struct procfs_stat line;

	if (procfs_stat(pid, &line) && line.parent == parent)
		add_process(t, w, pid, parent, depth);
}

static void add_children(const struct tree *t, struct walk *w, pid_t parent, unsigned depth)
{
	char path[32];

	if (t->no_children_files) {
		each_number("/proc", add_if_child, t, w, parent, depth);
		return;
	}
	snprintf(path, sizeof(path), "/proc/%d/task", (int)parent);
	each_number(path, add_of_thread, t, w, parent, depth);
}

static void walk_children(const struct tree *t, struct walk *w)
{
	*w = (struct walk){ .visit = w->visit, .stopped = w->stopped };
	arena_init(&w->memory, TREE_WALK_BYTES_MAX);
	add_children(t, w, getpid(), TREE_ORPHAN);
}

static void walk_tree(const struct tree *t, struct walk *w)
{
	walk_children(t, w);
	for (size_t i = 0; i < w->found.n; i++) {
		struct tree_process p = w->found.at[i];

		add_children(t, w, p.pid, p.depth == TREE_ORPHAN ? TREE_ORPHAN : p.depth + 1);
	}
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
static bool send_signal(const struct tree_process *p, int sig)
{
	autoclose int pidfd = -1;
	struct procfs_stat line;

	if (p->parent == getpid())
		return kill(p->pid, sig) == 0;
	pidfd = hold(p, &line);
	return pidfd >= 0 && syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0) == 0;
}

/* To the process group, all at once as the terminal does it; only to the process when
 * the group is in our own session, where others than the command may be in it. */
static bool send_to_group(const struct tree_process *p, int sig)
{
	struct procfs_stat line;
	autoclose int pidfd = hold(p, &line);

	if (pidfd < 0)
		return false;
	if (line.group > 1 && line.session != getsid(0))
		return kill(-line.group, sig) == 0;
	return syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0) == 0;
}

static bool is_wrapper(const struct tree *t, const struct tree_process *p)
{
	return p->depth < t->wrappers;
}

size_t tree_signal(const struct tree *t, int sig)
{
	struct procfs_stat line;
	struct walk w = { 0 };
	size_t sent = 0;

	walk_tree(t, &w);
	vec_each(p, &w.found)
		if (!is_wrapper(t, p) && procfs_stat(p->pid, &line) && line.alive)
			sent += send_signal(p, sig);
	arena_free(&w.memory);
	return sent;
}

/* The command is the oldest of its generation: what else is in it lost its parent and
 * was taken in by the innermost wrapper. */
static const struct tree_process *find_command(const struct tree *t, const struct walk *w)
{
	vec_each(p, &w->found)
		if (p->depth == t->wrappers)
			return p;
	return NULL;
}

bool tree_signal_command(const struct tree *t, int sig, bool group)
{
	const struct tree_process *p;
	struct walk w = { 0 };
	bool sent = false;

	walk_tree(t, &w);
	p = find_command(t, &w);
	if (p)
		sent = group ? send_to_group(p, sig) : send_signal(p, sig);
	arena_free(&w.memory);
	return sent;
}

static bool is_stopped(const struct procfs_stat *line)
{
	return line->state == 'T' || line->state == 't';
}

bool tree_command_stopped(const struct tree *t)
{
	const struct tree_process *p;
	struct procfs_stat line;
	struct walk w = { 0 };
	bool stopped;

	walk_tree(t, &w);
	p = find_command(t, &w);
	stopped = p && procfs_stat(p->pid, &line) && is_stopped(&line);
	arena_free(&w.memory);
	return stopped;
}

static void stop(const struct tree *t, struct walk *w, const struct tree_process *p)
{
	(void)t, (void)w;
	send_signal(p, SIGSTOP);
}

/* Did this pass see something that could still have forked? A child of ours that
 * ended since the pass began counts: it may have left a successor behind. */
static bool was_moving(const struct tree_process *p)
{
	struct procfs_stat line;

	if (!procfs_stat(p->pid, &line))
		return true;
	if (!line.alive)
		return p->parent == getpid();
	return !is_stopped(&line);
}

/* Passes until everything is stopped, or has at least been told to. */
static void freeze(const struct tree *t, const struct walk *how)
{
	bool moving = true;

	for (int pass = 0; moving && pass < FREEZE_PASSES_MAX; pass++) {
		struct walk w = *how;

		moving = false;
		tree_reap(t);
		walk_tree(t, &w);
		vec_each(p, &w.found)
			moving |= was_moving(p) && !(how->stopped && is_wrapper(t, p));
		arena_free(&w.memory);
	}
}

static bool is_listed(const struct tree_stopped *s, pid_t pid)
{
	for (size_t i = 0; i < s->pids.n; i++)
		if (s->pids.at[i] == pid)
			return true;
	return false;
}

/* What stands still already was stopped by somebody else, who will continue it. */
static void suspend(const struct tree *t, struct walk *w, const struct tree_process *p)
{
	struct tree_stopped *s = w->stopped;
	struct procfs_stat line;
	pid_t *slot;

	if (is_wrapper(t, p) || !procfs_stat(p->pid, &line) || !line.alive || is_stopped(&line))
		return;
	slot = is_listed(s, p->pid) ? NULL : vec_push(&s->pids, &s->memory);
	if (slot)
		*slot = p->pid;
	send_signal(p, SIGSTOP);
}

void tree_suspend(const struct tree *t, struct tree_stopped *ret)
{
	struct walk how = { .visit = suspend, .stopped = ret };

	*ret = (struct tree_stopped){ 0 };
	arena_init(&ret->memory, TREE_WALK_BYTES_MAX);
	freeze(t, &how);
}

/* Found again and not by number alone: one that was killed meanwhile has left its number
 * to others. */
void tree_resume(const struct tree *t, struct tree_stopped *s)
{
	struct walk w = { 0 };

	walk_tree(t, &w);
	vec_each(p, &w.found)
		if (is_listed(s, p->pid))
			send_signal(p, SIGCONT);
	arena_free(&w.memory);
	arena_free(&s->memory);
	*s = (struct tree_stopped){ 0 };
}

size_t tree_kill(const struct tree *t, bool *ret_refused)
{
	struct procfs_stat line;
	struct walk w = { 0 }, how = { .visit = stop };
	size_t alive = 0;

	*ret_refused = false;
	freeze(t, &how);
	walk_tree(t, &w);
	vec_each(p, &w.found)
		if (procfs_stat(p->pid, &line) && line.alive) {
			alive++;
			errno = 0;
			*ret_refused |= !send_signal(p, SIGKILL) && errno == EPERM;
		}
	arena_free(&w.memory);
	return alive;
}

void tree_each(const struct tree *t,
	       void (*one)(void *data, const struct tree_process *p, bool wrapper), void *data)
{
	struct walk w = { 0 };

	walk_tree(t, &w);
	vec_each(p, &w.found)
		one(data, p, is_wrapper(t, p));
	arena_free(&w.memory);
}

static void count_living(void *data, const struct tree_process *p, bool wrapper)
{
	struct procfs_stat line;
	size_t *n = data;

	if (!wrapper && procfs_stat(p->pid, &line))
		*n += line.alive;
}

size_t tree_count(const struct tree *t)
{
	size_t n = 0;

	tree_each(t, count_living, &n);
	return n;
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

/* A reaped process may have handed us its children, so a round that reaped is
 * followed by another. */
static bool reap_beside_foreign(const struct tree *t)
{
	bool left, again;

	do {
		struct walk w = { 0 };

		left = again = false;
		walk_children(t, &w);
		vec_each(p, &w.found) {
			pid_t pid = take_in(t, P_PID, p->pid);

			again |= pid > 0;
			left |= pid == 0;
		}
		arena_free(&w.memory);
	} while (again);
	return left;
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

static bool has_children(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

int tree_disown(struct tree *t, pid_t pid, struct cordon_error *err)
{
	pid_t *known = vec_push(&t->foreign, &t->memory);

	if (!known)
		return err_nomem(err, "run");
	*known = pid;
	return 0;
}

static int note_foreign(struct tree *t, struct cordon_error *err)
{
	struct walk w = { 0 };
	int failed = 0;

	walk_children(t, &w);
	vec_each(p, &w.found)
		if (!failed)
			failed = tree_disown(t, p->pid, err);
	arena_free(&w.memory);
	return failed;
}

int tree_open(struct tree *t, struct cordon_error *err)
{
	int was = 0;

	t->no_children_files = access("/proc/thread-self/children", R_OK) < 0;
	arena_init(&t->memory, TREE_WALK_BYTES_MAX);
	prctl(PR_GET_CHILD_SUBREAPER, &was);
	t->was_subreaper = was;
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return err_set(err, CORDON_E_SYSTEM, errno, "run",
			       "cannot become the reaper of the command's processes");
	return has_children() ? note_foreign(t, err) : 0;
}

void tree_close(struct tree *t)
{
	if (!t->memory.max)
		return;
	prctl(PR_SET_CHILD_SUBREAPER, t->was_subreaper);
	arena_free(&t->memory);
	*t = (struct tree){ 0 };
}
