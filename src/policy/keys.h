/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings of keys.def and the words of choices.def as enums and tables.
 */
#ifndef CORDON_POLICY_KEYS_H
#define CORDON_POLICY_KEYS_H

#include <stdbool.h>
#include "base/str.h"

enum key {
#define KEY(id, ...) KEY_##id,
#include "policy/keys.def"
#undef KEY
	KEY_COUNT
};

enum key_type {
	TYPE_PATHS,	/* file rules */
	TYPE_PATTERNS,	/* plain paths that are not file rules */
	TYPE_PORTS,
	TYPE_PUBLISH,	/* the port outside above the one inside, 16 bits each */
	TYPE_HOSTS,
	TYPE_NETWORK,
	TYPE_CHOICE,
	TYPE_BOOL,
	TYPE_DURATION,	/* milliseconds */
	TYPE_SIZE,	/* bytes */
	TYPE_COUNT,
	TYPE_NAME,
	TYPE_NAMES,
	TYPE_ENVIRON,
};

enum choice_set {
	CHOICES_NONE,
	CHOICES_HIDDEN,
	CHOICES_PROTECT,
	CHOICES_REPORT,
	CHOICES_TMP,
	CHOICES_FALLBACK,
	CHOICES_MODE,
	CHOICES_COUNT
};

enum narrow {
	NARROW_RULES,
	NARROW_HIGHER,
	NARROW_LOWER,
	NARROW_MEET,
	NARROW_JOIN,
	NARROW_RAISE,
	NARROW_FORBID,
};

enum key_scope { SCOPE_SANDBOX, SCOPE_PROFILE };

struct key_row {
	const char *name;	/* "read", "limits.timeout" */
	const char *alias;	/* NULL when there is none; always without a dot */
	const char *flag;	/* "--allow-read"; NULL when there is none */
	const char *argument;	/* for help; "" when the flag takes none */
	const char *help;
	enum key_type type;
	enum choice_set choices;
	enum narrow narrow;
	enum key_scope scope;
};

extern const struct key_row key_rows[KEY_COUNT];

/* By key name or alias; false when there is no such key. */
bool key_from_string(struct str name, enum key *ret);
bool key_from_flag(struct str flag, enum key *ret);
/* Does this type hold several values? */
bool key_type_is_list(enum key_type type);

/* The words of each set; numbers count from 0 within the set. */
enum hidden_writes { HIDDEN_ALLOW, HIDDEN_GIT, HIDDEN_DENY };
enum protect { PROTECT_OFF, PROTECT_GUARD, PROTECT_EXACT };
enum report { REPORT_NONE, REPORT_OUTPUT, REPORT_WRITES, REPORT_ALL };
enum tmp { TMP_SHARED, TMP_PRIVATE };
enum fallback { FALLBACK_PASSTHROUGH, FALLBACK_DEGRADE, FALLBACK_ERROR };
enum mode { MODE_RWX, MODE_RX, MODE_SANDBOX };

const char *choice_to_string(enum choice_set set, unsigned value);
bool choice_from_string(enum choice_set set, struct str word, unsigned *ret);
/* NULL-terminated list of the words of a set, for messages and near matches. */
const char *const *choice_words(enum choice_set set);

#endif
