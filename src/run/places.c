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
#include "base/num.h"
#include "base/path.h"
#include "policy/environ.h"
#include "run/places.h"

#define stage "places"
#define PASSWD_BYTES_MAX ((size_t)16 << 20)

/* The home of uid in the text of a passwd file; empty when it is not there. */
static struct str passwd_home(struct str text, uid_t uid)
{
	while (text.n) {
		struct str line, fields[7] = { { 0 } };
		uint64_t id;

		str_cut(text, '\n', &line, &text);
		for (unsigned i = 0; i < 7; i++)
			str_cut(line, ':', &fields[i], &line);
		if (num_parse_u64(fields[2], UINT32_MAX, &id) && id == uid)
			return fields[5];
	}
	return (struct str){ 0 };
}

/* HOME, or the passwd file's word when it is unset or not absolute. */
static int find_home(struct arena *a, const char *const *env, struct str *ret,
		     struct cordon_error *err)
{
	const char *home = environ_get(env, "HOME");
	struct str text, found;
	int r;

	if (home && home[0] == '/') {
		*ret = str_of(home);
		return 0;
	}
	r = fd_read_file(a, "/etc/passwd", PASSWD_BYTES_MAX, &text, err);
	if (r < 0)
		return err_wrap(err, "HOME is not set");
	found = passwd_home(text, getuid());
	if (!found.n || found.p[0] != '/') {
		err_set(err, CORDON_E_PATH, 0, stage,
			"HOME is %s and the passwd file has no home for uid %u",
			home && *home ? "not an absolute path" : "not set", getuid());
		return err_hint(err, "set HOME to your home directory");
	}
	*ret = found;
	return 0;
}

/* Makes a place absolute, normal and real. */
static int settle(struct arena *a, const struct world *world, struct str base, struct str text,
		  const char *what, struct str *ret, struct node *ret_node,
		  struct cordon_error *err)
{
	char *path = path_normalise(a, base, text);
	int r;

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
	"/etc",	 "/usr",   "/boot",   "/dev",	 "/proc",   "/sys",    "/run",	"/bin",
	"/sbin", "/lib",   "/lib32",  "/lib64",  "/libx32", NULL,
};
/* These hold other people's directories, some of which are projects. */
static const char *const shared_directories[] = { "/", "/var", "/home", NULL };

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

	if (node.type == NODE_ABSENT)
		return err_set(err, CORDON_E_PATH, ENOENT, stage, "workdir %s", p->workdir.p);
	if (node.type != NODE_DIR)
		return err_set(err, CORDON_E_PATH, ENOTDIR, stage, "workdir %s", p->workdir.p);
	if (access(p->workdir.p, R_OK | X_OK) < 0)
		return err_set(err, CORDON_E_PATH, errno, stage, "workdir %s", p->workdir.p);
	if (!unlikely)
		return 0;
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

	if (chosen && chosen[0] != '/') {
		err_set(err, CORDON_E_CONFIG, 0, stage,
			"CORDON_HOME '%.80s' is not an absolute path", chosen);
		return err_hint(err, "unset it, or give the full path");
	}
	r = settle(a, world, p->home, chosen ? str_of(chosen) : STR(".cordon"), "CORDON_HOME",
		   &p->cordon_home, &node, err);
	return r < 0 ? r : check_cordon_home(p, node, chosen != NULL, err);
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

int situation_places(struct arena *a, const struct situation_options *o, struct places *ret,
		     struct cordon_error *err)
{
	struct places p = { .tmp = STR("/tmp") };
	struct str cwd = { 0 }, home;
	struct world world;
	struct node node;
	int r = world_os_init(a, &world, err);

	if (r == 0 &&
	    (!o->workdir || o->workdir[0] != '/' || (o->data_dir && o->data_dir[0] != '/')))
		r = current_directory(a, &cwd, err);
	if (r == 0)
		r = find_home(a, o->environ, &home, err);
	if (r == 0)
		r = settle(a, &world, cwd, home, "home", &p.home, &node, err);
	if (r == 0)
		r = settle(a, &world, cwd, o->workdir ? str_of(o->workdir) : cwd, "workdir",
			   &p.workdir, &node, err);
	if (r == 0)
		r = check_workdir(&p, node, is_chosen(a, o, cwd, &p), err);
	p.data = p.workdir;
	if (r == 0 && o->data_dir) {
		r = settle(a, &world, cwd, str_of(o->data_dir), "data directory", &p.data, &node,
			   err);
		if (r == 0 && node.type != NODE_DIR)
			r = err_set(err, CORDON_E_PATH, node.type == NODE_ABSENT ? ENOENT : ENOTDIR,
				    stage, "data directory %s", p.data.p);
	}
	if (r == 0)
		r = settle_cordon_home(a, o, &world, &p, err);
	if (r == 0)
		r = git_places(a, &world, &p, err);
	if (r < 0)
		return r;
	*ret = p;
	return 0;
}
