/* SPDX-License-Identifier: Apache-2.0 */
/*
 * witness: who made a name, and who opened what it stands for. The kernel tells it to root, by
 * fanotify: of each name that is made in a directory, moved there or opened, the thread that did
 * it and the object. For everybody else there is no witness, and nothing is known. Whether it was
 * opened for writing is not told, and what was opened by another name is not seen.
 *
 * What is remembered is bounded, and it is all forgotten where something was left out: then
 * nothing is known of it. Events that nobody asks about wait in the kernel, a bounded number
 * of them, too. Whoever makes them faster than they are listened to ends it.
 */
#ifndef CORDON_RUN_WITNESS_H
#define CORDON_RUN_WITNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WITNESS_SEEN_MAX 64
#define WITNESS_HANDLE_MAX 128 /* MAX_HANDLE_SZ */

/* An object, for as long as its file system exists. */
struct witness_object {
	int32_t fsid[2];
	int type;
	unsigned n;
	unsigned char bytes[WITNESS_HANDLE_MAX];
};

struct witness {
	/* Set by the owner: the name itself if it is one of those that matter, which must stay
	 * where it is; otherwise NULL. */
	const char *(*knows)(void *data, const char *name);
	/* Likewise: can that have been one of the command's, going by what is known when it is
	 * listened to? */
	bool (*ours)(void *data, pid_t tid);
	void *data;
	/* Its own. */
	bool began;
	int fd; /* -1: none is to be had */
	struct witness_seen {
		const char *name;
		bool ours;  /* otherwise it was put there, not only opened */
		bool moved; /* it was there by another name before */
		struct witness_object object;
	} seen[WITNESS_SEEN_MAX];
	size_t n;
};

/* False: there is none. */
bool witness_begin(struct witness *w);
/* From now on this directory is watched, which may be O_PATH; again has no effect. */
void witness_watch(struct witness *w, int dir);
/* Takes in what was seen since the last time; of one that there is not, nothing. */
void witness_listen(struct witness *w);
/* Was what is called that in the directory put there by others alone, and opened there by
 * nobody else? And made there, if it must be `new`: then nobody has it open from before. */
bool witness_saw_others(struct witness *w, int dir, const char *name, bool new);
void witness_end(struct witness *w); /* accepts one that never began */

#endif
