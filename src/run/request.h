/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request: one call that waits for an answer, its arguments taken apart (calls.def).
 *
 * Paths are read once, from memory that another thread may change at any time.
 */
#ifndef CORDON_RUN_REQUEST_H
#define CORDON_RUN_REQUEST_H

#include <limits.h>
#include <linux/seccomp.h>

#include "run/inflight.h"
#include "run/target.h"

enum call_kind {
	CALL_OPEN,
	CALL_OPENAT2,
	CALL_CREAT,
	CALL_MKDIR,
	CALL_MAKE,
	CALL_LINK,
	CALL_RENAME,
	CALL_BIND,
	CALL_CONNECT,
	/* Never answered but with "go on". */
	CALL_REMOVE,
	CALL_CHANGE,
	CALL_CHANGE_LINK, /* of a link itself */
	CALL_CHANGE_OPEN, /* of an open file */
	CALL_EXEC,
	CALL_CHDIR,
};

struct call_row {
	int nr;
	const char *name;
	enum call_kind kind;
	int dirfd, path, from_dirfd, from_path, flags; /* numbers of arguments */
};

struct request {
	const struct seccomp_notif *call;
	const struct call_row *row;
	struct target target;
	int dirfd, from_dirfd;
	uint64_t flags;
	/* After request_read. */
	char path[PATH_MAX], from[PATH_MAX];
	size_t path_n, from_n;
};

/* False for a call that is not in the table. */
bool request_init(struct request *q, const struct seccomp_notif *call, struct target_view *view);
/* An openat2 that is, going by its flags, as good as an openat: it is one from here on. */
void request_is_open(struct request *q, uint64_t flags);
uint64_t request_argument(const struct request *q, int i);
/* Of a call; the text is a constant. */
const char *request_call_name(int nr);
/* Reads the paths; of bind and connect the name of a unix socket, which is empty for any
 * other address. Returns 0 or an errno, negative. */
int request_read(struct request *q);

/* Of one that is read: does openat2 with these ways of resolving find what openat finds? If so,
 * the path has become openat's. A link or dots on a way that must stay below the directory are
 * not followed here; false. */
bool request_resolves_plainly(struct request *q, uint64_t resolve);
/* Is it only to be seen, whatever it is about? */
bool request_is_watched(const struct request *q);
/* Is it about what its descriptor leads to, without any path? */
bool request_is_by_descriptor(const struct request *q);
/* O_TMPFILE names a directory in which a file without a name is made. */
bool request_is_nameless(const struct request *q);
/* Does it go through a link in the last place? */
bool request_follows(const struct request *q);
/* Such an open makes what a link in the last place leads to. */
bool request_creates_through_link(const struct request *q);
/* Can it make a name, or open a file for writing, whatever becomes of the memory it was read
 * from? Of one that is not only watched. */
bool request_makes(const struct request *q, enum inflight_kind *ret);

#endif
