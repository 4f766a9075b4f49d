/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace: runs a program and everything it starts under ptrace, writes down the system
 * calls of each process until it executes another program, and makes one of them fail.
 *
 * Processes are numbered in the order of their birth, the program itself being 0, so
 * that a call is named by two numbers that do not depend on scheduling.
 */
#ifndef CORDON_TESTS_FAULT_TRACE_H
#define CORDON_TESTS_FAULT_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define TRACE_PROCESSES_MAX 64
#define TRACE_CALLS_MAX 4096

struct trace_target {
	int process; /* -1: nothing fails */
	int call;    /* counted from 0 */
	int errnum;
};

struct trace_start {
	const char *program;
	char *const *argv;
	char *const *envp;
	const char *cwd;
	int out, err; /* descriptors for the program's streams */
	uid_t uid;    /* to become; 0: nobody else */
	unsigned seconds;
};

struct trace_call {
	long number;
	unsigned long first; /* argument */
};

struct trace {
	/* What each process called, up to its exec or the injected failure. */
	struct trace_call calls[TRACE_PROCESSES_MAX][TRACE_CALLS_MAX];
	int n_calls[TRACE_PROCESSES_MAX];
	int n_processes;
	int status;   /* wait status of the program */
	bool hung;    /* not over in time; everything was killed */
	int left;     /* processes alive after the program had ended */
	bool injected;
};

/* Returns 0, or -1 when the program could not be started or traced. */
int trace_run(const struct trace_start *start, const struct trace_target *target,
	      struct trace *ret);

#endif
