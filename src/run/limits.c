/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits: what the kernel can hold per process is given to it; what concerns the
 * whole tree is measured from here, on timers that exist only when a limit does.
 */
#include "run/state.h"

#include <sys/resource.h>
#include <unistd.h>

#define SAMPLE_MS 100
#define CPU_SAMPLE_MIN_MS 10
#define CPU_SAMPLE_MAX_MS 1000

static void add(struct spawn_rlimit *list, size_t *n, int resource, uint64_t value)
{
	list[(*n)++] = (struct spawn_rlimit){ resource, value, value };
}

size_t run_rlimits(const struct run_limits *limits, struct spawn_rlimit *ret)
{
	size_t n = 0;

	/* A core file is debris in the caller's tree and holds secrets. */
	add(ret, &n, RLIMIT_CORE, 0);
	if (limits->files)
		add(ret, &n, RLIMIT_NOFILE, limits->files);
	if (limits->file_size)
		add(ret, &n, RLIMIT_FSIZE, limits->file_size);
	/* Behind the measured limit, for a supervisor that gets no processor time.
	 * With soft below hard it ends with SIGXCPU, which can be told from others. */
	if (limits->cpu_ms) {
		add(ret, &n, RLIMIT_CPU, limits->cpu_ms / 1000 + 2);
		ret[n - 1].hard++;
	}
	return n;
}

static void time_is_up(void *data)
{
	run_stop(data, RUN_CAUSE_timeout);
}

/* The tree cannot use more than all processors at once, so nothing can happen before
 * the rest divided by their number. */
static uint64_t next_cpu_sample(uint64_t rest_ms)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t ms = rest_ms / (uint64_t)(cpus > 0 ? cpus : 1);

	if (ms < CPU_SAMPLE_MIN_MS)
		return CPU_SAMPLE_MIN_MS;
	return ms > CPU_SAMPLE_MAX_MS ? CPU_SAMPLE_MAX_MS : ms;
}

static void take_sample(void *data)
{
	struct run *run = data;
	const struct run_limits *limits = &run->request->limits;
	struct tree_usage now;
	uint64_t next = SAMPLE_MS;

	tree_measure(&run->tree, &now);
	now.cpu_ms += run->result.usage.user_ms + run->result.usage.sys_ms;
	if (limits->cpu_ms && now.cpu_ms > limits->cpu_ms)
		run_stop(run, RUN_CAUSE_cpu);
	else if (limits->memory && now.resident_bytes > limits->memory)
		run_stop(run, RUN_CAUSE_memory);
	else if (limits->procs && now.processes > limits->procs)
		run_stop(run, RUN_CAUSE_procs);
	if (run->phase != RUN_PHASE_running)
		return;
	if (limits->cpu_ms && (!limits->memory && !limits->procs))
		next = next_cpu_sample(limits->cpu_ms - now.cpu_ms);
	loop_set_timer(run->loop, &run->sample, next);
}

void run_start_limits(struct run *run)
{
	const struct run_limits *limits = &run->request->limits;

	run->timeout.fired = time_is_up;
	run->sample.fired = take_sample;
	run->timeout.data = run->sample.data = run;
	if (limits->timeout_ms)
		loop_set_timer(run->loop, &run->timeout, limits->timeout_ms);
	if (limits->memory || limits->procs)
		loop_set_timer(run->loop, &run->sample, SAMPLE_MS);
	else if (limits->cpu_ms)
		loop_set_timer(run->loop, &run->sample, next_cpu_sample(limits->cpu_ms));
}

void run_clear_limits(struct run *run)
{
	loop_clear_timer(run->loop, &run->timeout);
	loop_clear_timer(run->loop, &run->sample);
}
