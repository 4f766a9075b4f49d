/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where things are: workdir, home, data, cordon's own home, and the real git directory.
 * The checks of DESIGN 4 on these places are made here, once.
 */
#include "run/situation.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "policy/environ.h"
#include "run/git_control.h"
#include "run/places.h"

#define stage "places"

int place_settle(struct arena *a, const struct world *world, struct str base, struct str text,
		 const char *what, struct str *ret, struct node *ret_node, struct cordon_error *err)
{
	char *path = path_normalise(a, base, text);
	int r;

	if (!path && text.n > PATH_BYTES_MAX)
		return err_set(err, CORDON_E_PATH, 0, stage, "%s '%.40s...': longer than %d bytes",
			       what, text.p, PATH_BYTES_MAX);
	if (!path)
		return err_set(err, CORDON_E_PATH, 0, stage, "%s '%.80s': not a path", what,
			       text.p);
	r = world->resolve(world, a, str_of(path), ret, ret_node, err);
	return r < 0 ? err_wrap(err, "%s", what) : 0;
}

static int current_directory(struct arena *a, struct str *ret, struct cordon_error *err)
{
	char cwd[PATH_BYTES_MAX + 1] = "";

	/* The kernel spells a directory that is out of reach "(unreachable)/...". */
	if (!getcwd(cwd, sizeof(cwd)) || cwd[0] != '/') {
		err_set(err, CORDON_E_PATH, cwd[0] == '(' ? ENOENT : errno, stage,
			"the current directory");
		return err_hint(err, "it may have been deleted; cd somewhere else, or use -C DIR");
	}
	ret->p = arena_dup(a, str_of(cwd));
	ret->n = strlen(cwd);
	return ret->p ? 0 : err_nomem(err, stage);
}

/* Whole or in part, these are the system's. */
static const char *const system_trees[] = {
	"/etc", "/usr",	 "/boot", "/dev",   "/proc",  "/sys",	 "/run",
	"/bin", "/sbin", "/lib",  "/lib32", "/lib64", "/libx32", NULL,
};
/* These hold other people's directories, some of which are projects. */
static const char *const shared_directories[] = { "/",    "/var",     "/home",
						  "/tmp", "/var/tmp", NULL };

/* What the workdir is, when nobody can have meant it; NULL for any other. */
static const char *unlikely_workdir(const struct places *p)
{
	if (str_eq(p->workdir, p->home))
		return "your home directory";
	for (const char *const *dir = shared_directories; *dir; dir++)
		if (str_eq(p->workdir, str_of(*dir)))
			return *dir;
	for (const char *const *tree = system_trees; *tree; tree++)
		if (path_below(p->workdir, str_of(*tree)))
			return p->workdir.p;
	return NULL;
}

static int check_workdir(const struct places *p, struct node node, bool chosen,
			 struct cordon_error *err)
{
	const char *unlikely = chosen ? NULL : unlikely_workdir(p);

	if (node.type == NODE_ABSENT) {
		err_set(err, CORDON_E_PATH, ENOENT, stage, "workdir %s", p->workdir.p);
		return err_hint(err, "make it first, or name another with -C");
	}
	if (node.type != NODE_DIR)
		return err_set(err, CORDON_E_PATH, ENOTDIR, stage, "workdir %s", p->workdir.p);
	if (access(p->workdir.p, R_OK | X_OK) < 0) {
		err_set(err, CORDON_E_PATH, errno, stage, "workdir %s", p->workdir.p);
		return err_hint(err, "nothing could work there: make it readable and searchable, "
				     "or name another with -C");
	}
	if (!unlikely)
		return 0;
	/* A profile makes all of it writable or, where it has a rule for /, nothing. */
	if (str_eq(p->workdir, STR("/"))) {
		err_set(err, CORDON_E_CONFIG, 0, stage,
			"the workdir would be /, which is the whole machine");
		return err_hint(err, "cd into a project, or name one with --workdir");
	}
	err_set(err, CORDON_E_CONFIG, 0, stage,
		"the workdir would be %s, which makes all of it writable", unlikely);
	return err_hint(err, "cd into a project, or say it explicitly with --workdir %s",
			p->workdir.p);
}

/* Rule 13. */
static int check_cordon_home(const struct places *p, struct node node, bool chosen,
			     struct cordon_error *err)
{
	struct stat st;

	if (chosen && path_below(p->cordon_home, p->workdir)) {
		err_set(err, CORDON_E_CONFIG, 0, stage, "CORDON_HOME %s lies below the workdir %s",
			p->cordon_home.p, p->workdir.p);
		return err_hint(err, "what runs there could change cordon's own settings; move it");
	}
	if (node.type == NODE_ABSENT)
		return 0;
	if (stat(p->cordon_home.p, &st) < 0)
		return err_set(err, CORDON_E_PATH, errno, stage, "CORDON_HOME %s",
			       p->cordon_home.p);
	if (!S_ISDIR(st.st_mode))
		return err_set(err, CORDON_E_CONFIG, ENOTDIR, stage, "CORDON_HOME %s",
			       p->cordon_home.p);
	if (st.st_uid != geteuid()) {
		err_set(err, CORDON_E_CONFIG, 0, stage,
			"CORDON_HOME %s belongs to uid %u, not to you", p->cordon_home.p,
			st.st_uid);
		return err_hint(err, "point CORDON_HOME to a directory of your own");
	}
	if (st.st_mode & (S_IWGRP | S_IWOTH)) {
		err_set(err, CORDON_E_CONFIG, 0, stage, "CORDON_HOME %s is writable by others",
			p->cordon_home.p);
		return err_hint(err, "chmod go-w '%s'", p->cordon_home.p);
	}
	return 0;
}

static int settle_cordon_home(struct arena *a, const struct situation_options *o,
			      const struct world *world, struct places *p, struct cordon_error *err)
{
	const char *chosen = environ_get(o->environ, "CORDON_HOME");
	struct node node;
	int r;

	if (chosen && !*chosen)
		chosen = NULL;
	if (chosen && chosen[0] != '/') {
		err_set(err, CORDON_E_CONFIG, 0, stage,
			"CORDON_HOME '%.80s' is not an absolute path", chosen);
		return err_hint(err, "unset it, or give the full path");
	}
	r = place_settle(a, world, p->home, chosen ? str_of(chosen) : STR(".cordon"), "CORDON_HOME",
			 &p->cordon_home, &node, err);
	if (r < 0 && err->sys_errno == EACCES)
		return err_hint(err, chosen ? "point CORDON_HOME to a directory of your own" :
					      "is HOME yours? set it to a directory of your own");
	return r < 0 ? r : check_cordon_home(p, node, chosen && !o->any_workdir, err);
}

/* Said in so many words. A link that a command left behind may lead to home, and whoever
 * names the link did not say home. */
static bool is_chosen(struct arena *a, const struct situation_options *o, struct str cwd,
		      const struct places *p)
{
	const char *said = o->workdir ? path_normalise(a, cwd, str_of(o->workdir)) : NULL;
	bool much = p->workdir.n == 1 || str_eq(p->workdir, p->home);

	return said && (!much || str_eq(str_of(said), p->workdir));
}

static int settle_data(struct arena *a, const struct situation_options *o,
		       const struct world *world, struct str cwd, struct places *p,
		       struct cordon_error *err)
{
	const char *said;
	struct node node;
	int r;

	p->data = p->workdir;
	if (!o->data_dir)
		return 0;
	r = place_settle(a, world, cwd, str_of(o->data_dir), "data directory", &p->data, &node,
			 err);
	if (r < 0)
		return r;
	if (node.type != NODE_DIR)
		return err_set(err, CORDON_E_PATH, node.type == NODE_ABSENT ? ENOENT : ENOTDIR,
			       stage, "data directory %s", p->data.p);
	said = path_normalise(a, cwd, str_of(o->data_dir));
	/* A command that ran there before may have left a link of that name. */
	if (!said || !path_below(str_of(said), p->workdir) || path_below(p->data, p->workdir))
		return 0;
	err_set(err, CORDON_E_PATH, 0, stage,
		"data directory %s: a link in the workdir that leads out of it", said);
	return err_hint(err, "name %s, if that is meant", p->data.p);
}

static bool needs_cwd(const struct situation_options *o)
{
	return !o->workdir || o->workdir[0] != '/' || (o->data_dir && o->data_dir[0] != '/');
}

int situation_places(struct arena *a, const struct situation_options *o, struct places *ret,
		     struct cordon_error *err)
{
	struct places p = { .tmp = STR("/tmp") };
	struct str cwd = { 0 };
	struct world world;
	struct node node;
	int r = world_os_init(a, &world, err);

	if (r == 0 && needs_cwd(o))
		r = current_directory(a, &cwd, err);
	if (r == 0)
		r = home_places(a, &world, o->environ, &p, err);
	if (r == 0)
		r = place_settle(a, &world, cwd, o->workdir ? str_of(o->workdir) : cwd, "workdir",
				 &p.workdir, &node, err);
	if (r == 0)
		r = check_workdir(&p, node, o->any_workdir || is_chosen(a, o, cwd, &p), err);
	if (r == 0)
		r = settle_data(a, o, &world, cwd, &p, err);
	if (r == 0)
		r = settle_cordon_home(a, o, &world, &p, err);
	if (r == 0)
		r = git_places(a, &world, &p, err);
	if (r == 0)
		r = git_control_places(a, &p, err);
	if (r < 0)
		return r;
	*ret = p;
	return 0;
}
