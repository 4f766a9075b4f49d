/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attacks on the boundary, each really carried out. A test runs `attack NAME` without
 * cordon, where it has to succeed, and inside, where it must not: so an attack that is
 * broken cannot pass for a boundary that holds.
 */
#ifndef CORDON_TESTS_ATTACK_H
#define CORDON_TESTS_ATTACK_H

/* Exit codes that neither a shell nor cordon uses for anything else. */
enum outcome {
	DONE = 0,    /* the attack got what it wanted */
	HELD = 10,   /* it was refused */
	CANNOT = 20, /* it could not be tried: says nothing about the boundary */
};

struct attack {
	const char *name;
	/* argv are the words after the name; argv[argc] is NULL. */
	enum outcome (*run)(int argc, char **argv);
};

/* Prints what was refused with errno, for the test's log. */
enum outcome held(const char *what);
enum outcome cannot(const char *what);
/* DONE for a result that is not negative, held otherwise. */
enum outcome judge(long result, const char *what);
/* The argument at `i`, or an empty string. */
const char *argument(int argc, char **argv, int i);

/* A signed number; 0 for what is none. */
long number(const char *text);

/* Each ends with an entry without a name. */
extern const struct attack broker_attacks[];
extern const struct attack call_attacks[];
extern const struct attack name_attacks[];
extern const struct attack path_attacks[];
extern const struct attack process_attacks[];
extern const struct attack socket_attacks[];
extern const struct attack terminal_attacks[];
extern const struct attack limit_attacks[];
extern const struct attack helper_programs[];

#endif
