/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon learn: runs a command inside the boundary, sees what it is refused, and prints the
 * profile under which it would not have been (lesson.h). Standard output is for the profile
 * alone: that of the command goes to standard error.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/num.h"
#include "base/path.h"
#include "cli/cmd.h"
#include "cli/ending.h"
#include "cli/lesson.h"
#include "cli/out.h"
#include "fmt/located.h"
#include "policy/profiles.h"
#include "report/accesses.h"

#define stage "learn"
#define ROUNDS_MAX 100

static int check_options(struct lesson *s)
{
	const struct opts *o = s->o;
	const char *rounds = o->value[OPTION_ROUNDS];

	s->name = opts_given(o, OPTION_NAME) ? o->value[OPTION_NAME] : "learned";
	s->most = 1;
	if (rounds && (!num_parse_u64(str_of(rounds), ROUNDS_MAX, &s->most) || !s->most))
		return err_set(&s->err, CORDON_E_USAGE, 0, "usage",
			       "--rounds: %s is not a number from 1 to %d",
			       quote(str_of(rounds)).text, ROUNDS_MAX);
	if (profiles_text(str_of(s->name)))
		return err_set(&s->err, CORDON_E_USAGE, 0, "usage",
			       "--name: %s is a built-in profile", quote(str_of(s->name)).text);
	if (!o->rest || !*o->rest) {
		err_set(&s->err, CORDON_E_USAGE, 0, "usage", "no command to learn from was given");
		return err_hint(&s->err, "for example: cordon learn -- make test");
	}
	return 0;
}

/* Everything is to be seen, unless somebody says what. */
static int want_report(struct lesson *s)
{
	struct origin origin = { SOURCE_FLAGS, "cordon learn", 0, 0 };

	vec_each(statement, &s->o->flags.statements)
		if (statement->key == KEY_REPORT)
			return 0;
	return layer_add_text(s->o->arena, &s->o->flags, KEY_REPORT, STR("all"), &origin, &s->err);
}

/* A project file only narrows: with a profile in it, no run there would start. */
static int check_merge(const struct lesson *s, struct cordon_error *err)
{
	const char *file = s->o->value[OPTION_MERGE];

	if (opts_given(s->o, OPTION_SETTINGS)) {
		err_set(err, CORDON_E_USAGE, 0, "usage",
			"a profile that is learned stands on another one, not on --settings");
		return err_hint(err, "cordon profile import srt makes a profile of the file; "
				     "then learn with -p");
	}
	if (!file || !str_eq(path_last(str_of(file)), STR(".cordon.toml")))
		return 0;
	err_set(err, CORDON_E_USAGE, 0, "usage", "a project file may not define profiles: %s",
		quote(str_of(file)).text);
	return err_hint(err, "--merge ~/.cordon/config.toml, and run with -p %s", s->name);
}

static int before(void *data, const struct setup *setup, struct cordon_error *err)
{
	struct lesson *s = data;
	int r = check_merge(s, err);

	if (s->rounds || r < 0)
		return r;
	s->base = setup->plan->policy->profile;
	s->workdir = setup->situation.places.workdir;
	if (strcmp(s->base, s->name) == 0 && !opts_given(s->o, OPTION_MERGE)) {
		err_set(err, CORDON_E_USAGE, 0, "usage", "%s is the profile that is used already",
			quote(str_of(s->name)).text);
		return err_hint(err, "--merge adds to it, --name calls the new one otherwise");
	}
	return learner_open(&s->learner, &setup->situation, err);
}

static int after(void *data, struct ending *ending, const struct run_result *result,
		 struct cordon_error *err)
{
	struct lesson *s = data;
	int r = learner_take(&s->learner, &ending->explainer, ending->violations, &s->fresh, err);

	if (r < 0)
		return r;
	s->rounds++;
	s->dropped = violations_dropped(ending->violations);
	s->cause = result->cause;
	s->exit_code = result->exit_code;
	/* What was refused may be why it did not start. */
	if (result->error.code && !s->fresh) {
		*err = result->error;
		return -err->code;
	}
	return 0;
}

static int run_rounds(struct lesson *s)
{
	struct run_watch watch = { .before = before, .after = after, .data = s };
	bool ended = false;
	int r = 0;

	while (r == 0 && s->rounds < s->most && !ended) {
		accesses_free(s->accesses);
		watch.accesses = s->accesses = accesses_new();
		r = s->accesses ? run_watched(s->o, &watch, &s->err) : err_nomem(&s->err, stage);
		ended = !s->fresh || s->cause == RUN_CAUSE_signal || s->cause == RUN_CAUSE_timeout;
	}
	return r;
}

/* The command's output must not get between the lines of the profile. */
static int run_apart(struct lesson *s)
{
	autoclose int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	int r;

	if (out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return err_set(&s->err, CORDON_E_SYSTEM, errno, stage, "standard output");
	r = run_rounds(s);
	if (dup2(out, STDOUT_FILENO) < 0 && r == 0)
		r = err_set(&s->err, CORDON_E_SYSTEM, errno, stage, "standard output");
	return r;
}

int cmd_learn(struct opts *o)
{
	struct lesson s = { .o = o, .learner = { .o = o } };
	int r = check_options(&s);
	int status;

	if (r == 0)
		r = want_report(&s);
	if (r == 0)
		r = run_apart(&s);
	status = r < 0 ? out_error(o, &s.err) : lesson_tell(&s);
	accesses_free(s.accesses);
	return status;
}
