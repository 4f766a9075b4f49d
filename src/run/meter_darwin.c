/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The meter on macOS. What a process is charged for (its footprint) is all that the kernel
 * tells: memory that processes share counts for each of them, and nothing of the run's own
 * is in memory. The time of children that nobody waits for is lost.
 */
#include "run/meter.h"

dev_t meter_shm_device(void)
{
	return 0;
}

int meter_clock(void)
{
	return -1;
}

void meter_find_places(struct meter *m, pid_t thread)
{
	(void)m, (void)thread;
}

uint64_t meter_places_bytes(const struct meter *m)
{
	(void)m;
	return 0;
}

bool meter_place_is_full(const struct meter *m)
{
	(void)m;
	return false;
}

bool meter_add_open(struct meter_sum *sum, const struct procfs_stat *process,
		    const struct meter_budget *budget)
{
	(void)sum, (void)process, (void)budget;
	return true;
}

bool meter_add_mappings(struct meter_sum *sum, pid_t thread, const struct meter_budget *budget)
{
	(void)sum, (void)thread, (void)budget;
	return false;
}
