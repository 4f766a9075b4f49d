/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon run: options to a plan, remarks on what it does not do, the run, and its
 * result in the forms that were asked for.
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "base/spawn.h"
#include "cli/cmd.h"
#include "cli/ending.h"
#include "cli/caller.h"
#include "cli/out.h"
#include "cli/result_file.h"
#include "cli/show.h"
#include "fmt/json.h"
#include "run/attempt.h"
#include "run/quarantine.h"
#include "run/terminal.h"

#define TEXT_MAX ((size_t)16 << 10)

enum on_violation { VIOLATION_REPORT, VIOLATION_FAIL, VIOLATION_KILL };

struct runner {
	struct opts *o;
	struct setup setup;
	struct attempt attempt;
	struct result_file file;
	enum on_violation on_violation;
	bool capture;
	bool interrupted; /* by a key, and cordon is to end that way */
	struct ending ending;
	struct cordon_error err;
};

/* What is wrong with the options together; nothing has been looked at yet. */
static int check_options(struct runner *r)
{
	static const char *const words[] = { "report", "fail", "kill", NULL };
	const struct opts *o = r->o;
	int choice = opts_choice(o, OPTION_ON_VIOLATION, words, VIOLATION_REPORT, &r->err);

	if (choice < 0)
		return choice;
	r->on_violation = (enum on_violation)choice;
	r->capture = opts_given(o, OPTION_CAPTURE) || opts_given(o, OPTION_JSON) || o->caller;
	if (!o->rest || !*o->rest) {
		err_set(&r->err, CORDON_E_USAGE, 0, "usage", "no command to run was given");
		return err_hint(&r->err, "for example: cordon run -- make test");
	}
	if (opts_given(o, OPTION_CAPTURE) && !opts_given(o, OPTION_JSON) &&
	    !opts_given(o, OPTION_RESULT)) {
		err_set(&r->err, CORDON_E_USAGE, 0, "usage",
			"--capture puts the output into the result, and none was asked for");
		return err_hint(&r->err, "add --result FILE, or use --json");
	}
	return 0;
}

/* Nobody would be there to see a violation: a promise to act on it would be empty. */
static int check_violations(struct runner *r)
{
	const struct plan *plan = r->setup.plan;

	if (r->on_violation == VIOLATION_REPORT || setup_observes(&r->setup))
		return 0;
	if (plan->policy->confined && policy_number(plan->policy, KEY_REPORT) < REPORT_WRITES) {
		err_set(&r->err, CORDON_E_USAGE, 0, "usage",
			"--on-violation %s needs refused actions to be seen, and report is \"%s\"",
			r->o->value[OPTION_ON_VIOLATION],
			choice_to_string(CHOICES_REPORT,
					 (unsigned)policy_number(plan->policy, KEY_REPORT)));
		return err_hint(&r->err, "--report writes, or leave --on-violation out");
	}
	err_set(&r->err, CORDON_E_UNAVAILABLE, 0, "run",
		"--on-violation %s: the %s backend does not observe refused actions, so none "
		"would be noticed",
		r->o->value[OPTION_ON_VIOLATION], plan->backend);
	return err_hint(&r->err, "leave the option out; refused actions still fail inside");
}

/* Who chose the setting: its flag, or its name in a file and the place there. */
static void print_choice(struct buf *b, const struct policy *policy, enum key key, struct str value)
{
	const struct origin *origin = &policy->effective[key].origin;

	if (!origin->file || origin->source == SOURCE_FLAGS) {
		buf_addf(b, "%s %.*s", key_rows[key].flag, STR_ARG(value));
		return;
	}
	buf_addf(b, "%s %.*s, from ", key_rows[key].name, STR_ARG(value));
	origin_print(b, origin);
}

static bool say_passthrough(const struct policy *policy)
{
	struct str backend = policy->effective[KEY_BACKEND].text;
	autobuf struct buf who = buf_make(TEXT_MAX);

	if (str_eq(backend, STR("passthrough")))
		print_choice(&who, policy, KEY_BACKEND, backend);
	else
		buf_adds(&who, "no backend can enforce the policy here");
	return !who.failed && out_loud("running WITHOUT confinement (%s)", who.p);
}

/* One line; --quiet leaves nothing of it but what the policy requires. */
static bool say_degraded(const struct runner *r)
{
	const struct plan *plan = r->setup.plan;
	autobuf struct buf b = buf_make(TEXT_MAX);
	bool required = false;

	vec_each(loss, &plan->degraded) {
		required |= loss->required;
		if (!loss->required && opts_given(r->o, OPTION_QUIET))
			continue;
		buf_adds(&b, b.n ? ", " : "");
		plan_print_loss(&b, plan, loss);
		buf_adds(&b, loss->required ? " (REQUIRED)" : "");
	}
	if (b.failed)
		return false;
	if (!b.n)
		return true;
	return required ? out_loud("not enforced by %s: %s", plan->backend, b.p)
			: out_note(r->o, "not enforced by %s: %s", plan->backend, b.p);
}

/* What goes straight to the user's own terminal is seen by nobody. */
static void say_uncounted(const struct runner *r)
{
	struct execute_options options = { .capture = r->capture };
	const struct plan *plan = r->setup.plan;
	unsigned shown = terminal_streams(plan, &options) | (r->capture ? 6u : 0u) |
			 (isatty(STDOUT_FILENO) ? 0u : 2u) | (isatty(STDERR_FILENO) ? 0u : 4u);

	if (execute_output_asked(plan->policy) && (shown & 6u) != 6u)
		out_loud("limits.output is not held for %s, a terminal that the command has "
			 "itself, because it gets no session of its own",
			 shown & 2u ? "standard error" : "standard output");
}

/* Nothing runs that is less confined than was said. */
static int say_losses(struct runner *r)
{
	const struct plan *plan = r->setup.plan;
	const struct policy *policy = plan->policy;
	bool said;

	if (!policy->confined)
		said = out_loud("running WITHOUT confinement (%s)", policy->unconfined_reason);
	else if (strcmp(plan->backend, "passthrough") == 0)
		said = say_passthrough(policy);
	else
		said = say_degraded(r);
	return said ? 0 : err_nomem(&r->err, "run");
}

/* The number in /dev/fd/63 or /proc/self/fd/63; 0: it is none, or a standard stream. */
static unsigned descriptor_in(struct str word)
{
	static const char *const places[] = { "/dev/fd/", "/proc/self/fd/" };
	uint64_t fd = 0;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (str_starts(word, str_of(places[i])) &&
		    num_parse_u64(str_skip(word, strlen(places[i])), UINT32_MAX, &fd) && fd > 2)
			return (unsigned)fd;
	return 0;
}

/* A shell's <(...) and >(...), which would be a file that is not there. */
static void say_closed(const struct runner *r)
{
	if (!r->setup.plan->policy->confined)
		return;
	for (char **word = r->o->rest; *word; word++)
		if (descriptor_in(str_of(*word))) {
			out_note(r->o,
				 "warning: %s is not passed on: a command gets standard input, "
				 "output and error and no other descriptor; use a pipe or a file, "
				 "or run the shell that makes it inside: cordon run bash -c '...'",
				 quote(str_of(*word)).text);
			return;
		}
}

/* Who meant to work on files of the workdir finds none. */
static void say_elsewhere(const struct runner *r)
{
	struct str workdir = r->setup.plan->policy->places.workdir;
	const struct op *start = plan_find_op(r->setup.plan, OP_CHDIR);
	autobuf struct buf path = buf_make(16384);

	if (!start || str_eq(start->path, workdir))
		return;
	buf_add_escaped(&path, workdir);
	out_note(r->o,
		 "warning: no rule shows the workdir (%s), so the command starts in %.*s; "
		 "--allow-read . or --allow-write . shows it",
		 path.failed ? "" : buf_str(&path).p, STR_ARG(start->path));
}

/* Of a shell, and only where it is true. */
static void say_inside(const struct runner *r)
{
	if (r->o->is_shell && execute_confines(r->setup.plan))
		out_note(r->o, "this shell is inside the boundary; 'exit' leaves it");
}

static int say_before(struct runner *r)
{
	say_inside(r);
	say_closed(r);
	setup_warn(r->o, r->setup.plan->policy);
	say_elsewhere(r);
	if (!opts_given(r->o, OPTION_QUIET) && show_widens(r->setup.plan->policy))
		out_note(r->o, "warning: a project file asks for more than there is, without "
			       "effect; 'cordon config show' lists it");
	say_uncounted(r);
	return say_losses(r);
}

static void print_limit(struct buf *b, const struct policy *policy, enum key key)
{
	uint64_t number = policy_number(policy, key);

	if (key_rows[key].type == TYPE_DURATION)
		num_print_duration(b, number);
	else if (key_rows[key].type == TYPE_SIZE)
		num_print_size(b, number);
	else
		buf_addf(b, "%llu", (unsigned long long)number);
}

/* Said with --quiet too: the exit status alone could be the command's own. */
static void say_limit(const struct runner *r, enum key key, const char *sentence)
{
	const struct policy *policy = r->setup.plan->policy;
	autobuf struct buf limit = buf_make(64);
	autobuf struct buf who = buf_make(TEXT_MAX);

	print_limit(&limit, policy, key);
	print_choice(&who, policy, key, buf_str(&limit));
	out_loud("%s: %s", sentence, who.p);
}

static void print_quarantined(struct buf *b, const struct run_quarantined *q)
{
	buf_add_escaped(b, str_of(q->object));
	if (q->kept) {
		buf_adds(b, " was made or changed, as it seems by the command, although it is "
			    "protected; it was moved to ");
		buf_add_escaped(b, str_of(q->kept));
		if (q->restorable)
			buf_addf(b, "; 'cordon quarantine restore %s' gets it back",
				 quarantine_id(q->kept));
	} else if (q->why) {
		buf_addf(b,
			 " is protected, and what the command may have made there is still there: "
			 "%s; look at it before anything uses it",
			 strerror(q->why));
	} else {
		buf_adds(b, " appeared during the run and was left: it is not known to be the "
			    "command's");
	}
}

/* What slipped past the guard, and the way back. */
static void say_quarantined(const struct run_result *result)
{
	for (size_t i = 0; i < result->n_quarantined; i++) {
		autobuf struct buf text = buf_make((size_t)64 << 10);

		print_quarantined(&text, &result->quarantined[i]);
		out_loud("%s", text.p);
	}
	if (result->more_quarantined > result->more_left)
		out_loud("%zu more names were made although they are protected, and moved away; "
			 "'cordon quarantine list' shows them",
			 result->more_quarantined - result->more_left);
	if (result->more_left)
		out_loud("%zu more appeared at protected names and are not in the quarantine: look "
			 "there, and for .cordon-taken-... beside them, before anything uses them",
			 result->more_left);
}

/* One sentence when the end was not the command's own doing. */
static void say_after(const struct runner *r, const struct run_result *result)
{
	switch (result->cause) {
	case RUN_CAUSE_exited:
	case RUN_CAUSE_signal:
		break;
	case RUN_CAUSE_timeout:
		say_limit(r, KEY_TIMEOUT, "the command was ended because its time was up");
		break;
	case RUN_CAUSE_memory:
		say_limit(r, KEY_MEMORY, "the command was ended because it used too much memory");
		break;
	case RUN_CAUSE_cpu:
		say_limit(r, KEY_CPU,
			  "the command was ended because it used too much processor time");
		break;
	case RUN_CAUSE_procs:
		say_limit(r, KEY_PROCS, "the command was ended because it had too many processes");
		break;
	case RUN_CAUSE_output:
		say_limit(r, KEY_OUTPUT, "the command was ended because it printed too much");
		break;
	case RUN_CAUSE_file_size:
		say_limit(r, KEY_FILE_SIZE, "the command was ended because of a file's size");
		break;
	case RUN_CAUSE_traffic:
		say_limit(r, KEY_TRAFFIC,
			  "the command was ended because it exchanged too much with hosts");
		break;
	case RUN_CAUSE_policy:
		if (!result->error.code)
			out_loud(r->on_violation == VIOLATION_KILL && result->signal == SIGKILL
					 ? "the run was ended because an action was refused"
					 : "the run failed because an action was refused");
		break;
	case RUN_CAUSE_setup:
		break;
	case RUN_CAUSE_COUNT:
		break;
	}
	if (result->hidden)
		out_loud("a process of it hid from cordon, which a /proc with hidepid lets it do, "
			 "and what cannot be counted is too much: docs/limits.md");
	/* With --json the error is in the object. */
	if (result->error.code && !opts_given(r->o, OPTION_JSON))
		out_error_text(&result->error);
	if (result->undelivered)
		out_loud("the end of the command's output is lost: whoever it goes to did not take "
			 "it in time");
	if (result->debris)
		out_loud("could not remove %s, which was made for the run", result->debris);
	say_quarantined(result);
	if (result->relay_error.code)
		out_loud("cordon-relay could not be started, so no host could be reached: %s",
			 result->relay_error.message);
	else if (result->relay_lost)
		out_loud("cordon-relay ended before the command did; from then on no host could "
			 "be reached");
	if (result->survivors)
		out_note(r->o, "%zu process%s that the command left running %s ended",
			 result->survivors, result->survivors == 1 ? "" : "es",
			 result->survivors == 1 ? "was" : "were");
	if (result->left)
		out_loud("%zu processes of the run could not be ended", result->left);
}

/* The result in every form that was asked for; returns the exit status. */
static int deliver(struct runner *r, const struct run_result *result)
{
	int status = run_result_status(result);
	struct execute_report report = {
		.violations = r->ending.violations,
		.advisor = &r->ending.advisor,
		.changes = &r->ending.changes,
	};
	autobuf struct buf text = buf_make(OUT_BYTES_MAX);
	json_t *json;

	if (r->file.fd < 0 && !opts_given(r->o, OPTION_JSON))
		return status;
	json = execute_to_json(result, r->setup.plan, &report);
	if (json)
		json_print(&text, json, true);
	else
		text.failed = true;
	json_decref(json);
	if (result_file_write(r->o->arena, &r->file, &text, &r->err) < 0)
		status = out_error_text(&r->err);
	if (opts_given(r->o, OPTION_JSON) && out_text(r->o, &text) != 0)
		status = STATUS_FAILED;
	return status;
}

/* The command was never started. */
static int fail(struct runner *r)
{
	struct run_result result = {
		.cause = RUN_CAUSE_setup,
		.exit_code = -1,
		.error = r->err,
	};

	say_after(r, &result);
	return deliver(r, &result);
}

static int dry_run(struct runner *r)
{
	autobuf struct buf b = buf_make(OUT_BYTES_MAX);

	if (opts_given(r->o, OPTION_JSON))
		return out_json(r->o, plan_to_json(r->setup.plan));
	plan_print(&b, r->setup.plan);
	return out_text(r->o, &b);
}

static int look_again(void *data, struct cordon_error *err)
{
	struct runner *r = data;

	return setup_policy(r->o, &r->setup.situation, err);
}

/* Was everything there is to say about this plan said of the other? */
static bool is_announced(const struct plan *plan, const struct plan *before)
{
	return strcmp(plan->backend, before->backend) == 0 &&
	       plan->policy->confined == before->policy->confined &&
	       memcmp(plan->promised, before->promised, sizeof(plan->promised)) == 0 &&
	       memcmp(plan->enforced, before->enforced, sizeof(plan->enforced)) == 0;
}

/* Another plan than the one announced. */
static int changed(void *data, struct cordon_error *err)
{
	struct runner *r = data;
	const struct plan *before = r->setup.plan;
	int refused;

	r->setup.backend = r->attempt.backend;
	r->setup.plan = r->attempt.plan;
	ending_set_plan(&r->ending, &r->setup);
	refused = check_violations(r);
	if (refused == 0 && !is_announced(r->setup.plan, before))
		refused = say_losses(r);
	if (refused < 0)
		*err = r->err;
	return refused;
}

/* What was only inferred does not count: text that a program prints decides nothing. What is
 * known only when the command has ended comes too late to end it, and counts. */
static void fail_on_violation(const struct runner *r, struct run_result *result)
{
	bool own_end = result->cause == RUN_CAUSE_exited || result->cause == RUN_CAUSE_signal;

	if (r->on_violation != VIOLATION_REPORT && own_end &&
	    violations_observed(r->ending.violations))
		result->cause = RUN_CAUSE_policy;
}

/* A shell leaves its loop or script only when it sees that what it ran was interrupted; the
 * number 130 does not tell it. On a terminal of its own the command had the key alone. */
static bool was_interrupted(const struct run_result *result)
{
	return result->cause == RUN_CAUSE_signal && result->signal == SIGINT &&
	       isatty(STDIN_FILENO);
}

static int start(struct runner *r, struct accesses *accesses, struct run_result *ret)
{
	struct execute_options options = {
		.argv = r->o->rest,
		.capture = r->capture,
		.lets_go = true,
		.end_at_violation = r->on_violation == VIOLATION_KILL,
		.strictly = r->on_violation != VIOLATION_REPORT,
		.accesses = accesses,
		.ahead = r->setup.ahead,
	};

	if (ending_open(r->o, &r->setup, &r->ending, &r->err) < 0)
		return -r->err.code;
	options.violations = r->ending.violations;
	options.teller = r->ending.teller.tell ? &r->ending.teller : NULL;
	if (r->o->caller)
		caller_joins(r->o->caller, r->ending.violations, &r->ending.advisor, &options);
	r->attempt = (struct attempt){
		.situation = &r->setup.situation,
		.caps = &r->setup.caps,
		.backend = r->setup.backend,
		.plan = r->setup.plan,
		.again = look_again,
		.changed = changed,
		.data = r,
	};
	return attempt_execute(r->o->arena, &r->attempt, &options, ret, &r->err);
}

static int run_it(struct runner *r)
{
	struct run_result result = { 0 };
	int status;

	if (start(r, NULL, &result) < 0)
		return fail(r);
	ending_compare(&r->ending);
	ending_infer(&r->ending, &result);
	fail_on_violation(r, &result);
	say_after(r, &result);
	ending_say(&r->ending, &result);
	/* It has had the output already. */
	if (r->o->caller)
		result.captured = false;
	status = deliver(r, &result);
	ending_record(&r->ending, &result);
	r->interrupted = was_interrupted(&result);
	run_result_free(&result);
	return status;
}

/* What nobody would see nobody could learn from. */
static int check_watched(struct runner *r)
{
	if (setup_observes(&r->setup))
		return 0;
	err_set(&r->err, CORDON_E_UNAVAILABLE, 0, "run",
		"the %s backend does not observe what is refused, so nothing can be learned",
		r->setup.plan->backend);
	return err_hint(&r->err, "'cordon doctor' says what is missing here");
}

static int watch_it(struct runner *r, const struct run_watch *watch)
{
	struct run_result result = { 0 };
	struct cordon_error error;
	int code = start(r, watch->accesses, &result);

	if (code < 0)
		return code;
	error = result.error;
	/* It may be what is to be learned. */
	result.error = (struct cordon_error){ 0 };
	say_after(r, &result);
	result.error = error;
	code = watch->after(watch->data, &r->ending, &result, &r->err);
	run_result_free(&result);
	return code;
}

int run_watched(struct opts *o, const struct run_watch *watch, struct cordon_error *err)
{
	struct runner r = { .o = o, .setup.runs = true };
	int code = setup_plan(o, &r.setup, &r.err);

	if (code == 0)
		code = check_watched(&r);
	if (code == 0)
		code = watch->before(watch->data, &r.setup, &r.err);
	if (code == 0)
		code = say_before(&r);
	if (code == 0)
		code = watch_it(&r, watch);
	ending_close(&r.ending);
	spawn_ahead_end(r.setup.ahead);
	if (code < 0)
		*err = r.err;
	return code;
}

int cmd_run(struct opts *o)
{
	struct runner r = { .o = o, .setup.runs = !opts_given(o, OPTION_DRY_RUN) };
	int status;

	result_file_init(&r.file);
	if (check_options(&r) < 0)
		return out_error(o, &r.err);
	/* First of all, before any descriptor of cordon's own could take its number. */
	if (opts_given(o, OPTION_RESULT) &&
	    result_file_open(o->arena, o->value[OPTION_RESULT], o->value[OPTION_WORKDIR], &r.file,
			     &r.err) < 0)
		return out_error(o, &r.err);
	if (setup_plan(o, &r.setup, &r.err) < 0 || check_violations(&r) < 0 || say_before(&r) < 0)
		status = fail(&r);
	else
		status = opts_given(o, OPTION_DRY_RUN) ? dry_run(&r) : run_it(&r);
	spawn_ahead_end(r.setup.ahead);
	result_file_close(&r.file);
	ending_close(&r.ending);
	if (r.interrupted && signal(SIGINT, SIG_DFL) != SIG_ERR)
		raise(SIGINT);
	return status;
}
