/* SPDX-License-Identifier: Apache-2.0 */
/* What the landlock backend claims, the directory of a run, and what a failed set-up
 * tells about the machine. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/linux/grants.h"
#include "backend/list.h"
#include "base/scratch.h"
#include "run/attempt.h"

static struct caps caps_with(uint32_t abi, uint32_t seccomp)
{
	struct caps caps = { 0 };

	caps.value[CAP_LANDLOCK] = abi;
	caps.value[CAP_SECCOMP] = seccomp;
	caps.value[CAP_OPENAT2] = caps.value[CAP_CLOSE_RANGE] = 1;
	return caps;
}

Test(landlock, claims_follow_the_abi)
{
	for (uint32_t abi = 1; abi <= 9; abi++) {
		struct caps caps = caps_with(abi, 1);
		struct claims claims;
		struct cordon_error err;

		cr_assert_eq(landlock_backend.available(&caps, &err), 0);
		landlock_backend.claims(&caps, &claims);
		cr_assert_eq(claims.enforces[OP_ROOT_HOST], abi >= 3);
		cr_assert_eq(claims.enforces[OP_ROOT_EMPTY], abi >= 3);
		cr_assert(claims.enforces[OP_UNSHARE_NET]);
	}
}

Test(landlock, never_claims_what_it_has_no_means_for)
{
	static const enum op_kind never[] = { OP_UNSHARE_PID, OP_PROC,	   OP_KEEP_METADATA,
					      OP_NOEXEC,      OP_NET_HOST, OP_DIE_WITH_PARENT,
					      OP_NET_DENY };
	struct caps caps = caps_with(99, 1);
	struct claims claims;

	landlock_backend.claims(&caps, &claims);
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		cr_assert_not(claims.enforces[never[i]], "%s", op_rows[never[i]].name);
}

Test(landlock, without_seccomp_it_claims_no_network)
{
	struct caps caps = caps_with(7, 0);
	struct claims claims;

	landlock_backend.claims(&caps, &claims);
	cr_assert_not(claims.enforces[OP_UNSHARE_NET]);
	cr_assert_eq(claims.missing[OP_UNSHARE_NET], CAP_SECCOMP);
	cr_assert_not(claims.enforces[OP_COVER_SOCKETS]);
	cr_assert_not(claims.enforces[OP_UNSHARE_USER]);
}

Test(landlock, is_not_there_without_landlock)
{
	struct caps caps = caps_with(0, 1);
	struct cordon_error err;

	cr_assert_eq(landlock_backend.available(&caps, &err), -CORDON_E_UNAVAILABLE);
}

static struct op *add_op(struct arena *a, struct plan *plan, enum op_kind kind, const char *path)
{
	struct op *op = vec_push(&plan->ops, a);

	*op = (struct op){ .kind = kind, .path = str_of(path), .node = { .type = NODE_DIR } };
	return op;
}

static bool claimed_with(const struct caps *caps, const struct plan *plan, enum op_kind kind)
{
	struct claims claims;

	landlock_backend.claims(caps, &claims);
	vec_each(op, &plan->ops)
		if (op->kind == kind)
			return claims.enforces[kind] && claims.enforces_op(plan, op, caps);
	cr_assert_fail("no such operation");
	return false;
}

static bool claimed(const struct plan *plan, enum op_kind kind)
{
	struct caps caps = caps_with(7, 1);

	return claimed_with(&caps, plan, kind);
}

Test(landlock, a_deny_is_claimed_where_nothing_above_is_writable)
{
	autoarena struct arena a = { .max = 1 << 20 };
	struct plan plan = { 0 };

	add_op(&a, &plan, OP_ROOT_HOST, "/");
	add_op(&a, &plan, OP_BIND_RW, "/home/u/work");
	add_op(&a, &plan, OP_HIDE_DIR, "/home/u/.ssh");
	cr_assert(claimed(&plan, OP_HIDE_DIR));
	add_op(&a, &plan, OP_HIDE_FILE, "/home/u/work/.env");
	cr_assert_not(claimed(&plan, OP_HIDE_FILE));
	/* Not even with something else in between: grants add up. */
	add_op(&a, &plan, OP_BIND_RO, "/home/u/work/a/b");
	cr_assert_not(claimed(&plan, OP_BIND_RO));
}

/* What a broker takes; each is missing in turn. */
Test(landlock, what_only_a_broker_holds_is_claimed_with_one)
{
	static const enum op_kind held[] = { OP_EXACT, OP_KEEP_METADATA, OP_HIDE_FILE, OP_BIND_RO,
					     OP_GUARD_HIDDEN, OP_HIDE_GLOB };
	static const enum cap needed[] = { CAP_SECCOMP, CAP_NOTIFY, CAP_NOTIFY_KILLABLE, CAP_LOOK,
					   CAP_OPENAT2 };
	autoarena struct arena a = { .max = 1 << 20 };
	struct caps caps = caps_with(3, 1), less;
	struct plan plan = { 0 };

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		caps.value[needed[i]] = 1;
	add_op(&a, &plan, OP_BIND_RW, "/home/u/work");
	for (size_t i = 1; i < sizeof(held) / sizeof(held[0]); i++)
		add_op(&a, &plan, held[i], "/home/u/work/in");
	for (size_t i = 1; i < sizeof(held) / sizeof(held[0]); i++)
		cr_expect_not(claimed_with(&caps, &plan, held[i]), "%zu", i);
	add_op(&a, &plan, OP_EXACT, "");
	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++) {
		cr_expect(claimed_with(&caps, &plan, held[i]), "%zu", i);
		for (size_t j = 0; j < sizeof(needed) / sizeof(needed[0]); j++) {
			less = caps;
			less.value[needed[j]] = 0;
			cr_expect_not(claimed_with(&less, &plan, held[i]), "%zu %zu", i, j);
		}
		less = caps;
		less.value[CAP_LANDLOCK] = 2;
		cr_expect_not(claimed_with(&less, &plan, held[i]), "%zu", i);
	}
	add_op(&a, &plan, OP_SHARED_TMP, "/tmp");
	cr_expect_not(claimed_with(&caps, &plan, OP_EXACT));
}

Test(landlock, a_named_socket_opens_the_others)
{
	autoarena struct arena a = { .max = 1 << 20 };
	struct plan plan = { 0 };

	add_op(&a, &plan, OP_ROOT_HOST, "/");
	add_op(&a, &plan, OP_COVER_SOCKETS, "");
	cr_assert(claimed(&plan, OP_COVER_SOCKETS));
	add_op(&a, &plan, OP_SOCKET, "/run/s");
	cr_assert_not(claimed(&plan, OP_COVER_SOCKETS));
}

static const struct landlock_step *step_for(const struct native_landlock *l, const char *path)
{
	for (size_t i = 0; i < l->n_steps; i++)
		if (strcmp(l->steps[i].path, path) == 0 && l->steps[i].access)
			return &l->steps[i];
	return NULL;
}

Test(landlock, alone_no_directory_with_something_hidden_is_granted)
{
	autoarena struct arena a = { .max = 1 << 20 };
	struct grants_options options = { .abi = 7, .alone = true };
	struct native_landlock l;
	struct cordon_error err;
	struct plan plan = { 0 };
	const char *top, *hidden, *sibling;

	cr_assert_eq(scratch_make(&a, "/tmp", &top, &err), 0);
	hidden = arena_printf(&a, "%s/a/hidden", top);
	sibling = arena_printf(&a, "%s/a/sibling", top);
	cr_assert_eq(mkdir(arena_printf(&a, "%s/a", top), 0700), 0);
	cr_assert_eq(mkdir(hidden, 0700), 0);
	cr_assert_eq(mkdir(sibling, 0700), 0);
	add_op(&a, &plan, OP_BIND_RO, top);
	add_op(&a, &plan, OP_HIDE_DIR, hidden);
	add_op(&a, &plan, OP_LANDLOCK, "");
	cr_assert_eq(grants_collect(&a, &plan, &options, &l, &err), 0);
	cr_assert_null(step_for(&l, "/"));
	cr_assert_null(step_for(&l, top));
	cr_assert_null(step_for(&l, arena_printf(&a, "%s/a", top)));
	cr_assert_null(step_for(&l, hidden));
	cr_assert_not_null(step_for(&l, sibling));
	cr_assert_eq(scratch_remove(top), 0);
}

Test(scratch, is_private_and_removed_whatever_is_in_it)
{
	autoarena struct arena a = { .max = 1 << 20 };
	struct cordon_error err;
	const char *top;
	struct stat st;
	int at;

	cr_assert_eq(scratch_make(&a, "/tmp", &top, &err), 0);
	cr_assert_eq(stat(top, &st), 0);
	cr_assert_eq(st.st_mode & 07777, 0700);
	at = open(top, O_DIRECTORY | O_CLOEXEC);
	cr_assert_eq(symlinkat("/etc", at, "link"), 0);
	for (int depth = 0; depth < 2000; depth++) {
		int next;

		cr_assert_eq(mkdirat(at, "0", 0700), 0);
		cr_assert_eq(mknodat(at, "file", S_IFREG | 0, 0), 0);
		next = openat(at, "0", O_DIRECTORY | O_CLOEXEC);
		cr_assert_geq(next, 0);
		fchmod(at, depth % 3 ? 0700 : 0);
		close(at);
		at = next;
	}
	close(at);
	cr_assert_eq(scratch_remove(top), 0);
	cr_assert_eq(access(top, F_OK), -1);
	cr_assert_eq(access("/etc/passwd", F_OK), 0);
	cr_assert_eq(scratch_remove(top), -ENOENT);
}

Test(attempt, a_failed_set_up_tells_what_is_missing)
{
	static const struct {
		const struct backend *backend;
		const char *stage;
		int errnum;
		enum cap cap;
	} rows[] = {
		{ &native_backend, "clone", EPERM, CAP_USERNS },
		{ &native_backend, "clone", ENOSPC, CAP_USERNS },
		{ &native_backend, "clone", EAGAIN, CAP_COUNT },
		{ &native_backend, "namespaces", EPERM, CAP_USERNS },
		{ &native_backend, "mount", EPERM, CAP_MOUNTNS },
		{ &native_backend, "mount", ESTALE, CAP_COUNT },
		{ &native_backend, "mount", ENOENT, CAP_COUNT },
		{ &native_backend, "mount", EINVAL, CAP_COUNT },
		{ &native_backend, "clone", EINVAL, CAP_USERNS },
		{ &native_backend, "proc", EPERM, CAP_PROC_FRESH },
		{ &native_backend, "spawn", EACCES, CAP_COUNT },
		{ &native_backend, "exec", EACCES, CAP_COUNT },
		{ &native_backend, "landlock", EPERM, CAP_COUNT },
		{ &bwrap_backend, "bwrap", 0, CAP_BWRAP },
		{ &landlock_backend, "landlock", EPERM, CAP_COUNT },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cordon_error err;

		err_set(&err, CORDON_E_INIT, rows[i].errnum, rows[i].stage, "x");
		cr_assert_eq(attempt_lacks(rows[i].backend, &err), rows[i].cap, "row %zu", i);
	}
}
