/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of libcordon share. Nothing in this layer has state of its own, prints,
 * or touches anything that belongs to the whole process: it may be loaded into anything.
 */
#ifndef CORDON_LIB_LIB_H
#define CORDON_LIB_LIB_H

#include <jansson.h>

#include <cordon/cordon.h>

#include "base/buf.h"
#include "base/vec.h"
#include "policy/builder.h"

/* A caller that does not want to know. Valid in the block it is used in. */
#define LIB_ERR(err) ((err) ? (err) : &(struct cordon_error){ 0 })

struct cordon_policy {
	struct arena arena;
	struct policy_builder said; /* checks what is said, and keeps the first mistake */
	VEC(const char *) words;    /* the same as flags of cordon */
	const char *profile, *workdir, *data_dir, *program;
	char *const *environment; /* NULL: the caller's */
};

/* For cordon_free; NULL: out of memory. */
char *lib_copy(const char *text);

/* --- requests ------------------------------------------------------------------------- */

/* The words of a command line, each with its NUL. */
void lib_add_word(struct buf *words, const char *text);
/* The command and what the policy says. workdir NULL: the policy's. */
int lib_begin_words(struct buf *words, const struct cordon_policy *policy, const char *command,
		    const char *workdir, struct cordon_error *err);
struct buf lib_words(void);

/* The program to start, in the arena or constant. */
int lib_program(struct arena *a, const struct cordon_policy *policy, const char **ret,
		struct cordon_error *err);

/* --- answers -------------------------------------------------------------------------- */

struct lib_reader {
	struct arena arena;
	bool failed; /* memory ran out: what was read is not all of it */
};

/* The text of obj[key], in the arena; NULL: there is none. */
const char *lib_text(struct lib_reader *reader, const json_t *obj, const char *key);
/* A member "error"; false when there is none. */
bool lib_read_error(struct lib_reader *reader, const json_t *obj, struct cordon_error *ret);
void lib_read_violation(struct lib_reader *reader, const json_t *row,
			struct cordon_violation *ret);

/* A result from the answer to a request. An answer that is only an error is that error. */
int lib_read_result(struct str text, struct cordon_result **ret, struct cordon_error *err);
/* Takes the memory of the two. */
void lib_set_output(struct cordon_result *result, struct buf *out, struct buf *err,
		    bool truncated);

#endif
