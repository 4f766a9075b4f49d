/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one seam for tests: values that only a test build takes from the environment.
 * The library carries testing.c, which knows none; the program cordon-testing is linked
 * with tests/testing_on.c in its place and is otherwise the same.
 */
#ifndef CORDON_BASE_TESTING_H
#define CORDON_BASE_TESTING_H

/* NULL in what ships. */
const char *testing_value(const char *name);

#endif
