/* SPDX-License-Identifier: Apache-2.0 */
/* Towards other processes: looking into them, signalling them, outliving them. */
#include "attack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t target(int argc, char **argv)
{
	return (pid_t)number(argument(argc, argv, 0));
}

static enum outcome do_ptrace(int argc, char **argv)
{
	long r = ptrace(PTRACE_SEIZE, target(argc, argv), 0, 0);

	return judge(r, "ptrace");
}

static enum outcome do_vm_read(int argc, char **argv)
{
	char byte;
	struct iovec here = { &byte, 1 }, there = { (void *)0x400000, 1 };
	ssize_t n = process_vm_readv(target(argc, argv), &here, 1, &there, 1, 0);

	/* A bad address is as good as a read: the access was granted. */
	return judge(n < 0 && errno == EFAULT ? 0 : n, "process_vm_readv");
}

static enum outcome open_of(pid_t pid, const char *file, int flags)
{
	char path[64], byte;
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	fd = open(path, flags);
	if (fd < 0)
		return held(path);
	n = flags == O_RDONLY ? read(fd, &byte, 1) : 0;
	return judge(n < 0 && errno != EIO ? -1 : 0, path);
}

static enum outcome do_proc_open(int argc, char **argv)
{
	return open_of(target(argc, argv), argument(argc, argv, 1), O_RDONLY);
}

static enum outcome do_proc_write(int argc, char **argv)
{
	return open_of(target(argc, argv), argument(argc, argv, 1), O_WRONLY);
}

static enum outcome do_kill(int argc, char **argv)
{
	return judge(kill(target(argc, argv), (int)number(argument(argc, argv, 1))), "kill");
}

static enum outcome do_pidfd_kill(int argc, char **argv)
{
	int pidfd = (int)syscall(SYS_pidfd_open, target(argc, argv), 0);

	if (pidfd < 0)
		return held("pidfd_open");
	return judge(syscall(SYS_pidfd_send_signal, pidfd, number(argument(argc, argv, 1)), NULL,
			     0),
		     "pidfd_send_signal");
}

/* Its standard input, as a descriptor of one's own. */
static enum outcome do_pidfd_take(int argc, char **argv)
{
	int pidfd = (int)syscall(SYS_pidfd_open, target(argc, argv), 0);

	if (pidfd < 0)
		return held("pidfd_open");
	return judge(syscall(SYS_pidfd_getfd, pidfd, 0, 0), "pidfd_getfd");
}

/* Into the namespace of another process, named by the process and not by a file of /proc. */
static enum outcome do_setns_pidfd(int argc, char **argv)
{
	int pidfd = (int)syscall(SYS_pidfd_open, target(argc, argv), 0);

	if (pidfd < 0)
		return held("pidfd_open");
	return judge(syscall(SYS_setns, pidfd, CLONE_NEWUTS), "setns by pidfd");
}

/* Everybody it may reach: only for use inside, where the test looks at who lives. */
static enum outcome do_kill_all(int argc, char **argv)
{
	(void)argc, (void)argv;
	return judge(kill(-1, SIGTERM), "kill(-1)");
}

static enum outcome do_prlimit(int argc, char **argv)
{
	struct rlimit limit = { 1, 1 };

	return judge(syscall(SYS_prlimit64, target(argc, argv), RLIMIT_CORE, &limit, NULL),
		     "prlimit of another process");
}

/* Waits with nothing but the FIFO open. Its reader sees by the word that it lives, and
 * by the end of the stream that it died. */
static void linger(int fifo, int told)
{
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	if (write(fifo, "alive\n", 6) != 6 || write(told, "x", 1) != 1)
		_exit(1);
	close(told);
	for (;;)
		pause();
}

/* A grandchild in a session of its own. */
static enum outcome do_survive(int argc, char **argv)
{
	int fd = open(argument(argc, argv, 0), O_WRONLY), told[2];
	char byte;

	if (fd < 0 || pipe(told) < 0)
		return cannot("open the FIFO");
	if (fork() == 0) {
		setsid();
		signal(SIGTERM, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		if (fork() == 0)
			linger(fd, told[1]);
		_exit(0);
	}
	return judge(read(told[0], &byte, 1), "leave somebody behind");
}

/* A descriptor above the standard ones: lists what is open. */
static enum outcome do_descriptors(int argc, char **argv)
{
	int found = 0;

	(void)argc, (void)argv;
	for (int fd = 3; fd < 4096; fd++)
		if (fcntl(fd, F_GETFD) >= 0) {
			printf("open: %d\n", fd);
			found++;
		}
	errno = EBADF;
	return judge(found ? 0 : -1, "descriptors above 2");
}

static int contains(const char *path, const char *text)
{
	static char buffer[1 << 20];
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, buffer, sizeof(buffer));

	if (fd >= 0)
		close(fd);
	return n > 0 && memmem(buffer, (size_t)n, text, strlen(text)) != NULL;
}

/* In the environment of any process that is visible. */
static enum outcome do_environ(int argc, char **argv)
{
	DIR *d = opendir("/proc");
	const struct dirent *entry;
	int found = 0;

	while (d && (entry = readdir(d))) {
		char path[300];

		if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/environ", entry->d_name);
		if (contains(path, argument(argc, argv, 0))) {
			printf("found in %s\n", path);
			found++;
		}
	}
	errno = ENOENT;
	return judge(found ? 0 : -1, "a variable in /proc/*/environ");
}

static enum outcome do_shm_make(int argc, char **argv)
{
	int id = shmget((key_t)strtol(argument(argc, argv, 0), NULL, 0), 4096, IPC_CREAT | 0600);

	printf("%d\n", id);
	return judge(id, "shmget");
}

static enum outcome do_shm_find(int argc, char **argv)
{
	return judge(shmget((key_t)strtol(argument(argc, argv, 0), NULL, 0), 0, 0), "shmget");
}

static enum outcome do_shm_remove(int argc, char **argv)
{
	int id = shmget((key_t)strtol(argument(argc, argv, 0), NULL, 0), 0, 0);

	return judge(shmctl(id, IPC_RMID, NULL), "shmctl");
}

/* Semaphores and queues by a number, POSIX message queues by a name; made with `flags`. */
static long ipc_get(const char *kind, const char *key, int flags)
{
	if (strcmp(kind, "sem") == 0)
		return semget((key_t)number(key), flags ? 1 : 0, flags);
	if (strcmp(kind, "msg") == 0)
		return msgget((key_t)number(key), flags);
	return mq_open(key, O_RDWR | (flags ? O_CREAT | O_EXCL : 0), 0600, NULL);
}

static enum outcome do_ipc_make(int argc, char **argv)
{
	return judge(ipc_get(argument(argc, argv, 0), argument(argc, argv, 1), IPC_CREAT | 0600),
		     "make an object of the host's IPC");
}

static enum outcome do_ipc_find(int argc, char **argv)
{
	return judge(ipc_get(argument(argc, argv, 0), argument(argc, argv, 1), 0),
		     "find an object of the host's IPC");
}

static enum outcome do_ipc_remove(int argc, char **argv)
{
	const char *kind = argument(argc, argv, 0), *key = argument(argc, argv, 1);

	if (strcmp(kind, "mq") == 0)
		return judge(mq_unlink(key), "mq_unlink");
	if (strcmp(kind, "sem") == 0)
		return judge(semctl((int)ipc_get(kind, key, 0), 0, IPC_RMID), "semctl");
	return judge(msgctl((int)ipc_get(kind, key, 0), IPC_RMID, NULL), "msgctl");
}

/* In effect for this very program, by the number of the capability. */
static enum outcome do_has_capability(int argc, char **argv)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = { 0 };
	unsigned long cap = (unsigned long)number(argument(argc, argv, 0));

	if (syscall(SYS_capget, &head, sets) < 0)
		return cannot("capget");
	errno = EPERM;
	return judge(sets[cap / 32].effective & (1u << cap % 32) ? 0 : -1, "a capability");
}

/* A child that is born in the control group of the directory. */
static enum outcome do_clone_into(int argc, char **argv)
{
	int group = open(argument(argc, argv, 0), O_RDONLY | O_DIRECTORY);
	struct clone_args args = { .flags = CLONE_INTO_CGROUP,
				   .exit_signal = SIGCHLD,
				   .cgroup = (unsigned)group };
	long pid;

	if (group < 0)
		return held("open the control group");
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid((pid_t)pid, NULL, 0);
	return judge(pid, "clone3 into a control group");
}

static enum outcome do_identity(int argc, char **argv)
{
	(void)argc, (void)argv;
	printf("%d %d %d %d\n", (int)getuid(), (int)geteuid(), (int)getgid(), (int)getegid());
	return DONE;
}

static enum outcome do_setuid(int argc, char **argv)
{
	uid_t uid = (uid_t)number(argument(argc, argv, 0));

	return judge(syscall(SYS_setresuid, uid, uid, uid), "setresuid");
}

const struct attack process_attacks[] = {
	{ "ptrace", do_ptrace },
	{ "vm-read", do_vm_read },
	{ "proc-read", do_proc_open },
	{ "proc-write", do_proc_write },
	{ "kill", do_kill },
	{ "pidfd-kill", do_pidfd_kill },
	{ "pidfd-take", do_pidfd_take },
	{ "setns-pidfd", do_setns_pidfd },
	{ "kill-all", do_kill_all },
	{ "prlimit", do_prlimit },
	{ "survive", do_survive },
	{ "descriptors", do_descriptors },
	{ "environ", do_environ },
	{ "shm-make", do_shm_make },
	{ "shm-find", do_shm_find },
	{ "shm-remove", do_shm_remove },
	{ "ipc-make", do_ipc_make },
	{ "ipc-find", do_ipc_find },
	{ "ipc-remove", do_ipc_remove },
	{ "has-capability", do_has_capability },
	{ "clone-into", do_clone_into },
	{ "identity", do_identity },
	{ "setuid", do_setuid },
	{ 0 },
};
