/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan: a flat list of operations made from a policy for one backend, plus what
 * that backend cannot do of it. `explain`, `--dry-run`, golden tests, fuzzers and the
 * kernel all get this very object.
 *
 * Pure: compiling asks the world only what it already told the policy.
 */
#ifndef CORDON_PLAN_PLAN_H
#define CORDON_PLAN_PLAN_H

#include <jansson.h>
#include <stdbool.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"
#include "plan/caps.h"
#include "policy/policy.h"

enum guarantee {
#define GUARANTEE(id, ...) GUARANTEE_##id,
#include "plan/guarantees.def"
#undef GUARANTEE
	GUARANTEE_COUNT
};

struct guarantee_row {
	const char *name;
	const char *promise;
	bool required;
};
extern const struct guarantee_row guarantee_rows[GUARANTEE_COUNT];

enum op_kind {
#define OP(id, ...) OP_##id,
#include "plan/ops.def"
#undef OP
	OP_KIND_COUNT
};

enum op_view { VIEW_NONE, VIEW_HIDDEN, VIEW_OWN, VIEW_READ, VIEW_WRITE };

struct op_row {
	const char *name;
	enum guarantee guarantee;
	enum op_view view;
	const char *help;
};
extern const struct op_row op_rows[OP_KIND_COUNT];

/* Which file a RESOLVER covers. */
enum resolver_file { RESOLVER_SERVERS, RESOLVER_HOSTS };

struct op {
	enum op_kind kind;
	struct str path;	/* the object; a name for ENV_SET, NET_*, PUBLISH, LIMIT, REPORT */
	struct str source;	/* bind: the host's path; symlink: its target; variable: value */
	uint64_t number;	/* limit, size, port; HIDE_DIR: 1 when something below shows;
				 * ROOT_HOST: 1 when it is writable;
				 * EXEC, NOEXEC: 1 when the path is writable;
				 * RESOLVER: enum resolver_file */
	struct node node;	/* of a bound path, as it was when the policy was built */
	bool twin;		/* HIDE, BIND_RO, NOEXEC: the kernel knows it by another spelling,
				 * too, which gives more and which no mount on this one covers */
	bool runs;		/* HIDE with a twin: by which a program could be executed */
	bool found;		/* no rule names it: it was there, and may be gone or another */
	bool lost;		/* the backend does not claim it */
	const struct rule *rule;	/* why; NULL when no path rule made it */
};

/* What a backend truly enforces; `missing` says which capability an unclaimed
 * operation would need (CAP_COUNT: none would help). */
struct plan;
struct claims {
	const char *backend;
	bool enforces[OP_KIND_COUNT];
	enum cap missing[OP_KIND_COUNT];
	/* Looks at an operation whose kind is claimed and may still say no, because of
	 * where it stands in the plan. NULL: the kind says it all. */
	bool (*enforces_op)(const struct plan *plan, const struct op *op,
			    const struct caps *caps);
	const struct caps *caps;	/* what enforces_op gets */
};

struct loss {
	enum guarantee guarantee;
	enum op_kind op;	/* the first operation that could not be claimed */
	const struct op *twin;	/* the operation, if because of another spelling; else NULL */
	enum cap missing;
	const char *why;	/* it is missing, where more is known than the table says */
	bool required;
};

struct plan {
	const struct policy *policy;
	const char *backend;
	VEC(struct op) ops;
	bool promised[GUARANTEE_COUNT];	/* the policy asks for it */
	bool enforced[GUARANTEE_COUNT];
	VEC(struct loss) degraded;
	struct str caller_tmp;	/* the TMPDIR the caller handed on; empty: none */
};

/* A path that exists, found by looking rather than named by a rule. */
struct found_path {
	struct str path;
	struct node node;
};

struct plan_input {
	const struct policy *policy;
	const struct claims *claims;
	const struct world *world;	/* for sockets, and parents of what is protected */
	const char *const *environ;	/* the caller's, NULL-terminated "NAME=VALUE" */
	const struct found_path *hidden;	/* hidden names at the top of the workdir */
	size_t hidden_count;
	const struct found_path *sockets;	/* unix sockets of the host */
	size_t socket_count;
	bool sockets_known;	/* the list could be read */
};

/* Compiles. A promise that is required and not claimed is listed in degraded with
 * `required` set; plan_check turns that into a refusal. Errors are rules that cannot be
 * expressed at all. */
int plan_compile(struct arena *a, const struct plan_input *in, struct plan **ret,
		 struct cordon_error *err);
/* Refuses when something required is lost: names it, the capability and the fix. */
int plan_check(const struct plan *plan, struct cordon_error *err);

/* The operation that shows `path`: the nearest at or above it, the later of two. NULL
 * when nothing does (no boundary). `before` limits the search to operations in front of
 * it; NULL: all. */
const struct op *plan_shown_by(const struct plan *plan, struct str path, const struct op *before);
/* Does it show the host's own object at its path, to be written? */
bool op_is_writable(const struct op *op);
/* Is the path inside a tree that is granted for writing as a whole? */
bool plan_is_in_writable(const struct plan *plan, struct str path);
/* What the command finds in its environment; NULL: it is not set. */
const char *plan_variable(const struct plan *plan, const char *name);
/* The first operation of the kind; NULL: there is none. */
const struct op *plan_find_op(const struct plan *plan, enum op_kind kind);
/* The private directory in memory that path lies in; empty: there is none. */
struct str plan_private_above(const struct plan *plan, struct str path);
/* Is the host's directory closed in the place of the private one that it stands for? There is
 * no other way without mounts; TMPDIR then names one of the run's own. */
bool plan_closes(const struct plan *plan, const struct op *op);
/* What it shows there; for ROOT_HOST the number decides. */
enum op_view op_view_of(const struct op *op);

/* The size of a private directory in memory, which is no way around the limit of memory
 * either; 0: the kernel's default. */
uint64_t plan_tmp_size(const struct policy *policy);

/* One line an operation; values of variables are not shown. */
void plan_print(struct buf *b, const struct plan *plan);
/* NULL when memory is out. */
json_t *plan_to_json(const struct plan *plan);
/* "guard", or "limits of tmp_size": which, where the backend holds some of them. */
void plan_print_loss(struct buf *b, const struct plan *plan, const struct loss *loss);
/* "guard, report": the names of what was lost, for the one line on stderr. Empty when
 * nothing was. */
void plan_print_degraded(struct buf *b, const struct plan *plan);

#endif
