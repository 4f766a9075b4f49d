/* SPDX-License-Identifier: Apache-2.0 */
/*
 * violation: what was refused during a run, kept until it is told.
 *
 * Whoever refuses or sees a refusal calls violations_add with what it knows; nothing
 * here decides anything. The same operation on the same object is one violation with a
 * count, and at most VIOLATIONS_MAX different ones are kept, so a command that is
 * refused ten thousand times a second costs a hash look-up each and no memory; what
 * found no room is only counted.
 *
 * What the rule was, and what would change it, is asked for when the violations are
 * told, from an advisor: the cli has one that tries a change before it names it.
 */
#ifndef CORDON_REPORT_VIOLATION_H
#define CORDON_REPORT_VIOLATION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "policy/rules.h"
#include "report/fix.h"

#define VIOLATIONS_MAX 256
#define VIOLATIONS_ADVISORY_MAX 64 /* of these, so that they leave room for what counts */
/* The object where it is only known that the policy names none of them. */
#define VIOLATION_UNLISTED "unlisted addresses"
#define VIOLATION_OBJECT_MAX 4095 /* bytes; PATH_BYTES_MAX */
#define VIOLATION_PROGRAM_MAX 16  /* with its terminator, as the kernel's comm */

enum violation_op {
#define VIOLATION_OP(name, doing) VIOLATION_##name,
#include "report/violation.def"
#undef VIOLATION_OP
	VIOLATION_OP_COUNT
};

enum violation_source {
#define VIOLATION_SOURCE(name, how) VIOLATION_BY_##name,
#include "report/violation.def"
#undef VIOLATION_SOURCE
	VIOLATION_SOURCE_COUNT
};

const char *violation_op_to_string(enum violation_op op);
bool violation_op_from_string(struct str text, enum violation_op *ret);
const char *violation_op_doing(enum violation_op op); /* "reading" */
const char *violation_source_to_string(enum violation_source source);
bool violation_source_from_string(struct str text, enum violation_source *ret);
const char *violation_source_how(enum violation_source source); /* "seen by the guard" */

/* Did the program need what was refused? */
enum violation_need {
	VIOLATION_NEEDED,  /* or nobody knows */
	VIOLATION_DOUBTED, /* the same name is tried by those who can do without */
	VIOLATION_SPARED,  /* no: it went on and ended well */
};

struct violation {
	enum violation_op op;
	enum violation_source source;
	/* A normal path as the sandbox shows it, host[:port], or of `call` the name of a
	 * system call. */
	struct str object;
	/* The deciding rule where the caller has it at hand, else NULL. It must live
	 * longer than the store. */
	const struct rule *rule;
	const char *reason;	/* why, where no rule says; a constant, or NULL */
	/* Of a write: its name was to be taken away, moved or replaced, for which its directory
	 * is written. */
	bool removes, moves;
	bool directory; /* of a write: a directory was to be made */
	bool opens;	/* of a write: a file was to be opened, where it is there or not */
	bool opens_new; /* the same, where there must be none */
	bool several;	/* it stands for several in the directory that is its object */
	bool links;	/* of a write: a file was to get another name, for which it is written */
	/* Of what the policy allows and cannot be done: it is told and decides nothing. Of what
	 * whoever tried it surely does in another way violations_add sets it. */
	bool advisory;
	enum violation_need need; /* set by violations_add and violations_settle */
	bool inner;		/* of a call: all who made it are this very program */
	int pid;		/* as the host numbers it; 0: not known */
	char program[VIOLATION_PROGRAM_MAX]; /* its comm; "": not known */
	int errnum;		/* what the command was answered; 0: not known */
	uint64_t time_ms;	/* since 1970; 0: violations_add takes the time */
	uint64_t count;		/* how often; of what is added, 0: once */
};

struct violations;

struct violations *violations_new(void); /* NULL: out of memory */
void violations_free(struct violations *all); /* accepts NULL */

/* Notes a violation; object and program are copied. Never fails: what cannot be kept
 * (no room, no memory) is counted. An object that is empty is called "(no name)", of one
 * that is too long the beginning is kept. True when it is the first of its kind and was
 * kept. Accepts a NULL store. */
bool violations_add(struct violations *all, const struct violation *v);

/* Called with each violation that violations_add keeps, at once. The listener lives in
 * the caller's memory and stays in place until it is taken off or the store is freed. */
struct violation_listener {
	void (*first)(void *data, const struct violation *v);
	void *data;
	struct violation_listener *next;
};
void violations_listen(struct violations *all, struct violation_listener *listener);
void violations_unlisten(struct violations *all, struct violation_listener *listener);

/* All of these accept NULL, which is empty. */
size_t violations_count(const struct violations *all); /* kept, in order of arrival */
const struct violation *violations_at(const struct violations *all, size_t i);
bool violations_has_object(const struct violations *all, struct str object);
uint64_t violations_dropped(const struct violations *all); /* counted and not kept */
/* Violations that count, kept or not: somebody saw them, as opposed to those inferred, and
 * they are not advisory. */
bool violation_counts(const struct violation *v);
size_t violations_observed(const struct violations *all);

/* After a run: which of them its programs, `program` the first of them, did without; of most that
 * is known only when it ended well. Nothing is counted otherwise for it. */
void violations_settle(struct violations *all, struct str program, bool ended_well);

/* What is known about the rule behind a violation. Text belongs to the advisor. */
struct violation_advice {
	const char *rule;	/* in words; NULL: not known */
	const char *origin;	/* file:line or "profile NAME"; NULL: not known */
	struct fix fix;
};

struct violation_advisor {
	/* Fills *ret, which is zeroed. */
	void (*advise)(void *data, const struct violation *v, struct violation_advice *ret);
	void *data;
};

/* One as docs/result.schema.json says; NULL: out of memory. advisor may be NULL. */
json_t *violation_to_json(const struct violation *v, const struct violation_advisor *advisor);
/* An array as docs/result.schema.json says; NULL: out of memory. advisor may be NULL. */
json_t *violations_to_json(const struct violations *all, const struct violation_advisor *advisor);

#endif
