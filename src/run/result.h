/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result: how one run ended, and the exit status that follows from it.
 *
 * Exit status: the command's own; 124 timed out; 125 cordon failed or refused; 126
 * cannot execute; 127 not found; 128+n signal n; 137 a limit other than time.
 */
#ifndef CORDON_RUN_RESULT_H
#define CORDON_RUN_RESULT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

enum run_cause {
#define RUN_CAUSE(name, status, meaning) RUN_CAUSE_##name,
#include <cordon/causes.def>
#undef RUN_CAUSE
	RUN_CAUSE_COUNT
};

#define RUN_QUARANTINED_MAX 16 /* more are counted, not named */

#define RUN_LIMITS_MET_MAX 3

#define RUN_HOSTS_MAX 256 /* more are counted, and not named */

/* A listed host that was connected to. */
struct run_host {
	const char *host; /* a name or an address */
	uint16_t port;
	uint64_t count; /* connections */
	uint64_t sent, received, duration_ms;
	bool reached; /* by one of them at least */
	bool proxy; /* which looked the name up, so where it led was not checked */
	/* Why the last one came to nothing, or that there was no room for some; NULL: neither. */
	const char *failure;
};

struct run_stream {
	struct buf text;
	bool truncated; /* there was more */
};

struct run_usage {
	uint64_t user_ms, sys_ms; /* of all processes that were waited for */
	uint64_t max_rss_kb;	  /* of the largest one */
};

struct run_result {
	enum run_cause cause;
	int exit_code; /* -1 when the command did not exit by itself */
	int signal;    /* 0 when no signal ended it */
	int told_to_end; /* a signal to us that ends who does nothing about it; 0: none came */
	uint64_t duration_ms;
	struct run_usage usage;
	size_t survivors; /* processes that outlived the command and had to be ended */
	size_t left;	  /* processes that could not be ended: 0 unless the kernel refused */
	/* The program, when it failed and elsewhere has rights that its caller does not
	 * have; or NULL. */
	const char *powerless;
	bool full; /* it failed, and a file system of its own in memory was full at the end */
	/* What was left beside the workdir in the run's own /tmp, and is gone with it: how many
	 * (or as many as were counted), and the path of one, in the arena of the run. */
	size_t lost;
	const char *lost_name;
	bool hidden; /* ended because a process could not be counted: /proc does not show it */
	bool undelivered; /* output that nobody took in time is lost */
	/* Keys of limits that, by what was printed, made calls fail. */
	const char *limits_met[RUN_LIMITS_MET_MAX];
	size_t n_limits_met;
	const char *debris; /* a directory of the run that could not be removed; or NULL */
	/* Names that appeared although they are protected, and where they are now; in the
	 * arena of the run. `kept` is NULL for what was left: it is not known to be the
	 * command's, or could not be taken or looked at because of `why`. */
	struct run_quarantined {
		const char *object, *kept;
		bool restorable; /* kept in the quarantine */
		int why;	 /* errno, or 0 */
	} quarantined[RUN_QUARANTINED_MAX];
	size_t n_quarantined;
	size_t more_quarantined; /* that are not named there, */
	size_t more_left;	 /* and how many of those are not in the quarantine */
	const struct run_host *hosts; /* in the arena of the run */
	size_t n_hosts;
	uint64_t more_hosts; /* connections to others */
	bool relay_lost; /* what reaches hosts ended before the run did */
	struct cordon_error relay_error; /* why it could not be started */
	bool captured;
	struct run_stream out, err;
	/* The end of what the command's terminal showed; empty when it had none. */
	struct buf shown;
	struct cordon_error error; /* filled when cause is setup */
};

void run_result_free(struct run_result *r); /* accepts a zeroed result */
/* Copies what is given; beyond what there is room for it is counted. */
void run_result_add_quarantined(struct run_result *r, struct arena *a, struct str object,
				struct run_quarantined one);

const char *run_cause_to_string(enum run_cause cause);
const char *run_cause_meaning(enum run_cause cause);
int run_result_status(const struct run_result *r);

/* Sets the members that a run alone knows: cause, exit_code, signal, duration_ms,
 * usage, survivors, with capture stdout and stderr (and *_truncated), with cause
 * setup error. Text that is no UTF-8 is escaped as fmt/json.h says. */
int run_result_to_json(const struct run_result *r, json_t *object,
		       struct cordon_error *err);

#endif
