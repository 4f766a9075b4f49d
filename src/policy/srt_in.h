/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that read settings of srt; nobody else includes it. */
#ifndef CORDON_POLICY_SRT_IN_H
#define CORDON_POLICY_SRT_IN_H

#include "policy/srt.h"

/* A path as the file spells it, and as cordon does. */
struct srt_path {
	struct str text;	/* as cordon spells it */
	struct str real;	/* where it leads; empty for a glob */
	bool glob;
	struct origin origin;
};

struct srt_path_list {
	VEC(struct srt_path) items;
};

struct srt_reader {
	struct arena *arena;
	const struct places *places;
	const struct world *world;
	struct srt_settings *to;
	/* Kept until all are known, for they decide on each other. */
	struct srt_path_list deny_read, allow_read, allow_write, deny_write, credentials;
	const struct origin *deny_all;	/* deniedDomains has "*" */
	const struct origin *deny_port;	/* ... or "*:PORT" */
	struct cordon_error *err;
};

/* One path of the file, in cordon's spelling; closes: a list that takes something away. */
int srt_add_path(struct srt_reader *r, struct srt_path_list *list, struct str text, bool closes,
		 const struct origin *origin);
/* What the four lists say together, as statements. */
int srt_add_rules(struct srt_reader *r);
__attribute__((format(printf, 3, 4)))
int srt_warn(struct srt_reader *r, const struct origin *origin, const char *fmt, ...);

#endif
