/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The situation: everything outside cordon that a policy depends on, read once - the
 * places, the configuration files, the profiles, what the machine can enforce - and the
 * way from there to a policy and a plan. This is where the pure half of cordon meets
 * the machine; nothing here changes anything.
 */
#ifndef CORDON_RUN_SITUATION_H
#define CORDON_RUN_SITUATION_H

#include <stdbool.h>
#include "backend/backend.h"
#include "base/arena.h"
#include "base/err.h"
#include "plan/caps.h"
#include "plan/plan.h"
#include "policy/policy.h"

#define SYSTEM_CONFIG "/etc/cordon/config.toml"
#define PROJECT_CONFIG ".cordon.toml"

struct situation_options {
	const char *workdir;	/* -C; NULL: the current directory */
	const char *data_dir;	/* NULL: the workdir */
	const char *profile;	/* NULL: configuration decides */
	const char *settings;	/* a settings file of srt; NULL: none */
	bool no_sandbox;
	bool any_workdir;	/* nothing is confined there, so it may be one nobody can mean */
	bool make_home;		/* make cordon's home where a command could make it first */
	bool no_files;		/* read no configuration file: built-in profiles only */
	const struct layer *flags;	/* NULL: none */
	const char *const *environ;
};

struct config_file {
	const char *path;
	bool present;
	bool closed;		/* by the cordon around this one, which enforces it */
	struct config config;
};

struct situation {
	struct arena *arena;
	struct world world;
	struct places places;
	struct config builtin;
	struct config_file system, user;
	VEC(struct config_file *) projects;	/* that exist, the nearest first */
	struct srt_settings *settings;	/* NULL: none was named */
	struct policy *policy;
	const char *const *environ;
};

/* Reads everything and builds the policy. */
int situation_read(struct arena *a, const struct situation_options *options,
		   struct situation *ret, struct cordon_error *err);
/* What the policy was built from, for building it again with other flags: without flags,
 * profile and no_sandbox. Points into s. */
struct policy_input situation_input(const struct situation *s);
/* Picks the backend and compiles; caps from probe_cheap or a test. */
int situation_plan(struct situation *s, const struct caps *caps, const struct backend **ret_backend,
		   struct plan **ret_plan, struct cordon_error *err);
/* The same for one backend by name, whatever the settings say, losses accepted. */
int situation_plan_for(struct situation *s, const struct caps *caps, struct str backend,
		       const struct backend **ret_backend, struct plan **ret_plan,
		       struct cordon_error *err);

/* The parts, for commands that need only some of it. */
int situation_read_config(struct arena *a, const char *path, enum source source,
			  struct config *ret, struct cordon_error *err);
int situation_places(struct arena *a, const struct situation_options *options,
		     struct places *ret, struct cordon_error *err);
/* The world of this machine's file system; nothing to free. */
int world_os_init(struct arena *a, struct world *ret, struct cordon_error *err);
/* Of an object, by its mode. */
enum node_type node_type_of(mode_t mode);
/* What cannot be looked at is not there: for a world inside another cordon, which closed
 * it. */
void world_os_inside(struct world *world);

#endif
