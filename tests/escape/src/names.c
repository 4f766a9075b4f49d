/* SPDX-License-Identifier: Apache-2.0 */
/* Ways to make a name that is not there, and to confuse whoever looks at the call. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static enum outcome do_mkdir(int argc, char **argv)
{
	return judge(mkdir(argument(argc, argv, 0), 0755), "mkdir");
}

/* Below a directory that is held open. */
static enum outcome do_mkdirat(int argc, char **argv)
{
	int dir = open(argument(argc, argv, 0), O_RDONLY | O_DIRECTORY);

	if (dir < 0)
		return cannot("open the directory");
	return judge(mkdirat(dir, argument(argc, argv, 1), 0755), "mkdirat");
}

static enum outcome do_create_at(int argc, char **argv)
{
	int dir = open(argument(argc, argv, 0), O_PATH | O_DIRECTORY);

	if (dir < 0)
		return cannot("open the directory");
	return judge(openat(dir, argument(argc, argv, 1), O_WRONLY | O_CREAT | O_EXCL, 0644),
		     "openat");
}

static enum outcome do_create_openat2(int argc, char **argv)
{
	struct open_how how = { .flags = O_WRONLY | O_CREAT, .mode = 0644 };

	return judge(syscall(SYS_openat2, AT_FDCWD, argument(argc, argv, 0), &how, sizeof(how)),
		     "openat2");
}

static enum outcome do_mkfifo(int argc, char **argv)
{
	return judge(mkfifo(argument(argc, argv, 0), 0644), "mkfifo");
}

static enum outcome do_symlink(int argc, char **argv)
{
	return judge(symlink(argument(argc, argv, 0), argument(argc, argv, 1)), "symlink");
}

static enum outcome do_bind(int argc, char **argv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd < 0)
		return cannot("socket");
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", argument(argc, argv, 0));
	return judge(bind(fd, (struct sockaddr *)&address, sizeof(address)), "bind");
}

/* A file without a name gets one. */
static enum outcome do_tmpfile(int argc, char **argv)
{
	int fd = open(".", O_TMPFILE | O_RDWR, 0644);
	char path[64];

	if (fd < 0)
		return cannot("open with O_TMPFILE");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return judge(linkat(AT_FDCWD, path, AT_FDCWD, argument(argc, argv, 0), AT_SYMLINK_FOLLOW),
		     "link a file without a name");
}

/* From a directory that has been left by its path but not as the current one. */
static enum outcome do_from_moved(int argc, char **argv)
{
	if (mkdir("moved", 0755) < 0 || chdir("moved") < 0 || rename("../moved", "../moved2") < 0)
		return cannot("move the current directory");
	return judge(mkdir(argument(argc, argv, 0), 0755), "mkdir");
}

/* The path ends at the edge of a page that nothing follows. */
static enum outcome do_edge(int argc, char **argv)
{
	const char *path = argument(argc, argv, 0);
	size_t n = strlen(path) + 1;
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || munmap(pages + 4096, 4096) < 0)
		return cannot("map a page");
	memcpy(pages + 4096 - n, path, n);
	return judge(mkdir(pages + 4096 - n, 0755), "mkdir");
}

/* Whoever cannot read the path must not let the call go on. */
static enum outcome do_unmapped(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (mkdir((char *)(unsigned long)8, 0755) == 0 || errno != EFAULT)
		return judge(0, "a path that is nowhere");
	return held("a path that is nowhere");
}

/* --- storms --------------------------------------------------------------------- */

static volatile sig_atomic_t fired;

static void count_signal(int sig)
{
	(void)sig;
	fired++;
}

/* As Go does it to its threads, at the one that makes the calls. */
static pthread_t caller;

static void *send_signals(void *data)
{
	while (!*(volatile int *)data)
		pthread_kill(caller, SIGURG);
	return NULL;
}

/* A child after the other. They end at once: none of them makes a call that waits. */
static void *have_children(void *data)
{
	pid_t pid;

	while (!*(volatile int *)data) {
		pid = fork();
		if (pid == 0)
			_exit(0);
		while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	return NULL;
}

/* Which of them come; each by its own: a timer, children, a thread. */
static bool is_in_storm(const char *which, const char *name)
{
	return !*which || strcmp(which, name) == 0;
}

/* storm ROUNDS [alarm|child|urgent]: makes and removes names while signals arrive: each call must
 * take effect once, and none may say EINTR. Without a third word all of them come. */
static enum outcome do_storm(int argc, char **argv)
{
	struct itimerval timer = { { 0, 500 }, { 0, 500 } };
	/* Without SA_RESTART a signal that comes before the listener has looked at the
	 * call ends it with EINTR; that is the kernel's doing and cannot be mended. */
	struct sigaction action = { .sa_handler = count_signal, .sa_flags = SA_RESTART };
	int rounds = (int)number(argument(argc, argv, 0)), stop = 0;
	const char *which = argument(argc, argv, 1);
	pthread_t threads[2];
	size_t n = 0;

	caller = pthread_self();
	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGURG, &action, NULL);
	sigaction(SIGCHLD, &action, NULL);
	if (is_in_storm(which, "alarm"))
		setitimer(ITIMER_REAL, &timer, NULL);
	if (is_in_storm(which, "urgent") &&
	    pthread_create(&threads[n++], NULL, send_signals, &stop) != 0)
		return cannot("start a thread");
	if (is_in_storm(which, "child") &&
	    pthread_create(&threads[n++], NULL, have_children, &stop) != 0)
		return cannot("start a thread");
	for (int i = 0; i < rounds; i++) {
		int fd;

		if (mkdir("storm", 0755) < 0 || rename("storm", "storm2") < 0 ||
		    rmdir("storm2") < 0) {
			printf("round %d: %s\n", i, strerror(errno));
			return DONE;
		}
		fd = open("storm-file", O_WRONLY | O_CREAT | O_EXCL, 0644);
		if (fd < 0 || close(fd) < 0 || unlink("storm-file") < 0) {
			printf("round %d, file: %s\n", i, strerror(errno));
			return DONE;
		}
		if (mkdir(".mcp.json", 0755) == 0 || (errno != EROFS && errno != EACCES)) {
			printf("round %d, refused: %s\n", i, strerror(errno));
			return DONE;
		}
	}
	stop = 1;
	while (n > 0)
		pthread_join(threads[--n], NULL);
	printf("signals: %s\n", fired > 0 ? "some" : "none");
	errno = 0;
	return fired > 0 ? held("storm") : cannot("storm");
}

/* As many refused calls as fit into a moment. */
static enum outcome do_flood(int argc, char **argv)
{
	int rounds = (int)number(argument(argc, argv, 0));
	struct timespec began, ended;
	char name[64];

	clock_gettime(CLOCK_MONOTONIC, &began);
	for (int i = 0; i < rounds; i++) {
		snprintf(name, sizeof(name), "%s%d", argument(argc, argv, 1), i);
		if (mkdir(name, 0755) == 0)
			return judge(0, name);
		if (mkdir(argument(argc, argv, 2), 0755) == 0)
			return judge(0, argument(argc, argv, 2));
	}
	clock_gettime(CLOCK_MONOTONIC, &ended);
	printf("%.0f refused a second\n",
	       2.0 * rounds / ((double)(ended.tv_sec - began.tv_sec) +
			       (double)(ended.tv_nsec - began.tv_nsec) / 1e9));
	return held("flood");
}

/* --- a race --------------------------------------------------------------------- */

static char flipping[64];
static volatile int flip_stop;

static void *flip(void *data)
{
	const char *const *names = data;
	size_t n = sizeof(flipping);

	while (!flip_stop) {
		for (size_t i = 0; i < n; i++)
			((volatile char *)flipping)[i] = names[0][i];
		for (size_t i = 0; i < n; i++)
			((volatile char *)flipping)[i] = names[1][i];
	}
	return NULL;
}

enum raced { RACE_MKDIR, RACE_FILE, RACE_SYMLINK, RACE_RENAME, RACE_LINK, RACE_KINDS };

static enum raced raced_kind(const char *text)
{
	static const char *const words[] = { "mkdir", "file", "symlink", "rename", "link" };

	for (int i = 0; i < RACE_KINDS; i++)
		if (strcmp(text, words[i]) == 0)
			return (enum raced)i;
	return RACE_KINDS;
}

/* Moved and linked is what argument 4 names. */
static void make_flipping(enum raced kind, const char *old)
{
	int fd;

	switch (kind) {
	case RACE_MKDIR:
		mkdir(flipping, 0755);
		break;
	case RACE_FILE:
		fd = open(flipping, O_WRONLY | O_CREAT | O_EXCL, 0644);
		if (fd >= 0)
			close(fd);
		break;
	case RACE_SYMLINK:
		(void)!symlink("nowhere", flipping);
		break;
	case RACE_RENAME:
		rename(old, flipping);
		break;
	case RACE_LINK:
		(void)!link(old, flipping);
		break;
	case RACE_KINDS:
		break;
	}
}

static void undo_harmless(enum raced kind, const char *harmless, const char *old)
{
	if (kind == RACE_MKDIR)
		rmdir(harmless);
	else if (kind == RACE_RENAME)
		rename(harmless, old);
	else
		unlink(harmless);
}

/* race KIND ROUNDS HARMLESS GUARDED [OLD]: one thread makes a name, the other changes it
 * meanwhile. Done as soon as the guarded one is there, which then stays. */
static enum outcome do_race(int argc, char **argv)
{
	static char texts[2][sizeof(flipping)];
	static const char *const names[2] = { texts[0], texts[1] };
	enum raced kind = raced_kind(argument(argc, argv, 0));
	int rounds = (int)number(argument(argc, argv, 1));
	const char *old = kind >= RACE_RENAME ? argument(argc, argv, 4) : NULL;
	pthread_t thread;
	struct stat st;

	snprintf(texts[0], sizeof(texts[0]), "%s", argument(argc, argv, 2));
	snprintf(texts[1], sizeof(texts[1]), "%s", argument(argc, argv, 3));
	memcpy(flipping, texts[0], sizeof(flipping));
	if (pthread_create(&thread, NULL, flip, (void *)(uintptr_t)names) != 0)
		return cannot("start a thread");
	for (int i = 0; i < rounds; i++) {
		make_flipping(kind, old);
		if (lstat(texts[1], &st) == 0) {
			printf("won after %d rounds\n", i + 1);
			return DONE;
		}
		undo_harmless(kind, texts[0], old);
	}
	flip_stop = 1;
	pthread_join(thread, NULL);
	errno = 0;
	return held("race");
}

/* race-stay ROUNDS HARMLESS GUARDED: wins such a race for a directory, stays in there until
 * it was taken away, and says where that leads. */
static enum outcome do_race_stay(int argc, char **argv)
{
	char *race[] = { (char *)"mkdir", (char *)(uintptr_t)argument(argc, argv, 0),
			 (char *)(uintptr_t)argument(argc, argv, 1),
			 (char *)(uintptr_t)argument(argc, argv, 2) };
	char was[4096], is[4096];

	if (do_race(4, race) != DONE)
		return held("race");
	/* It may be away already. */
	if (chdir(race[3]) < 0 || !getcwd(was, sizeof(was)))
		return held("enter");
	do
		if (!getcwd(is, sizeof(is)))
			return cannot("find where this is");
	while (strcmp(was, is) == 0);
	printf("now in %s\n", is);
	return DONE;
}

/* race-write ROUNDS HARMLESS FOREIGN: likewise, opening what is there and writing to it. */
static enum outcome do_race_write(int argc, char **argv)
{
	static char texts[2][sizeof(flipping)];
	static const char *const names[2] = { texts[0], texts[1] };
	int rounds = (int)number(argument(argc, argv, 0));
	struct stat foreign, st;
	pthread_t thread;

	snprintf(texts[0], sizeof(texts[0]), "%s", argument(argc, argv, 1));
	snprintf(texts[1], sizeof(texts[1]), "%s", argument(argc, argv, 2));
	memcpy(flipping, texts[0], sizeof(flipping));
	if (stat(texts[1], &foreign) < 0)
		return cannot("find what to write to");
	if (pthread_create(&thread, NULL, flip, (void *)(uintptr_t)names) != 0)
		return cannot("start a thread");
	for (int i = 0; i < rounds; i++) {
		int fd = open(flipping, O_WRONLY);

		if (fd >= 0 && fstat(fd, &st) == 0 && st.st_ino == foreign.st_ino) {
			printf("won after %d rounds\n", i + 1);
			/* A while later, when no call is under way. */
			usleep(100000);
			return write(fd, "evil\n", 5) == 5 ? DONE : cannot("write");
		}
		if (fd >= 0)
			close(fd);
	}
	errno = 0;
	return held("race");
}

const struct attack name_attacks[] = {
	{ "mkdir", do_mkdir },		 { "mkdirat", do_mkdirat },
	{ "create-at", do_create_at },	 { "create-openat2", do_create_openat2 },
	{ "mkfifo", do_mkfifo },	 { "symlink", do_symlink },
	{ "bind-name", do_bind },	 { "tmpfile", do_tmpfile },
	{ "from-moved", do_from_moved }, { "edge", do_edge },
	{ "unmapped", do_unmapped },	 { "storm", do_storm },
	{ "flood", do_flood },		 { "race", do_race },
	{ "race-stay", do_race_stay },	 { "race-write", do_race_write },
	{ 0 },
};
