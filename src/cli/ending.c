/* SPDX-License-Identifier: Apache-2.0 */
/* Telling of violations. */
#include "cli/ending.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/num.h"
#include "base/path.h"
#include "cli/advise.h"
#include "cli/git_hints.h"
#include "cli/last_run.h"
#include "cli/out.h"
#include "fmt/json.h"
#include "report/infer.h"
#include "report/summary.h"
#include "run/look.h"

/* Hosts that were not reached; the result has them all. */
#define FAILURES_SAID 5
#define HOSTS_SAID 10
#define LOST_COUNTED 100
#define WELL_LINES_MAX 3 /* about refusals, where the command succeeded */
#define NOT_FOUND 127 /* what a shell says of a program */
#define TEXT_MAX ((size_t)1 << 20)
#define LOOK_MEMORY_MAX ((size_t)256 << 20)
#define INFER_MEMORY_MAX ((size_t)64 << 20)

/* Each is asked for up to three times: for the summary, the result and the record. */
static void advise(void *data, const struct violation *v, struct violation_advice *ret)
{
	struct ending *e = data;
	size_t i = 0, n = violations_count(e->violations);

	while (i < n && violations_at(e->violations, i) != v)
		i++;
	if (i == n) {
		e->finder.advise(e->finder.data, v, ret);
		return;
	}
	if (!e->memory_of[i].known)
		e->finder.advise(e->finder.data, v, &e->memory_of[i].advice);
	e->memory_of[i].known = true;
	*ret = e->memory_of[i].advice;
}

static void say_one(void *data, const struct violation *v)
{
	const struct ending *e = data;
	autobuf struct buf b = buf_make(TEXT_MAX);

	/* The error will say it, or the inner cordon. */
	if (v->source == VIOLATION_BY_start || v->need == VIOLATION_SPARED)
		return;
	violation_print(&b, v, &e->advisor);
	if (!b.failed)
		out_note(e->o, "%s", b.p);
}

/* In a shell: said before its next prompt. */
static void keep_waiting(void *data, const struct violation *v)
{
	struct ending *e = data;

	e->teller.waiting |= v->need != VIOLATION_SPARED;
}

/* Where mounts refuse a write, it says "read-only"; elsewhere the listener tells it. */
static bool says_denied(const struct setup *setup)
{
	return (strcmp(setup->plan->backend, "landlock") == 0 ||
		strcmp(setup->plan->backend, "seatbelt") == 0) &&
	       !setup_observes(setup);
}

static void infer(const struct ending *e, const struct str *texts, size_t n)
{
	const struct policy *policy = e->explainer.setup.situation.policy;
	autoarena struct arena a = { .max = INFER_MEMORY_MAX };
	struct infer in = { .policy = policy,
			    .arena = &a,
			    .violations = e->violations,
			    .guesses_writes = says_denied(&e->explainer.setup),
			    .search = plan_variable(e->explainer.setup.plan, "PATH") };
	struct cordon_error ignored;

	if (!policy->confined || policy_number(policy, KEY_REPORT) == REPORT_NONE ||
	    world_os_init(&a, &in.world, &ignored) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		infer_text(&in, texts[i]);
}

static void say_lines(const struct ending *e, const struct buf *b)
{
	struct str line, rest;

	for (rest = buf_str(b); str_cut(rest, '\n', &line, &rest);)
		out_note(e->o, "%.*s", STR_ARG(line));
}

static void tell(void *data, struct str shown)
{
	autobuf struct buf b = buf_make(TEXT_MAX);
	struct ending *e = data;

	infer(e, &shown, 1);
	e->teller.waiting = false;
	violations_summary(&b, e->violations, &e->told, &e->advisor);
	say_lines(e, &b);
}

int ending_open(const struct opts *o, const struct setup *setup, struct ending *ret,
		struct cordon_error *err)
{
	bool watch = opts_given(o, OPTION_WATCH);

	*ret = (struct ending){ .o = o, .violations = violations_new() };
	if (!ret->violations)
		return err_nomem(err, "run");
	ending_set_plan(ret, setup);
	ret->finder = advisor_of(&ret->explainer);
	ret->advisor = (struct violation_advisor){ .advise = advise, .data = ret };
	ret->watcher = (struct violation_listener){ .first = watch ? say_one : keep_waiting,
						    .data = ret };
	if (watch || o->prompts)
		violations_listen(ret->violations, &ret->watcher);
	if (!watch && o->prompts)
		ret->teller = (struct run_teller){ .tell = tell, .data = ret };
	arena_init(&ret->memory, LOOK_MEMORY_MAX);
	if (opts_given(o, OPTION_CHANGES))
		look_at_plan(&ret->memory, setup->plan, &ret->before);
	return 0;
}

void ending_set_plan(struct ending *e, const struct setup *setup)
{
	explainer_of_plan(e->o, setup, &e->explainer);
}

void ending_close(struct ending *e)
{
	violations_free(e->violations);
	e->violations = NULL;
	arena_free(&e->memory);
}

void ending_compare(struct ending *e)
{
	struct cordon_error ignored;
	struct snapshot after;

	if (!opts_given(e->o, OPTION_CHANGES))
		return;
	look_at_plan(&e->memory, e->explainer.setup.plan, &after);
	if (changes_between(&e->memory, &e->before, &after, &e->changes, &ignored) < 0)
		e->changes = (struct changes){ .asked = true, .incomplete = true };
}

/* Limits that end nothing but make calls fail: what the program then says is all there is
 * to see. One that took it well said nothing. */
static void infer_limits(const struct ending *e, const struct str *texts, size_t n,
			 struct run_result *result)
{
	static const enum key keys[RUN_LIMITS_MET_MAX] = { KEY_FILES, KEY_FILE_SIZE, KEY_PROCS };
	const struct policy *policy = e->explainer.setup.plan->policy;

	if (result->cause != RUN_CAUSE_exited)
		return;
	for (size_t k = 0; k < RUN_LIMITS_MET_MAX; k++)
		for (size_t i = 0; policy_number(policy, keys[k]) && i < n; i++)
			if (infer_is_limited(texts[i], keys[k])) {
				result->limits_met[result->n_limits_met++] = key_rows[keys[k]].name;
				break;
			}
}

static bool ended_well(const struct run_result *result)
{
	return result->cause == RUN_CAUSE_exited && result->exit_code == 0;
}

void ending_infer(struct ending *e, struct run_result *result)
{
	struct str texts[] = { buf_str(&result->err.text), buf_str(&result->out.text),
			       buf_str(&result->shown) };
	size_t n = sizeof(texts) / sizeof(texts[0]);

	infer(e, texts, n);
	infer_limits(e, texts, n, result);
	/* Whoever wants to act on each is told each. */
	if (e->o->rest && !opts_given(e->o, OPTION_ON_VIOLATION))
		violations_settle(e->violations, str_of(e->o->rest[0]), ended_well(result));
}

static void say_limits(const struct ending *e, const struct run_result *result)
{
	for (size_t i = 0; i < result->n_limits_met; i++)
		out_note(e->o,
			 "hint: by what it printed the command seems to have met %s, which ends "
			 "nothing but lets calls fail",
			 result->limits_met[i]);
}

static bool is_powerless(const struct ending *e, const struct run_result *result)
{
	return result->exit_code != 0 && e->explainer.setup.plan->enforced[GUARANTEE_PRIVILEGES] &&
	       (infer_is_powerless(buf_str(&result->err.text)) ||
		infer_is_powerless(buf_str(&result->out.text)) ||
		infer_is_powerless(buf_str(&result->shown)));
}

static void say_powerless(const struct ending *e, const struct run_result *result)
{
	autobuf struct buf program = buf_make(TEXT_MAX);

	if (result->powerless)
		buf_add_escaped(&program, str_of(result->powerless));
	else if (is_powerless(e, result))
		buf_adds(&program, "a program like sudo or ping");
	if (program.n)
		out_note(e->o,
			 "hint: %s has no more rights than the command: inside, setuid bits and "
			 "capabilities of files have no effect",
			 program.p);
}

static bool says_full(const struct run_result *result)
{
	return result->exit_code > 0 && (infer_is_full(buf_str(&result->err.text)) ||
					 infer_is_full(buf_str(&result->out.text)) ||
					 infer_is_full(buf_str(&result->shown)));
}

static void say_full(const struct ending *e, const struct run_result *result)
{
	const struct policy *policy = e->explainer.setup.plan->policy;
	bool memory = policy_number(policy, KEY_MEMORY);
	bool tmp = policy->effective[KEY_TMP_SIZE].origin.source != SOURCE_PROFILE;

	/* A disk of the host may be full, too. */
	if (policy->confined && (memory || tmp) && (result->full || says_full(result)))
		out_note(e->o, "hint: %s/tmp inside lies in memory, and %s bounds it",
			 result->full ? "no space was left in /tmp or its like: " : "",
			 memory ? "--memory" : "--tmp-size");
}

/* The workdir is the host's and what is beside it is not, which nothing inside shows. */
static void say_lost(const struct ending *e, const struct run_result *result)
{
	const struct plan *plan = e->explainer.setup.plan;
	struct str own = plan_private_above(plan, plan->policy->places.workdir);
	autobuf struct buf b = buf_make(TEXT_MAX);

	if (!result->lost || !result->lost_name)
		return;
	buf_add_escaped(&b, str_of(result->lost_name));
	if (result->lost > LOST_COUNTED)
		buf_addf(&b, " and more than %d others", LOST_COUNTED - 1);
	else if (result->lost > 1)
		buf_addf(&b, " and %zu more", result->lost - 1);
	out_note(e->o,
		 "what was written beside the workdir is gone with the command's own %.*s: %s%s",
		 STR_ARG(own), b.p,
		 str_eq(own, STR("/tmp")) ? "; --tmp shared uses the host's, --share-tmp NAME "
					    "keeps one for several runs"
					  : "");
}

/* A program that was allowed to connect only sees that the connection was reset. */
static void print_failures(struct buf *b, const struct run_result *result)
{
	unsigned said = 0;

	for (size_t i = 0; i < result->n_hosts && said < FAILURES_SAID; i++) {
		const struct run_host *h = &result->hosts[i];

		if (!h->failure)
			continue;
		buf_addf(b, "%s:%u was not %sreached: %s\n", h->host, h->port,
			 h->received ? "always " : "", h->failure);
		said++;
	}
}

static void print_host(struct buf *b, const struct run_host *h)
{
	buf_addf(b,
		 "reached %s:%u: %" PRIu64 " connection%s, %" PRIu64 " bytes sent, %" PRIu64
		 " received, ",
		 h->host, h->port, h->count, h->count == 1 ? "" : "s", h->sent, h->received);
	num_print_duration(b, h->duration_ms);
	buf_addc(b, '\n');
}

/* Who wants to know what a run left on this machine is told where else it was. */
static void print_reached(struct buf *b, const struct ending *e, const struct run_result *result)
{
	size_t all = 0;

	if (!opts_given(e->o, OPTION_CHANGES))
		return;
	for (size_t i = 0; i < result->n_hosts; i++) {
		const struct run_host *h = &result->hosts[i];

		if (!h->reached)
			continue;
		if (++all <= HOSTS_SAID)
			print_host(b, h);
	}
	if (all > HOSTS_SAID)
		buf_addf(b, "reached %zu more, which 'hosts' of the result has\n",
			 all - HOSTS_SAID);
	if (result->more_hosts)
		buf_addf(b, "and %" PRIu64 " connections to others\n", result->more_hosts);
}

/* What is promised of names holds only where cordon looks them up. */
static void print_proxied(struct buf *b, const struct run_result *result)
{
	for (size_t i = 0; i < result->n_hosts; i++) {
		if (!result->hosts[i].proxy)
			continue;
		buf_adds(b, "names were looked up by the proxy of your environment: that they did "
			    "not lead into its own network was not checked\n");
		return;
	}
}

/* The next of the words in what a shell is to do; n is 0 between two that are apart by more
 * than one character. */
static struct str next_in_script(const char **at)
{
	struct str word = { *at, strcspn(*at, " \t\n;|&<>(){}$`'\"=") };

	*at += word.n + ((*at)[word.n] != '\0');
	return word;
}

/* The word as the path of a file that is there and may not be read; NULL: it is none. */
static const char *unreadable(const struct policy *policy, struct arena *a, struct str word)
{
	static const struct str homes[] = { STR("~/"), STR("HOME/") }; /* of $HOME/ */
	struct str base = policy->places.workdir;
	struct decision d;
	const char *path;

	for (size_t i = 0; i < sizeof(homes) / sizeof(homes[0]); i++)
		if (str_starts(word, homes[i])) {
			base = policy->places.home;
			word = str_skip(word, homes[i].n);
		}
	path = word.n ? path_normalise(a, base, word) : NULL;
	/* What leads to the workdir is there, whatever may be read of it. */
	return path && !path_below(policy->places.workdir, str_of(path)) &&
			       !policy_allows(policy, POLICY_READ, str_of(path), &d) &&
			       access(path, F_OK) == 0
		       ? path
		       : NULL;
}

/* The first of the command's words, or of what a shell is to do, that is a file it may not
 * read; NULL: none. */
static const char *unreadable_word(const struct ending *e, struct arena *a)
{
	const struct policy *policy = e->explainer.setup.plan->policy;
	const char *found = NULL;

	for (char *const *word = e->o->rest + 1; *word && !found; word++) {
		found = unreadable(policy, a, str_of(*word));
		for (const char *at = *word; *at && !found;)
			found = unreadable(policy, a, next_in_script(&at));
	}
	return found;
}

/* A failure that nobody saw the reason of: neither the read nor what was said of it. */
static void say_unseen(const struct ending *e, const struct run_result *result)
{
	const struct policy *policy = e->explainer.setup.plan->policy;
	autoarena struct arena a = { .max = INFER_MEMORY_MAX };
	autobuf struct buf b = buf_make(TEXT_MAX);
	const char *path;

	if (result->exit_code <= 0 || violations_count(e->violations) || !policy->confined ||
	    policy_number(policy, KEY_REPORT) == REPORT_NONE)
		return;
	path = unreadable_word(e, &a);
	if (!path)
		return;
	buf_add_escaped(&b, str_of(path));
	if (policy_number(policy, KEY_REPORT) >= REPORT_ALL)
		out_note(e->o,
			 "hint: %s may not be read, and whoever only looks whether it is there is "
			 "not observed: 'cordon explain' says why",
			 b.p);
	else
		out_note(e->o,
			 "hint: %s may not be read, and reads were not observed: --report all does "
			 "that, 'cordon explain' says why",
			 b.p);
}

/* The first word of the command, or of what a shell is to do, that names a program which is not
 * shown inside. A shell only looks whether it is there, and nobody sees that. */
static const char *unshown_program(const struct ending *e, struct arena *a)
{
	const struct plan *plan = e->explainer.setup.plan;
	struct infer in = { .policy = plan->policy,
			    .arena = a,
			    .search = plan_variable(plan, "PATH") };
	struct cordon_error ignored;
	const char *found = NULL;

	if (world_os_init(a, &in.world, &ignored) < 0)
		return NULL;
	for (char *const *word = e->o->rest + 1; *word && !found; word++)
		for (const char *at = *word; *at && !found;)
			found = infer_program(&in, next_in_script(&at));
	return found;
}

static void say_unshown(const struct ending *e, const struct run_result *result)
{
	struct violation v = { .op = VIOLATION_exec, .source = VIOLATION_BY_inferred };
	autoarena struct arena a = { .max = INFER_MEMORY_MAX };
	struct violation_advice advice = { 0 };
	autobuf struct buf b = buf_make(TEXT_MAX);
	const char *path;

	if (result->exit_code != NOT_FOUND || violations_count(e->violations) ||
	    !e->explainer.setup.plan->policy->confined)
		return;
	path = unshown_program(e, &a);
	if (!path)
		return;
	v.object = str_of(path);
	e->finder.advise(e->finder.data, &v, &advice);
	buf_add_escaped(&b, v.object);
	if (advice.fix.flags && !advice.fix.remark)
		out_note(e->o, "hint: %s is not shown inside; to allow it: %s", b.p,
			 advice.fix.flags);
	else
		out_note(e->o, "hint: %s is not shown inside; 'cordon explain' says why", b.p);
}

/* Of a command that succeeded all the same: programs try, and go on. */
static void say_refused(const struct ending *e, const struct run_result *result)
{
	bool well = ended_well(result);
	autobuf struct buf b = buf_make(TEXT_MAX);
	struct summary_told told = e->told;
	struct str line, rest;
	size_t lines = 0;

	violations_summary(&b, e->violations, &told, &e->advisor);
	for (rest = buf_str(&b); str_cut(rest, '\n', &line, &rest); lines++)
		if (!well || lines < WELL_LINES_MAX)
			out_note(e->o, "%.*s", STR_ARG(line));
	if (well && lines > WELL_LINES_MAX)
		out_note(e->o,
			 "%zu more like these, and the command succeeded all the same; 'cordon "
			 "explain --last' has them",
			 lines - WELL_LINES_MAX);
}

void ending_say(const struct ending *e, const struct run_result *result)
{
	autobuf struct buf b = buf_make(TEXT_MAX);

	/* An error has said it already. */
	if (result->error.code || opts_given(e->o, OPTION_QUIET))
		return;
	if (!opts_given(e->o, OPTION_WATCH))
		say_refused(e, result);
	print_failures(&b, result);
	print_proxied(&b, result);
	print_reached(&b, e, result);
	changes_print(&b, &e->changes);
	say_lines(e, &b);
	say_unseen(e, result);
	say_unshown(e, result);
	say_powerless(e, result);
	say_full(e, result);
	say_limits(e, result);
	say_lost(e, result);
	git_hints_say(&e->explainer, e->violations, result);
}

static json_t *describe(const struct ending *e, const struct run_result *result)
{
	const struct situation *s = &e->explainer.setup.situation;
	uint64_t dropped = violations_dropped(e->violations);
	time_t now = time(NULL);
	char when[32] = "?";
	struct tm tm;
	json_t *run;

	if (gmtime_r(&now, &tm))
		strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
	run = json_pack("{s:s, s:s, s:s, s:I, s:o}", "cause", run_cause_to_string(result->cause),
			"profile", s->policy->profile, "backend", e->explainer.setup.plan->backend,
			"violations_dropped", (json_int_t)dropped, "violations",
			violations_to_json(e->violations, &e->advisor));

	if (run && json_set_text(run, "program", str_of(e->o->rest[0])) &&
	    json_set_text(run, "time", str_of(when)) &&
	    json_set_text(run, "workdir", s->places.workdir))
		return run;
	json_decref(run);
	return NULL;
}

void ending_record(const struct ending *e, const struct run_result *result)
{
	json_t *run;
	int r;

	if (!violations_count(e->violations) && !violations_dropped(e->violations))
		return;
	run = describe(e, result);
	r = last_run_write(e->explainer.setup.situation.places.cordon_home.p, run);
	if (r < 0)
		out_note(e->o,
			 "the refused actions are not on record for 'cordon explain "
			 "--last': %s",
			 strerror(-r));
	json_decref(run);
}
