/* SPDX-License-Identifier: Apache-2.0 */
/* Mach's units of time, those of a Mac with a processor of Apple's. */
#ifndef CORDON_TESTS_DARWIN_MACH_TIME_H
#define CORDON_TESTS_DARWIN_MACH_TIME_H

#include <stdint.h>

#define KERN_SUCCESS 0

typedef struct {
	uint32_t numer, denom;
} mach_timebase_info_data_t;

int mach_timebase_info(mach_timebase_info_data_t *to);

#endif
