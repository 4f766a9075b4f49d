/* SPDX-License-Identifier: Apache-2.0 */
/* Receiving and answering calls; what they mean is not known here. */
#include "run/notify.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/linux_compat.h"

#define STAGE "listener"

/* The kernel may know longer records than we do; it fills as much as it knows. */
union incoming {
	struct seccomp_notif call;
	char room[1024];
};
union outgoing {
	struct seccomp_notif_resp answer;
	char room[1024];
};

static void give_up(struct notify *n, const char *what)
{
	struct cordon_error why;

	err_set(&why, CORDON_E_SYSTEM, errno, STAGE, "%s", what);
	notify_close(n);
	n->broke(n->data, &why);
}

static bool receive(struct notify *n, union incoming *in)
{
	/* The kernel refuses a record that is not zeroed. */
	memset(in, 0, sizeof(*in));
	if (ioctl(n->watch.fd, SECCOMP_IOCTL_NOTIF_RECV, &in->call) == 0)
		return true;
	/* The process was killed before we looked. */
	if (errno != ENOENT && errno != EINTR)
		give_up(n, "cannot receive a call of the sandbox");
	return false;
}

static void answer(struct notify *n, uint64_t id, int errnum)
{
	union outgoing out;

	memset(&out, 0, sizeof(out));
	out.answer.id = id;
	if (errnum > 0)
		out.answer.error = -errnum;
	else if (errnum != NOTIFY_DONE)
		out.answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	while (ioctl(n->watch.fd, SECCOMP_IOCTL_NOTIF_SEND, &out.answer) < 0) {
		if (errno == ENOENT)
			return;
		if (errno == EINTR)
			continue;
		give_up(n, "cannot answer a call of the sandbox");
		return;
	}
}

static void call_ready(void *data, uint32_t events)
{
	struct notify *n = data;
	union incoming in;

	if (!(events & EPOLLIN)) {
		/* Nobody is left who could call. */
		notify_close(n);
		return;
	}
	if (receive(n, &in))
		answer(n, in.call.id, n->judge(n->data, &in.call));
}

bool notify_waits(const struct notify *n, const struct seccomp_notif *call)
{
	uint64_t id = call->id;

	return n->watch.active && ioctl(n->watch.fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

static int check_sizes(struct cordon_error *err)
{
	struct seccomp_notif_sizes sizes;

	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0)
		return err_set(err, CORDON_E_INIT, errno, STAGE, "cannot ask for record sizes");
	if (sizes.seccomp_notif > sizeof(union incoming) ||
	    sizes.seccomp_notif_resp > sizeof(union outgoing))
		return err_set(err, CORDON_E_INIT, 0, STAGE, "this kernel's records are too long");
	return 0;
}

int notify_open(struct notify *n, struct loop *loop, int listener, struct cordon_error *err)
{
	int failed = check_sizes(err);

	n->loop = loop;
	n->watch = (struct loop_watch){
		.fd = listener, .ready = call_ready, .data = n, .direct = true
	};
	/* An older kernel answers all the same, only slower. */
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
	if (!failed)
		failed = loop_watch(loop, &n->watch, EPOLLIN, err);
	if (failed)
		notify_close(n);
	return failed;
}

void notify_close(struct notify *n)
{
	if (!n->loop)
		return;
	loop_unwatch(n->loop, &n->watch);
	fd_close(&n->watch.fd);
	n->loop = NULL;
}
