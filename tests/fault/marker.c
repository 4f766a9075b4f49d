/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command of the fault tests: looks at its own confinement from inside and prints
 * what is missing. It is static and trusts nobody's word but the kernel's.
 *
 *	marker CAPS NAMESPACES SECRET...
 *
 * CAPS is the mask of capabilities it may have, with ",bounding" where the bounding set
 * does not count (nobody without capabilities can change it). NAMESPACES is a list
 * "mnt=INODE,..." of the host's, or "refuses-inet,refuses-unix,refuses-ipc" for what a
 * filter has to refuse where there are none. Each SECRET is a file that must not open.
 * Output: "ran", a line
 * "lost GUARANTEE detail" for each thing missing, "done".
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LANDLOCK_LAYERS_MAX 16
#define FD_TRIED_MAX 4096

__attribute__((format(printf, 2, 3)))
static void lost(const char *guarantee, const char *format, ...)
{
	va_list args;

	printf("lost %s ", guarantee);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

static void check_status_line(const char *line, const char *mask)
{
	static const char *const sets[] = { "CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:" };
	const char *value = strchr(line, '\t');
	unsigned long long caps = strtoull(mask, NULL, 16);

	if (!value || (strncmp(line, "CapBnd:", 7) == 0 && strstr(mask, ",bounding")))
		return;
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		if (strncmp(line, sets[i], 7) == 0 && strtoull(value, NULL, 16) & ~caps)
			lost("privileges", "%s", line);
	if (strncmp(line, "NoNewPrivs:", 11) == 0 && strtol(value, NULL, 10) != 1)
		lost("privileges", "no_new_privs");
	if (strncmp(line, "Seccomp:", 8) == 0 && strtol(value, NULL, 10) != 2)
		lost("kernel-surface", "no filter");
}

static void check_status(const char *mask)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[512];
	unsigned lines = 0;

	/* The broker has gone, and with it every open; the run ends. */
	if (!f && errno == ENOSYS)
		return;
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		check_status_line(line, mask);
		lines++;
	}
	if (!lines)
		lost("processes", "/proc/self/status cannot be read");
	if (f)
		fclose(f);
}

static const char *promise_of(const char *namespace)
{
	if (strcmp(namespace, "net") == 0)
		return "network";
	if (strcmp(namespace, "ipc") == 0)
		return "ipc";
	return strcmp(namespace, "mnt") == 0 ? "files" : "processes";
}

/* What could be made is removed: it would stay after the process. */
static void check_ipc(void)
{
	int semaphore = semget(IPC_PRIVATE, 1, 0600);
	int queue = msgget(IPC_PRIVATE, 0600);
	int memory = shmget(IPC_PRIVATE, 4096, 0600);

	if (semaphore >= 0 && semctl(semaphore, 0, IPC_RMID) == 0)
		lost("ipc", "semaphore");
	if (queue >= 0 && msgctl(queue, IPC_RMID, NULL) == 0)
		lost("ipc", "queue");
	if (memory >= 0 && shmctl(memory, IPC_RMID, NULL) == 0)
		lost("ipc", "memory");
}

static void check_refused(const char *what)
{
	if (strcmp(what, "refuses-inet") == 0 && socket(AF_INET, SOCK_STREAM, 0) >= 0)
		lost("network", "inet");
	if (strcmp(what, "refuses-unix") == 0 && socket(AF_UNIX, SOCK_STREAM, 0) >= 0)
		lost("unix-sockets", "socket");
	if (strcmp(what, "refuses-ipc") == 0)
		check_ipc();
}

static void check_namespaces(char *list)
{
	char *one;

	while ((one = strsep(&list, ","))) {
		char *inode = strchr(one, '=');
		char path[64];
		struct stat st;

		if (!inode) {
			check_refused(one);
			continue;
		}
		*inode++ = '\0';
		snprintf(path, sizeof(path), "/proc/self/ns/%s", one);
		if (stat(path, &st) < 0 || st.st_ino == strtoull(inode, NULL, 10))
			lost(promise_of(one), "namespace %s", one);
	}
}

static void check_proc(void)
{
	char self[32], own[32];
	ssize_t n = readlink("/proc/self", self, sizeof(self) - 1);

	snprintf(own, sizeof(own), "%d", getpid());
	if (n < 0)
		n = 0;
	self[n] = '\0';
	if (strcmp(self, own) != 0)
		lost("processes", "/proc/self is %s and not %s", self, own);
	if (open("/proc/sys/kernel/hostname", O_WRONLY) >= 0)
		lost("files", "/proc/sys is writable");
}

static void check_writes(void)
{
	static const char *const places[] = { "/cordon-marker", "/usr/cordon-marker",
					      "/etc/cordon-marker" };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (mkdir(places[i], 0700) == 0) {
			rmdir(places[i]);
			lost("files", "%s was made", places[i]);
		}
}

static void check_secrets(char *const *paths)
{
	for (; *paths; paths++) {
		char byte;
		int fd = open(*paths, O_RDONLY);

		if (fd >= 0 && read(fd, &byte, 1) > 0)
			lost("files", "%s was read", *paths);
		if (fd >= 0)
			close(fd);
	}
}

static void check_descriptors(void)
{
	for (int fd = 3; fd < FD_TRIED_MAX; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			lost("descriptors", "%d is open", fd);
}

/* The kernel stacks 16 domains; one that is there already leaves room for 15. Last of
 * all, because it needs no_new_privs. */
static void check_landlock(void)
{
	struct landlock_ruleset_attr attr = { .handled_access_fs =
						      LANDLOCK_ACCESS_FS_MAKE_CHAR };
	int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	for (int i = 0; i < LANDLOCK_LAYERS_MAX; i++)
		if (ruleset < 0 || syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
			return;
	lost("landlock", "no domain");
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	puts("ran");
	fflush(stdout);
	check_descriptors();
	check_status(argv[1]);
	check_namespaces(argv[2]);
	check_proc();
	check_writes();
	check_secrets(argv + 3);
	check_landlock();
	puts("done");
	return fflush(stdout) == 0 ? 0 : 3;
}
