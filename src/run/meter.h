/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meter: what the processes of a run use together, read from outside.
 *
 * Memory is what would be free without the run: anonymous pages, shared memory, swap and
 * page tables, and the content of the sandbox's own file systems in memory; not the cache
 * of files on disk. First a sum that counts what processes share once for each is taken;
 * only when that is above the limit are the mappings read, where each page counts once
 * (meter_memory.c).
 *
 * Where a process cannot be looked into (it is not dumpable, or runs a program that nobody
 * may read) the first sum counts for it, and what the whole machine's shared memory has
 * grown by, as far as nothing else explains it.
 */
#ifndef CORDON_RUN_METER_H
#define CORDON_RUN_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "run/procfs.h"
#include "run/tree.h"

#define METER_PLACES_MAX 8

/* An object of shared memory that somebody has open. */
struct meter_object {
	uint64_t inode;
	uint64_t bytes;
	size_t next; /* in its bucket, plus one */
};

/* Processor time that may be spent. */
struct meter_budget {
	uint64_t began, ns;
};

struct meter;

/* A sum over processes; objects in it count once. */
#define METER_BUCKETS 1024
struct meter_sum {
	const struct meter *meter;
	struct arena memory;
	VEC(struct meter_object) objects;
	size_t buckets[METER_BUCKETS];
	uint64_t bytes;
	uint64_t mapped; /* of it: shared memory known only from a mapping */
	uint64_t hidden; /* what such mappings have room for beyond what they show */
	bool blind;	 /* a process could not be looked into: there is room for anything */
};

struct meter_process {
	pid_t thread;
	struct procfs_memory surveyed;
};

/* A sample under way (meter_sample.c). */
struct meter_sample {
	struct meter_sum sum;
	VEC(struct meter_process) processes;
	size_t next;	   /* to be weighed; 0: no sample is under way */
	uint64_t estimate; /* by the survey */
	uint64_t growth;   /* of the machine's shared memory that nothing explains */
	uint64_t gone;	   /* what those had in the survey who ended before they were weighed */
	uint64_t rest_ns;  /* of the budget for weighing */
};

/* A child of this process that works beside the run, and whose time is not the run's. */
#define METER_HELPERS_MAX 4
struct meter_helper {
	pid_t pid; /* 0: it has ended, and the number may be somebody else's */
	uint64_t ticks;
};

struct meter {
	const struct tree *tree;
	/* Absolute paths inside of file systems in memory that belong to the run;
	 * NULL-terminated, or NULL. */
	const char *const *places;
	int place_fds[METER_PLACES_MAX];
	dev_t place_devices[METER_PLACES_MAX];
	size_t n_places;
	bool places_known;     /* a process has let itself be looked into */
	dev_t shm_device;      /* of memory without a file system: memfd, MAP_SHARED, SysV */
	uint64_t machine_base; /* the least shared memory that all others had */
	/* A clock of the kernel's that runs while a descendant of this process does; 0 or
	 * less: there is none. It knows of children that nobody waited for, whose time /proc
	 * forgets. */
	int clock;
	uint64_t own_ns;       /* of this process, which the clock counts too, at its start */
	struct meter_helper helpers[METER_HELPERS_MAX];
	size_t n_helpers;
	struct meter_sample sample;
	unsigned doubts;       /* samples in a row that left one */
	/* Processor time for a survey, a weighing, and one call's part of it. */
	uint64_t survey_ns, weigh_ns, slice_ns;
};

/* More than any limit. */
#define METER_UNKNOWN UINT64_MAX

struct meter_reading {
	uint64_t user_ms, sys_ms; /* of living processes and those they waited for */
	uint64_t clock_ms;	  /* of all there ever were; 0: not known */
	uint64_t memory;	  /* 0 unless asked for */
	bool unfinished;	  /* the memory takes another call */
	size_t tasks;		  /* processes and threads, without the backend's own */
	bool hidden;		  /* one is not shown by /proc, nor perhaps its children */
};

/* For the memory. */
void meter_open(struct meter *m, const struct tree *tree, const char *const *places);
/* The same, for processor time. A machine may forbid the clock (perf_event_paranoid, the
 * filter of a container); then the time of children that nobody waits for is lost. */
void meter_open_clock(struct meter *m);
/* Its time does not count, as far as it is read while it lives. */
void meter_leave_out(struct meter *m, pid_t child);
void meter_close(struct meter *m); /* accepts a zeroed one */
/* memory_limit 0: memory is not measured. */
void meter_read(struct meter *m, uint64_t memory_limit, struct meter_reading *ret);
/* The most that any living process ever had resident, in bytes. */
uint64_t meter_peak(const struct meter *m);

/* meter_sample.c. False: to be called again soon, *ret is not known yet. */
bool meter_memory(struct meter *m, uint64_t limit, uint64_t *ret);
void meter_forget(struct meter *m); /* a sample that is under way */
bool meter_spent(const struct meter_budget *budget);

/* meter_linux.c, meter_darwin.c. The file system behind memory that has none; 0: unknown. */
dev_t meter_shm_device(void);
/* Opens the clock; -1: there is none. */
int meter_clock(void);

/* meter_memory.c, meter_darwin.c: what can be found out about one process, and about the
 * places. */
void meter_find_places(struct meter *m, pid_t thread);
uint64_t meter_places_bytes(const struct meter *m);
/* Was one that a sample has found left full? Known after the end of the run, too. */
bool meter_place_is_full(const struct meter *m);
/* Adds the shared memory that it has open; false when the time was up. */
bool meter_add_open(struct meter_sum *sum, const struct procfs_stat *process,
		    const struct meter_budget *budget);
/* Adds its mappings; false, and nothing added, when they cannot be read whole. */
bool meter_add_mappings(struct meter_sum *sum, pid_t thread, const struct meter_budget *budget);
/* Adds what one /proc/PID/smaps shows. */
void meter_add_smaps(struct meter_sum *sum, pid_t thread, const char *text);

#endif
