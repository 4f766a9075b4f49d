/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup: where it is, and what is written into its files. The files are plain ones in a
 * scratch directory: a machine with the controllers of version 2 is not needed, and what
 * the kernel makes of them is not tested here.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/cgroup.h"
#include "base/fd.h"
#include "base/scratch.h"

static const char *path_of(struct arena *a, const char *groups, const char *mounts)
{
	const char *path = cgroup_path(a, str_of(groups), str_of(mounts));

	return path ? path : "none";
}

Test(cgroup, is_found_by_mount_and_group)
{
	static const char hybrid[] = "20 1 0:5 / /proc rw - proc proc rw\n"
				     "30 1 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
	static const char part[] = "30 1 0:26 /user /cg rw shared:4 - cgroup2 cgroup2 rw\n";
	static const char odd[] = "30 1 0:26 / /a\\040b rw - cgroup2 cgroup2 rw\n";
	autoarena struct arena a;

	arena_init(&a, 1 << 16);
	cr_assert_str_eq(path_of(&a, "4:memory:/x\n0::/user/a\n", hybrid),
			 "/sys/fs/cgroup/unified/user/a");
	cr_assert_str_eq(path_of(&a, "0::/", hybrid), "/sys/fs/cgroup/unified/");
	cr_assert_str_eq(path_of(&a, "0::/user/a\n", part), "/cg/a");
	cr_assert_str_eq(path_of(&a, "0::/user\n", part), "/cg");
	cr_assert_str_eq(path_of(&a, "0::/username/a\n", part), "none");
	cr_assert_str_eq(path_of(&a, "0::/system\n", part), "none");
	cr_assert_str_eq(path_of(&a, "0::/../x\n", hybrid), "none");
	cr_assert_str_eq(path_of(&a, "0::/x\n", odd), "none");
	cr_assert_str_eq(path_of(&a, "4:memory:/x\n", hybrid), "none");
	cr_assert_str_eq(path_of(&a, "0::/x\n", "20 1 0:5 / /proc rw - proc proc rw\n"), "none");
	cr_assert_str_eq(path_of(&a, "", ""), "none");
}

struct fake {
	struct arena arena;
	const char *base;
	struct cgroup cg;
};

static void put(const char *dir, const char *name, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	cr_assert(f, "%s", path);
	fputs(text, f);
	fclose(f);
}

static void assert_text(const struct fake *f, const char *name, const char *wanted)
{
	autoarena struct arena a;
	struct cordon_error err;
	struct str text;

	arena_init(&a, 1 << 16);
	cr_assert_eq(fd_read_file(&a, arena_printf(&a, "%s/%s", f->base, name), 4096, &text, &err),
		     0, "%s", err.message);
	cr_assert(str_eq(text, str_of(wanted)), "%s: '%.*s'", name, STR_ARG(text));
}

static const char *own(struct fake *f, const char *name)
{
	return arena_printf(&f->arena, "%s/%s", f->cg.name, name);
}

static void open_fake(struct fake *f)
{
	struct cordon_error err;

	arena_init(&f->arena, 1 << 16);
	cr_assert_eq(scratch_make(&f->arena, "/tmp", &f->base, &err), 0);
	put(f->base, "cgroup.procs", arena_printf(&f->arena, "%d\n", (int)getpid()));
	put(f->base, "cgroup.controllers", "cpu memory pids\n");
	put(f->base, "cgroup.subtree_control", "");
	cr_assert_eq(cgroup_open(&f->cg, f->base), 0);
}

static void close_fake(struct fake *f)
{
	cgroup_close(&f->cg);
	cgroup_close(&f->cg);
	scratch_remove(f->base);
	arena_free(&f->arena);
}

Test(cgroup, limits_are_written_where_there_are_files_for_them)
{
	struct fake f;

	open_fake(&f);
	/* Without any it must not fail, nor make them. */
	cr_assert_not(cgroup_hold(&f.cg, 1 << 20, 5));
	cr_assert_neq(access(arena_printf(&f.arena, "%s/%s", f.base, own(&f, "memory.max")), F_OK),
		      0);
	put(f.base, own(&f, "memory.max"), "");
	put(f.base, own(&f, "memory.swap.max"), "");
	put(f.base, own(&f, "memory.oom.group"), "");
	put(f.base, own(&f, "pids.max"), "");
	put(f.base, own(&f, "cgroup.kill"), "");
	cr_assert(cgroup_hold(&f.cg, 1 << 20, 0));
	assert_text(&f, own(&f, "memory.max"), "1048576");
	assert_text(&f, own(&f, "memory.swap.max"), "0");
	assert_text(&f, own(&f, "memory.oom.group"), "1");
	assert_text(&f, own(&f, "pids.max"), "");
	cr_assert(cgroup_hold(&f.cg, 0, 88));
	assert_text(&f, own(&f, "pids.max"), "88");
	cr_assert(cgroup_kill(&f.cg));
	assert_text(&f, own(&f, "cgroup.kill"), "1");
	close_fake(&f);
}

Test(cgroup, what_the_kernel_says_is_read)
{
	uint64_t user = 1, sys = 1;
	struct fake f;

	open_fake(&f);
	cr_assert_not(cgroup_times(&f.cg, &user, &sys));
	cr_assert_not(cgroup_ended_by_memory(&f.cg));
	put(f.base, own(&f, "cpu.stat"),
	    "usage_usec 9000000\nuser_usec 5000999\nsystem_usec 4000000\nnice_usec 0\n");
	cr_assert(cgroup_times(&f.cg, &user, &sys));
	cr_assert_eq(user, 5000);
	cr_assert_eq(sys, 4000);
	put(f.base, own(&f, "memory.events"), "low 0\noom 1\noom_kill 0\noom_group_kill 0\n");
	cr_assert_not(cgroup_ended_by_memory(&f.cg));
	put(f.base, own(&f, "memory.events"), "low 0\nmax 3\noom 1\noom_kill 2\n");
	cr_assert(cgroup_ended_by_memory(&f.cg));
	close_fake(&f);
}

Test(cgroup, controllers_that_are_on_are_used)
{
	struct fake f;

	open_fake(&f);
	put(f.base, "cgroup.subtree_control", "cpu memory pids\n");
	cr_assert(cgroup_control(&f.cg));
	cr_assert_not(f.cg.aside);
	close_fake(&f);
}

Test(cgroup, others_in_the_group_keep_cordon_where_it_is)
{
	struct fake f;

	open_fake(&f);
	put(f.base, "cgroup.procs", arena_printf(&f.arena, "%d\n1\n", (int)getpid()));
	cr_assert_not(cgroup_control(&f.cg));
	put(f.base, "cgroup.controllers", "cpu memory\n");
	put(f.base, "cgroup.procs", arena_printf(&f.arena, "%d\n", (int)getpid()));
	cr_assert_not(cgroup_control(&f.cg));
	assert_text(&f, "cgroup.subtree_control", "");
	cr_assert_not(f.cg.aside);
	close_fake(&f);
}

/* In a plain directory the group aside has no file to move to: the step is taken back. */
Test(cgroup, a_move_that_fails_is_taken_back)
{
	struct fake f;

	open_fake(&f);
	cr_assert_not(cgroup_control(&f.cg));
	cr_assert_not(f.cg.aside);
	cr_assert_neq(access(arena_printf(&f.arena, "%s/%s.self", f.base, f.cg.name), F_OK), 0);
	assert_text(&f, "cgroup.subtree_control", "-memory -pids");
	close_fake(&f);
}

Test(cgroup, what_dead_runs_left_is_removed_and_nothing_else)
{
	struct cordon_error err;
	autoarena struct arena a;
	struct cgroup cg;
	const char *base, *dead, *aside, *alive, *other;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	arena_init(&a, 1 << 16);
	cr_assert_eq(scratch_make(&a, "/tmp", &base, &err), 0);
	dead = arena_printf(&a, "%s/cordon.%d", base, (int)pid);
	aside = arena_printf(&a, "%s/cordon.%d.self", base, (int)pid);
	alive = arena_printf(&a, "%s/cordon.%d", base, (int)getppid());
	other = arena_printf(&a, "%s/cordon.x", base);
	mkdir(dead, 0755);
	mkdir(aside, 0755);
	mkdir(alive, 0755);
	mkdir(other, 0755);
	cr_assert_eq(cgroup_open(&cg, base), 0);
	cr_assert_neq(access(dead, F_OK), 0);
	cr_assert_neq(access(aside, F_OK), 0);
	cr_assert_eq(access(alive, F_OK), 0);
	cr_assert_eq(access(other, F_OK), 0);
	cgroup_close(&cg);
	cr_assert_neq(access(arena_printf(&a, "%s/cordon.%d", base, (int)getpid()), F_OK), 0);
	scratch_remove(base);
	cr_assert_lt(cgroup_open(&cg, base), 0);
	cgroup_close(&cg);
}
