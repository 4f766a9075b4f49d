/* SPDX-License-Identifier: Apache-2.0 */
/* What every fuzz harness has: the entry point and a check that ends the run. */
#ifndef CORDON_TESTS_FUZZ_H
#define CORDON_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(what) \
	do { \
		if (!(what)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what); \
			abort(); \
		} \
	} while (0)

#endif
