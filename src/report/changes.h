/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes: what is different in the writable places after a run, found by comparing
 * what was there before with what is there then. Names that somebody executes later,
 * outside the sandbox, are marked and come first.
 *
 * A comparison cannot tell who made a change: what others did meanwhile is in it too.
 */
#ifndef CORDON_REPORT_CHANGES_H
#define CORDON_REPORT_CHANGES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"

#define CHANGES_MAX 1000     /* names kept of each kind */
#define CHANGES_LINES_MAX 10 /* names told to a person */
#define CHANGES_UNSEEN_MAX 64

/* One file as it was seen. */
struct seen_file {
	struct str path;
	uint64_t dev, ino, size;
	int64_t mtime_ns, ctime_ns;
	uint32_t mode;
};

struct snapshot {
	VEC(struct seen_file) files;
	VEC(struct str) unseen; /* directories that could not be entered, or lie too deep */
	bool incomplete;	/* there was more than can be kept */
};

/* Brings the files into the order that changes_between needs. */
void snapshot_sort(struct snapshot *s);

enum change_kind { CHANGE_CREATED, CHANGE_CHANGED, CHANGE_DELETED, CHANGE_KINDS };
const char *change_kind_to_string(enum change_kind kind);

struct change {
	struct str path;
	const char *later; /* who executes it later; NULL: nobody that is known */
};

struct changes {
	bool asked;	 /* false: nobody looked */
	bool incomplete; /* too many files to compare: the lists are empty */
	VEC(struct change) lists[CHANGE_KINDS];
	size_t count[CHANGE_KINDS]; /* of all, kept or not */
	VEC(struct str) unseen;	    /* directories: what changed in them is not known */
};

/* Both sorted. Paths are those of the snapshots. */
int changes_between(struct arena *a, const struct snapshot *before, const struct snapshot *after,
		    struct changes *ret, struct cordon_error *err);

/* Who executes a file of that name later; NULL: nobody that is known. */
const char *later_run_by(struct str path);

/* The member `changes` of docs/result.schema.json; NULL: out of memory. changes may be
 * NULL. */
json_t *changes_to_json(const struct changes *changes);
/* Lines for a person, each with its newline; nothing when nothing changed. */
void changes_print(struct buf *b, const struct changes *changes);

#endif
