/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets towards the host, and families that have no business in a sandbox. */
#include "attack.h"

#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_un un;
};

/* tcp, mptcp and udp take a port of localhost; unix a path; abstract a name. */
static socklen_t make_address(const char *kind, const char *where, union address *ret)
{
	size_t n = strlen(where);

	memset(ret, 0, sizeof(*ret));
	if (strncmp(kind, "unix", 4) == 0 || strncmp(kind, "abstract", 8) == 0) {
		int hidden = *kind == 'a';

		ret->un.sun_family = AF_UNIX;
		memcpy(ret->un.sun_path + hidden, where, n);
		return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + 1);
	}
	ret->in.sin_family = AF_INET;
	ret->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ret->in.sin_port = htons((uint16_t)number(where));
	return sizeof(ret->in);
}

static int make_socket(const char *kind)
{
	int unix_kind = *kind == 'a' || strncmp(kind, "unix", 4) == 0;
	int dgram = strcmp(kind, "udp") == 0 || strstr(kind, "-dgram");
	struct timeval patience = { .tv_sec = 5 };
	int fd = socket(unix_kind ? AF_UNIX : AF_INET, dgram ? SOCK_DGRAM : SOCK_STREAM,
			strcmp(kind, "mptcp") == 0 ? IPPROTO_MPTCP : 0);

	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

/* serve KIND WHERE READY HITS: says its port in READY, and in HITS who came. */
static enum outcome do_serve(int argc, char **argv)
{
	const char *kind = argument(argc, argv, 0);
	union address a;
	socklen_t n = make_address(kind, argument(argc, argv, 1), &a), size = sizeof(a);
	int fd = make_socket(kind), stream = !strstr(kind, "-dgram") && strcmp(kind, "udp") != 0;
	struct timeval forever = { 0 };
	FILE *ready, *hits = fopen(argument(argc, argv, 3), "a");

	/* Some come and go. */
	signal(SIGPIPE, SIG_IGN);
	if (!hits || fd < 0 || bind(fd, &a.any, n) < 0 || (stream && listen(fd, 5) < 0) ||
	    getsockname(fd, &a.any, &size) < 0)
		return cannot("serve");
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &forever, sizeof(forever));
	setvbuf(hits, NULL, _IONBF, 0);
	ready = fopen(argument(argc, argv, 2), "w");
	if (!ready)
		return cannot("ready file");
	fprintf(ready, "%d\n", a.any.sa_family == AF_INET ? ntohs(a.in.sin_port) : 0);
	fclose(ready);
	for (;;) {
		char byte;
		socklen_t from = sizeof(a);
		int peer = stream ? accept(fd, NULL, NULL) : -1;

		if (stream) {
			fputs("hit\n", hits);
			if (write(peer, "y", 1) < 0 && errno != EPIPE)
				perror("write");
			close(peer);
		} else if (recvfrom(fd, &byte, 1, 0, &a.any, &from) >= 0) {
			fputs("hit\n", hits);
			if (from > sizeof(sa_family_t))
				sendto(fd, "y", 1, 0, &a.any, from);
		}
	}
}

/* A unix datagram that the kernel took was delivered; all others get an answer. */
static enum outcome do_connect(int argc, char **argv)
{
	const char *kind = argument(argc, argv, 0);
	union address a;
	socklen_t n = make_address(kind, argument(argc, argv, 1), &a);
	int fd = make_socket(kind);
	char answer;

	if (fd < 0)
		return held("socket");
	if (connect(fd, &a.any, n) < 0)
		return held("connect");
	if (a.any.sa_family == AF_UNIX && strstr(kind, "-dgram"))
		return judge(send(fd, "x", 1, MSG_NOSIGNAL), "send");
	/* The server may have answered and closed by now. */
	if (send(fd, "x", 1, MSG_NOSIGNAL) < 0 && errno != EPIPE)
		return held("send");
	return judge(recv(fd, &answer, 1, 0) == 1 ? 0 : -1, "recv");
}

/* Without connect(2). */
static enum outcome do_sendto(int argc, char **argv)
{
	const char *kind = argument(argc, argv, 0);
	union address a;
	socklen_t n = make_address(kind, argument(argc, argv, 1), &a);
	int fd = make_socket(kind);

	if (fd < 0)
		return held("socket");
	return judge(sendto(fd, "x", 1, MSG_NOSIGNAL, &a.any, n), "sendto");
}

static enum outcome do_fastopen(int argc, char **argv)
{
	union address a;
	socklen_t n = make_address("tcp", argument(argc, argv, 0), &a);
	int fd = make_socket("tcp");
	char answer;

	if (sendto(fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL, &a.any, n) < 0)
		return held("sendto(MSG_FASTOPEN)");
	return judge(recv(fd, &answer, 1, 0) == 1 ? 0 : -1, "recv");
}

static enum outcome do_fastopen_connect(int argc, char **argv)
{
	int fd = make_socket("tcp"), one = 1;

	(void)argc, (void)argv;
	return judge(setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &one, sizeof(one)),
		     "TCP_FASTOPEN_CONNECT");
}

/* Any address: is there a way out of this network at all? Asking for a route sends
 * nothing. */
static enum outcome do_route(int argc, char **argv)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_port = htons(53),
		.sin_addr.s_addr = htonl(0xc0000201), /* 192.0.2.1, for documentation */
	};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	(void)argc, (void)argv;
	return judge(connect(fd, (struct sockaddr *)&a, sizeof(a)), "a route to anywhere");
}

/* family TYPE PROTOCOL as numbers; the high half is set when there is a fourth word. */
static enum outcome do_family(int argc, char **argv)
{
	unsigned long high = argc > 3 ? 0xdead00000000ul : 0;

	return judge(syscall(SYS_socket, (unsigned long)number(argument(argc, argv, 0)) | high,
			     (unsigned long)number(argument(argc, argv, 1)) | high,
			     (unsigned long)number(argument(argc, argv, 2)) | high),
		     "socket");
}

const struct attack socket_attacks[] = {
	{ "serve", do_serve },
	{ "connect", do_connect },
	{ "sendto", do_sendto },
	{ "fastopen", do_fastopen },
	{ "fastopen-connect", do_fastopen_connect },
	{ "route", do_route },
	{ "family", do_family },
	{ 0 },
};
