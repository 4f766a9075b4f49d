/* SPDX-License-Identifier: Apache-2.0 */
/*
 *	ask NAME ...
 *
 * Says for each name its addresses, by getaddrinfo or (WITH_CARES) by c-ares, and the last
 * line that a web server on port 80 of its last address sends. Plain C, so that it can
 * be built with any C library.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef WITH_CARES
#include <ares.h>
#endif

static struct sockaddr_storage last;
static socklen_t last_size;

static void print(const struct sockaddr *a, socklen_t size)
{
	char text[INET6_ADDRSTRLEN];
	const void *number = a->sa_family == AF_INET
				     ? (const void *)&((const struct sockaddr_in *)a)->sin_addr
				     : (const void *)&((const struct sockaddr_in6 *)a)->sin6_addr;

	printf(" %s", inet_ntop(a->sa_family, number, text, sizeof(text)));
	memcpy(&last, a, size);
	last_size = size;
}

static void get(void)
{
	static const char request[] = "GET / HTTP/1.0\r\n\r\n";
	char text[4096];
	size_t n = 0;
	ssize_t more = 1;
	int fd = socket(last.ss_family, SOCK_STREAM, 0);

	if (connect(fd, (struct sockaddr *)&last, last_size) < 0 ||
	    write(fd, request, sizeof(request) - 1) < 0) {
		perror("connect");
		exit(1);
	}
	while (more > 0 && n < sizeof(text) - 1) {
		more = read(fd, text + n, sizeof(text) - 1 - n);
		n += more > 0 ? (size_t)more : 0;
	}
	close(fd);
	/* Without the last line's end. */
	text[n > 0 ? n - 1 : 0] = '\0';
	printf(" %s\n", strrchr(text, '\n') ? strrchr(text, '\n') + 1 : text);
}

#ifdef WITH_CARES
static void found(void *data, int status, int timeouts, struct ares_addrinfo *result)
{
	(void)timeouts;
	*(int *)data = status == ARES_SUCCESS;
	for (struct ares_addrinfo_node *a = result ? result->nodes : NULL; a; a = a->ai_next)
		print(a->ai_addr, a->ai_addrlen);
	if (result)
		ares_freeaddrinfo(result);
}

static void wait_for(ares_channel channel)
{
	for (;;) {
		fd_set in, out;
		struct timeval until;
		int n;

		FD_ZERO(&in);
		FD_ZERO(&out);
		n = ares_fds(channel, &in, &out);
		if (n == 0)
			return;
		select(n, &in, &out, NULL, ares_timeout(channel, NULL, &until));
		ares_process(channel, &in, &out);
	}
}

static int resolve(const char *name, int family)
{
	struct ares_addrinfo_hints hints = { .ai_family = family, .ai_socktype = SOCK_STREAM };
	ares_channel channel;
	int good = 0;

	if (ares_library_init(ARES_LIB_INIT_ALL) || ares_init(&channel))
		exit(1);
	ares_getaddrinfo(channel, name, "80", &hints, found, &good);
	wait_for(channel);
	ares_destroy(channel);
	return good;
}
#else
static int resolve(const char *name, int family)
{
	struct addrinfo hints = { .ai_family = family, .ai_socktype = SOCK_STREAM };
	struct addrinfo *all = NULL;

	if (getaddrinfo(name, "80", &hints, &all) != 0)
		return 0;
	for (struct addrinfo *a = all; a; a = a->ai_next)
		print(a->ai_addr, a->ai_addrlen);
	freeaddrinfo(all);
	return 1;
}
#endif

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int four, six;

		printf("%s:", argv[i]);
		four = resolve(argv[i], AF_INET);
		six = resolve(argv[i], AF_INET6);
		if (four && six)
			get();
		else
			printf(four || six ? " half\n" : " nothing\n");
	}
	return 0;
}
