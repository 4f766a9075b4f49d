/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking a proxy to connect. Only its answer is taken from the socket: what comes after it
 * is the other side's and is moved like everything else.
 */
#include <errno.h>
#include <sys/socket.h>

#include "net/relay_in.h"

bool relay_proxy_ask(int fd, const struct host *target, const struct proxy *proxy)
{
	autobuf struct buf text = buf_make(PROXY_REQUEST_MAX);

	proxy_write_request(&text, target, proxy);
	/* The first bytes of a connection fit. */
	return !text.failed && send(fd, text.p, text.n, MSG_NOSIGNAL) == (ssize_t)text.n;
}

static bool granted(unsigned status)
{
	return status >= 200 && status < 300;
}

enum relay_says relay_proxy_says(int fd, size_t *seen, unsigned *ret_status)
{
	static uint8_t bytes[PROXY_ANSWER_MAX];
	ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_PEEK | MSG_DONTWAIT);
	unsigned status = 0;
	size_t length;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return RELAY_SAYS_LATER;
	/* It has ended, and nothing more was readable than before. */
	if (n <= 0 || (size_t)n <= *seen)
		return RELAY_SAYS_NO;
	*seen = (size_t)n;
	switch (proxy_read_answer(bytes, (size_t)n, &status, &length)) {
	case PROXY_ANSWER_MORE:
		relay_wait_for(fd, *seen + 1);
		return RELAY_SAYS_LATER;
	case PROXY_ANSWER_READ:
		*ret_status = status;
		relay_wait_for(fd, 1);
		return granted(status) && recv(fd, bytes, length, MSG_DONTWAIT) == (ssize_t)length
			       ? RELAY_SAYS_YES
			       : RELAY_SAYS_NO;
	case PROXY_ANSWER_BAD:
		break;
	}
	return RELAY_SAYS_NO;
}
