/* SPDX-License-Identifier: Apache-2.0 */
/* Reading configuration files and building the policy from what is found. */
#include "run/situation.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/probe.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/testing.h"
#include "fmt/located.h"
#include "policy/environ.h"
#include "policy/profiles.h"
#include "run/keep.h"
#include "run/places.h"

#define stage "config"
/* More hidden names than this at the top of a workdir are not a working tree. */
#define HIDDEN_MAX 4096
#define SOCKETS_BYTES_MAX ((size_t)16 << 20)

/* What is wrong with a file as a whole is wrong at its start: every message about a
 * configuration has a place that an editor can jump to. */
static int at_start(const char *path, struct cordon_error *err)
{
	struct str text = str_of(err->message);
	char reason[sizeof(err->message)];

	if (str_starts(text, str_of(path)))
		text = str_skip(text, strlen(path) + sizeof(": ") - 1);
	memcpy(reason, text.p, text.n);
	reason[text.n] = '\0';
	return located_error(err, err->code, stage, path, (struct place){ 1, 1 }, "%s", reason);
}

int situation_read_config(struct arena *a, const char *path, enum source source, struct config *ret,
			  struct cordon_error *err)
{
	struct str text;
	int r = fd_read_file(a, path, CONFIG_BYTES_MAX, &text, err);

	return r < 0 ? at_start(path, err) : config_parse(a, text, path, source, ret, err);
}

/* Reads one file if it is there. A link that leads nowhere is there. */
static int read_config(struct arena *a, const char *path, enum source source,
		       struct config_file *ret, struct cordon_error *err)
{
	struct stat st;

	ret->path = path;
	if (lstat(path, &st) < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	ret->present = true;
	return situation_read_config(a, path, source, &ret->config, err);
}

/* The system's file decides for everybody, so only root may be able to write it. */
static int check_system_file(const char *path, struct cordon_error *err)
{
	struct stat st;

	if (testing_value("CORDON_SYSTEM_CONFIG") || stat(path, &st) < 0)
		return 0;
	if (st.st_uid == 0 && !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return 0;
	err_set(err, CORDON_E_CONFIG, 0, stage,
		"%s must belong to root and be writable by root only", path);
	return err_hint(err, "chown root '%s' && chmod go-w '%s'", path, path);
}

/* A project file comes from whoever made the repository. Were it a link, what it leads to
 * would show in messages about it. */
static int read_project_file(struct arena *a, const char *path, struct config_file *ret,
			     struct cordon_error *err)
{
	autoclose int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	struct str text;
	int r;

	ret->path = path;
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 && errno != ELOOP)
		return err_set(err, CORDON_E_CONFIG, errno, stage, "%s", path);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		err_set(err, CORDON_E_CONFIG, 0, stage, "%s is not a regular file", path);
		return err_hint(err, "a project file must not be a link: copy what it leads to");
	}
	r = fd_read_stream(a, fd, path, CONFIG_BYTES_MAX, &text, err);
	if (r < 0)
		return r;
	ret->present = true;
	return config_parse(a, text, path, SOURCE_PROJECT, &ret->config, err);
}

/* Puts the file behind those that are nearer. */
static int add_project(struct situation *s, struct config_file *file, struct cordon_error *err)
{
	struct config_file **slot = vec_push(&s->projects, s->arena);

	if (!slot)
		return err_nomem(err, stage);
	*slot = file;
	if (s->projects.n > 1)
		slot[-1]->config.above = &file->config;
	return 0;
}

/* Every .cordon.toml from the workdir up, so that a command which can write below one
 * cannot shadow it with another. */
static int read_projects(struct situation *s, struct cordon_error *err)
{
	struct str dir = s->places.workdir;

	for (;;) {
		const char *path = arena_printf(s->arena, "%.*s/%s", dir.n == 1 ? 0 : (int)dir.n,
						dir.p, PROJECT_CONFIG);
		struct config_file *file = arena_new(s->arena, struct config_file);
		int r;

		if (!path || !file)
			return err_nomem(err, stage);
		r = read_project_file(s->arena, path, file, err);
		if (r == 0 && file->present)
			r = add_project(s, file, err);
		if (r < 0 || dir.n == 1)
			return r;
		dir = path_parent(dir);
	}
}

/* Inside another cordon? Whoever sets the variable elsewhere could as well set CORDON_HOME,
 * and gains less: only what the caller cannot read anyway is taken for absent. */
static bool is_inside(const struct situation *s)
{
	return environ_get(s->environ, LAUNCH_INSIDE) && probe_confined();
}

/* The user's configuration is closed in there, and enforced from outside. Only then is a
 * file that cannot be read no error. */
static bool is_closed_around(const struct situation *s, const char *path)
{
	autoclose int fd = -1;

	if (!is_inside(s))
		return false;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 && errno == EACCES;
}

static int open_world(struct situation *s, struct cordon_error *err)
{
	int r = world_os_init(s->arena, &s->world, err);

	if (r == 0 && is_inside(s))
		world_os_inside(&s->world);
	return r;
}

static int read_user(struct situation *s, const char *path, struct cordon_error *err)
{
	if (!is_closed_around(s, path))
		return read_config(s->arena, path, SOURCE_USER, &s->user, err);
	s->user.path = path;
	s->user.closed = true;
	return 0;
}

static int warn_closed(struct situation *s, struct cordon_error *err)
{
	const char **slot = vec_push(&s->policy->warnings, s->arena);

	if (slot)
		*slot = arena_printf(s->arena,
				     "%s is closed by the cordon around this one; what it says "
				     "holds out there and is not known in here",
				     s->user.path);
	return slot && *slot ? 0 : err_nomem(err, stage);
}

static int read_files(struct situation *s, struct cordon_error *err)
{
	const char *system = testing_value("CORDON_SYSTEM_CONFIG");
	const char *user = arena_printf(s->arena, "%s/config.toml", s->places.cordon_home.p);
	int r;

	if (!system)
		system = SYSTEM_CONFIG;
	if (!user)
		return err_nomem(err, stage);
	r = check_system_file(system, err);
	if (r == 0)
		r = read_config(s->arena, system, SOURCE_SYSTEM, &s->system, err);
	if (r == 0)
		r = read_user(s, user, err);
	return r < 0 ? r : read_projects(s, err);
}

/* The name is kept in full, for the file is protected under it. */
static int read_settings(struct situation *s, const char *path, struct cordon_error *err)
{
	char *full = realpath(path, NULL), *file;
	struct str text;
	int r;

	if (!full) {
		err_set(err, CORDON_E_CONFIG, errno, stage, "srt's settings, %s", path);
		return err_hint(err, "name a file that is there; srt's own is "
				     "~/.srt-settings.json");
	}
	file = arena_dup(s->arena, str_of(full));
	free(full);
	s->settings = arena_new(s->arena, struct srt_settings);
	if (!file || !s->settings)
		return err_nomem(err, stage);
	r = fd_read_file(s->arena, file, SRT_BYTES_MAX, &text, err);
	return r < 0 ? at_start(file, err)
		     : srt_read(s->arena, text, file, &s->places, &s->world, s->settings, err);
}

static const struct config *if_present(const struct config_file *file)
{
	return file->present ? &file->config : NULL;
}

struct policy_input situation_input(const struct situation *s)
{
	return (struct policy_input){
		.builtin = &s->builtin,
		.system = if_present(&s->system),
		.user = if_present(&s->user),
		.project = s->projects.n ? &s->projects.at[0]->config : NULL,
		.settings = s->settings,
		.places = s->places,
		.world = &s->world,
		.environ = s->environ,
	};
}

/* The nearest directory at or above a path that exists. */
static struct str nearest_existing(struct arena *a, struct str path)
{
	struct stat st;

	for (;;) {
		const char *copy = arena_dup(a, path);

		if (path.n == 1 || (copy && stat(copy, &st) == 0))
			return path;
		path = path_parent(path);
	}
}

/* cordon's home decides what the next run may do. Where it does not exist and the command
 * could make it, it would be the command's. */
static bool home_is_open(const struct situation *s)
{
	struct str home = s->places.cordon_home, above = nearest_existing(s->arena, home);
	struct decision d = policy_decide(s->policy, above);

	return s->policy->confined && !str_eq(above, home) && d.data == ACCESS_WRITE &&
	       !(d.trusted_rule->flags & RULE_PRIVATE);
}

static int make_home(struct situation *s, struct cordon_error *err)
{
	struct str home = s->places.cordon_home;
	size_t n = nearest_existing(s->arena, home).n;

	for (n++; n <= home.n; n++) {
		const char *part = arena_dup(s->arena, str_take(home, n));

		if (!part)
			return err_nomem(err, stage);
		if ((n == home.n || home.p[n] == '/') && mkdir(part, 0700) < 0 && errno != EEXIST)
			return err_set(err, CORDON_E_IO, errno, stage,
				       "cannot make %s, which the command could make instead",
				       part);
	}
	return open_world(s, err);
}

/* What is kept between runs must exist before the policy can name it. Caches are a
 * kindness: without a place for them the command runs, and it is said. */
static int make_kept(struct situation *s, struct policy_input *in, struct cordon_error *err)
{
	struct cordon_error why;
	bool made = false, tmp_made = false;
	int r = keep_make_tmp(s->arena, s->policy, &tmp_made, err);

	if (r < 0)
		return r;
	r = keep_make(s->arena, s->policy, &made, &why);
	if (r == -CORDON_E_NOMEM) {
		*err = why;
		return r;
	}
	in->no_caches |= r < 0;
	if (r == 0 && !made && !tmp_made)
		return 0;
	r = open_world(s, err);
	return r < 0 ? r : policy_build(s->arena, in, &s->policy, err);
}

int situation_read(struct arena *a, const struct situation_options *options, struct situation *ret,
		   struct cordon_error *err)
{
	struct situation s = { .arena = a, .environ = options->environ };
	struct policy_input in;
	int r = open_world(&s, err);

	if (r == 0)
		r = situation_places(a, options, &s.places, err);
	if (r == 0)
		r = profiles_load_defaults(a, &s.builtin, err);
	if (r == 0 && !options->no_files)
		r = read_files(&s, err);
	if (r == 0 && options->settings)
		r = read_settings(&s, options->settings, err);
	if (r < 0)
		return r;
	in = situation_input(&s);
	in.profile = options->profile;
	in.flags = options->flags;
	in.no_sandbox = options->no_sandbox;
	/* The cordon around this one keeps its home closed. */
	in.no_caches = is_inside(&s);
	r = policy_build(a, &in, &s.policy, err);
	if (r == 0 && options->make_home && home_is_open(&s)) {
		r = make_home(&s, err);
		/* Now that it exists, it is closed by a mount. */
		if (r == 0)
			r = policy_build(a, &in, &s.policy, err);
	}
	if (r == 0 && options->make_home)
		r = make_kept(&s, &in, err);
	if (r == 0 && s.user.closed)
		r = warn_closed(&s, err);
	if (r == 0)
		*ret = s;
	return r;
}

static bool is_hidden_name(const char *name)
{
	return name[0] == '.';
}

struct found_paths {
	VEC(struct found_path) items;
};

static int add_found(struct situation *s, struct str path, struct found_paths *found,
		     struct cordon_error *err)
{
	struct found_path *slot = vec_push(&found->items, s->arena);

	if (!slot)
		return err_nomem(err, stage);
	return s->world.resolve(&s->world, s->arena, path, &slot->path, &slot->node, err);
}

/* The names in a directory, or the hidden ones among them. They exist, so a mount can
 * protect them. */
static int list_names(struct situation *s, struct str path, bool all, struct found_paths *found,
		      struct cordon_error *err)
{
	DIR *dir = opendir(path.p);
	const struct dirent *entry;
	int r = 0;

	if (!dir)
		return err_set(err, CORDON_E_PATH, errno, "hidden", "%s", path.p);
	while (r == 0 && (entry = fd_next_entry(dir))) {
		const char *name;

		/* A symlink cannot be mounted over, and its target is elsewhere. */
		if (entry->d_type == DT_LNK || !(all || is_hidden_name(entry->d_name)))
			continue;
		if (found->items.n == HIDDEN_MAX) {
			r = err_set(err, CORDON_E_LIMIT, 0, "hidden",
				    "%s holds more than %d hidden names", path.p, HIDDEN_MAX);
			break;
		}
		name = arena_printf(s->arena, "%s/%s", path.n == 1 ? "" : path.p, entry->d_name);
		r = name ? add_found(s, str_of(name), found, err) : err_nomem(err, stage);
	}
	if (r == 0 && errno)
		r = err_set(err, CORDON_E_PATH, errno, "hidden", "%s", path.p);
	closedir(dir);
	return r;
}

/* At the top of the workdir; and in its git directory when that stays open for git. */
static int list_hidden(struct situation *s, struct found_paths *found, struct cordon_error *err)
{
	struct str git = s->places.git_dir;
	bool open_git = policy_number(s->policy, KEY_HIDDEN_WRITES) == HIDDEN_GIT && git.n &&
			path_below(git, s->places.workdir);
	int r = list_names(s, s->places.workdir, false, found, err);

	return r < 0 || !open_git ? r : list_names(s, git, true, found, err);
}

/* The last of the eight columns of /proc/net/unix, up to the end of the line, blanks and
 * all; empty when a socket has no path. False for what is no line of a socket: a name may
 * hold a newline. */
static bool socket_path(struct str line, struct str *ret)
{
	struct str column;

	for (unsigned i = 0; i < 7; i++) {
		while (line.n && line.p[0] == ' ')
			line = str_skip(line, 1);
		str_cut(line, ' ', &column, &line);
		if (!column.n || (i == 0 && !str_ends(column, STR(":"))))
			return false;
	}
	*ret = line;
	return true;
}

/* In a place of the sandbox's own the host's socket does not show. */
static bool out_of_sight(const struct situation *s, struct str path)
{
	struct decision d = policy_decide(s->policy, path);

	return d.data == ACCESS_NONE || (d.trusted_rule && d.trusted_rule->flags & RULE_PRIVATE);
}

static int add_socket(struct situation *s, struct str name, struct found_paths *found,
		      struct cordon_error *err)
{
	char *path = path_normalise(s->arena, STR("/"), name);
	struct cordon_error ignored;
	int r;

	if (!path || out_of_sight(s, str_of(path)))
		return 0;
	r = add_found(s, str_of(path), found, &ignored);
	if (r == -CORDON_E_NOMEM)
		return err_nomem(err, stage);
	/* One that cannot be looked at is no use inside either. */
	if (r < 0 || found->items.at[found->items.n - 1].node.type != NODE_SOCKET)
		found->items.n--;
	return 0;
}

/* Sockets that are bound to a full path now. */
static int list_sockets(struct situation *s, struct found_paths *found, bool *ret_known,
			struct cordon_error *err)
{
	struct cordon_error ignored;
	struct str text, line;
	int r = fd_read_file(s->arena, "/proc/net/unix", SOCKETS_BYTES_MAX, &text, &ignored);

	*ret_known = r == 0;
	if (r < 0)
		return 0;
	str_cut(text, '\n', &line, &text); /* the headings */
	while (text.n && r == 0) {
		struct str name = { 0 };

		str_cut(text, '\n', &line, &text);
		*ret_known &= socket_path(line, &name);
		if (str_starts(name, STR("/")))
			r = add_socket(s, name, found, err);
	}
	return r;
}

static int compile(struct situation *s, const struct caps *caps, struct str backend,
		   enum fallback fallback, const struct backend **ret_backend,
		   struct plan **ret_plan, struct cordon_error *err)
{
	const struct policy *policy = s->policy;
	struct found_paths hidden = { 0 }, sockets = { 0 };
	struct plan_input in = {
		.policy = policy,
		.world = &s->world,
		.environ = s->environ,
	};
	int r = 0;

	if (policy->confined && policy_number(policy, KEY_HIDDEN_WRITES) != HIDDEN_ALLOW)
		r = list_hidden(s, &hidden, err);
	if (r == 0 && policy->confined)
		r = list_sockets(s, &sockets, &in.sockets_known, err);
	if (r < 0)
		return r;
	in.hidden = hidden.items.at;
	in.hidden_count = hidden.items.n;
	in.sockets = sockets.items.at;
	in.socket_count = sockets.items.n;
	return backend_choose(s->arena, &in, caps, backend, fallback, ret_backend, ret_plan, err);
}

int situation_plan(struct situation *s, const struct caps *caps, const struct backend **ret_backend,
		   struct plan **ret_plan, struct cordon_error *err)
{
	return compile(s, caps, s->policy->effective[KEY_BACKEND].text,
		       (enum fallback)policy_number(s->policy, KEY_FALLBACK), ret_backend, ret_plan,
		       err);
}

int situation_plan_for(struct situation *s, const struct caps *caps, struct str backend,
		       const struct backend **ret_backend, struct plan **ret_plan,
		       struct cordon_error *err)
{
	return compile(s, caps, backend, FALLBACK_DEGRADE, ret_backend, ret_plan, err);
}
