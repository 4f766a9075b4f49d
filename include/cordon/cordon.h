/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcordon: run what an agent wants to run inside a boundary, and learn what happened.
 *
 *	struct cordon_policy *policy = cordon_policy_new("moderate");
 *	struct cordon_result *result;
 *	struct cordon_error err;
 *
 *	cordon_policy_writable_path(policy, "/srv/project");
 *	cordon_policy_allow_network(policy, "api.example.com:443");
 *	if (cordon_execute_shell(policy, "make test", "/srv/project", 60000, &result, &err) < 0)
 *		fprintf(stderr, "%s: %s (%s)\n", err.stage, err.message, err.hint);
 *	fputs(cordon_result_stdout(result, NULL), stdout);	(NULL results are empty)
 *	cordon_result_free(result);
 *	cordon_policy_free(policy);
 *
 * A policy says what may happen: a profile, and what is said on top of it with the same
 * keys, values and checks as in cordon.toml(5). A run is one command under a policy: waited
 * for (cordon_execute), or followed from the caller's own poll loop (cordon_run_start,
 * cordon_run_fd, cordon_run_step). A result says how it ended, what was refused, and by
 * which rule. cordon_decide and cordon_explain ask without running anything.
 *
 * The command is supervised by another process, `cordon --supervise`, that is no child of
 * the caller: its signals, children, threads and descriptors stay its own, whatever it
 * blocks, reaps or ignores. The run ends when the caller does.
 *
 * Functions that can fail return 0 or a negative enum cordon_code and fill *err, which may
 * be NULL. Nothing here exits, prints, or changes state of the whole process. All functions
 * may be called from any thread; one object is used by one thread at a time, except that
 * any number of runs may use one policy that nobody changes.
 */
#ifndef CORDON_CORDON_H
#define CORDON_CORDON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cordon/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- version -------------------------------------------------------------------------- */

/* Grows when something is added; the soname changes when something is taken away. */
#define CORDON_ABI 1

/* "0.1.0" */
CORDON_PUBLIC const char *cordon_version(void);
/* Of the library in use: CORDON_ABI of the header it was built with. */
CORDON_PUBLIC int cordon_abi(void);

/* --- policies ------------------------------------------------------------------------- */

struct cordon_policy;

/*
 * profile: strict, moderate, permissive, custom (nothing but what is said here), or one of
 * the configuration; NULL: the configuration decides. NULL is returned when memory is out,
 * and every function accepts it. Configuration files count as for `cordon run`: what is
 * said here stands above them, and a project's file can only take away.
 *
 * The first mistake is kept and everything after it ignored: cordon_policy_check tells, and
 * so does every use.
 */
CORDON_PUBLIC struct cordon_policy *cordon_policy_new(const char *profile);
CORDON_PUBLIC void cordon_policy_free(struct cordon_policy *policy);
CORDON_PUBLIC int cordon_policy_check(const struct cordon_policy *policy,
				      struct cordon_error *err);

/* Paths as in cordon.toml(5): subtrees, globs, ~, {workdir}, @sets. Each call adds one. */
CORDON_PUBLIC void cordon_policy_readonly_path(struct cordon_policy *policy, const char *path);
CORDON_PUBLIC void cordon_policy_writable_path(struct cordon_policy *policy, const char *path);
CORDON_PUBLIC void cordon_policy_blocked_path(struct cordon_policy *policy, const char *path);
/* "on", "off", or hosts: "example.com,*.example.org:443". NULL and "" allow nothing. */
CORDON_PUBLIC void cordon_policy_allow_network(struct cordon_policy *policy, const char *hosts);
/* 0: no limit. */
CORDON_PUBLIC void cordon_policy_timeout(struct cordon_policy *policy, uint64_t milliseconds);
CORDON_PUBLIC void cordon_policy_memory_limit_mb(struct cordon_policy *policy, uint64_t mb);
CORDON_PUBLIC void cordon_policy_share_pid(struct cordon_policy *policy, bool yes);
CORDON_PUBLIC void cordon_policy_new_session(struct cordon_policy *policy, bool yes);
/* Any key of cordon.toml(5) and its value as a flag gives it ("limits.procs", "200"); of a
 * list one more element. */
CORDON_PUBLIC void cordon_policy_set(struct cordon_policy *policy, const char *key,
				     const char *value);

/* The directory that commands work in and that is {workdir}; NULL: the current one. */
CORDON_PUBLIC void cordon_policy_workdir(struct cordon_policy *policy, const char *path);
/* What {data} means; NULL: the workdir. */
CORDON_PUBLIC void cordon_policy_data_dir(struct cordon_policy *policy, const char *path);
/* The environment that commands get their variables from, after the policy has dropped
 * some; copied. NULL: the caller's own at the time of the run. */
CORDON_PUBLIC void cordon_policy_environment(struct cordon_policy *policy,
					     const char *const *variables);
/* The program cordon, for a host that brings its own: an absolute path. NULL: the one that
 * was installed with the library. */
CORDON_PUBLIC void cordon_policy_program(struct cordon_policy *policy, const char *path);

/* What was said, as a profile of that name in TOML; freed with cordon_free. */
CORDON_PUBLIC int cordon_policy_print(const struct cordon_policy *policy, const char *name,
				      char **ret, struct cordon_error *err);

/* --- results -------------------------------------------------------------------------- */

/* Why a run ended; the words are those of the JSON. */
enum cordon_cause {
#define RUN_CAUSE(name, status, meaning) CORDON_CAUSE_##name,
#include <cordon/causes.def>
#undef RUN_CAUSE
	CORDON_CAUSE_COUNT
};
CORDON_PUBLIC const char *cordon_cause_to_string(enum cordon_cause cause);

/* One kind of refusal. Strings belong to the result, or to the call of a callback; each may
 * hold any byte but NUL, and comes from inside: escape it before a terminal gets it. */
struct cordon_violation {
	const char *op;	    /* read, write, exec, connect, bind, resolve or call */
	const char *object; /* a path, host[:port], or the name of a system call */
	const char *rule;   /* the deciding rule in words; NULL: not known */
	const char *origin; /* where the rule was written; NULL: not known */
	const char *source; /* who noticed; "inferred": deduced from output, may be wrong */
	const char *program; /* NULL: not known */
	const char *fix;     /* the flags of cordon that would allow it; NULL: nothing would */
	const char *fix_toml; /* the same for a configuration file; NULL with fix, and
			       * where settings of srt were read */
	const char *warning;  /* what the fix opens; NULL: nothing to warn of */
	const char *reason;   /* why there is no fix; NULL: there is one */
	uint64_t count;
	int pid;	    /* 0: not known */
	bool opens_secret;  /* the fix would; a person decides, every time */
	bool opens_control; /* the fix would open what decides what runs outside */
};

struct cordon_host {
	const char *host; /* a name or an address */
	uint16_t port;
	uint64_t connections, sent, received, duration_ms;
	/* Why the last one came to nothing, or that there was no room for some; NULL: neither. */
	const char *failure;
};

/* A file that is different after the run, if that was asked for. */
struct cordon_change {
	const char *kind;  /* created, changed or deleted */
	const char *path;
	const char *later; /* who executes it later, outside; NULL: nobody that is known */
};

struct cordon_result;

/* All accept NULL, which is a run that never was. Strings and structures belong to the
 * result. */
CORDON_PUBLIC void cordon_result_free(struct cordon_result *result);
CORDON_PUBLIC enum cordon_cause cordon_result_cause(const struct cordon_result *result);
/* -1 when the command did not exit by itself. */
CORDON_PUBLIC int cordon_result_exit_code(const struct cordon_result *result);
/* 0 when no signal ended it. */
CORDON_PUBLIC int cordon_result_signal(const struct cordon_result *result);
/* As `cordon run` would exit: 124 timed out, 125 refused or failed, 128+n signal n ... */
CORDON_PUBLIC int cordon_result_status(const struct cordon_result *result);
CORDON_PUBLIC uint64_t cordon_result_duration_ms(const struct cordon_result *result);
/* What was printed, bytes as they came and a NUL behind them; empty after a run with
 * callbacks. ret_size may be NULL. */
CORDON_PUBLIC const char *cordon_result_stdout(const struct cordon_result *result,
					       size_t *ret_size);
CORDON_PUBLIC const char *cordon_result_stderr(const struct cordon_result *result,
					       size_t *ret_size);
/* There was more output than was kept. */
CORDON_PUBLIC bool cordon_result_truncated(const struct cordon_result *result);
/* Why the command was not started, or the run refused; NULL: it was started. */
CORDON_PUBLIC const struct cordon_error *cordon_result_error(const struct cordon_result *result);
/* "" when the run did not come that far. */
CORDON_PUBLIC const char *cordon_result_backend(const struct cordon_result *result);
CORDON_PUBLIC const char *cordon_result_profile(const struct cordon_result *result);
/* These give the i-th of a list, NULL beyond its end. */
CORDON_PUBLIC const struct cordon_violation *
cordon_result_violation(const struct cordon_result *result, size_t i);
CORDON_PUBLIC const char *cordon_result_enforced(const struct cordon_result *result, size_t i);
CORDON_PUBLIC const char *cordon_result_degraded(const struct cordon_result *result, size_t i);
CORDON_PUBLIC const struct cordon_host *cordon_result_host(const struct cordon_result *result,
							   size_t i);
CORDON_PUBLIC const struct cordon_change *cordon_result_change(const struct cordon_result *result,
							       size_t i);
/* All of it as docs/result.schema.json says, but for stdout and stderr. */
CORDON_PUBLIC const char *cordon_result_json(const struct cordon_result *result);

/* --- running and waiting -------------------------------------------------------------- */

/*
 * Runs argv (NULL-terminated; no shell is involved) and waits. workdir NULL: the policy's.
 * timeout_ms 0: the policy's.
 *
 * 0: the command ended by itself, and if it failed nothing was refused. Otherwise negative,
 * and err says what happened: -CORDON_E_BLOCKED (an action was refused, and the command
 * failed or was not even started), -CORDON_E_TIMEOUT, -CORDON_E_EXEC (another limit ended
 * it, or it could not be executed), -CORDON_E_NOT_FOUND, -CORDON_E_UNAVAILABLE,
 * -CORDON_E_INIT and so on. *ret_result is set whenever there was a run, also then; else it
 * is NULL.
 */
CORDON_PUBLIC int cordon_execute(const struct cordon_policy *policy, const char *const *argv,
				 const char *workdir, uint64_t timeout_ms,
				 struct cordon_result **ret_result, struct cordon_error *err);
/* The same for text that `sh -c` reads. It is data: nothing in it changes the boundary. */
CORDON_PUBLIC int cordon_execute_shell(const struct cordon_policy *policy, const char *text,
				       const char *workdir, uint64_t timeout_ms,
				       struct cordon_result **ret_result,
				       struct cordon_error *err);

/* --- running and watching ------------------------------------------------------------- */

enum cordon_on_violation {
	CORDON_VIOLATION_report,
	CORDON_VIOLATION_fail, /* the run goes on, its cause is policy */
	CORDON_VIOLATION_kill, /* the first one ends it */
};

/* Zeroed but for what is wanted; size is always sizeof(struct cordon_request). */
struct cordon_request {
	size_t size;
	const char *const *argv; /* either this ... */
	const char *shell;	 /* ... or text for sh -c */
	const char *workdir;	 /* NULL: the policy's */
	uint64_t timeout_ms;	 /* 0: the policy's */
	int stdin_fd;		 /* what the command reads; 0: nothing (use dup for your own) */
	enum cordon_on_violation on_violation;
	bool changes; /* compare the writable places before and after */
	/* Called from cordon_run_step and cordon_run_wait only. NULL on_stdout or on_stderr:
	 * the result keeps what the command prints there. They may cancel the run, and do
	 * nothing else to it. */
	void (*on_stdout)(void *data, const char *bytes, size_t n);
	void (*on_stderr)(void *data, const char *bytes, size_t n);
	void (*on_violation_seen)(void *data, const struct cordon_violation *violation);
	/* What `cordon run` tells people on standard error, a line at a time: above all what
	 * is not enforced here, before the command starts. */
	void (*on_remark)(void *data, const char *text);
	void *data;
};

struct cordon_run;

/* Starts the supervisor and returns; the request is not needed any more. */
CORDON_PUBLIC int cordon_run_start(const struct cordon_policy *policy,
				   const struct cordon_request *request,
				   struct cordon_run **ret_run, struct cordon_error *err);
/* To poll for POLLIN; valid until cordon_run_free. */
CORDON_PUBLIC int cordon_run_fd(const struct cordon_run *run);
/* Takes in what is there, without waiting, and calls the callbacks. 1: the run goes on;
 * 0: it has ended, and cordon_run_result says how; negative: there is no result. */
CORDON_PUBLIC int cordon_run_step(struct cordon_run *run, struct cordon_error *err);
/* The same until it has ended, or for so many milliseconds; negative: without limit. */
CORDON_PUBLIC int cordon_run_wait(struct cordon_run *run, int timeout_ms,
				  struct cordon_error *err);
/* Asks for the end: TERM to everything, KILL after two seconds. The run then ends as any
 * other, with cause signal unless it was over already. */
CORDON_PUBLIC int cordon_run_cancel(struct cordon_run *run, struct cordon_error *err);
/* NULL before the end. Belongs to the run. */
CORDON_PUBLIC const struct cordon_result *cordon_run_result(const struct cordon_run *run);
/* A run that has not ended is cancelled, and not waited for. Accepts NULL. */
CORDON_PUBLIC void cordon_run_free(struct cordon_run *run);

/* --- asking --------------------------------------------------------------------------- */

/* One operation on one object; strings belong to the explanation. */
struct cordon_verdict {
	const char *object; /* a path or host[:port] */
	const char *op;	    /* read, write, exec or connect */
	bool allowed;
	const char *rule;	  /* that decides, in words */
	const char *origin;	  /* where it was written; "" for a default */
	const char *enforced_by;  /* NULL: nothing enforces it here ... */
	const char *not_enforced; /* ... because of this */
	const char *fix, *fix_toml, *warning, *reason; /* as in struct cordon_violation */
};

/* 1 allowed, 0 refused, negative: no answer. op: read, write, exec (object is a path) or
 * connect (object is host:port). Nothing is run or changed. */
CORDON_PUBLIC int cordon_decide(const struct cordon_policy *policy, const char *op,
				const char *object, struct cordon_error *err);

struct cordon_explanation;

/* All that is to be said of a path, host[:port] or URL. */
CORDON_PUBLIC int cordon_explain(const struct cordon_policy *policy, const char *object,
				 struct cordon_explanation **ret, struct cordon_error *err);
CORDON_PUBLIC void cordon_explanation_free(struct cordon_explanation *explanation);
/* NULL beyond the last. */
CORDON_PUBLIC const struct cordon_verdict *
cordon_explanation_verdict(const struct cordon_explanation *explanation, size_t i);
CORDON_PUBLIC const char *cordon_explanation_json(const struct cordon_explanation *explanation);

/* --- provider modes ------------------------------------------------------------------- */

enum cordon_mode { CORDON_MODE_sandbox, CORDON_MODE_rx, CORDON_MODE_rwx };

/* From the word of a configuration: sandbox, rx or rwx. */
CORDON_PUBLIC int cordon_mode_from_string(const char *text, enum cordon_mode *ret,
					  struct cordon_error *err);
/* For a status line: "Sandbox", "Read and execute", "Unconfined". */
CORDON_PUBLIC const char *cordon_mode_name(enum cordon_mode mode);
/* Sentences for a system prompt, "" for rwx; freed with cordon_free. */
CORDON_PUBLIC int cordon_mode_prompt_constraint(enum cordon_mode mode, const char *workspace,
						char **ret, struct cordon_error *err);
/*
 * The first words of a command line that runs `program` in a mode, ready for its arguments:
 * the program alone for rwx, `cordon run --mode MODE --data-dir DIR -- program` otherwise.
 * NULL-terminated, one block, freed with cordon_free. data_dir NULL: the workdir.
 */
CORDON_PUBLIC int cordon_sandboxed_command(const char *program, enum cordon_mode mode,
					   const char *data_dir, char ***ret,
					   struct cordon_error *err);

CORDON_PUBLIC void cordon_free(void *memory);

#ifdef __cplusplus
}
#endif

#endif
