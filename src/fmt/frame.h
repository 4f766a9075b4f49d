/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame: messages on a socket between two processes of one machine: a kind and a length,
 * four bytes each as the machine has them, then so many bytes. Each kind has its own
 * ceiling (frames.def); an unknown kind or a longer body is the end of the conversation.
 */
#ifndef CORDON_FMT_FRAME_H
#define CORDON_FMT_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* Both ends are of one release, or this number tells them apart. */
#define FRAME_PROTOCOL 1

#define FRAME_HEADER 8
#define FRAME_WORDS_MAX 65536

enum frame_kind {
#define FRAME(name, number, most) FRAME_##name = (number),
#include "fmt/frames.def"
#undef FRAME
};

/* The most bytes a body may have; false: there is no such kind. */
bool frame_limit(uint32_t kind, size_t *ret);

struct frame {
	enum frame_kind kind;
	struct str body; /* in the text it was found in */
};

/* The first frame in `in`: 1, and how many bytes it takes; 0: it is not complete yet;
 * negative: this is not ours. */
int frame_find(struct str in, struct frame *ret, size_t *ret_used, struct cordon_error *err);
/* Appends a frame; false when the body is too long or memory is out, which leaves nothing
 * of it. */
bool frame_add(struct buf *out, enum frame_kind kind, struct str body);

/* The words of a request, NULL-terminated, in the arena. */
int frame_words(struct arena *a, struct str body, char ***ret, struct cordon_error *err);

#endif
