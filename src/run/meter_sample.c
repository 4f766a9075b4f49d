/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One sample of a run's memory: the survey, which counts what processes share for each of
 * them, and, when that is above the limit, the weighing of every process's mappings.
 *
 * How long either takes is up to the run: thousands of processes with ten thousands of
 * mappings and descriptors each. So both have a budget of processor time, and the weighing
 * is spread over several calls, between which the supervisor does its other work. What is
 * over its budget cannot be judged, and counts as too much.
 *
 * What goes away before it is weighed leaves a doubt, if what it had in the survey would be
 * too much: a run must not keep its memory in processes that never live long enough to be
 * looked at. One such sample says nothing, many in a row do.
 */
#include "run/meter.h"

#include <time.h>

#define SAMPLE_BYTES_MAX ((size_t)32 << 20)
/* Samples in a row, with up to a tenth of a second between them. */
#define DOUBTS_MAX 20

static uint64_t processor_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

bool meter_spent(const struct meter_budget *budget)
{
	return processor_ns() - budget->began >= budget->ns;
}

static struct meter_budget budget_of(uint64_t ns)
{
	return (struct meter_budget){ .began = processor_ns(), .ns = ns };
}

static void end_sample(struct meter *m)
{
	arena_free(&m->sample.sum.memory);
	m->sample = (struct meter_sample){ 0 };
}

void meter_forget(struct meter *m)
{
	end_sample(m);
}

/* --- the survey -------------------------------------------------------------------- */

struct survey {
	struct meter *meter;
	struct meter_budget budget;
	uint64_t shmem; /* resident in mappings, what is shared counted for each */
	uint64_t plain; /* the rest */
	bool incomplete;
};

static void survey_process(void *data, const struct tree_process *p, bool wrapper)
{
	struct survey *s = data;
	struct meter_sample *sample = &s->meter->sample;
	struct meter_process *slot;
	struct procfs_memory memory;
	struct procfs_stat line;

	if (wrapper || s->incomplete || !procfs_stat(p->pid, &line) || !line.alive)
		return;
	meter_find_places(s->meter, line.thread);
	s->incomplete = !meter_add_open(&sample->sum, &line, &s->budget) ||
			meter_spent(&s->budget);
	if (!procfs_memory(line.thread, &memory))
		return;
	s->shmem += memory.shmem;
	s->plain += memory.anon + memory.swap + memory.tables;
	slot = vec_push(&sample->processes, &sample->sum.memory);
	if (slot)
		*slot = (struct meter_process){ .thread = line.thread, .surveyed = memory };
	else
		s->incomplete = true;
}

/* The machine's shared memory that is neither in `counted` nor was there before. The base
 * is what others had when they had least. */
static uint64_t unexplained(struct meter *m, uint64_t counted)
{
	uint64_t now = procfs_machine_shmem();
	uint64_t others = now > counted ? now - counted : 0;

	if (others < m->machine_base)
		m->machine_base = others;
	return others - m->machine_base;
}

/* At least what the run has. */
static uint64_t survey(struct meter *m)
{
	struct survey s = { .meter = m, .budget = budget_of(m->survey_ns) };
	struct meter_sample *sample = &m->sample;
	uint64_t counted;

	*sample = (struct meter_sample){ .sum = { .meter = m }, .rest_ns = m->weigh_ns };
	arena_init(&sample->sum.memory, SAMPLE_BYTES_MAX);
	tree_each(m->tree, survey_process, &s);
	counted = sample->sum.bytes + meter_places_bytes(m);
	sample->growth = unexplained(m, counted);
	sample->sum.bytes = counted;
	sample->estimate = counted + s.plain +
			   (s.shmem > sample->growth ? s.shmem : sample->growth);
	return s.incomplete ? METER_UNKNOWN : sample->estimate;
}

/* --- the weighing ------------------------------------------------------------------ */

static uint64_t resident(const struct procfs_memory *memory)
{
	return memory->anon + memory->shmem + memory->swap;
}

/* What shows no mappings has ended, or does not let itself be looked into; one that is
 * ending has no memory any more. */
static void weigh_process(struct meter_sample *sample, const struct meter_process *p,
			  const struct meter_budget *budget)
{
	bool seen = meter_add_mappings(&sample->sum, p->thread, budget);
	struct procfs_memory memory;

	if (!procfs_memory(p->thread, &memory) || (!seen && !resident(&memory))) {
		if (!seen)
			sample->gone += resident(&p->surveyed);
		return;
	}
	sample->sum.bytes += memory.tables;
	if (seen)
		return;
	sample->sum.bytes += resident(&memory);
	sample->sum.mapped += memory.shmem;
}

static uint64_t weighed(const struct meter_sample *sample)
{
	const struct meter_sum *sum = &sample->sum;
	uint64_t rest = sample->growth > sum->mapped ? sample->growth - sum->mapped : 0;

	return sum->bytes + (sum->blind || sum->hidden > rest ? rest : sum->hidden);
}

/* One slice. False when processes are left for the next. */
static bool weigh(struct meter *m)
{
	struct meter_sample *sample = &m->sample;
	struct meter_budget slice = budget_of(m->slice_ns), rest = budget_of(sample->rest_ns);
	uint64_t used;

	do
		weigh_process(sample, &sample->processes.at[sample->next++], &rest);
	while (sample->next < sample->processes.n && !meter_spent(&slice));
	used = processor_ns() - rest.began;
	sample->rest_ns -= used < sample->rest_ns ? used : sample->rest_ns;
	return sample->next == sample->processes.n;
}

/* The answer; the sample is over. */
static bool answer(struct meter *m, uint64_t total, uint64_t *ret)
{
	end_sample(m);
	*ret = total;
	return true;
}

/* All is weighed. */
static uint64_t settle(struct meter *m, uint64_t limit)
{
	uint64_t total = weighed(&m->sample), gone = m->sample.gone;

	m->doubts = total <= limit && total + gone > limit ? m->doubts + 1 : 0;
	return m->doubts > DOUBTS_MAX ? total + gone : total;
}

bool meter_memory(struct meter *m, uint64_t limit, uint64_t *ret)
{
	struct meter_sample *sample = &m->sample;

	if (!sample->next) {
		uint64_t total = survey(m);

		if (total <= limit || total == METER_UNKNOWN)
			return answer(m, total, ret);
		/* Nobody is there: what the machine has more of is not the run's. */
		if (!sample->processes.n)
			return answer(m, weighed(sample), ret);
	}
	if (weigh(m) && sample->rest_ns)
		return answer(m, settle(m, limit), ret);
	return sample->rest_ns ? false : answer(m, sample->estimate, ret);
}
