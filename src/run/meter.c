/* SPDX-License-Identifier: Apache-2.0 */
/* Processor time and processes; the memory is in meter_sample.c. */
#include "run/meter.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

/* Of processor time. A run near its limit with some hundred large processes stays within;
 * one that does not gets ended, so these are generous. */
#define SURVEY_NS ((uint64_t)2000 * 1000000)
#define WEIGH_NS ((uint64_t)1000 * 1000000)
#define SLICE_NS ((uint64_t)20 * 1000000)

/* The file system behind memory that has none is found by making some. */
static dev_t shm_device(void)
{
	autoclose int fd = memfd_create("meter", MFD_CLOEXEC);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 ? st.st_dev : 0;
}

void meter_open(struct meter *m, const struct tree *tree, const char *const *places)
{
	*m = (struct meter){
		.tree = tree,
		.places = places,
		.machine_base = procfs_machine_shmem(),
		.shm_device = shm_device(),
		.survey_ns = SURVEY_NS,
		.weigh_ns = WEIGH_NS,
		.slice_ns = SLICE_NS,
	};
}

void meter_close(struct meter *m)
{
	for (size_t i = 0; i < m->n_places; i++)
		fd_close(&m->place_fds[i]);
	meter_forget(m);
	*m = (struct meter){ 0 };
}

struct totals {
	uint64_t user_ticks, sys_ticks;
	size_t tasks;
};

static void add_process(void *data, const struct tree_process *p, bool wrapper)
{
	struct totals *totals = data;
	struct procfs_stat line;

	if (!procfs_stat(p->pid, &line))
		return;
	totals->user_ticks += line.user_ticks;
	totals->sys_ticks += line.sys_ticks;
	if (line.alive && !wrapper)
		totals->tasks += line.threads;
}

void meter_read(struct meter *m, uint64_t memory_limit, struct meter_reading *ret)
{
	uint64_t second = (uint64_t)sysconf(_SC_CLK_TCK);
	struct totals totals = { 0 };

	tree_each(m->tree, add_process, &totals);
	*ret = (struct meter_reading){
		.user_ms = totals.user_ticks * 1000 / second,
		.sys_ms = totals.sys_ticks * 1000 / second,
		.tasks = totals.tasks,
	};
	if (memory_limit)
		ret->unfinished = !meter_memory(m, memory_limit, &ret->memory);
}

static void find_peak(void *data, const struct tree_process *p, bool wrapper)
{
	struct procfs_memory memory;
	struct procfs_stat line;
	uint64_t *peak = data;

	if (!wrapper && procfs_stat(p->pid, &line) && line.alive &&
	    procfs_memory(line.thread, &memory) && memory.peak > *peak)
		*peak = memory.peak;
}

uint64_t meter_peak(const struct meter *m)
{
	uint64_t peak = 0;

	tree_each(m->tree, find_peak, &peak);
	return peak;
}
