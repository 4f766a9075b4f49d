/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a TLS client asking for the name that it connected to? Only looks ahead: what was
 * seen stays in the socket's queue and is moved afterwards, so what was compared is what
 * is sent. Until that is decided nothing goes out.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "net/relay_in.h"

/* Records of one byte each are allowed, and then five bytes are needed for one. */
#define AHEAD_MAX (HELLO_BYTES_MAX * 2)

void relay_wait_for(int fd, size_t bytes)
{
	int least = (int)bytes;

	setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &least, sizeof(least));
}

static enum relay_asks judge(const uint8_t *bytes, size_t n, const char *name, char *ret_other)
{
	switch (hello_read(bytes, n, ret_other)) {
	case HELLO_MORE:
		return n < AHEAD_MAX ? RELAY_ASKS_LATER : RELAY_ASKS_WRONG;
	case HELLO_OTHER:
		return RELAY_ASKS_RIGHT;
	case HELLO_NAME:
		return strcasecmp(name, ret_other) == 0 ? RELAY_ASKS_RIGHT : RELAY_ASKS_WRONG;
	case HELLO_BAD:
		break;
	}
	/* What was read of it before is not what it asks for. */
	ret_other[0] = '\0';
	return RELAY_ASKS_WRONG;
}

enum relay_asks relay_asks(int fd, const char *name, size_t *seen, char *ret_other)
{
	static uint8_t bytes[AHEAD_MAX];
	enum relay_asks answer;
	ssize_t n;

	ret_other[0] = '\0';
	n = recv(fd, bytes, sizeof(bytes), MSG_PEEK | MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return RELAY_ASKS_LATER;
	if (n <= 0)
		return RELAY_ASKS_RIGHT;
	/* It ended, or something in the queue keeps the rest from being seen. */
	if ((size_t)n <= *seen)
		return RELAY_ASKS_WRONG;
	*seen = (size_t)n;
	answer = judge(bytes, (size_t)n, name, ret_other);
	relay_wait_for(fd, answer == RELAY_ASKS_LATER ? *seen + 1 : 1);
	return answer;
}
