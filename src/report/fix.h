/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fix: what would allow something that is refused. One form of it, wherever it is told:
 * `cordon explain`, the summary of a run, the JSON result.
 *
 * A fix is never guessed: whoever fills one has tried it against the policy.
 */
#ifndef CORDON_REPORT_FIX_H
#define CORDON_REPORT_FIX_H

#include <jansson.h>
#include <stdbool.h>

struct fix {
	const char *flags;	/* as typed in a shell; NULL: nothing would change it */
	const char *first;	/* a command to be run before, outside; NULL: none */
	const char *toml;	/* NULL: no configuration file would change it */
	const char *remark;	/* why that cannot be enforced here; NULL: it can */
	const char *note;	/* what it does beyond that; NULL: nothing */
	const char *why_not;	/* when there is none */
	const char *breadth;	/* the great deal that it opens besides; NULL: nothing */
	const char *leads;	/* what a socket of the host leads to; NULL: it is about none */
	bool opens_secret;
	bool opens_control;	/* what runs outside, now or later, is up to it */
	bool opens_system;	/* the same, of the machine's; opens_control is set, too */
};

#define FIX_SECRET_WARNING "that gives a secret away"
#define FIX_CONTROL_WARNING "what runs later, outside, can be changed with it"
#define FIX_SYSTEM_WARNING \
	"what everybody on this machine runs or relies on, outside, can be changed with it"

/* What whoever follows it must know first, as one clause; NULL: nothing. */
const char *fix_warning(const struct fix *fix);

/* An object, or null when there is no fix; NULL: out of memory. */
json_t *fix_to_json(const struct fix *fix);

#endif
