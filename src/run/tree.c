/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walking over the processes of a run and acting on them. How they are found and held is
 * the business of tree_linux.c and tree_darwin.c.
 *
 * Order that matters when killing: a process is stopped before its children are
 * read. fork fails over a pending signal, so from then on the list is complete, and
 * only orphans, which appear among our own children, can be missing from it. Passes
 * are repeated until one finds everything stopped.
 */
#include "run/tree_in.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/procfs.h"

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

/* A parent whose children are being listed. */
struct family {
	const struct tree *tree;
	struct walk *walk;
	pid_t parent;
	unsigned depth;
};

static void add_child(void *data, pid_t pid)
{
	const struct family *f = data;

	add_process(f->tree, f->walk, pid, f->parent, f->depth);
}

static void add_children(const struct tree *t, struct walk *w, pid_t parent, unsigned depth)
{
	struct family f = { t, w, parent, depth };

	tree_list_children(t, parent, add_child, &f);
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

static bool is_living(pid_t pid)
{
	struct procfs_stat line;

	return procfs_stat(pid, &line) ? line.alive : procfs_hides(pid);
}

static bool is_wrapper(const struct tree *t, const struct tree_process *p)
{
	return p->depth < t->wrappers;
}

size_t tree_signal(const struct tree *t, int sig)
{
	struct walk w = { 0 };
	size_t sent = 0;

	walk_tree(t, &w);
	vec_each(p, &w.found)
		if (!is_wrapper(t, p) && is_living(p->pid))
			sent += tree_send(p, sig);
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
		sent = group ? tree_send_to_group(p, sig) : tree_send(p, sig);
	arena_free(&w.memory);
	return sent;
}

static bool is_stopped(const struct procfs_stat *line)
{
	return line->state == 'T' || line->state == 't';
}

/* 0: there is none, or none yet. */
static pid_t command_pid(const struct tree *t)
{
	const struct tree_process *p;
	struct walk w = { 0 };
	pid_t pid;

	walk_tree(t, &w);
	p = find_command(t, &w);
	pid = p ? p->pid : 0;
	arena_free(&w.memory);
	return pid;
}

bool tree_command_stopped(const struct tree *t)
{
	pid_t pid = command_pid(t);
	struct procfs_stat line;

	return pid && procfs_stat(pid, &line) && is_stopped(&line);
}

bool tree_command_executes(const struct tree *t)
{
	pid_t pid = command_pid(t);
	struct procfs_stat line;

	return pid && procfs_stat(pid, &line) && line.executes;
}

bool tree_command_leads(const struct tree *t, pid_t group)
{
	pid_t pid = command_pid(t);

	return pid && group > 0 && getpgid(pid) == group;
}

/* What hides its children hands them over by its end. */
static void stop(const struct tree *t, struct walk *w, const struct tree_process *p)
{
	struct procfs_stat line;
	bool hidden = !procfs_stat(p->pid, &line) && procfs_hides(p->pid);

	(void)w;
	tree_send(p, hidden && !is_wrapper(t, p) ? SIGKILL : SIGSTOP);
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
	tree_send(p, SIGSTOP);
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
			tree_send(p, SIGCONT);
	arena_free(&w.memory);
	arena_free(&s->memory);
	*s = (struct tree_stopped){ 0 };
}

size_t tree_kill(const struct tree *t, bool *ret_refused)
{
	struct walk w = { 0 }, how = { .visit = stop };
	size_t alive = 0;

	*ret_refused = false;
	freeze(t, &how);
	walk_tree(t, &w);
	vec_each(p, &w.found)
		if (is_living(p->pid)) {
			alive++;
			errno = 0;
			*ret_refused |= !tree_send(p, SIGKILL) && errno == EPERM;
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
	size_t *n = data;

	if (!wrapper)
		*n += is_living(p->pid);
}

size_t tree_count(const struct tree *t)
{
	size_t n = 0;

	tree_each(t, count_living, &n);
	return n;
}

void tree_each_child(const struct tree *t, void (*one)(void *data, pid_t pid), void *data)
{
	struct walk w = { 0 };

	walk_children(t, &w);
	vec_each(p, &w.found)
		one(data, p->pid);
	arena_free(&w.memory);
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
	int r = tree_adopt(t, err);

	arena_init(&t->memory, TREE_WALK_BYTES_MAX);
	return r == 0 && has_children() ? note_foreign(t, err) : r;
}

void tree_close(struct tree *t)
{
	if (!t->memory.max)
		return;
	tree_release(t);
	arena_free(&t->memory);
	*t = (struct tree){ 0 };
}
