/* SPDX-License-Identifier: Apache-2.0 */
/* A control group for one run: files below one directory. */
#include "backend/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/num.h"

#define PREFIX "cordon."
#define ASIDE ".self"
#define TEXT_BYTES 4096
#define PROC_BYTES_MAX ((size_t)1 << 20)

/* --- where it is ------------------------------------------------------------------- */

/* "0::PATH" */
static bool own_group(struct str groups, struct str *ret)
{
	struct str line;

	while (groups.n) {
		str_cut(groups, '\n', &line, &groups);
		if (str_starts(line, STR("0::/"))) {
			*ret = str_skip(line, 3);
			return true;
		}
	}
	return false;
}

/* Field `n` of a line of words. */
static struct str field(struct str line, unsigned n)
{
	struct str word = { 0 };

	for (unsigned i = 0; i <= n; i++)
		str_cut(line, ' ', &word, &line);
	return word;
}

/* The mount of version 2: its root in the hierarchy, and where it is. */
static bool find_mount(struct str mounts, struct str *ret_root, struct str *ret_point)
{
	struct str line;

	while (mounts.n) {
		const char *after;

		str_cut(mounts, '\n', &line, &mounts);
		after = memmem(line.p, line.n, " - cgroup2 ", 11);
		if (!after)
			continue;
		*ret_root = field(line, 3);
		*ret_point = field(line, 4);
		/* A name with a space in it is escaped, and not worth the trouble. */
		return ret_point->n && !memchr(line.p, '\\', (size_t)(after - line.p));
	}
	return false;
}

const char *cgroup_path(struct arena *a, struct str groups, struct str mounts)
{
	struct str group, root, point;

	if (!own_group(groups, &group) || !find_mount(mounts, &root, &point))
		return NULL;
	/* Outside of what is mounted, or of the namespace's view. */
	if (memmem(group.p, group.n, "/..", 3) || memmem(root.p, root.n, "/..", 3))
		return NULL;
	if (root.n > 1) {
		if (!str_starts(group, root))
			return NULL;
		group = str_skip(group, root.n);
		if (group.n && group.p[0] != '/')
			return NULL;
	}
	return arena_printf(a, "%.*s%.*s", STR_ARG(point), STR_ARG(group));
}

/* What may be written by a plain user was given to it. Root may write everywhere: there it
 * is what the service manager says, or nobody manages anything. */
static bool is_delegated(const char *path)
{
	char value[8];

	if (access(path, W_OK) < 0)
		return false;
	return geteuid() != 0 || access("/run/systemd/system", F_OK) < 0 ||
	       getxattr(path, "trusted.delegate", value, sizeof(value)) > 0 ||
	       getxattr(path, "user.delegate", value, sizeof(value)) > 0;
}

const char *cgroup_find(struct arena *a)
{
	struct cordon_error ignored;
	struct str groups, mounts;
	const char *path;

	if (fd_read_file(a, "/proc/self/cgroup", PROC_BYTES_MAX, &groups, &ignored) < 0 ||
	    fd_read_file(a, "/proc/self/mountinfo", PROC_BYTES_MAX, &mounts, &ignored) < 0)
		return NULL;
	path = cgroup_path(a, groups, mounts);
	return path && is_delegated(path) ? path : NULL;
}

/* --- its files --------------------------------------------------------------------- */

static bool put(int dir, const char *name, const char *text)
{
	autoclose int fd = openat(dir, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	size_t n = strlen(text);

	return fd >= 0 && write(fd, text, n) == (ssize_t)n;
}

static bool put_number(int dir, const char *name, uint64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	return put(dir, name, text);
}

static bool get(int dir, const char *name, char *text)
{
	autoclose int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n = fd < 0 ? -1 : read(fd, text, TEXT_BYTES - 1);

	if (n < 0)
		return false;
	text[n] = '\0';
	return true;
}

/* The number after "KEY " at the beginning of a line. */
static bool value_of(const char *text, const char *key, uint64_t *ret)
{
	size_t n = strlen(key);

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, n) == 0 && line[n] == ' ') {
			*ret = strtoull(line + n + 1, NULL, 10);
			return true;
		}
	}
	return false;
}

static bool has_word(const char *text, const char *word)
{
	struct str rest = str_of(text), one;
	bool more = true;

	while (more) {
		more = str_cut(rest, ' ', &one, &rest);
		while (one.n && one.p[one.n - 1] == '\n')
			one.n--;
		if (str_eq(one, str_of(word)))
			return true;
	}
	return false;
}

/* --- making and removing ----------------------------------------------------------- */

/* Of a cordon that is gone; one with processes in it cannot be removed. */
static void remove_stale(int base)
{
	int again = openat(base, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = again < 0 ? NULL : fdopendir(again);
	const struct dirent *entry;

	if (!d)
		fd_close(&again);
	while (d && (entry = readdir(d))) {
		struct str number, rest, name = str_of(entry->d_name);
		uint64_t pid;

		if (!str_starts(name, STR(PREFIX)))
			continue;
		str_cut(str_skip(name, sizeof(PREFIX) - 1), '.', &number, &rest);
		if (num_parse_u64(number, INT32_MAX, &pid) && pid && kill((pid_t)pid, 0) < 0 &&
		    errno == ESRCH)
			unlinkat(base, entry->d_name, AT_REMOVEDIR);
	}
	if (d)
		closedir(d);
}

int cgroup_open(struct cgroup *cg, const char *base)
{
	int r = 0;

	*cg = (struct cgroup){ .base = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	if (cg->base < 0) {
		r = -errno;
		*cg = (struct cgroup){ 0 };
		return r;
	}
	remove_stale(cg->base);
	snprintf(cg->name, sizeof(cg->name), PREFIX "%d", (int)getpid());
	if (mkdirat(cg->base, cg->name, 0755) < 0)
		r = -errno;
	if (r == 0) {
		cg->dir = openat(cg->base, cg->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		r = cg->dir < 0 ? -errno : 0;
	}
	if (r < 0)
		cgroup_close(cg);
	return r;
}

static void aside_name(const struct cgroup *cg, char *ret, size_t size)
{
	snprintf(ret, size, "%s" ASIDE, cg->name);
}

/* This process into a group; "" is the one it came from. */
static bool move_to(const struct cgroup *cg, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "%s%scgroup.procs", name, *name ? "/" : "");
	return put(cg->base, path, "0");
}

static bool is_alone(const struct cgroup *cg)
{
	char text[TEXT_BYTES], own[32];

	snprintf(own, sizeof(own), "%d\n", (int)getpid());
	return get(cg->base, "cgroup.procs", text) && strcmp(text, own) == 0;
}

static void step_back(struct cgroup *cg)
{
	char name[48];

	aside_name(cg, name, sizeof(name));
	put(cg->base, "cgroup.subtree_control", "-memory -pids");
	move_to(cg, "");
	unlinkat(cg->base, name, AT_REMOVEDIR);
	cg->aside = false;
}

bool cgroup_control(struct cgroup *cg)
{
	char text[TEXT_BYTES], name[48];

	if (!get(cg->base, "cgroup.subtree_control", text))
		return false;
	if (has_word(text, "memory") && has_word(text, "pids"))
		return true;
	if (!get(cg->base, "cgroup.controllers", text) || !has_word(text, "memory") ||
	    !has_word(text, "pids") || !is_alone(cg))
		return false;
	aside_name(cg, name, sizeof(name));
	if (mkdirat(cg->base, name, 0755) < 0)
		return false;
	cg->aside = true;
	if (move_to(cg, name) && put(cg->base, "cgroup.subtree_control", "+memory +pids"))
		return true;
	step_back(cg);
	return false;
}

bool cgroup_hold(const struct cgroup *cg, uint64_t memory, uint64_t tasks)
{
	bool held = !memory || put_number(cg->dir, "memory.max", memory);

	if (memory && held) {
		put(cg->dir, "memory.swap.max", "0");
		/* All of the run or nothing of it. */
		put(cg->dir, "memory.oom.group", "1");
	}
	return (!tasks || put_number(cg->dir, "pids.max", tasks)) && held;
}

bool cgroup_times(const struct cgroup *cg, uint64_t *ret_user_ms, uint64_t *ret_sys_ms)
{
	char text[TEXT_BYTES];
	uint64_t user, sys;

	if (cg->dir <= 0 || !get(cg->dir, "cpu.stat", text) ||
	    !value_of(text, "user_usec", &user) || !value_of(text, "system_usec", &sys))
		return false;
	*ret_user_ms = user / 1000;
	*ret_sys_ms = sys / 1000;
	return true;
}

bool cgroup_ended_by_memory(const struct cgroup *cg)
{
	char text[TEXT_BYTES];
	uint64_t n;

	return cg->dir > 0 && get(cg->dir, "memory.events", text) &&
	       value_of(text, "oom_kill", &n) && n;
}

bool cgroup_kill(const struct cgroup *cg)
{
	return cg->dir > 0 && put(cg->dir, "cgroup.kill", "1");
}

void cgroup_close(struct cgroup *cg)
{
	if (cg->base <= 0)
		return;
	unlinkat(cg->base, cg->name, AT_REMOVEDIR);
	if (cg->aside)
		step_back(cg);
	if (cg->dir > 0)
		close(cg->dir);
	close(cg->base);
	*cg = (struct cgroup){ 0 };
}
