/* SPDX-License-Identifier: Apache-2.0 */
/* Ways to open, change or move a file that a plain open does not get at. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Prints what can be read from it. */
static enum outcome show(int fd, const char *what)
{
	char text[512];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));

	if (n > 0)
		printf("%.*s", (int)n, text);
	return judge(n > 0 ? 0 : -1, what);
}

static enum outcome read_plain(int argc, char **argv)
{
	return show(open(argument(argc, argv, 0), O_RDONLY), "open");
}

static enum outcome read_openat2(int argc, char **argv)
{
	struct open_how how = { .flags = O_RDONLY };

	return show((int)syscall(SYS_openat2, AT_FDCWD, argument(argc, argv, 0), &how, sizeof(how)),
		    "openat2");
}

/* O_PATH needs no permission on the file; the magic link may forget that. */
static enum outcome read_reopened(int argc, char **argv)
{
	char link[64];
	int fd = open(argument(argc, argv, 0), O_PATH);

	if (fd < 0)
		return held("open with O_PATH");
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return show(open(link, O_RDONLY), "reopen through /proc/self/fd");
}

static enum outcome read_mapped(int argc, char **argv)
{
	int fd = open(argument(argc, argv, 0), O_RDONLY);
	const char *text;

	if (fd < 0)
		return held("open");
	text = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	if (text == MAP_FAILED)
		return held("mmap");
	printf("%.60s", text);
	return judge(0, "mmap");
}

/* From a directory that was handed over as a standard stream. */
static enum outcome read_from_stream(int argc, char **argv)
{
	return show(openat(0, argument(argc, argv, 0), O_RDONLY), "openat(0, ...)");
}

static enum outcome write_plain(int argc, char **argv)
{
	int fd = open(argument(argc, argv, 0), O_WRONLY | O_APPEND);

	return judge(fd < 0 ? -1 : write(fd, "hit\n", 4), "write");
}

static enum outcome write_created(int argc, char **argv)
{
	int fd = open(argument(argc, argv, 0), O_WRONLY | O_CREAT, 0600);

	return judge(fd < 0 ? -1 : write(fd, "hit\n", 4), "create");
}

static enum outcome write_openat2(int argc, char **argv)
{
	struct open_how how = { .flags = O_WRONLY | O_APPEND };
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, argument(argc, argv, 0), &how, sizeof(how));

	return judge(fd < 0 ? -1 : write(fd, "hit\n", 4), "openat2 for writing");
}

static enum outcome write_creat(int argc, char **argv)
{
	return judge(creat(argument(argc, argv, 0), 0600), "creat");
}

/* Upgrading a descriptor that was opened for reading. */
static enum outcome write_reopened(int argc, char **argv)
{
	char link[64];
	int fd = open(argument(argc, argv, 0), O_RDONLY);

	if (fd < 0)
		return held("open");
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	fd = open(link, O_WRONLY | O_APPEND);
	return judge(fd < 0 ? -1 : write(fd, "hit\n", 4), "reopen for writing");
}

static enum outcome do_truncate(int argc, char **argv)
{
	return judge(truncate(argument(argc, argv, 0), 0), "truncate");
}

static enum outcome do_unlink(int argc, char **argv)
{
	return judge(unlink(argument(argc, argv, 0)), "unlink");
}

static enum outcome do_chmod(int argc, char **argv)
{
	return judge(chmod(argument(argc, argv, 0), 0666), "chmod");
}

static enum outcome do_fchmod(int argc, char **argv)
{
	int fd = open(argument(argc, argv, 0), O_RDONLY);

	return judge(fd < 0 ? -1 : fchmod(fd, 0666), "fchmod on a descriptor for reading");
}

static enum outcome do_chown(int argc, char **argv)
{
	return judge(chown(argument(argc, argv, 0), getuid(), getgid()), "chown");
}

static enum outcome do_setxattr(int argc, char **argv)
{
	return judge(setxattr(argument(argc, argv, 0), "user.hit", "1", 1, 0), "setxattr");
}

static enum outcome do_utimes(int argc, char **argv)
{
	return judge(utimes(argument(argc, argv, 0), NULL), "utimes");
}

static enum outcome do_link(int argc, char **argv)
{
	return judge(link(argument(argc, argv, 0), argument(argc, argv, 1)), "link");
}

/* A hard link made from a descriptor, without the old name. */
static enum outcome do_link_fd(int argc, char **argv)
{
	char path[64];
	int fd = open(argument(argc, argv, 0), O_PATH);

	if (fd < 0)
		return held("open with O_PATH");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return judge(linkat(AT_FDCWD, path, AT_FDCWD, argument(argc, argv, 1), AT_SYMLINK_FOLLOW),
		     "linkat through /proc/self/fd");
}

static enum outcome do_rename(int argc, char **argv)
{
	return judge(rename(argument(argc, argv, 0), argument(argc, argv, 1)), "rename");
}

/* The call between rename and renameat2, which the C library makes no longer. */
static enum outcome do_rename_at(int argc, char **argv)
{
	return judge((int)syscall(SYS_renameat, AT_FDCWD, argument(argc, argv, 0), AT_FDCWD,
				  argument(argc, argv, 1)),
		     "renameat");
}

static enum outcome do_rename_new(int argc, char **argv)
{
	return judge(renameat2(AT_FDCWD, argument(argc, argv, 0), AT_FDCWD, argument(argc, argv, 1),
			       RENAME_NOREPLACE),
		     "renameat2(RENAME_NOREPLACE)");
}

static enum outcome do_rmdir(int argc, char **argv)
{
	return judge(rmdir(argument(argc, argv, 0)), "rmdir");
}

static enum outcome do_exchange(int argc, char **argv)
{
	return judge(renameat2(AT_FDCWD, argument(argc, argv, 0), AT_FDCWD, argument(argc, argv, 1),
			       RENAME_EXCHANGE),
		     "renameat2(RENAME_EXCHANGE)");
}

static enum outcome run_path(int (*start)(const char *path), const char *path, const char *what)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		start(path);
		_exit(errno);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return cannot(what);
	/* `attack nothing` exits with 42; so does nothing else. */
	if (WIFEXITED(status) && WEXITSTATUS(status) == 42)
		return judge(0, what);
	errno = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
	return held(what);
}

static char *const nothing_argv[] = { (char *)(unsigned long)"x",
				      (char *)(unsigned long)"nothing", NULL };
static char *const no_environ[] = { NULL };

static int start_plain(const char *path)
{
	return execve(path, nothing_argv, no_environ);
}

static int start_empty_path(const char *path)
{
	int fd = open(path, O_PATH);

	return fd < 0 ? -1
		      : (int)syscall(SYS_execveat, fd, "", nothing_argv, no_environ, AT_EMPTY_PATH);
}

/* From memory, where no mount and no rule on paths applies. */
static int start_memory(const char *path)
{
	int memory = (int)syscall(SYS_memfd_create, "x", 0), fd = open(path, O_RDONLY);
	char buffer[65536];
	ssize_t n;

	if (memory < 0 || fd < 0)
		return -1;
	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		if (write(memory, buffer, (size_t)n) != n)
			return -1;
	return (int)syscall(SYS_execveat, memory, "", nothing_argv, no_environ, AT_EMPTY_PATH);
}

static enum outcome exec_plain(int argc, char **argv)
{
	return run_path(start_plain, argument(argc, argv, 0), "execve");
}

static enum outcome exec_empty_path(int argc, char **argv)
{
	return run_path(start_empty_path, argument(argc, argv, 0), "execveat(AT_EMPTY_PATH)");
}

static enum outcome exec_memory(int argc, char **argv)
{
	return run_path(start_memory, argument(argc, argv, 0), "memfd and execveat");
}

/* What a loader does: maps the file executable instead of executing it. */
static enum outcome exec_mapped(int argc, char **argv)
{
	int fd = open(argument(argc, argv, 0), O_RDONLY);

	if (fd < 0)
		return held("open");
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		return held("mmap executable");
	return judge(0, "mmap executable");
}

const struct attack path_attacks[] = {
	{ "read", read_plain },
	{ "read-openat2", read_openat2 },
	{ "read-reopened", read_reopened },
	{ "read-mapped", read_mapped },
	{ "read-from-stream", read_from_stream },
	{ "write", write_plain },
	{ "write-created", write_created },
	{ "write-openat2", write_openat2 },
	{ "write-creat", write_creat },
	{ "write-reopened", write_reopened },
	{ "truncate", do_truncate },
	{ "unlink", do_unlink },
	{ "chmod", do_chmod },
	{ "fchmod", do_fchmod },
	{ "chown", do_chown },
	{ "setxattr", do_setxattr },
	{ "utimes", do_utimes },
	{ "link", do_link },
	{ "link-fd", do_link_fd },
	{ "rename", do_rename },
	{ "rename-at", do_rename_at },
	{ "rename-new", do_rename_new },
	{ "rmdir", do_rmdir },
	{ "exchange", do_exchange },
	{ "exec", exec_plain },
	{ "exec-empty-path", exec_empty_path },
	{ "exec-memory", exec_memory },
	{ "exec-mapped", exec_mapped },
	{ 0 },
};
