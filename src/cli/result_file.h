/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where `--result` goes. Opened before the command is started, so that a run whose
 * result could not be written is not begun; the name appears at the end, complete, or
 * not at all.
 */
#ifndef CORDON_CLI_RESULT_FILE_H
#define CORDON_CLI_RESULT_FILE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

struct result_file {
	int fd;			/* -1: no result was asked for */
	int dir;		/* of the file; -1: written in place */
	const char *shown;	/* as the user spelled it */
	const char *name;	/* in dir */
	const char *temporary;	/* in dir; NULL: the file has no name yet */
	bool borrowed;		/* fd:N, which stays open */
	bool late;		/* fd only showed that a file can be made */
};

void result_file_init(struct result_file *f);
/* spec: a path or "fd:N". A path in the workdir (NULL: the current directory) must not lead
 * out of it. */
int result_file_open(struct arena *a, const char *spec, const char *workdir,
		     struct result_file *ret, struct cordon_error *err);
int result_file_write(struct arena *a, struct result_file *f, const struct buf *text,
		      struct cordon_error *err);
/* Removes what was not finished; accepts one that was only initialised. */
void result_file_close(struct result_file *f);

#define autoresult __attribute__((cleanup(result_file_close)))

#endif
