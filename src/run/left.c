/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at what is about to vanish. The names are the command's: they are only listed. */
#include "run/left.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>

#include "base/fd.h"
#include "base/path.h"
#include "plan/plan.h"
#include "run/execute.h"

#define stage "left"
/* More are not counted: a directory may have millions. */
#define LOOK_MAX 200
#define DEPTH_MAX 64

struct left {
	struct arena *arena;
	const struct plan *plan;
	struct str at; /* the directory inside, on the way to the workdir */
	struct str workdir;
	int fd; /* of the private directory */
	unsigned looked;
	size_t n;
	const char *first;
};

/* What the runtimes of languages keep there for themselves. */
static bool is_nobodys(const char *name)
{
	static const char *const starts[] = { "hsperfdata_", "node-compile-cache", "v8-compile-" };

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (strncmp(name, starts[i], strlen(starts[i])) == 0)
			return true;
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Did the plan make it, to mount something there or below? */
static bool is_planned(const struct left *l, struct str path)
{
	vec_each(op, &l->plan->ops)
		if (op->path.n && path_below(op->path, path))
			return true;
	return false;
}

static void count(struct left *l, const char *name)
{
	const char *path = arena_printf(l->arena, "%.*s/%s", STR_ARG(l->at), name);

	if (!path || is_planned(l, str_of(path)))
		return;
	if (!l->n++)
		l->first = path;
}

static void list(struct left *l, int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!d) {
		fd_close(&fd);
		return;
	}
	while (l->looked++ < LOOK_MAX && (entry = readdir(d)))
		if (!is_nobodys(entry->d_name))
			count(l, entry->d_name);
	closedir(d);
}

/* The directories from the private one down to where the workdir is mounted. */
static void look(struct left *l)
{
	struct str name, rest = str_skip(l->workdir, l->at.n + 1);
	autoclose int dir = steal_fd(&l->fd);

	for (unsigned i = 0; dir >= 0 && i < DEPTH_MAX; i++) {
		const char *next;
		int below;

		list(l, dir);
		if (!str_cut(rest, '/', &name, &rest))
			return;
		next = arena_dup(l->arena, name);
		below = next ? openat(dir, next, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
			     : -1;
		fd_close(&dir);
		dir = below;
		l->at = str_take(l->workdir, l->at.n + 1 + name.n);
	}
}

static int took(struct run_part *part, enum handover_kind kind, int fd, struct cordon_error *err)
{
	struct left *l = part->data;

	(void)kind, (void)err;
	l->fd = fd;
	return 0;
}

static void end(struct run_part *part, struct run_result *result)
{
	struct left *l = part->data;

	look(l);
	result->lost = l->n;
	result->lost_name = l->first;
}

int left_make(struct arena *a, const struct part_input *in, struct run_part **ret,
	      struct cordon_error *err)
{
	struct left *l;
	struct run_part *part;

	if (!(in->launch->hands_over & HANDOVER_BIT(PRIVATE)))
		return 0;
	l = arena_new(a, struct left);
	part = l ? arena_new(a, struct run_part) : NULL;
	if (!part)
		return err_nomem(err, stage);
	*l = (struct left){
		.arena = a,
		.plan = in->plan,
		.workdir = plan_find_op(in->plan, OP_CHDIR)->path,
		.fd = -1,
	};
	l->at = plan_private_above(in->plan, l->workdir);
	*part = (struct run_part){
		.name = stage, .end = end, .data = l, .takes = HANDOVER_BIT(PRIVATE), .took = took
	};
	*ret = part;
	return 0;
}
