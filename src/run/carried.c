/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes on their way between two descriptors that do not block. */
#include "run/carried.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

bool carried_fill(struct carried *c, int fd, bool *ended)
{
	ssize_t got;

	if (c->from == c->n)
		c->from = c->n = 0;
	if (c->n == sizeof(c->bytes))
		return false;
	got = read(fd, c->bytes + c->n, sizeof(c->bytes) - c->n);
	if (got > 0)
		c->n += (size_t)got;
	else if (got == 0 || (errno != EAGAIN && errno != EINTR))
		*ended = true;
	return got > 0;
}

bool carried_pour(struct carried *c, int fd)
{
	while (c->from < c->n) {
		ssize_t done = write(fd, c->bytes + c->from, c->n - c->from);

		if (done > 0)
			c->from += (size_t)done;
		else if (errno != EINTR)
			return errno == EAGAIN;
	}
	return true;
}

bool carried_has_room(const struct carried *c)
{
	return c->n < sizeof(c->bytes) || c->from == c->n;
}

void shown_text_add(struct shown_text *s, struct str text)
{
	size_t too_many;

	if (text.n > SHOWN_BYTES)
		text = str_skip(text, text.n - SHOWN_BYTES);
	if (s->n + text.n > SHOWN_BYTES) {
		too_many = s->n + text.n - SHOWN_BYTES;
		s->n -= too_many;
		memmove(s->bytes, s->bytes + too_many, s->n);
	}
	memcpy(s->bytes + s->n, text.p, text.n);
	s->n += text.n;
	s->untold += text.n;
	if (s->untold > s->n)
		s->untold = s->n;
}

struct str shown_text_untold(const struct shown_text *s)
{
	return (struct str){ s->bytes + s->n - s->untold, s->untold };
}
