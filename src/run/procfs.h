/* SPDX-License-Identifier: Apache-2.0 */
/*
 * procfs: what /proc says about one process; on macOS libproc, in the same words
 * (procfs_darwin.c).
 *
 * Nothing is held: a pid may belong to somebody else by the time an answer is used, so
 * whoever acts on one makes sure of it (tree.c). The texts are read by functions of
 * their own, which tests and other kernels' texts go through.
 */
#ifndef CORDON_RUN_PROCFS_H
#define CORDON_RUN_PROCFS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct procfs_stat {
	/* A process lives as long as one of its threads does: when the first thread has
	 * ended, state is that of another. */
	char state;
	bool alive;
	bool executes; /* what it began as a copy of its parent is over; never told on macOS */
	pid_t thread; /* one that lives, whose files in /proc speak for the process */
	pid_t parent, group, session;
	uint64_t user_ticks, sys_ticks; /* its own and of the children it waited for */
	unsigned threads;
};

/* Bytes. */
struct procfs_memory {
	uint64_t anon;	/* resident, with huge pages */
	uint64_t shmem; /* resident pages of shared memory and of tmpfs */
	uint64_t swap;
	uint64_t tables; /* page tables */
	uint64_t peak;	 /* the most that was resident */
};

bool procfs_stat(pid_t pid, struct procfs_stat *ret);
/* It is there, and /proc does not show it to us (hidepid). Asked when procfs_stat has
 * failed. */
bool procfs_hides(pid_t pid);
/* Whose it is, in our pid namespace; 0 or less: nobody's that is alive there. */
pid_t procfs_of_pidfd(int pidfd);
/* Of /proc/PID/status. */
bool procfs_memory(pid_t thread, struct procfs_memory *ret);
/* Does the thread wait in read(2) for a terminal? */
bool procfs_reads_terminal(pid_t thread);
/* "Shmem:" of /proc/meminfo: the whole machine's, in bytes. 0 when it cannot be read. */
uint64_t procfs_machine_shmem(void);

/* The parts that only read text. */
bool procfs_parse_stat(const char *text, struct procfs_stat *ret);
/* The number after "\nNAME:" in kB, as bytes; 0 when there is no such line. */
uint64_t procfs_field(const char *text, const char *name);

#endif
