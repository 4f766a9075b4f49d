/* SPDX-License-Identifier: Apache-2.0 */
/* Frames as bytes; who reads and writes them is elsewhere. */
#include "fmt/frame.h"

#include <string.h>

#define stage "frame"

struct header {
	uint32_t kind, length;
};
_Static_assert(sizeof(struct header) == FRAME_HEADER, "a header without holes");

bool frame_limit(uint32_t kind, size_t *ret)
{
	switch (kind) {
#define FRAME(name, number, most) \
	case FRAME_##name: \
		*ret = (most); \
		return true;
#include "fmt/frames.def"
#undef FRAME
	}
	return false;
}

int frame_find(struct str in, struct frame *ret, size_t *ret_used, struct cordon_error *err)
{
	struct header h;
	size_t most;

	if (in.n < sizeof(h))
		return 0;
	memcpy(&h, in.p, sizeof(h));
	if (!frame_limit(h.kind, &most))
		return err_set(err, CORDON_E_SYNTAX, 0, stage, "a message of the unknown kind %u",
			       h.kind);
	if (h.length > most)
		return err_set(err, CORDON_E_LIMIT, 0, stage,
			       "a message of kind %u with %u bytes, at most %zu", h.kind, h.length,
			       most);
	if (in.n - sizeof(h) < h.length)
		return 0;
	*ret = (struct frame){ (enum frame_kind)h.kind,
			       str_take(str_skip(in, sizeof(h)), h.length) };
	*ret_used = sizeof(h) + h.length;
	return 1;
}

bool frame_add(struct buf *out, enum frame_kind kind, struct str body)
{
	struct header h = { kind, (uint32_t)body.n };
	size_t most, before = out->n;

	if (!frame_limit(kind, &most) || body.n > most || out->failed)
		return false;
	buf_add(out, (struct str){ (const char *)&h, sizeof(h) });
	buf_add(out, body);
	if (!out->failed)
		return true;
	out->n = before;
	if (out->cap)
		out->p[before] = '\0';
	out->failed = false;
	return false;
}

static int bad_words(struct cordon_error *err, const char *why)
{
	return err_set(err, CORDON_E_SYNTAX, 0, stage, "the words of a request %s", why);
}

int frame_words(struct arena *a, struct str body, char ***ret, struct cordon_error *err)
{
	size_t n = 0;
	char **words;
	char *copy;

	for (size_t i = 0; i < body.n; i++)
		n += body.p[i] == '\0';
	if (body.n && body.p[body.n - 1] != '\0')
		return bad_words(err, "do not end");
	if (n > FRAME_WORDS_MAX)
		return bad_words(err, "are too many");
	words = arena_array(a, n + 1, sizeof(*words));
	copy = arena_dup(a, body);
	if (!words || !copy)
		return err_nomem(err, stage);
	for (size_t i = 0; i < n; i++) {
		words[i] = copy;
		copy += strlen(copy) + 1;
	}
	*ret = words;
	return 0;
}
