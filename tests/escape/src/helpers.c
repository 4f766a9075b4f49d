/* SPDX-License-Identifier: Apache-2.0 */
/* What the attacks need on the other side: something to execute, to swap, to wait for. */
#include "attack.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static enum outcome do_nothing(int argc, char **argv)
{
	(void)argc, (void)argv;
	_exit(42);
}

/* swap A B: exchanges two names until it is killed. */
static enum outcome do_swap(int argc, char **argv)
{
	while (renameat2(AT_FDCWD, argument(argc, argv, 0), AT_FDCWD, argument(argc, argv, 1),
			 RENAME_EXCHANGE) == 0)
		;
	return cannot("exchange");
}

/* victim READY: a process to attack. It ends by any signal, or with its parent. */
static enum outcome do_victim(int argc, char **argv)
{
	FILE *ready = fopen(argument(argc, argv, 0), "w");

	if (!ready)
		return cannot("ready file");
	fprintf(ready, "%d\n", (int)getpid());
	fclose(ready);
	for (;;)
		pause();
}

/* Probing: one line "OP PATH DEVICE INODE" a row on standard input, one word a row as the
 * answer. What is created is taken away again. */

struct object {
	const char *path;
	unsigned long dev, ino; /* 0: whichever it is */
};

static int probe_read(const struct object *o)
{
	int fd = open(o->path, O_RDONLY | O_NONBLOCK), same;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	close(fd);
	same = !o->ino || (st.st_dev == o->dev && st.st_ino == o->ino);
	return same ? 0 : -1;
}

static int probe_create(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);

	if (fd < 0)
		return -1;
	close(fd);
	return unlink(path);
}

static int probe_write(const struct object *o)
{
	const char *path = o->path;
	char name[4096];
	struct stat st;
	int fd;

	if (stat(path, &st) < 0)
		return probe_create(path);
	if (S_ISDIR(st.st_mode)) {
		snprintf(name, sizeof(name), "%s/cordon-probe", path);
		return probe_create(name);
	}
	fd = open(path, O_WRONLY | O_APPEND);
	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

static int probe_exec(const struct object *o)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execl(o->path, o->path, "nothing", NULL);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 42 ? 0 : -1;
}

static enum outcome do_probe(int argc, char **argv)
{
	static const struct {
		const char *op;
		int (*try)(const struct object *o);
	} ops[] = { { "read", probe_read }, { "write", probe_write }, { "exec", probe_exec } };
	char op[16], path[4096];
	struct object o = { .path = path };

	(void)argc, (void)argv;
	while (scanf("%15s %4095s %lu %lu", op, path, &o.dev, &o.ino) == 4)
		for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
			if (strcmp(op, ops[i].op) == 0)
				puts(ops[i].try(&o) == 0 ? "allow" : "deny");
	return DONE;
}

const struct attack helper_programs[] = {
	{ "nothing", do_nothing },
	{ "swap", do_swap },
	{ "victim", do_victim },
	{ "probe", do_probe },
	{ 0 },
};
