/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Step 6, in the child: securebits, bounding set, capabilities, ambient set,
 * no_new_privs - in this order, because a later one takes away what an earlier one needs,
 * and ambient are only capabilities that are held and inheritable - and then a look at
 * what the kernel says is left.
 */
#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/linux/native.h"

#define STAGE "privileges"

#define LOCKED_BITS \
	(SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | \
	 SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED)

static CHILD_SAFE int fail(int error_fd, const char *what)
{
	return native_fail(error_fd, STAGE, what, NULL);
}

/* EINVAL means: beyond the last capability this kernel knows. It knows all that we know,
 * being newer than the calls that mounts.c is made of. */
static CHILD_SAFE int drop_bounding(uint64_t keep, int error_fd)
{
	for (unsigned cap = 0; cap < 64; cap++) {
		if (keep & (uint64_t)1 << cap)
			continue;
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
			continue;
		if (errno == EINVAL && cap > CAP_LAST_CAP)
			break;
		return fail(error_fd, "cannot drop a bounding capability");
	}
	return 0;
}

static CHILD_SAFE int set_caps(uint64_t keep)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ (uint32_t)keep, (uint32_t)keep, (uint32_t)keep },
		{ (uint32_t)(keep >> 32), (uint32_t)(keep >> 32), (uint32_t)(keep >> 32) },
	};

	return (int)syscall(SYS_capset, &header, data);
}

/* What is kept for a real root survives exec only as ambient capabilities. */
static CHILD_SAFE int raise_ambient(uint64_t keep, int error_fd)
{
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return fail(error_fd, "cannot clear the ambient capabilities");
	for (unsigned cap = 0; cap < 64; cap++)
		if (keep & (uint64_t)1 << cap &&
		    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) < 0)
			return fail(error_fd, "cannot keep a file capability");
	return 0;
}

static CHILD_SAFE int check(uint64_t keep, int error_fd)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];
	uint64_t permitted;

	if (syscall(SYS_capget, &header, data) < 0)
		return fail(error_fd, "cannot read the capabilities");
	permitted = data[0].permitted | (uint64_t)data[1].permitted << 32;
	if (permitted & ~keep || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) {
		errno = EPERM;
		return fail(error_fd, "privileges are left after they were dropped");
	}
	return 0;
}

/* What comes after makes gaining capabilities impossible, too; this is what holds if it
 * did not. */
static CHILD_SAFE int lock_down(uint64_t keep, int error_fd)
{
	if (prctl(PR_SET_SECUREBITS, LOCKED_BITS, 0, 0, 0) < 0)
		return fail(error_fd, "cannot lock the secure bits");
	return drop_bounding(keep, error_fd);
}

CHILD_SAFE int native_drop_privileges(const struct native *n, int error_fd)
{
	int r = n->no_setpcap ? 0 : lock_down(n->keep_caps, error_fd);

	if (r < 0)
		return r;
	if (set_caps(n->keep_caps) < 0)
		return fail(error_fd, "cannot drop the capabilities");
	r = raise_ambient(n->keep_caps, error_fd);
	if (r < 0)
		return r;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return fail(error_fd, "cannot set no_new_privs");
	return check(n->keep_caps, error_fd);
}
