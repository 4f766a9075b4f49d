/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attacks on whoever acts on behalf: descriptors that need no right to write, and races
 * with a thread that swaps memory, links, directories and descriptors under a call.
 *
 * A race runs for so many milliseconds. It is won as soon as the protected thing is there
 * or has changed.
 */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

/* --- by descriptor ---------------------------------------------------------------- */

/* fd-change WHAT FILE: through a descriptor that may only be read. */
static enum outcome do_fd_change(int argc, char **argv)
{
	const char *what = argument(argc, argv, 0);
	int fd = open(argument(argc, argv, 1), O_RDONLY), flags = 0;
	struct timespec times[2] = { { 1, 0 }, { 2, 0 } };
	struct fsxattr extended;
	long version = 7;

	if (fd < 0)
		return cannot("open for reading");
	if (strcmp(what, "mode") == 0)
		return judge(fchmod(fd, 0777), "fchmod");
	if (strcmp(what, "owner") == 0)
		return judge(fchown(fd, getuid(), getgid()), "fchown");
	if (strcmp(what, "times") == 0)
		return judge(futimens(fd, times), "futimens");
	if (strcmp(what, "attribute") == 0)
		return judge(fsetxattr(fd, "user.x", "1", 1, 0), "fsetxattr");
	/* ext4's own number for FS_IOC_SETVERSION. */
	if (strcmp(what, "version") == 0)
		return judge(ioctl(fd, _IOW('f', 4, long), &version), "EXT4_IOC_SETVERSION");
	if (strcmp(what, "xflags") == 0) {
		if (ioctl(fd, FS_IOC_FSGETXATTR, &extended) < 0)
			return cannot("FS_IOC_FSGETXATTR");
		extended.fsx_xflags ^= FS_XFLAG_NODUMP;
		return judge(ioctl(fd, FS_IOC_FSSETXATTR, &extended), "FS_IOC_FSSETXATTR");
	}
	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
		return cannot("FS_IOC_GETFLAGS");
	flags ^= FS_NODUMP_FL;
	return judge(ioctl(fd, FS_IOC_SETFLAGS, &flags), "FS_IOC_SETFLAGS");
}

/* reopen HOW FILE: a descriptor that was got without the right to write, opened again. */
static enum outcome do_reopen(int argc, char **argv)
{
	bool path = strcmp(argument(argc, argv, 0), "path") == 0;
	int fd = open(argument(argc, argv, 1), path ? O_PATH : O_RDONLY);
	char link[64];

	if (fd < 0)
		return cannot("open");
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return judge(open(link, O_WRONLY | O_APPEND), "open the descriptor again");
}

/* read-file PATH: prints what is in it. */
static enum outcome do_read_file(int argc, char **argv)
{
	char text[64];
	int fd = open(argument(argc, argv, 0), O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));

	if (n > 0)
		printf("%.*s\n", (int)n, text);
	return judge(n, "read");
}

/* Whoever may not be looked at gets nothing done for it. */
static enum outcome do_blind(int argc, char **argv)
{
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return cannot("PR_SET_DUMPABLE");
	return judge(mkdir(argument(argc, argv, 0), 0755), "mkdir");
}

/* --- races ------------------------------------------------------------------------- */

struct race {
	volatile bool stop;
	const char *plain, *guarded;
	char text[128]; /* what the memory race changes, unless it is in the address */
	struct sockaddr_un address;
	int fds[3];	/* plain, guarded, and the number that is both */
};

static bool goes_on(const struct timespec *end)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec < end->tv_sec ||
	       (now.tv_sec == end->tv_sec && now.tv_nsec < end->tv_nsec);
}

static struct timespec in_ms(long ms)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += ms % 1000 * 1000000;
	t.tv_sec += ms / 1000 + t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static void *swap_memory(void *data)
{
	struct race *r = data;
	volatile char *at = r->address.sun_family ? r->address.sun_path : r->text;

	while (!r->stop) {
		for (size_t i = 0; i <= strlen(r->plain); i++)
			at[i] = r->plain[i];
		for (size_t i = 0; i <= strlen(r->guarded); i++)
			at[i] = r->guarded[i];
	}
	return NULL;
}

/* "hop" leads here and there. */
static void *swap_link(void *data)
{
	struct race *r = data;

	while (!r->stop) {
		unlink("hop.new");
		if (symlink(r->plain, "hop.new") == 0)
			rename("hop.new", "hop");
		if (symlink(r->guarded, "hop.new") == 0)
			rename("hop.new", "hop");
	}
	return NULL;
}

/* The directory "walk" is moved to and fro. */
static void *swap_directory(void *data)
{
	struct race *r = data;

	while (!r->stop) {
		rename("walk", "aside/walk");
		rename("aside/walk", "walk");
	}
	return NULL;
}

static void *swap_fd(void *data)
{
	struct race *r = data;

	while (!r->stop) {
		dup2(r->fds[0], r->fds[2]);
		dup2(r->fds[1], r->fds[2]);
	}
	return NULL;
}

static int bind_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int r, fd = socket(AF_UNIX, SOCK_STREAM, 0);

	/* Not through a function that would copy the path first. */
	for (size_t i = 0; i + 1 < sizeof(address.sun_path) && path[i]; i++)
		address.sun_path[i] = path[i];
	r = bind(fd, (struct sockaddr *)&address, sizeof(address));
	close(fd);
	return r;
}

static void make(const char *how, const char *path)
{
	int fd = -1;

	if (strcmp(how, "mkdir") == 0)
		mkdir(path, 0755);
	else if (strcmp(how, "file") == 0)
		fd = open(path, O_WRONLY | O_CREAT, 0644);
	else if (strcmp(how, "symlink") == 0)
		symlink("somewhere", path);
	else if (strcmp(how, "link") == 0)
		link("source", path);
	else if (strcmp(how, "bind") == 0)
		bind_to(path);
	else if (strcmp(how, "rename") == 0) {
		rename("source", path);
		fd = open("source", O_WRONLY | O_CREAT, 0644);
	}
	if (fd >= 0)
		close(fd);
}

static void clear(const char *path)
{
	if (unlink(path) < 0)
		rmdir(path);
}

/* Was a file found, and is it not the plain one? */
static bool is_other(int found, const struct stat *st, const struct race *r)
{
	struct stat plain;

	return found == 0 && stat(r->plain, &plain) == 0 && st->st_ino != plain.st_ino;
}

static bool opens_other(const struct race *r, int flags)
{
	int fd = open(r->text, flags);
	struct stat st;
	bool won = fd >= 0 && is_other(fstat(fd, &st), &st, r);

	if (fd >= 0)
		close(fd);
	return won;
}

static bool takes_other(const struct race *r, int (*take)(const char *from, const char *to))
{
	struct stat st;
	bool won = take(r->text, "taken") == 0 && is_other(stat("taken", &st), &st, r);

	unlink("taken");
	return won;
}

/* One try at the file that is not to be touched: did it get there? */
static bool change(const char *how, const struct race *r)
{
	struct stat st;

	if (strcmp(how, "read") == 0)
		return opens_other(r, O_RDONLY);
	if (strcmp(how, "write") == 0)
		return opens_other(r, O_WRONLY);
	if (strcmp(how, "link") == 0)
		return takes_other(r, link);
	if (strcmp(how, "rename") == 0)
		rename(r->text, "taken");
	else if (strcmp(how, "unlink") == 0)
		unlink(r->text);
	else if (strcmp(how, "truncate") == 0)
		truncate(r->text, 0);
	else if (strcmp(how, "chmod") == 0)
		chmod(r->text, 0600);
	else if (strcmp(how, "setxattr") == 0)
		setxattr(r->text, "user.race", "1", 1, 0);
	if (stat(r->guarded, &st) < 0)
		return true;
	return st.st_size == 0 || (st.st_mode & 0777) != 0644 ||
	       getxattr(r->guarded, "user.race", NULL, 0) > 0;
}

static enum outcome finish(struct race *r, pthread_t thread, bool won)
{
	r->stop = true;
	pthread_join(thread, NULL);
	errno = 0;
	return won ? judge(0, "race") : held("race");
}

/* swap-path MS HOW PLAIN GUARDED: the path of a call changes while it is looked at. */
static enum outcome do_swap_path(int argc, char **argv)
{
	struct timespec end = in_ms(number(argument(argc, argv, 0)));
	static struct race r;
	struct stat st;
	pthread_t thread;
	bool won = false;

	r.plain = argument(argc, argv, 2);
	r.guarded = argument(argc, argv, 3);
	close(open("source", O_WRONLY | O_CREAT, 0644));
	if (pthread_create(&thread, NULL, swap_memory, &r) != 0)
		return cannot("start a thread");
	while (!won && goes_on(&end)) {
		make(argument(argc, argv, 1), r.text);
		won = lstat(r.guarded, &st) == 0;
		clear(r.plain);
	}
	return finish(&r, thread, won);
}

/* swap-change MS HOW PLAIN GUARDED: the same with two files that are there, and a call that
 * changes, takes or opens one of them. GUARDED is not empty, and its mode is 0644. */
static enum outcome do_swap_change(int argc, char **argv)
{
	struct timespec end = in_ms(number(argument(argc, argv, 0)));
	static struct race r;
	pthread_t thread;
	bool won = false;

	r.plain = argument(argc, argv, 2);
	r.guarded = argument(argc, argv, 3);
	if (pthread_create(&thread, NULL, swap_memory, &r) != 0)
		return cannot("start a thread");
	while (!won && goes_on(&end)) {
		close(open(r.plain, O_WRONLY | O_CREAT, 0644));
		won = change(argument(argc, argv, 1), &r);
	}
	return finish(&r, thread, won);
}

/* swap-shared MS HOW PLAIN GUARDED: the same by another process, in memory that both have. */
static enum outcome do_swap_shared(int argc, char **argv)
{
	struct timespec end = in_ms(number(argument(argc, argv, 0)));
	struct race *r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			      -1, 0);
	struct stat st;
	bool won = false;
	pid_t other;

	if (r == MAP_FAILED)
		return cannot("share memory");
	r->plain = argument(argc, argv, 2);
	r->guarded = argument(argc, argv, 3);
	close(open("source", O_WRONLY | O_CREAT, 0644));
	other = fork();
	if (other < 0)
		return cannot("fork");
	if (other == 0) {
		swap_memory(r);
		_exit(0);
	}
	while (!won && goes_on(&end)) {
		make(argument(argc, argv, 1), r->text);
		won = lstat(r->guarded, &st) == 0;
		clear(r->plain);
	}
	r->stop = true;
	waitpid(other, NULL, 0);
	errno = 0;
	return won ? judge(0, "race") : held("race");
}

/* swap-link MS PLAIN GUARDED NAME: NAME is made through a link that changes; PLAIN and
 * GUARDED are directories. */
static enum outcome do_swap_link(int argc, char **argv)
{
	struct timespec end = in_ms(number(argument(argc, argv, 0)));
	const char *name = argument(argc, argv, 3);
	static struct race r;
	char hop[128], plain[128], guarded[128];
	struct stat st;
	pthread_t thread;
	bool won = false;

	r.plain = argument(argc, argv, 1);
	r.guarded = argument(argc, argv, 2);
	snprintf(hop, sizeof(hop), "hop/%s", name);
	snprintf(plain, sizeof(plain), "%s/%s", r.plain, name);
	snprintf(guarded, sizeof(guarded), "%s/%s", r.guarded, name);
	if (pthread_create(&thread, NULL, swap_link, &r) != 0)
		return cannot("start a thread");
	while (!won && goes_on(&end)) {
		make("file", hop);
		won = lstat(guarded, &st) == 0;
		clear(plain);
	}
	return finish(&r, thread, won);
}

/* swap-directory MS NAME: NAME, which may not be in this directory, is made above one that
 * moves. In aside/ it may be. */
static enum outcome do_swap_directory(int argc, char **argv)
{
	struct timespec end = in_ms(number(argument(argc, argv, 0)));
	const char *name = argument(argc, argv, 1);
	static struct race r;
	char up[128], there[128];
	struct stat st;
	pthread_t thread;
	bool won = false;
	int walk;

	snprintf(up, sizeof(up), "../%s", name);
	snprintf(there, sizeof(there), "aside/%s", name);
	if (mkdir("aside", 0755) < 0 || mkdir("walk", 0755) < 0)
		return cannot("make directories");
	walk = open("walk", O_RDONLY | O_DIRECTORY);
	if (walk < 0 || pthread_create(&thread, NULL, swap_directory, &r) != 0)
		return cannot("start a thread");
	while (!won && goes_on(&end)) {
		mkdirat(walk, up, 0755);
		won = lstat(name, &st) == 0;
		rmdir(there);
	}
	return finish(&r, thread, won);
}

/* swap-fd MS PLAIN GUARDED: the number of a descriptor changes its file under fchmod; both
 * files are 0644. */
static enum outcome do_swap_fd(int argc, char **argv)
{
	struct timespec end = in_ms(number(argument(argc, argv, 0)));
	static struct race r;
	struct stat st;
	pthread_t thread;
	bool won = false;

	r.fds[0] = open(argument(argc, argv, 1), O_RDONLY);
	r.fds[1] = open(argument(argc, argv, 2), O_RDONLY);
	r.fds[2] = dup(r.fds[0]);
	if (r.fds[0] < 0 || r.fds[1] < 0 || pthread_create(&thread, NULL, swap_fd, &r) != 0)
		return cannot("open the files");
	while (!won && goes_on(&end)) {
		fchmod(r.fds[2], 0600);
		won = fstat(r.fds[1], &st) == 0 && (st.st_mode & 0777) != 0644;
	}
	return finish(&r, thread, won);
}

/* swap-dirfd MS PLAIN GUARDED NAME: the same for the directory of a call. */
static enum outcome do_swap_dirfd(int argc, char **argv)
{
	struct timespec end = in_ms(number(argument(argc, argv, 0)));
	const char *name = argument(argc, argv, 3);
	static struct race r;
	struct stat st;
	pthread_t thread;
	bool won = false;

	r.fds[0] = open(argument(argc, argv, 1), O_RDONLY | O_DIRECTORY);
	r.fds[1] = open(argument(argc, argv, 2), O_RDONLY | O_DIRECTORY);
	r.fds[2] = dup(r.fds[0]);
	if (r.fds[0] < 0 || r.fds[1] < 0 || pthread_create(&thread, NULL, swap_fd, &r) != 0)
		return cannot("open the directories");
	while (!won && goes_on(&end)) {
		mkdirat(r.fds[2], name, 0755);
		won = fstatat(r.fds[1], name, &st, AT_SYMLINK_NOFOLLOW) == 0;
		unlinkat(r.fds[0], name, AT_REMOVEDIR);
	}
	return finish(&r, thread, won);
}

/* Who answers says which one it is. */
static bool reaches(const struct race *r)
{
	struct sockaddr_un peer = { 0 };
	socklen_t n = sizeof(peer);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	bool won = connect(fd, (const struct sockaddr *)&r->address, sizeof(r->address)) == 0 &&
		   getpeername(fd, (struct sockaddr *)&peer, &n) == 0 &&
		   strcmp(peer.sun_path, r->guarded) == 0;

	close(fd);
	return won;
}

/* swap-socket MS memory|link PLAIN GUARDED: what is connected to changes, in the address or by a
 * link that is named there. */
static enum outcome do_swap_socket(int argc, char **argv)
{
	struct timespec end = in_ms(number(argument(argc, argv, 0)));
	bool by_link = strcmp(argument(argc, argv, 1), "link") == 0;
	static struct race r;
	pthread_t thread;
	bool won = false;

	r.plain = argument(argc, argv, 2);
	r.guarded = argument(argc, argv, 3);
	r.address.sun_family = AF_UNIX;
	snprintf(r.address.sun_path, sizeof(r.address.sun_path), "%s", by_link ? "hop" : r.plain);
	if (pthread_create(&thread, NULL, by_link ? swap_link : swap_memory, &r) != 0)
		return cannot("start a thread");
	while (!won && goes_on(&end))
		won = reaches(&r);
	return finish(&r, thread, won);
}

const struct attack broker_attacks[] = {
	{ "fd-change", do_fd_change },
	{ "reopen", do_reopen },
	{ "read-file", do_read_file },
	{ "blind", do_blind },
	{ "swap-path", do_swap_path },
	{ "swap-change", do_swap_change },
	{ "swap-shared", do_swap_shared },
	{ "swap-link", do_swap_link },
	{ "swap-directory", do_swap_directory },
	{ "swap-fd", do_swap_fd },
	{ "swap-dirfd", do_swap_dirfd },
	{ "swap-socket", do_swap_socket },
	{ 0 },
};
