/* SPDX-License-Identifier: Apache-2.0 */
/* There is no bubblewrap here: its options are only printed. */
#include "backend/linux/wrapper.h"

bool wrapper_keeps_metadata(const struct caps *caps)
{
	(void)caps;
	return false;
}

int wrapper_prepare(struct arena *a, const struct caps *caps, struct launch *launch,
		    struct cordon_error *err)
{
	(void)a;
	(void)caps;
	(void)launch;
	(void)err;
	return 0;
}

bool wrapper_reaches(struct str path)
{
	(void)path;
	return true;
}

bool wrapper_is_alone(void)
{
	return false;
}
