/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits: what the kernel can hold per process is given to it; what concerns the
 * whole tree is measured from here, on timers that exist only when a limit does.
 */
#include "run/state.h"

#include <sys/resource.h>
#include <unistd.h>

/* Between two samples, whatever is left. */
#define SAMPLE_MIN_MS 5
#define SAMPLE_MAX_MS 100
#define CPU_SAMPLE_MAX_MS 1000
/* What a machine can do in a millisecond with each processor: take into use memory that
 * the kernel has to clear, and make processes. */
#define BYTES_PER_MS ((uint64_t)2 << 20)
#define TASKS_PER_MS 20
/* A sample may take this part of the time. */
#define SAMPLE_SHARE 4
/* The kernel stops a fork bomb between two samples; the sample names it. */
#define PROCS_SLACK 32
/* Where the user's other processes count, these have to have room to become more. */
#define PROCS_SLACK_BESIDE 128

static void add(struct spawn_rlimit *list, size_t *n, int resource, uint64_t value)
{
	list[(*n)++] = (struct spawn_rlimit){ resource, value, value };
}

size_t run_rlimits(const struct run_limits *limits, struct spawn_rlimit *ret)
{
	size_t n = 0;

	/* A core file is debris in the caller's tree and holds secrets. */
	add(ret, &n, RLIMIT_CORE, 0);
	if (limits->files || limits->files_soft) {
		add(ret, &n, RLIMIT_NOFILE, limits->files ? limits->files : RLIM_INFINITY);
		if (limits->files_soft && limits->files_soft < ret[n - 1].soft)
			ret[n - 1].soft = limits->files_soft;
	}
	if (limits->file_size)
		add(ret, &n, RLIMIT_FSIZE, limits->file_size);
	/* Behind the measured limit, for a supervisor that gets no processor time.
	 * With soft below hard it ends with SIGXCPU, which can be told from others. */
	if (limits->cpu_ms) {
		add(ret, &n, RLIMIT_CPU, limits->cpu_ms / 1000 + 2);
		ret[n - 1].hard++;
	}
	if (limits->procs && limits->procs_alone)
		add(ret, &n, RLIMIT_NPROC, limits->procs + PROCS_SLACK);
	else if (limits->procs && limits->procs_beside)
		add(ret, &n, RLIMIT_NPROC,
		    limits->procs_beside + limits->procs + PROCS_SLACK_BESIDE);
	return n;
}

void run_open_cgroup(struct run *run)
{
	const struct run_request *q = run->request;
	const struct run_limits *limits = &q->limits;

	if (!q->cgroup || !(limits->cpu_ms || limits->memory || limits->procs) ||
	    cgroup_open(&run->cgroup, q->cgroup) < 0)
		return;
	if ((limits->memory || limits->procs) && cgroup_control(&run->cgroup))
		run->held = cgroup_hold(&run->cgroup, limits->memory,
					limits->procs ? limits->procs + PROCS_SLACK : 0);
}

enum run_cause run_cause_of_signal(const struct run_limits *limits, int sig)
{
	if (sig == SIGXCPU && limits->cpu_ms)
		return RUN_CAUSE_cpu;
	if (sig == SIGXFSZ && limits->file_size)
		return RUN_CAUSE_file_size;
	return RUN_CAUSE_signal;
}

static void time_is_up(void *data)
{
	run_stop(data, RUN_CAUSE_timeout);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Two accounts, of which each may miss something. */
static uint64_t cpu_used(const struct meter_reading *now)
{
	uint64_t told = now->user_ms + now->sys_ms;

	return told > now->clock_ms ? told : now->clock_ms;
}

/* The tree cannot use more than all processors at once, so nothing can happen before what
 * is left divided by what they can do. */
static uint64_t next_sample(const struct run_limits *limits, const struct meter_reading *now)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t cpus = online > 0 ? (uint64_t)online : 1;
	uint64_t ms = limits->memory || limits->procs ? SAMPLE_MAX_MS : CPU_SAMPLE_MAX_MS;

	if (limits->cpu_ms)
		ms = least(ms, (limits->cpu_ms - cpu_used(now)) / cpus);
	if (limits->memory)
		ms = least(ms, (limits->memory - now->memory) / BYTES_PER_MS / cpus);
	if (limits->procs)
		ms = least(ms, (limits->procs - now->tasks) / TASKS_PER_MS / cpus);
	return ms < SAMPLE_MIN_MS ? SAMPLE_MIN_MS : ms;
}

/* What cannot be counted is too much, unless the kernel counts. */
static bool judge_hidden(struct run *run)
{
	const struct run_limits *limits = &run->request->limits;
	bool grouped = run->cgroup.dir > 0, held = grouped && run->held;

	if (limits->memory && !held)
		run_stop(run, RUN_CAUSE_memory);
	else if (limits->procs && !held)
		run_stop(run, RUN_CAUSE_procs);
	else if (limits->cpu_ms && !grouped && run->meter.clock <= 0)
		run_stop(run, RUN_CAUSE_cpu);
	else
		return true;
	run->result.hidden = true;
	return false;
}

/* False when a limit was passed. */
static bool judge(struct run *run, const struct meter_reading *now)
{
	const struct run_limits *limits = &run->request->limits;

	/* Before it is executed it is as hidden as cordon itself. */
	if (now->hidden && !run_is_beginning(run) && !judge_hidden(run))
		return false;
	if (limits->cpu_ms && cpu_used(now) > limits->cpu_ms)
		run_stop(run, RUN_CAUSE_cpu);
	else if (limits->memory && now->memory > limits->memory)
		run_stop(run, RUN_CAUSE_memory);
	else if (limits->procs && now->tasks > limits->procs)
		run_stop(run, RUN_CAUSE_procs);
	else
		return true;
	return false;
}

/* Also while the tree is asked to end: that is no time in which it may do as it likes. */
static void take_sample(void *data)
{
	struct run *run = data;
	const struct run_limits *limits = &run->request->limits;
	uint64_t began = loop_now(), pause;
	struct meter_reading now;

	if (run->phase == RUN_PHASE_killing)
		return;
	meter_read(&run->meter, limits->memory, &now);
	if (!cgroup_times(&run->cgroup, &now.user_ms, &now.sys_ms)) {
		now.user_ms += run->result.usage.user_ms;
		now.sys_ms += run->result.usage.sys_ms;
	}
	if (!judge(run, &now))
		return;
	pause = (loop_now() - began) * SAMPLE_SHARE;
	if (now.unfinished)
		/* As long as this took: others get their turn, the sample gets done. */
		pause = loop_now() - began;
	else if (pause < next_sample(limits, &now))
		pause = next_sample(limits, &now);
	loop_set_timer(run->loop, &run->sample, pause);
}

/* Also of a command that has ended: what it printed is cut off. */
void run_output_passed(struct run *run)
{
	run_stop(run, RUN_CAUSE_output);
	if (!run->cause_set)
		run->result.cause = RUN_CAUSE_output;
	run->cause_set = true;
}

size_t run_count_output(struct run *run, size_t n)
{
	uint64_t limit = run->request->limits.output;
	uint64_t left = limit > run->printed ? limit - run->printed : 0;

	run->printed += n;
	if (!limit || n <= left)
		return n;
	run_output_passed(run);
	return (size_t)left;
}

void run_start_limits(struct run *run)
{
	const struct run_limits *limits = &run->request->limits;

	run->timeout.fired = time_is_up;
	run->sample.fired = take_sample;
	run->timeout.data = run->sample.data = run;
	if (limits->timeout_ms)
		loop_set_timer(run->loop, &run->timeout, limits->timeout_ms);
	if (limits->memory || limits->procs || limits->cpu_ms)
		loop_set_timer(run->loop, &run->sample, SAMPLE_MIN_MS);
}
