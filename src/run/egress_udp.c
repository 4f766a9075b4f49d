/* SPDX-License-Identifier: Apache-2.0 */
/* Listening to the kernel's answers in the sandbox's network. */
#include "run/egress_udp.h"

#include <linux/filter.h>
#include <linux/icmp.h>
#include <netinet/in.h>
#include <netinet/icmp6.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "net/refused.h"

/* A command that sends on and on has been told often enough. */
#define TOLD_MAX 1024
#define LEVEL_RAW 255 /* SOL_RAW, which the C library's headers call differently */

void egress_udp_init(struct egress_udp *u)
{
	u->four.fd = u->six.fd = -1;
}

/* False: there was nothing. */
static bool hear_one(struct egress_udp *u, const struct loop_watch *w)
{
	uint8_t message[REFUSED_BYTES], address[16];
	ssize_t n = recv(w->fd, message, sizeof(message), MSG_DONTWAIT);
	uint16_t port;

	if (n > 0 && refused_udp(message, (size_t)n, w == &u->six, address, &port) &&
	    u->refused(u->data, address, port))
		u->told++;
	return n > 0;
}

static void stop(struct egress_udp *u, struct loop_watch *w)
{
	while (w->fd >= 0 && u->told < TOLD_MAX && hear_one(u, w))
		;
	loop_unwatch(u->loop, w);
	fd_close(&w->fd);
}

void egress_udp_end(struct egress_udp *u)
{
	stop(u, &u->four);
	stop(u, &u->six);
}

static void hear(struct egress_udp *u, const struct loop_watch *w)
{
	hear_one(u, w);
	if (u->told >= TOLD_MAX)
		egress_udp_end(u);
}

static void four_ready(void *data, uint32_t events)
{
	struct egress_udp *u = data;

	(void)events;
	hear(u, &u->four);
}

static void six_ready(void *data, uint32_t events)
{
	struct egress_udp *u = data;

	(void)events;
	hear(u, &u->six);
}

#define LOAD(size, at) BPF_STMT(BPF_LD | (size) | BPF_ABS, (at))
#define UNLESS(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (skip))
#define TAKE(bytes) BPF_STMT(BPF_RET | BPF_K, (bytes))
/* The destination in the header that is quoted after that of the message. */
#define FOUR_TO (8 + 16)
#define SIX_TO (8 + 24)

/* What the command does on its own loopback is neither told nor heard, however much it is. */
static bool leave_out_loopback(int fd, bool six)
{
	static struct sock_filter of_four[] = {
		BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0), /* the length of IPv4's header */
		BPF_STMT(BPF_LD | BPF_B | BPF_IND, FOUR_TO),
		UNLESS(127, 1),
		TAKE(0),
		TAKE(REFUSED_BYTES),
	};
	static struct sock_filter of_six[] = {
		LOAD(BPF_W, SIX_TO),	  UNLESS(0, 7), LOAD(BPF_W, SIX_TO + 4),  UNLESS(0, 5),
		LOAD(BPF_W, SIX_TO + 8),  UNLESS(0, 3), LOAD(BPF_W, SIX_TO + 12), UNLESS(1, 1),
		TAKE(0),		  TAKE(REFUSED_BYTES),
	};
	struct sock_fprog four = { sizeof(of_four) / sizeof(of_four[0]), of_four };
	struct sock_fprog other = { sizeof(of_six) / sizeof(of_six[0]), of_six };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, six ? &other : &four,
			  sizeof(four)) == 0;
}

/* Nothing else is to be read than what says that something was not delivered. */
static bool narrow(int fd, bool six)
{
	struct icmp6_filter only_six;
	struct icmp_filter only_four = { .data = ~(1u << ICMP_DEST_UNREACH) };

	ICMP6_FILTER_SETBLOCKALL(&only_six);
	ICMP6_FILTER_SETPASS(ICMP6_DST_UNREACH, &only_six);
	if (six)
		return setsockopt(fd, IPPROTO_ICMPV6, ICMP6_FILTER, &only_six, sizeof(only_six)) ==
		       0;
	return setsockopt(fd, LEVEL_RAW, ICMP_FILTER, &only_four, sizeof(only_four)) == 0;
}

void egress_udp_take(struct egress_udp *u, struct loop *loop, int fd, bool six)
{
	struct loop_watch *w = six ? &u->six : &u->four;
	autoclose int taken = fd;
	struct cordon_error ignored;

	if (w->fd >= 0 || !narrow(fd, six) || !leave_out_loopback(fd, six))
		return;
	u->loop = loop;
	*w = (struct loop_watch){ .fd = fd, .ready = six ? six_ready : four_ready, .data = u };
	if (loop_watch(loop, w, EPOLLIN, &ignored) == 0)
		steal_fd(&taken);
	else
		w->fd = -1;
}
