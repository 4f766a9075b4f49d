/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Truth tables (*.t): a fixture, named policies, and rows of one operation on one
 * object each. Words are separated by blanks; # starts a comment line. In paths \xNN
 * is a byte (\x20 a blank).
 *
 *	dir PATH...  file PATH...  socket PATH...   what exists; parents are implied
 *	link PATH TARGET                            a symlink
 *	closed PATH                                 a directory that cannot be searched
 *	folding PATH                                a directory that compares names folded
 *	place NAME PATH      workdir home tmp data cordon_home gitdir gitcommon;
 *	                     own: the passwd file's home; other: one more, may be repeated
 *	policy NAME [--profile P] [--no-sandbox] [FLAG [VALUE]]...
 *	system|user|project NAME | line of TOML     the configuration of that policy
 *	above NAME | line of TOML                   a project file in the root directory
 *	NAME OP OBJECT VERDICT [RULE] [!model]      a row
 *	NAME rename|exchange|link FROM TO VERDICT [WHY]
 *
 * Places hold for the whole file. OP is read, write, exec, create or connect; VERDICT is
 * allow, deny, refused (a host that cannot be named) or unconfined. RULE is
 * LAYER:RIGHT:SPELLING of the deciding rule, "-" where none matched, or LAYER alone;
 * for connect LAYER:PATTERN or LAYER. WHY is a word of rename_why_to_string, and with it
 * WHY:OBJECT the object that decided. !model marks a row that no mechanism of a
 * kernel can show.
 */
#ifndef CORDON_TESTS_TABLE_H
#define CORDON_TESTS_TABLE_H

#include <stdbool.h>
#include "base/vec.h"
#include "policy/policy.h"
#include "world_fake.h"

enum table_verdict { VERDICT_ALLOW, VERDICT_DENY, VERDICT_REFUSED, VERDICT_UNCONFINED };

struct table_policy {
	struct str name;
	unsigned line;
	const char *profile;
	bool no_sandbox;
	struct layer flags;
	const char *text[SOURCE_PROJECT + 1]; /* TOML by source; NULL: no such file */
	struct config config[SOURCE_PROJECT + 1];
	const char *above_text;
	struct config above;
	struct policy *policy; /* made by table_build */
};

enum table_kind { ROW_PATH, ROW_CONNECT, ROW_RENAME, ROW_EXCHANGE, ROW_LINK };

struct table_row {
	unsigned line;
	struct table_policy *policy;
	enum table_kind kind;
	enum policy_op op; /* of a ROW_PATH */
	struct str object;
	struct str to;	   /* of a rename, exchange or link */
	enum table_verdict verdict;
	struct str rule; /* empty: not said */
	bool model_only;
	struct str text; /* the line, for messages */
};

struct table {
	struct arena *arena;
	const char *name;
	struct fake_world fake;
	struct places places;
	VEC(struct str) other_homes;
	VEC(struct table_policy *) policies;
	VEC(struct table_row) rows;
};

/* Reads a table; errors name file and line. */
int table_read(struct arena *a, struct str text, const char *name, struct table *ret,
	       struct cordon_error *err);
/* Builds every policy of it with the fake world. */
int table_build(struct table *table, const struct config *builtin, struct cordon_error *err);
/* Does the policy say what the row says? If not, *ret_got tells what it says. */
bool table_row_holds(const struct table *table, const struct table_row *row, const char **ret_got);

#endif
