/* SPDX-License-Identifier: Apache-2.0 */
/* The caller's home, and the other homes whose secrets are to be kept. */
#include "run/places.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/num.h"
#include "base/path.h"
#include "base/testing.h"
#include "policy/environ.h"

#define stage "places"
#define PASSWD_BYTES_MAX ((size_t)16 << 20)
/* More accounts than this are not kept in a file. */
#define OTHER_HOMES_MAX 256

struct entry {
	uint64_t uid;
	struct str home;
};

/* The next entry with an absolute home. */
static bool next_entry(struct str *text, struct entry *ret)
{
	while (text->n) {
		struct str line, fields[7] = { { 0 } };

		str_cut(*text, '\n', &line, text);
		for (unsigned i = 0; i < 7; i++)
			str_cut(line, ':', &fields[i], &line);
		ret->home = fields[5];
		if (num_parse_u64(fields[2], UINT32_MAX, &ret->uid) &&
		    str_starts(ret->home, STR("/")))
			return true;
	}
	return false;
}

/* Homes of accounts that nobody logs in to lie there; nothing in them is a secret. */
static bool is_system_directory(struct str path)
{
	static const char *const trees[] = { "/usr", "/bin", "/sbin", "/lib", "/dev", "/proc",
					     "/sys", "/run", "/etc",  "/boot" };

	for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++)
		if (path_below(path, str_of(trees[i])))
			return true;
	return path.n == 1;
}

struct homes {
	VEC(struct str) paths;
};

/* The real path of a home; empty where it is none, or the one that HOME names. What cannot
 * be reached cannot be read. */
static int real_home(struct arena *a, const struct world *world, struct str text,
		     const struct places *p, struct str *ret, struct cordon_error *err)
{
	struct cordon_error ignored;
	struct node node;
	int r = place_settle(a, world, STR("/"), text, "home", ret, &node, &ignored);

	if (r == -CORDON_E_NOMEM)
		return err_nomem(err, stage);
	if (r < 0 || node.type != NODE_DIR || str_eq(*ret, p->home) ||
	    is_system_directory(*ret) || access(ret->p, X_OK) < 0)
		*ret = (struct str){ 0 };
	return 0;
}

static int add_other(struct arena *a, struct str path, struct homes *homes,
		     struct cordon_error *err)
{
	struct str *slot;

	vec_each(old, &homes->paths)
		if (str_eq(*old, path))
			return 0;
	if (homes->paths.n == OTHER_HOMES_MAX)
		return err_set(err, CORDON_E_LIMIT, 0, stage,
			       "the passwd file names more than %d homes", OTHER_HOMES_MAX);
	slot = vec_push(&homes->paths, a);
	if (!slot)
		return err_nomem(err, stage);
	*slot = path;
	return 0;
}

static int find_others(struct arena *a, const struct world *world, struct str text,
		       struct places *p, struct cordon_error *err)
{
	struct homes homes = { 0 };
	struct entry e;
	uid_t uid = getuid();
	int r = 0;

	while (r == 0 && next_entry(&text, &e)) {
		struct str home = { 0 };

		if (uid != 0 && e.uid != uid)
			continue;
		r = real_home(a, world, e.home, p, &home, err);
		if (r == 0 && home.n && e.uid == uid && !p->own_home.n)
			p->own_home = home;
		else if (r == 0 && home.n && !str_eq(home, p->own_home))
			r = add_other(a, home, &homes, err);
	}
	p->other_homes = homes.paths.at;
	p->other_home_count = homes.paths.n;
	return r;
}

static int choose_home(const char *set, struct str passwd, struct str *ret,
		       struct cordon_error *err)
{
	struct entry e;

	if (set && set[0] == '/') {
		*ret = str_of(set);
		return 0;
	}
	while (next_entry(&passwd, &e))
		if (e.uid == getuid()) {
			*ret = e.home;
			return 0;
		}
	err_set(err, CORDON_E_PATH, 0, stage,
		"HOME is %s and the passwd file has no home for uid %u",
		set && *set ? "not an absolute path" : "not set", getuid());
	return err_hint(err, "set HOME to your home directory");
}

int home_places(struct arena *a, const struct world *world, const char *const *env,
		struct places *p, struct cordon_error *err)
{
	const char *file = testing_value("CORDON_PASSWD");
	struct str passwd = { 0 }, home;
	struct node node;
	int r = fd_read_file(a, file ? file : "/etc/passwd", PASSWD_BYTES_MAX, &passwd, err);

	if (r < 0 && err->sys_errno != ENOENT)
		return r;
	r = choose_home(environ_get(env, "HOME"), passwd, &home, err);
	if (r == 0)
		r = place_settle(a, world, STR("/"), home, "home", &p->home, &node, err);
	return r < 0 ? r : find_others(a, world, passwd, p, err);
}
