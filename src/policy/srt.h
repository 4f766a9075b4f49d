/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings files of srt, Anthropic's sandbox runtime, read as they are (docs/srt.md).
 *
 * A file becomes the statements that mean the same on top of the built-in profile "srt".
 * Nothing is dropped in silence: what cannot be kept is an error with its place, what can
 * be left out without opening anything is a warning. srt.def has a row for every key.
 *
 * In srt a path of denyWrite closes whatever allowWrite says below it, and files that
 * decide what runs later are never written. Here the deeper rule wins, so paths of
 * allowWrite that srt would not open are left out, and that is said.
 */
#ifndef CORDON_POLICY_SRT_H
#define CORDON_POLICY_SRT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "policy/layer.h"
#include "policy/world.h"

#define SRT_PROFILE "srt"
#define SRT_BYTES_MAX ((size_t)1 << 20)
/* The most elements of one list. */
#define SRT_LIST_MAX 2000

enum srt_fate { SRT_MAPPED, SRT_SAME, SRT_IGNORED, SRT_REFUSED };

enum srt_key {
#define SRT_KEY(id, key, shape, duty, fate, ours, why) SRT_KEY_##id,
#include "policy/srt.def"
#undef SRT_KEY
	SRT_KEY_COUNT
};

struct srt_row {
	const char *name;	/* "network.allowedDomains" */
	enum srt_shape { SRT_TEXTS, SRT_BOOL, SRT_NUMBER, SRT_TEXT, SRT_OBJECT,
			 SRT_ENTRIES } shape;
	enum srt_duty { SRT_REQUIRED, SRT_OPTIONAL } duty;
	enum srt_fate fate;
	const char *ours;	/* the settings it becomes; "" when none */
	const char *why;
};
extern const struct srt_row srt_rows[SRT_KEY_COUNT];

struct srt_settings {
	const char *file;
	struct layer layer;		/* source SETTINGS */
	bool given[SRT_KEY_COUNT];
	VEC(const char *) warnings;
};

/* Reads the text of a file. The world and the places tell which paths are the same. */
int srt_read(struct arena *a, struct str text, const char *file, const struct places *places,
	     const struct world *world, struct srt_settings *ret, struct cordon_error *err);

#endif
