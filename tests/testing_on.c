/* SPDX-License-Identifier: Apache-2.0 */
/* Test builds: values come from the environment. */
#include "base/testing.h"

#include <stdlib.h>

const char *testing_value(const char *name)
{
	return getenv(name);
}
