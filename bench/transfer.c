/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a connection is worth: bytes in a second, the way there and back, and how long it
 * takes until a new one has answered.
 *
 * usage: bench-transfer serve		on 127.0.0.1; prints its port, ends with its caller
 *	  bench-transfer bytes PORT COUNT	prints megabytes in a second
 *	  bench-transfer turn PORT COUNT	prints the median of one byte and its echo, in us
 *	  bench-transfer open PORT COUNT	the same of connecting and its first byte
 */
#include <err.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define COUNT_MAX 1000000
#define PIECE ((size_t)256 << 10)

static char piece[PIECE];

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct sockaddr_in loopback(uint16_t port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons(port),
				     .sin_addr = { htonl(INADDR_LOOPBACK) } };
}

/* --- the server -------------------------------------------------------------------- */

/* Eight bytes say how many are wanted; 0: every byte comes back. */
static void serve(int fd)
{
	uint64_t left;
	ssize_t n = recv(fd, &left, sizeof(left), MSG_WAITALL);

	if (n != (ssize_t)sizeof(left))
		return;
	if (left == 0)
		while ((n = recv(fd, piece, 1, 0)) > 0 && send(fd, piece, 1, MSG_NOSIGNAL) == 1)
			;
	for (; left > 0; left -= (uint64_t)n) {
		n = send(fd, piece, left < PIECE ? (size_t)left : PIECE, MSG_NOSIGNAL);
		if (n <= 0)
			return;
	}
}

static void serve_all(void)
{
	static const int yes = 1;
	struct sockaddr_in at = loopback(0);
	socklen_t size = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGCHLD, SIG_IGN);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, size) < 0 || listen(fd, 1024) < 0 ||
	    getsockname(fd, (struct sockaddr *)&at, &size) < 0)
		err(1, "cannot listen");
	printf("%u\n", ntohs(at.sin_port));
	fflush(stdout);
	for (;;) {
		int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

		if (peer >= 0 && fork() == 0) {
			setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
			serve(peer);
			_exit(0);
		}
		close(peer);
	}
}

/* --- the client -------------------------------------------------------------------- */

static int ask(uint16_t port, uint64_t bytes)
{
	static const int yes = 1;
	struct sockaddr_in at = loopback(port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		err(1, "cannot connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	if (send(fd, &bytes, sizeof(bytes), MSG_NOSIGNAL) != (ssize_t)sizeof(bytes))
		err(1, "cannot ask");
	return fd;
}

static double megabytes(uint16_t port, long count)
{
	int64_t before;
	uint64_t all = 0, wanted = (uint64_t)count << 20;
	int fd = ask(port, wanted);
	ssize_t n;

	before = now_ns();
	while ((n = recv(fd, piece, PIECE, 0)) > 0)
		all += (uint64_t)n;
	if (all != wanted)
		errx(1, "%llu bytes came", (unsigned long long)all);
	close(fd);
	return (double)count / ((double)(now_ns() - before) / 1e9);
}

static void turn(int fd)
{
	char byte = 0;

	if (send(fd, &byte, 1, MSG_NOSIGNAL) != 1 || recv(fd, &byte, 1, 0) != 1)
		err(1, "nothing came back");
}

static int by_size(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

	return a < b ? -1 : a > b;
}

static double median_us(int64_t *took, long count)
{
	qsort(took, (size_t)count, sizeof(*took), by_size);
	return (double)took[count / 2] / 1000;
}

static double turns(uint16_t port, int64_t *took, long count)
{
	int fd = ask(port, 0);

	turn(fd);
	for (long i = 0; i < count; i++) {
		int64_t before = now_ns();

		turn(fd);
		took[i] = now_ns() - before;
	}
	return median_us(took, count);
}

static double opens(uint16_t port, int64_t *took, long count)
{
	for (long i = -1; i < count; i++) {
		int64_t before = now_ns();
		int fd = ask(port, 1);

		if (recv(fd, piece, 1, 0) != 1)
			err(1, "nothing came");
		/* The first one also starts what it goes through. */
		took[i < 0 ? 0 : i] = now_ns() - before;
		close(fd);
	}
	return median_us(took, count);
}

int main(int argc, char **argv)
{
	long count = argc == 4 ? strtol(argv[3], NULL, 10) : 0;
	uint16_t port = argc == 4 ? (uint16_t)strtol(argv[2], NULL, 10) : 0;
	int64_t *took;

	if (argc == 2 && strcmp(argv[1], "serve") == 0)
		serve_all();
	if (count < 1 || count > COUNT_MAX)
		errx(2, "usage: bench-transfer serve | bytes|turn|open PORT COUNT");
	took = calloc((size_t)count, sizeof(*took));
	if (!took)
		err(1, "memory");
	printf("%.1f\n", strcmp(argv[1], "bytes") == 0	? megabytes(port, count)
			 : strcmp(argv[1], "turn") == 0 ? turns(port, took, count)
							: opens(port, took, count));
	free(took);
}
