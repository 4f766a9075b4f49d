/* SPDX-License-Identifier: Apache-2.0 */
/* Step 3, in the child: id maps, loopback, and no looking into init. */
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/handover.h"
#include "backend/linux/native.h"

#define STAGE "namespaces"

CHILD_SAFE int native_fail(int error_fd, const char *stage, const char *what, const char *object)
{
	return spawn_child_fail(error_fd, CORDON_E_INIT, errno, stage, what, object, NULL);
}

CHILD_SAFE int native_fail_changed(int error_fd, const char *stage, const char *path)
{
	return spawn_child_fail(error_fd, CORDON_E_INIT, ESTALE, stage,
				"changed while cordon was starting:", path,
				"something on the host keeps replacing it; run again later");
}

/* Without privilege the kernel takes one id each, and only once setgroups is off. */
static CHILD_SAFE int write_maps(const struct native *n, int error_fd)
{
	int r;

	if (!n->uid_map)
		return 0;
	r = spawn_child_write(error_fd, STAGE, "/proc/self/setgroups", "deny");
	if (r == 0)
		r = spawn_child_write(error_fd, STAGE, "/proc/self/uid_map", n->uid_map);
	return r < 0 ? r : spawn_child_write(error_fd, STAGE, "/proc/self/gid_map", n->gid_map);
}

static CHILD_SAFE int loopback_up(int error_fd)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) < 0)
		return native_fail(error_fd, STAGE, "cannot bring up", "loopback");
	close(fd);
	return 0;
}

static CHILD_SAFE int hand_over(const struct native *n, enum handover_kind kind, const char *path,
				int flags, int error_fd)
{
	int r, fd = open(path, flags | O_CLOEXEC);

	if (fd < 0)
		return native_fail(error_fd, STAGE, "cannot open", path);
	r = handover_send(n->handover_fd, kind, fd, error_fd);
	close(fd);
	return r;
}

/* From inside, because nobody else can look at a process that is not dumpable. */
static CHILD_SAFE int hand_over_namespaces(const struct native *n, int error_fd)
{
	int r = hand_over(n, HANDOVER_USER_NS, "/proc/self/ns/user", O_RDONLY, error_fd);

	return r < 0 ? r
		     : hand_over(n, HANDOVER_MOUNT_NS, "/proc/self/ns/mnt", O_RDONLY, error_fd);
}

CHILD_SAFE int native_hand_over_private(const struct native *n, int error_fd)
{
	if (!n->private)
		return 0;
	return hand_over(n, HANDOVER_PRIVATE, n->private, O_PATH | O_DIRECTORY, error_fd);
}

CHILD_SAFE int native_setup(const struct native *n, int error_fd)
{
	int r = write_maps(n, error_fd);

	if (r == 0 && n->loopback)
		r = loopback_up(error_fd);
	if (r == 0 && n->brokered)
		r = hand_over_namespaces(n, error_fd);
	/* After the maps: a process that is not dumpable cannot write its own. */
	if (r == 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		r = native_fail(error_fd, STAGE, "cannot protect", "init");
	return r;
}

static CHILD_SAFE bool write_setting(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return done;
}

/* What System V IPC holds belongs to no process, so nobody could account for it. These
 * are settings of the namespace that only a caller who is root may write. */
CHILD_SAFE void native_limit_ipc(struct native *n)
{
	if (!n->shm_pages)
		return;
	if (write_setting("/proc/sys/kernel/shmall", n->shm_pages) &&
	    write_setting("/proc/sys/kernel/sem", "250 32000 100 128") &&
	    write_setting("/proc/sys/kernel/msgmni", "64") &&
	    write_setting("/proc/sys/kernel/msgmnb", "16384"))
		return;
	n->filters[n->n_filters++] = n->no_ipc;
}

/* A new namespace begins with the highest value: another one than the host's is its own, and
 * the same can be told only from the kernel's version. */
static CHILD_SAFE bool is_own_pid_max(const char *host)
{
	char text[32] = "";
	int fd = open(NATIVE_PID_MAX, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	close(fd);
	return n > 0 && (strcmp(text, host) != 0 || strcmp(text, "4194304\n") == 0);
}

/* Where it cannot be written (a /proc that is read-only), the samples are alone. */
CHILD_SAFE void native_limit_pids(const struct native *n)
{
	if (n->pid_max && is_own_pid_max(n->host_pid_max))
		write_setting(NATIVE_PID_MAX, n->pid_max);
}
