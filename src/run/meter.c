/* SPDX-License-Identifier: Apache-2.0 */
/* Processor time and processes; the memory is in meter_sample.c. */
#include "run/meter.h"

#include <time.h>
#include <unistd.h>

#include "base/fd.h"

/* Of processor time. A run near its limit with some hundred large processes stays within;
 * one that does not gets ended, so these are generous. */
#define SURVEY_NS ((uint64_t)2000 * 1000000)
#define WEIGH_NS ((uint64_t)1000 * 1000000)
#define SLICE_NS ((uint64_t)20 * 1000000)

void meter_open(struct meter *m, const struct tree *tree, const char *const *places)
{
	*m = (struct meter){
		.tree = tree,
		.places = places,
		.machine_base = procfs_machine_shmem(),
		.shm_device = meter_shm_device(),
		.survey_ns = SURVEY_NS,
		.weigh_ns = WEIGH_NS,
		.slice_ns = SLICE_NS,
	};
}

static uint64_t own_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

/* Of this process, for what it starts inherits it from the first instruction on. */
void meter_open_clock(struct meter *m)
{
	m->own_ns = own_ns();
	m->clock = meter_clock();
}

void meter_leave_out(struct meter *m, pid_t child)
{
	if (m->clock > 0 && m->n_helpers < METER_HELPERS_MAX)
		m->helpers[m->n_helpers++] = (struct meter_helper){ .pid = child };
}

static uint64_t helpers_ns(struct meter *m)
{
	uint64_t ticks = 0;

	for (size_t i = 0; i < m->n_helpers; i++) {
		struct meter_helper *h = &m->helpers[i];
		struct procfs_stat line;

		if (h->pid && procfs_stat(h->pid, &line) && line.parent == getpid())
			h->ticks = line.user_ticks + line.sys_ticks;
		else
			h->pid = 0;
		ticks += h->ticks;
	}
	return ticks * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

static uint64_t clock_ms(struct meter *m)
{
	uint64_t all, own = own_ns() - m->own_ns + helpers_ns(m);

	if (m->clock <= 0 || read(m->clock, &all, sizeof(all)) != sizeof(all) || all < own)
		return 0;
	return (all - own) / 1000000;
}

void meter_close(struct meter *m)
{
	if (m->clock > 0)
		close(m->clock);
	for (size_t i = 0; i < m->n_places; i++)
		fd_close(&m->place_fds[i]);
	meter_forget(m);
	*m = (struct meter){ 0 };
}

struct totals {
	uint64_t user_ticks, sys_ticks;
	size_t tasks;
	bool hidden;
};

static void add_process(void *data, const struct tree_process *p, bool wrapper)
{
	struct totals *totals = data;
	struct procfs_stat line;

	if (!procfs_stat(p->pid, &line)) {
		totals->hidden |= !wrapper && procfs_hides(p->pid);
		return;
	}
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
		.hidden = totals.hidden,
		.clock_ms = clock_ms(m),
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
