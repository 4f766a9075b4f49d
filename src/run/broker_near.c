/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Near: while a descriptor is put into the caller's table, broker and caller stay on one
 * processor.
 *
 * The kernel has the caller itself put it in place, and wakes it for that without the hint
 * that the broker is about to sleep, then the broker the same way. On a machine with nothing
 * else to do each of them is therefore sent to a processor that sleeps, which takes four
 * times as long as everything else about an open. That pays only where one thread calls in
 * a row: several at work keep every processor awake, and who is held on one waits for whoever
 * has it.
 *
 * The caller waits in the kernel all the time, so it never runs with fewer processors than
 * it had. Whoever sets them for it at that moment is not overruled.
 */
#include <sched.h>
#include <string.h>

#include "run/broker_in.h"

void broker_near_init(struct broker *b)
{
	struct broker_cpus *cpus = &b->cpus;
	cpu_set_t all;

	cpus->at = -1;
	memset(&all, 0xff, sizeof(all));
	cpus->usable = sched_getaffinity(0, sizeof(cpus->own), &cpus->own) == 0 &&
		       CPU_COUNT(&cpus->own) > 1;
	/* How many may there be? */
	if (!cpus->usable || sched_setaffinity(0, sizeof(all), &all) < 0)
		return;
	cpus->usable = sched_getaffinity(0, sizeof(cpus->every), &cpus->every) == 0;
	if (sched_setaffinity(0, sizeof(cpus->own), &cpus->own) < 0)
		cpus->usable = false;
}

/* Whoever has not been given a choice of processors gets those that are added later, too. */
static void set(const struct broker_cpus *cpus, pid_t tid, const cpu_set_t *to)
{
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	if (CPU_EQUAL(to, &cpus->every))
		to = &all;
	sched_setaffinity(tid, sizeof(*to), to);
}

static bool is_held(const struct broker_near *near)
{
	cpu_set_t now;

	return sched_getaffinity(near->tid, sizeof(now), &now) == 0 &&
	       CPU_EQUAL(&now, &near->here);
}

/* Should the number be another's already, that one stays where it is for a moment. */
void broker_draw_near(struct broker *b, pid_t tid, struct broker_near *ret)
{
	int here = b->cpus.usable && b->pace.hurries ? sched_getcpu() : -1;

	ret->held = false;
	if (here < 0 || here >= CPU_SETSIZE ||
	    sched_getaffinity(tid, sizeof(ret->was), &ret->was) < 0 ||
	    !CPU_ISSET(here, &ret->was))
		return;
	CPU_ZERO(&ret->here);
	CPU_SET(here, &ret->here);
	if (sched_setaffinity(tid, sizeof(ret->here), &ret->here) < 0)
		return;
	ret->held = true;
	ret->tid = tid;
	if (b->cpus.at != here && sched_setaffinity(0, sizeof(ret->here), &ret->here) == 0)
		b->cpus.at = here;
}

void broker_let_go(const struct broker *b, const struct broker_near *near)
{
	if (near->held && is_held(near))
		set(&b->cpus, near->tid, &near->was);
}

void broker_roam(struct broker *b)
{
	if (b->cpus.at >= 0)
		set(&b->cpus, 0, &b->cpus.own);
	b->cpus.at = -1;
}
