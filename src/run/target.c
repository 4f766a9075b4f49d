/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a waiting process: its memory, and the places its paths lead to. Paths are
 * walked one component at a time, because no flag of openat2 does what is needed: below
 * a root that is not the directory one starts in, with the links of /proc taken as the
 * target's own.
 */
#include "run/target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/fd.h"

#define PAGE 4096u
/* Most paths are shorter; what is not takes a second call. */
#define FIRST_READ 256u
#define LINKS_MAX 40
#define STATUS_READ 4096u
#define DIR_FLAGS (O_PATH | O_CLOEXEC)

/* The host's /proc where it is not at /proc: see target_use_proc. */
static int host_proc = AT_FDCWD;
/* Our own directory fd there; -1: at its usual place. */
static int own_fds = -1;

bool target_use_proc(int proc)
{
	host_proc = proc;
	own_fds = openat(proc, "self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return own_fds >= 0;
}

static const char *in_proc(const char *path)
{
	return host_proc == AT_FDCWD ? path : path + sizeof("/proc/") - 1;
}

static ssize_t read_memory(pid_t tid, uint64_t address, char *to, size_t n)
{
	struct iovec here = { .iov_base = to, .iov_len = n };
	size_t first = PAGE - address % PAGE;
	/* Split where a page ends, so that what is readable before a hole is read. */
	struct iovec there[2] = {
		{ .iov_base = (void *)(uintptr_t)address, .iov_len = first < n ? first : n },
		{ .iov_base = (void *)(uintptr_t)(address + first),
		  .iov_len = first < n ? n - first : 0 },
	};
	ssize_t got = process_vm_readv(tid, &here, 1, there, first < n ? 2 : 1, 0);

	if (got >= 0)
		return got;
	return errno == EFAULT ? -EFAULT : -EACCES;
}

int target_read(pid_t tid, uint64_t address, void *to, size_t n)
{
	ssize_t got = read_memory(tid, address, to, n);

	if (got < 0)
		return (int)got;
	return (size_t)got == n ? 0 : -EFAULT;
}

bool target_is_closed(pid_t tid)
{
	char byte;
	struct iovec here = { &byte, 1 }, there = { NULL, 1 };

	return process_vm_readv(tid, &here, 1, &there, 1, 0) < 0 && errno == EPERM;
}

ssize_t target_read_string(pid_t tid, uint64_t address, char text[PATH_MAX])
{
	size_t first = PAGE - address % PAGE;
	ssize_t got;
	char *end;

	got = read_memory(tid, address, text, first < FIRST_READ ? first : FIRST_READ);
	end = got > 0 ? memchr(text, '\0', (size_t)got) : NULL;
	if (got > 0 && !end) {
		got = read_memory(tid, address, text, PATH_MAX);
		end = got > 0 ? memchr(text, '\0', (size_t)got) : NULL;
	}
	if (got < 0)
		return got;
	if (end)
		return end - text;
	return got == PATH_MAX ? -ENAMETOOLONG : -EFAULT;
}

void target_read_strings(pid_t tid, struct target_string *strings, size_t count)
{
	struct iovec here[TARGET_STRINGS_MAX] = { 0 }, there[TARGET_STRINGS_MAX] = { 0 };
	size_t left;
	ssize_t got;

	for (size_t i = 0; i < count; i++) {
		size_t first = PAGE - strings[i].address % PAGE;
		size_t n = first < FIRST_READ ? first : FIRST_READ;

		here[i] = (struct iovec){ strings[i].text, n };
		there[i] = (struct iovec){ (void *)(uintptr_t)strings[i].address, n };
	}
	got = process_vm_readv(tid, here, count, there, count, 0);
	left = got < 0 ? 0 : (size_t)got;
	for (size_t i = 0; i < count; i++) {
		size_t n = here[i].iov_len < left ? here[i].iov_len : left;
		const char *end = memchr(strings[i].text, '\0', n);

		left -= n;
		strings[i].n = end ? end - strings[i].text
				   : target_read_string(tid, strings[i].address, strings[i].text);
	}
}

int target_open_proc(pid_t tid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, name);
	return openat(host_proc, in_proc(path), O_RDONLY | O_CLOEXEC);
}

bool target_status(pid_t tid, struct buf *ret)
{
	autoclose int fd = target_open_proc(tid, "status");
	long n = fd < 0 ? -1 : 1;

	while (n > 0)
		n = buf_read(ret, fd, STATUS_READ);
	return n == 0 && ret->n;
}

bool target_is_own(pid_t tid)
{
	struct stat its, own;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)tid);
	return fstatat(host_proc, in_proc(path), &its, 0) == 0 &&
	       fstatat(host_proc, in_proc("/proc/self/exe"), &own, 0) == 0 &&
	       its.st_dev == own.st_dev && its.st_ino == own.st_ino;
}

void target_program(pid_t tid, char *text, size_t size)
{
	autoclose int fd = target_open_proc(tid, "comm");
	ssize_t got = 0;

	if (fd >= 0)
		got = read(fd, text, size - 1);
	if (got > 0 && text[got - 1] == '\n')
		got--;
	text[got > 0 ? got : 0] = '\0';
}

ssize_t target_name_of(int dir, char text[PATH_MAX])
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), own_fds < 0 ? "/proc/self/fd/%d" : "%d", dir);
	n = readlinkat(own_fds < 0 ? AT_FDCWD : own_fds, link, text, PATH_MAX);
	if (n < 0)
		return -errno;
	if (n == PATH_MAX || text[0] != '/')
		return -ENAMETOOLONG;
	text[n] = '\0';
	return n;
}

ssize_t target_path_of(int dir, char text[PATH_MAX])
{
	struct stat st;

	if (fstat(dir, &st) < 0)
		return -errno;
	return st.st_nlink ? target_name_of(dir, text) : -ENOENT;
}

/* --- walking -------------------------------------------------------------------- */

struct walk {
	const struct target *target;
	int at;			 /* the directory reached; owned */
	char rest[2 * PATH_MAX]; /* what is still to be walked */
	unsigned links;
};

/* A descriptor or -errno. */
static int open_at(int dir, const char *name, int flags)
{
	int fd = openat(dir, name, DIR_FLAGS | flags);

	return fd < 0 ? -errno : fd;
}

static int open_of_target(pid_t tid, const char *what)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, what);
	return open_at(host_proc, in_proc(path), 0);
}

int target_open_root(const struct target *target)
{
	struct target_view *view = target->view;
	int fd;

	if (view->root >= 0)
		return 0;
	fd = open_of_target(target->tid, "root");
	if (fd >= 0)
		view->root = fd;
	return fd < 0 ? fd : 0;
}

size_t target_base_path(const struct target *target, int dirfd, char text[PATH_MAX])
{
	char link[64];
	ssize_t n;

	if (dirfd == AT_FDCWD)
		snprintf(link, sizeof(link), "/proc/%d/cwd", (int)target->tid);
	else
		snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)target->tid, dirfd);
	n = readlinkat(host_proc, in_proc(link), text, PATH_MAX);
	return n > 0 && n < PATH_MAX && text[0] == '/' ? (size_t)n : 0;
}

int target_open_cwd(const struct target *target)
{
	return open_of_target(target->tid, "cwd");
}

static int root_of(const struct target *target)
{
	int r = target_open_root(target);

	return r < 0 ? r : open_at(target->view->root, ".", 0);
}

int target_open_descriptor(const struct target *target, int fd)
{
	char what[32];
	int r;

	if (fd < 0)
		return -EBADF;
	snprintf(what, sizeof(what), "fd/%d", fd);
	r = open_of_target(target->tid, what);
	return r == -ENOENT ? -EBADF : r;
}

/* O_EXCL is PIDFD_THREAD, of 6.9: before it only the first thread of a process has one. */
static int open_pidfd(pid_t tid)
{
	int fd = (int)syscall(SYS_pidfd_open, tid, O_EXCL);

	return fd >= 0 || errno != EINVAL ? fd : (int)syscall(SYS_pidfd_open, tid, 0);
}

bool target_has_datagrams(const struct target *target, int fd)
{
	autoclose int process = open_pidfd(target->tid);
	autoclose int socket = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, fd, 0);
	int type = 0;
	socklen_t size = sizeof(type);

	return socket >= 0 && getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
	       type == SOCK_DGRAM;
}

static int base_of(const struct target *target, int dirfd)
{
	return dirfd == AT_FDCWD ? open_of_target(target->tid, "cwd")
				 : target_open_descriptor(target, dirfd);
}

static int step_to(struct walk *w, int fd)
{
	if (fd < 0)
		return fd;
	fd_close(&w->at);
	w->at = fd;
	return 0;
}

/* Puts the text of a link in front of what is left. */
static int push_link(struct walk *w, const char *text, size_t n)
{
	size_t rest = strlen(w->rest);

	if (++w->links > LINKS_MAX)
		return -ELOOP;
	if (n == 0)
		return -ENOENT;
	if (n + 1 + rest + 1 > sizeof(w->rest))
		return -ENAMETOOLONG;
	memmove(w->rest + n + 1, w->rest, rest + 1);
	memcpy(w->rest, text, n);
	w->rest[n] = rest ? '/' : '\0';
	if (w->rest[0] != '/')
		return 0;
	return step_to(w, root_of(w->target));
}

static bool is_on_proc(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* The last number of a line such as "NStgid:  4711  12": the innermost namespace's. */
static int inner_id(pid_t tid, const char *line)
{
	autobuf struct buf text = buf_make(TARGET_STATUS_MAX);
	char *at, *end;
	long id = 0;

	at = target_status(tid, &text) ? strstr(text.p, line) : NULL;
	if (!at)
		return -1;
	for (at += strlen(line); *at && *at != '\n'; at = end) {
		long value = strtol(at, &end, 10);

		if (end == at)
			break;
		id = value;
	}
	return id > 0 && id <= INT_MAX ? (int)id : -1;
}

/* Is it the /proc that we see ourselves, with our numbers? */
static bool is_our_proc(int proc)
{
	struct stat theirs, ours;

	return fstat(proc, &theirs) == 0 && fstatat(host_proc, in_proc("/proc/."), &ours, 0) == 0 &&
	       theirs.st_dev == ours.st_dev;
}

/* /proc/self and /proc/thread-self name whoever asks; the target is meant. */
static int push_self(struct walk *w, const char *name)
{
	bool ours = is_our_proc(w->at);
	int tgid = inner_id(w->target->tid, ours ? "\nTgid:" : "\nNStgid:");
	int tid = ours ? w->target->tid : inner_id(w->target->tid, "\nNSpid:");
	char text[64];

	if (tgid < 0 || tid < 0)
		return -EACCES;
	if (strcmp(name, "self") == 0)
		snprintf(text, sizeof(text), "%d", tgid);
	else
		snprintf(text, sizeof(text), "%d/task/%d", tgid, tid);
	return push_link(w, text, strlen(text));
}

/* Whatever its rights, the kernel lets it follow the links of its own process. */
static bool is_its_own(const struct walk *w)
{
	int process = inner_id(w->target->tid, "\nNStgid:"), n = 0, found = 0;
	char text[PATH_MAX];

	return process > 0 && target_name_of(w->at, text) > 0 &&
	       sscanf(text, "/proc/%d%n", &found, &n) == 1 && found == process &&
	       (text[n] == '/' || !text[n]);
}

/* Those of others it follows only where it may look at them itself. */
static int open_proc_link(const struct walk *w, const char *name)
{
	const struct target_view *view = w->target->view;
	int fd;

	if (!view->look || is_its_own(w))
		return open_at(w->at, name, 0);
	view->look(view->whose, false);
	fd = open_at(w->at, name, 0);
	view->look(view->whose, true);
	return fd;
}

/* The links of /proc lead to objects, not to paths: they are followed by the kernel. */
static int follow_proc_link(struct walk *w, const char *name)
{
	struct stat st;

	if (fstat(w->at, &st) == 0 && st.st_ino == 1 &&
	    (strcmp(name, "self") == 0 || strcmp(name, "thread-self") == 0))
		return push_self(w, name);
	if (++w->links > LINKS_MAX)
		return -ELOOP;
	return step_to(w, open_proc_link(w, name));
}

static int follow_link(struct walk *w, int link, const char *name)
{
	char text[PATH_MAX];
	ssize_t n;

	/* In the root of /proc, "mounts" and others are links like any. */
	if (is_on_proc(link)) {
		n = readlinkat(link, "", text, sizeof(text));
		if (n > 0 && n < (ssize_t)sizeof(text) && strcmp(name, "self") != 0 &&
		    strcmp(name, "thread-self") != 0 && text[0] != '/' &&
		    !memchr(text, ':', (size_t)n))
			return push_link(w, text, (size_t)n);
		return follow_proc_link(w, name);
	}
	n = readlinkat(link, "", text, sizeof(text));
	if (n < 0)
		return -errno;
	if (n == (ssize_t)sizeof(text))
		return -ENAMETOOLONG;
	return push_link(w, text, (size_t)n);
}

/* Takes one component off; false when none is left. `more` says that something, be it
 * a slash, came after it. */
static bool next_part(struct walk *w, char part[NAME_MAX + 1], bool *more, int *why)
{
	char *at = w->rest + strspn(w->rest, "/");
	size_t n = strcspn(at, "/");

	*why = 0;
	if (n == 0)
		return false;
	if (n > NAME_MAX) {
		*why = -ENAMETOOLONG;
		return false;
	}
	memcpy(part, at, n);
	part[n] = '\0';
	*more = at[n] == '/';
	memmove(w->rest, at + n, strlen(at + n) + 1);
	return true;
}

static bool is_last(const struct walk *w)
{
	return w->rest[strspn(w->rest, "/")] == '\0';
}

/* One component that is not the last, or is "..": the place moves there. */
static int enter(struct walk *w, const char *part)
{
	autoclose int fd = openat(w->at, part, DIR_FLAGS | O_NOFOLLOW);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (S_ISLNK(st.st_mode))
		return follow_link(w, fd, part);
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	return step_to(w, steal_fd(&fd));
}

static int finish(struct walk *w, const char *part, bool slash, struct target_place *ret)
{
	struct stat st;

	/* A link of /proc may have led to something that is no directory. */
	if (fstat(w->at, &st) < 0)
		return -errno;
	if (*part && !S_ISDIR(st.st_mode))
		return -ENOTDIR;
	ret->dir = steal_fd(&w->at);
	memcpy(ret->name, part, strlen(part) + 1);
	ret->slash = slash;
	return 0;
}

/* The last component: followed when asked for and a link, else the answer. */
static int arrive(struct walk *w, const char *part, bool slash, bool follow, bool *ret_done,
		  struct target_place *ret)
{
	autoclose int fd = -1;
	struct stat st;

	*ret_done = !follow;
	if (follow) {
		fd = openat(w->at, part, DIR_FLAGS | O_NOFOLLOW);
		if (fd < 0 && errno != ENOENT)
			return -errno;
		*ret_done = fd < 0 || fstat(fd, &st) < 0 || !S_ISLNK(st.st_mode);
	}
	return *ret_done ? finish(w, part, slash, ret) : follow_link(w, fd, part);
}

static int walk(struct walk *w, bool follow, struct target_place *ret)
{
	char part[NAME_MAX + 1];
	bool slash;
	int r;

	while (next_part(w, part, &slash, &r)) {
		bool done = false;

		if (strcmp(part, ".") == 0)
			continue;
		if (!is_last(w) || strcmp(part, "..") == 0)
			r = enter(w, part);
		else
			r = arrive(w, part, slash, follow, &done, ret);
		if (r < 0 || done)
			return r;
	}
	return r < 0 ? r : finish(w, "", false, ret);
}

int target_resolve(const struct target *target, int dirfd, const char *path, bool follow,
		   struct target_place *ret)
{
	struct walk w = { .target = target, .at = -1 };
	size_t n = strlen(path);
	int r;

	if (n == 0)
		return -ENOENT;
	if (n >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(w.rest, path, n + 1);
	w.at = path[0] == '/' ? root_of(target) : base_of(target, dirfd);
	r = w.at < 0 ? w.at : walk(&w, follow, ret);
	fd_close(&w.at);
	return r;
}

int target_walk_without_links(const struct target *target, int dirfd, const char *path)
{
	struct open_how how = {
		/* Not O_NOFOLLOW: with it a link in the last place would be opened. */
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS,
	};
	autoclose int base = path[0] == '/' ? root_of(target) : base_of(target, dirfd);
	autoclose int fd = -1;

	path += strspn(path, "/");
	if (base < 0 || !*path)
		return base < 0 ? -EBADF : -ENOENT;
	fd = (int)syscall(SYS_openat2, base, path, &how, sizeof(how));
	return fd < 0 ? -errno : 0;
}

bool target_has_no_links(const struct target *target, int dirfd, const char *path)
{
	int r = path[strspn(path, "/")] ? target_walk_without_links(target, dirfd, path) : -ELOOP;

	return r == 0 || r == -ENOENT;
}
