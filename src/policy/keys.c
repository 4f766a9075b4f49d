/* SPDX-License-Identifier: Apache-2.0 */
/* Tables made from keys.def and choices.def, and the look-ups in them. */
#include "policy/keys.h"

#include <stddef.h>

const struct key_row key_rows[KEY_COUNT] = {
#define KEY(id, key, alt, flg, typ, set, nar, sco, arg, text) \
	[KEY_##id] = { \
		.name = key, .alias = alt, .flag = flg, .argument = arg, .help = text, \
		.type = TYPE_##typ, .choices = CHOICES_##set, .narrow = NARROW_##nar, \
		.scope = SCOPE_##sco, \
	},
#include "policy/keys.def"
#undef KEY
};

#define CHOICE_WORDS_MAX 8

static const char *const choice_table[CHOICES_COUNT][CHOICE_WORDS_MAX + 1] = {
#define CHOICE(set, value, text) [CHOICES_##set][set##_##value] = text,
#include "policy/choices.def"
#undef CHOICE
};

bool key_from_string(struct str name, enum key *ret)
{
	for (unsigned k = 0; k < KEY_COUNT; k++) {
		const struct key_row *row = &key_rows[k];

		if (str_eq(name, str_of(row->name)) ||
		    (row->alias && str_eq(name, str_of(row->alias)))) {
			*ret = k;
			return true;
		}
	}
	return false;
}

bool key_from_flag(struct str flag, enum key *ret)
{
	for (unsigned k = 0; k < KEY_COUNT; k++)
		if (key_rows[k].flag && str_eq(flag, str_of(key_rows[k].flag))) {
			*ret = k;
			return true;
		}
	return false;
}

bool key_type_is_list(enum key_type type)
{
	switch (type) {
	case TYPE_PATHS:
	case TYPE_PATTERNS:
	case TYPE_PORTS:
	case TYPE_PUBLISH:
	case TYPE_HOSTS:
	case TYPE_NETWORK:
	case TYPE_NAMES:
	case TYPE_ENVIRON:
		return true;
	case TYPE_CHOICE:
	case TYPE_BOOL:
	case TYPE_DURATION:
	case TYPE_SIZE:
	case TYPE_COUNT:
	case TYPE_NAME:
		return false;
	}
	return false;
}

const char *choice_to_string(enum choice_set set, unsigned value)
{
	const char *word = value < CHOICE_WORDS_MAX ? choice_table[set][value] : NULL;

	return word ? word : "?";
}

bool choice_from_string(enum choice_set set, struct str word, unsigned *ret)
{
	for (unsigned i = 0; choice_table[set][i]; i++)
		if (str_eq(word, str_of(choice_table[set][i]))) {
			*ret = i;
			return true;
		}
	return false;
}

const char *const *choice_words(enum choice_set set)
{
	return choice_table[set];
}
