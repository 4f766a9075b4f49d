/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls that a confined program has no use for. Arguments are chosen so that a
 * call which succeeds, as root and without cordon, changes nothing that lasts.
 */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/kcmp.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define HIGH_BITS ((uint64_t)0xdead << 32)

static enum outcome try_mount(int argc, char **argv)
{
	long r;

	(void)argc, (void)argv;
	mkdir("mountpoint", 0700);
	r = mount("none", "mountpoint", "tmpfs", 0, NULL);
	if (r == 0)
		umount2("mountpoint", MNT_DETACH);
	return judge(r, "mount");
}

static enum outcome try_remount(int argc, char **argv)
{
	const char *path = argument(argc, argv, 0);

	return judge(mount(NULL, path, NULL, MS_REMOUNT | MS_BIND, NULL), "remount writable");
}

static enum outcome try_umount(int argc, char **argv)
{
	return judge(umount2(argument(argc, argv, 0), MNT_DETACH), "umount");
}

static enum outcome try_open_tree(int argc, char **argv)
{
	(void)argc, (void)argv;
	return judge(syscall(SYS_open_tree, AT_FDCWD, "/", 1 /* OPEN_TREE_CLONE */), "open_tree");
}

static enum outcome try_fsopen(int argc, char **argv)
{
	(void)argc, (void)argv;
	return judge(syscall(SYS_fsopen, "tmpfs", 0), "fsopen");
}

static enum outcome try_fspick(int argc, char **argv)
{
	(void)argc, (void)argv;
	return judge(syscall(SYS_fspick, AT_FDCWD, "/", 0), "fspick");
}

/* With an impossible structure: EINVAL or E2BIG says that the kernel looked at it. */
static enum outcome try_mount_setattr(int argc, char **argv)
{
	uint64_t attr[4] = { 0 };

	(void)argc, (void)argv;
	return judge(syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, attr, sizeof(attr)),
		     "mount_setattr");
}

static enum outcome try_chroot(int argc, char **argv)
{
	(void)argc, (void)argv;
	return judge(chroot("."), "chroot");
}

static enum outcome in_child(int (*call)(void), const char *what)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(call() == 0 ? 0 : errno);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return cannot(what);
	errno = WEXITSTATUS(status);
	return judge(errno ? -1 : 0, what);
}

static int unshare_user(void)
{
	return (int)syscall(SYS_unshare, CLONE_NEWUSER);
}

static int unshare_user_high(void)
{
	return (int)syscall(SYS_unshare, CLONE_NEWUSER | HIGH_BITS);
}

static enum outcome try_unshare(int argc, char **argv)
{
	(void)argc, (void)argv;
	return in_child(unshare_user, "unshare(CLONE_NEWUSER)");
}

/* A kernel that refuses unknown bits makes this one harmless: not a success. */
static enum outcome try_unshare_high(int argc, char **argv)
{
	(void)argc, (void)argv;
	return in_child(unshare_user_high, "unshare with high bits");
}

static enum outcome clone_with(uint64_t flags, const char *what)
{
	long pid = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid((pid_t)pid, NULL, 0);
	return judge(pid, what);
}

static enum outcome try_clone(int argc, char **argv)
{
	(void)argc, (void)argv;
	return clone_with(CLONE_NEWUSER, "clone(CLONE_NEWUSER)");
}

static enum outcome try_clone_high(int argc, char **argv)
{
	(void)argc, (void)argv;
	return clone_with(CLONE_NEWUSER | HIGH_BITS, "clone with high bits");
}

static enum outcome try_clone3(int argc, char **argv)
{
	uint64_t args[8] = { CLONE_NEWUSER, 0, 0, 0, SIGCHLD };
	long pid = syscall(SYS_clone3, args, sizeof(args));

	(void)argc, (void)argv;
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid((pid_t)pid, NULL, 0);
	return judge(pid, "clone3(CLONE_NEWUSER)");
}

/* The namespace of a process, by default one's own. */
static enum outcome try_setns(int argc, char **argv)
{
	char path[64];
	const char *pid = argument(argc, argv, 0);
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/ns/mnt", *pid ? pid : "self");
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return *pid ? held(path) : cannot(path);
	return judge(syscall(SYS_setns, fd, CLONE_NEWNS), "setns");
}

static enum outcome try_bpf(int argc, char **argv)
{
	union bpf_attr attr;

	(void)argc, (void)argv;
	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = 4;
	attr.value_size = 4;
	attr.max_entries = 1;
	return judge(syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)), "bpf");
}

static enum outcome try_perf(int argc, char **argv)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.exclude_kernel = 1,
	};

	(void)argc, (void)argv;
	return judge(syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0), "perf_event_open");
}

static enum outcome try_userfaultfd(int argc, char **argv)
{
	(void)argc, (void)argv;
	return judge(syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* user mode only */), "userfaultfd");
}

static enum outcome try_io_uring(int argc, char **argv)
{
	char params[120] = { 0 };

	(void)argc, (void)argv;
	return judge(syscall(SYS_io_uring_setup, 1, params), "io_uring_setup");
}

static enum outcome try_keyctl(int argc, char **argv)
{
	(void)argc, (void)argv;
	return judge(syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 1),
		     "keyctl");
}

static enum outcome try_add_key(int argc, char **argv)
{
	(void)argc, (void)argv;
	return judge(syscall(SYS_add_key, "user", "cordon-escape", "x", 1,
			     KEY_SPEC_PROCESS_KEYRING),
		     "add_key");
}

/* A key that its owner put on the user's keyring. */
static enum outcome try_request_key(int argc, char **argv)
{
	(void)argc, (void)argv;
	syscall(SYS_add_key, "user", "cordon-escape", "x", 1, KEY_SPEC_PROCESS_KEYRING);
	return judge(syscall(SYS_request_key, "user", "cordon-escape", NULL, 0), "request_key");
}

struct handle {
	struct file_handle head;
	char rest[128];
};

static enum outcome try_name_to_handle(int argc, char **argv)
{
	struct handle h = { .head.handle_bytes = sizeof(h.rest) };
	int mount;

	(void)argc, (void)argv;
	return judge(name_to_handle_at(AT_FDCWD, "/", &h.head, &mount, 0), "name_to_handle_at");
}

/* A made-up handle: inode 2 is the root of an ext4. ESTALE would mean that the kernel
 * went looking. */
static enum outcome try_open_by_handle(int argc, char **argv)
{
	struct handle h = { .head.handle_bytes = 8, .head.handle_type = 1 };
	int dir = open("/", O_RDONLY | O_DIRECTORY), r;

	(void)argc, (void)argv;
	h.rest[0] = 2;
	r = (int)syscall(SYS_open_by_handle_at, dir, &h.head, O_RDONLY);
	return judge(r < 0 && errno == ESTALE ? 0 : r, "open_by_handle_at");
}

static enum outcome try_pidfd_getfd(int argc, char **argv)
{
	int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);

	(void)argc, (void)argv;
	if (pidfd < 0)
		return cannot("pidfd_open");
	return judge(syscall(SYS_pidfd_getfd, pidfd, 0, 0), "pidfd_getfd");
}

static enum outcome try_kcmp(int argc, char **argv)
{
	(void)argc, (void)argv;
	return judge(syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE, 0, 1), "kcmp");
}

static enum outcome try_process_madvise(int argc, char **argv)
{
	int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	struct iovec v = { mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096 };

	(void)argc, (void)argv;
	return judge(syscall(SYS_process_madvise, pidfd, &v, 1, MADV_COLD, 0), "process_madvise");
}

static enum outcome try_personality(int argc, char **argv)
{
	(void)argc, (void)argv;
	return judge(personality(READ_IMPLIES_EXEC), "personality(READ_IMPLIES_EXEC)");
}

static enum outcome try_modify_ldt(int argc, char **argv)
{
	(void)argc, (void)argv;
#ifdef SYS_modify_ldt
	char buffer[64];

	return judge(syscall(SYS_modify_ldt, 0, buffer, sizeof(buffer)), "modify_ldt");
#else
	return cannot("modify_ldt");
#endif
}

static enum outcome try_vmsplice(int argc, char **argv)
{
	struct iovec v = { (void *)(uintptr_t) "x", 1 };
	int ends[2];

	(void)argc, (void)argv;
	if (pipe(ends) < 0)
		return cannot("pipe");
	return judge(vmsplice(ends[1], &v, 1, 0), "vmsplice");
}

static enum outcome try_mknod(int argc, char **argv)
{
	long r = mknod("node", S_IFCHR | 0666, makedev(1, 3));

	(void)argc, (void)argv;
	unlink("node");
	return judge(r, "mknod");
}

/* The kernel takes the mode as 16 bits. */
static enum outcome try_mknod_high(int argc, char **argv)
{
	long r = syscall(SYS_mknodat, AT_FDCWD, "node", (S_IFBLK | 0666) | HIGH_BITS,
			 makedev(7, 99));

	(void)argc, (void)argv;
	unlink("node");
	return judge(r, "mknodat with high bits");
}

static enum outcome try_sethostname(int argc, char **argv)
{
	char name[65];

	(void)argc, (void)argv;
	gethostname(name, sizeof(name));
	return judge(sethostname(name, strlen(name)), "sethostname");
}

static enum outcome try_syslog(int argc, char **argv)
{
	(void)argc, (void)argv;
	return judge(syscall(SYS_syslog, 10 /* size of the buffer */, NULL, 0), "syslog");
}

static enum outcome try_fanotify(int argc, char **argv)
{
	(void)argc, (void)argv;
	return judge(syscall(SYS_fanotify_init, 0x200 /* FAN_REPORT_FID */, O_RDONLY),
		     "fanotify_init");
}

/* getpid through the table of another architecture. */
static enum outcome try_int80(int argc, char **argv)
{
	(void)argc, (void)argv;
#ifdef __x86_64__
	long r = 20;

	__asm__ volatile("int $0x80" : "+a"(r) : : "memory", "r8", "r9", "r10", "r11");
	errno = (int)-r;
	return judge(r, "int 0x80");
#else
	return cannot("int 0x80");
#endif
}

/* DONE when the number is handled at all, by ENOSYS too: it must not come so far. */
static enum outcome try_x32(int argc, char **argv)
{
	(void)argc, (void)argv;
#ifdef __x86_64__
	syscall(0x40000000 | SYS_getpid);
	return judge(0, "x32 number");
#else
	return cannot("x32 number");
#endif
}

static enum outcome try_capabilities(int argc, char **argv)
{
	int found = 0;

	(void)argc, (void)argv;
	for (int cap = 0; cap < 41; cap++) {
		/* chown, dac_override, fowner and fsetid are left to a real root. */
		int file = cap == 0 || cap == 1 || cap == 3 || cap == 4;

		if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1 && !(file && geteuid() == 0))
			found++;
	}
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		found++;
	errno = EPERM;
	return judge(found ? 0 : -1, "capabilities in the bounding set, no no_new_privs");
}

const struct attack call_attacks[] = {
	{ "mount", try_mount },
	{ "remount", try_remount },
	{ "umount", try_umount },
	{ "open-tree", try_open_tree },
	{ "fsopen", try_fsopen },
	{ "fspick", try_fspick },
	{ "mount-setattr", try_mount_setattr },
	{ "chroot", try_chroot },
	{ "unshare", try_unshare },
	{ "unshare-high", try_unshare_high },
	{ "clone", try_clone },
	{ "clone-high", try_clone_high },
	{ "clone3", try_clone3 },
	{ "setns", try_setns },
	{ "bpf", try_bpf },
	{ "perf", try_perf },
	{ "userfaultfd", try_userfaultfd },
	{ "io-uring", try_io_uring },
	{ "keyctl", try_keyctl },
	{ "add-key", try_add_key },
	{ "request-key", try_request_key },
	{ "name-to-handle", try_name_to_handle },
	{ "open-by-handle", try_open_by_handle },
	{ "pidfd-getfd", try_pidfd_getfd },
	{ "kcmp", try_kcmp },
	{ "process-madvise", try_process_madvise },
	{ "personality", try_personality },
	{ "modify-ldt", try_modify_ldt },
	{ "vmsplice", try_vmsplice },
	{ "mknod", try_mknod },
	{ "mknod-high", try_mknod_high },
	{ "sethostname", try_sethostname },
	{ "syslog", try_syslog },
	{ "fanotify", try_fanotify },
	{ "int80", try_int80 },
	{ "x32", try_x32 },
	{ "capabilities", try_capabilities },
	{ 0 },
};
