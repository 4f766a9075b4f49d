/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a TLS client asking for the name that it connected to? Only looks ahead: what was
 * seen stays in the socket's queue and is moved afterwards, so what was compared is what
 * is sent. Until that is decided nothing goes out.
 *
 * A server may ask for a second hello, which is sent in clear as well and can name another
 * host. So the first one goes out alone, and what the client sends behind it waits until the
 * server has said whether it wants that.
 */
#include <errno.h>
#include <poll.h>
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

/* --- looking ---------------------------------------------------------------------- */

static uint8_t ahead[AHEAD_MAX];

enum sight {
	SIGHT_NOTHING, /* nothing yet */
	SIGHT_SOME,
	SIGHT_END, /* nothing comes any more, or it is broken */
	SIGHT_CUT, /* it ended in the middle */
	SIGHT_STUCK, /* something in the queue keeps the rest from being seen */
};

static enum sight look(struct relay_check *check, const struct relay_flow *flow, size_t *ret_n)
{
	struct pollfd more = { .fd = flow->from, .events = POLLIN | POLLRDHUP };
	ssize_t n;

	/* It was the other end that had something: wait_for_more() says when this one has. */
	if (check->seen && poll(&more, 1, 0) <= 0)
		return SIGHT_NOTHING;
	n = recv(flow->from, ahead, sizeof(ahead), MSG_PEEK | MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return SIGHT_NOTHING;
	if (n <= 0)
		return SIGHT_END;
	if ((size_t)n <= check->seen)
		return more.revents & POLLRDHUP ? SIGHT_CUT : SIGHT_STUCK;
	*ret_n = check->seen = (size_t)n;
	return SIGHT_SOME;
}

static void wait_for_more(const struct relay_check *check, const struct relay_flow *flow)
{
	relay_wait_for(flow->from, check->seen + 1);
}

/* What was seen may go, so many bytes of it; the next look begins after them. */
static void let_go(struct relay_check *check, struct relay_flow *flow, uint64_t bytes)
{
	flow->may = bytes;
	check->seen = 0;
	relay_wait_for(flow->from, 1);
}

static void be_over(struct relay_check *check, struct relay_flow *up, struct relay_flow *down)
{
	check->stage = RELAY_STAGE_OVER;
	up->blocked = false;
	let_go(check, up, RELAY_ALL);
	let_go(check, down, RELAY_ALL);
}

/* --- the client's side ------------------------------------------------------------ */

/* The first one goes out alone; the server asks for no third. */
static bool pass_hello(struct relay_check *check, struct relay_flow *up, struct relay_flow *down,
		       size_t n)
{
	if (check->stage == RELAY_STAGE_AGAIN) {
		be_over(check, up, down);
		return true;
	}
	let_go(check, up, n);
	check->stage = RELAY_STAGE_ANSWER;
	down->may = 0;
	return true;
}

static bool judge(struct relay_check *check, struct relay_flow *up, struct relay_flow *down,
		  size_t n, char *ret_other)
{
	size_t length = 0;

	/* Before the second hello there may be what was sent early. */
	if (check->stage == RELAY_STAGE_AGAIN)
		switch (hello_record(ahead, n, &length)) {
		case HELLO_RECORD_MORE:
			wait_for_more(check, up);
			return true;
		case HELLO_RECORD_BESIDE:
			let_go(check, up, length);
			return true;
		case HELLO_RECORD_NOT:
			break;
		}
	switch (hello_read(ahead, n, ret_other, &length)) {
	case HELLO_MORE:
		wait_for_more(check, up);
		return n < AHEAD_MAX;
	case HELLO_OTHER:
		if (check->stage == RELAY_STAGE_AGAIN)
			return false;
		be_over(check, up, down);
		return true;
	case HELLO_NAMELESS:
		return pass_hello(check, up, down, length);
	case HELLO_NAME:
		return strcasecmp(check->name, ret_other) == 0 &&
		       pass_hello(check, up, down, length);
	case HELLO_BAD:
		break;
	}
	/* What was read of it before is not what it asks for. */
	ret_other[0] = '\0';
	return false;
}

static bool check_hello(struct relay_check *check, struct relay_flow *up, struct relay_flow *down,
			char *ret_other)
{
	size_t n;

	ret_other[0] = '\0';
	switch (look(check, up, &n)) {
	case SIGHT_NOTHING:
		return true;
	case SIGHT_SOME:
		return judge(check, up, down, n, ret_other);
	case SIGHT_END:
		be_over(check, up, down);
		return true;
	case SIGHT_CUT:
	case SIGHT_STUCK:
		break;
	}
	return false;
}

/* --- the server's side ------------------------------------------------------------ */

static void judge_answer(struct relay_check *check, struct relay_flow *up,
			 struct relay_flow *down, size_t n)
{
	enum hello_record record;
	size_t length = 0;

	record = hello_record(ahead, n, &length);
	if (record == HELLO_RECORD_BESIDE) {
		let_go(check, down, length);
		return;
	}
	switch (record == HELLO_RECORD_MORE ? HELLO_ANSWER_MORE : hello_answer(ahead, n)) {
	case HELLO_ANSWER_MORE:
		wait_for_more(check, down);
		break;
	case HELLO_ANSWER:
		be_over(check, up, down);
		break;
	case HELLO_ANSWER_AGAIN:
		check->stage = RELAY_STAGE_AGAIN;
		up->blocked = false;
		let_go(check, down, RELAY_ALL);
		break;
	}
}

/* A client that has ended sends no second hello; one that sent more waits, and is not asked
 * again and again whether it did. */
static void check_waiting(struct relay_check *check, struct relay_flow *up, struct relay_flow *down)
{
	char one;
	ssize_t n = recv(up->from, &one, 1, MSG_PEEK | MSG_DONTWAIT);

	up->blocked = n > 0;
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		be_over(check, up, down);
}

static bool check_answer(struct relay_check *check, struct relay_flow *up, struct relay_flow *down)
{
	size_t n;

	if (!down->may)
		switch (look(check, down, &n)) {
		case SIGHT_NOTHING:
			break;
		case SIGHT_SOME:
			judge_answer(check, up, down, n);
			break;
		case SIGHT_END:
		case SIGHT_CUT:
			/* Who did not say it all asks for nothing. */
			be_over(check, up, down);
			break;
		case SIGHT_STUCK:
			return false;
		}
	if (check->stage == RELAY_STAGE_ANSWER && !up->may)
		check_waiting(check, up, down);
	return true;
}

/* --- both ------------------------------------------------------------------------- */

void relay_check_begin(struct relay_check *check, const char *name, struct relay_flow *up)
{
	*check = (struct relay_check){ .stage = RELAY_STAGE_FIRST, .name = name };
	up->may = 0;
}

bool relay_check(struct relay_check *check, struct relay_flow *up, struct relay_flow *down,
		 char *ret_other)
{
	/* A server of TLS waits for the client. Where it spoke first this is something else, in
	 * which the client's first bytes may well look like TLS. */
	if (check->stage == RELAY_STAGE_FIRST && !check->seen && down->bytes)
		be_over(check, up, down);
	switch (check->stage) {
	case RELAY_STAGE_OVER:
		break;
	case RELAY_STAGE_FIRST:
	case RELAY_STAGE_AGAIN:
		return up->may || check_hello(check, up, down, ret_other);
	case RELAY_STAGE_ANSWER:
		ret_other[0] = '\0';
		return check_answer(check, up, down);
	}
	return true;
}
