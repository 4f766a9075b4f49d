/* SPDX-License-Identifier: Apache-2.0 */
/* The hand-over: what arrives, what is refused, and that no descriptor is left behind. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/handover.h"
#include "base/fd.h"

static int outside, inside;

static void open_both(void)
{
	struct cordon_error err;

	cr_assert_eq(handover_open(&outside, &inside, &err), 0);
}

static int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* A message as nobody should send it. */
static void send_raw(const char *bytes, size_t n, size_t n_fds)
{
	union {
		char space[CMSG_SPACE(4 * sizeof(int))];
		struct cmsghdr align;
	} control = { .space = { 0 } };
	struct iovec iov = { .iov_base = (char *)(uintptr_t)bytes, .iov_len = n };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };
	int fds[4] = { 0, 0, 0, 0 };

	if (n_fds) {
		struct cmsghdr *h;

		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
		h = CMSG_FIRSTHDR(&message);
		h->cmsg_level = SOL_SOCKET;
		h->cmsg_type = SCM_RIGHTS;
		h->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
		memcpy(CMSG_DATA(h), fds, n_fds * sizeof(int));
	}
	cr_assert_eq(sendmsg(inside, &message, 0), (ssize_t)n);
}

Test(handover, gives_every_kind_of_descriptor)
{
	open_both();
	for (int kind = 0; kind < HANDOVER_KIND_COUNT; kind++) {
		struct cordon_error err;
		struct stat sent, got;
		int in, out, taken = -1;

		cr_assert_eq(fd_pipe(&in, &out), 0);
		cr_assert_eq(handover_send(inside, kind, in, 2), 0);
		cr_assert_eq(handover_take(outside, &taken, &err), kind);
		cr_assert_eq(fstat(in, &sent), 0);
		cr_assert_eq(fstat(taken, &got), 0);
		cr_assert_eq(sent.st_ino, got.st_ino);
		cr_assert(fcntl(taken, F_GETFD) & FD_CLOEXEC);
		cr_assert_not_null(handover_kind_to_string(kind));
		fd_close(&in);
		fd_close(&out);
		fd_close(&taken);
	}
}

Test(handover, tells_silence_from_the_end)
{
	struct cordon_error err;
	int fd = -1;

	open_both();
	cr_assert_eq(handover_take(outside, &fd, &err), HANDOVER_NOTHING);
	fd_close(&inside);
	cr_assert_eq(handover_take(outside, &fd, &err), HANDOVER_GONE);
	cr_assert_eq(fd, -1);
}

Test(handover, refuses_what_looks_different)
{
	static const struct {
		const char *bytes;
		size_t n, n_fds;
	} bad[] = {
		{ "\x00", 1, 0 },     /* a kind without its descriptor */
		{ "\x00", 1, 2 },     /* two of them */
		{ "\x00", 1, 4 },     /* more than there is room for */
		{ "\x00\x00", 2, 1 }, /* two kinds */
		{ "\x00\x00\x00\x00", 4, 1 },
		{ "\x40", 1, 1 }, /* no such kind */
		{ "\xff", 1, 1 }, /* an end with a descriptor */
	};

	open_both();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int before = count_fds(), fd = -1;
		struct cordon_error err;

		send_raw(bad[i].bytes, bad[i].n, bad[i].n_fds);
		cr_assert_eq(handover_take(outside, &fd, &err), -CORDON_E_INIT, "row %zu", i);
		cr_assert_eq(fd, -1);
		cr_assert_eq(count_fds(), before, "row %zu leaves a descriptor", i);
	}
}

Test(handover, finishes_when_the_supervisor_agrees)
{
	struct cordon_error err;
	int fd = -1;

	open_both();
	/* The answer may be there before the question. */
	cr_assert_eq(handover_agree(outside, &err), 0);
	cr_assert_eq(handover_finish(inside, 2), 0);
	cr_assert_eq(handover_take(outside, &fd, &err), HANDOVER_END);
}

Test(handover, reports_that_nobody_took_over)
{
	struct cordon_error sent;
	int in, out;

	cr_assert_eq(fd_pipe(&in, &out), 0);
	open_both();
	fd_close(&outside);
	cr_assert_lt(handover_finish(inside, out), 0);
	cr_assert_eq(read(in, &sent, sizeof(sent)), (ssize_t)sizeof(sent));
	cr_assert_eq(sent.code, CORDON_E_INIT);
	cr_assert_lt(handover_send(inside, HANDOVER_TERMINAL, 0, out), 0);
	cr_assert_eq(read(in, &sent, sizeof(sent)), (ssize_t)sizeof(sent));
	cr_assert_str_eq(sent.message, "cannot hand over the terminal");
}
