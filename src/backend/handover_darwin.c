/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is handed over: no backend of this system asks for it, and one that did would be
 * refused. */
#include "backend/handover.h"

#define STAGE "hand-over"

static int unavailable(struct cordon_error *err)
{
	return err_set(err, CORDON_E_UNAVAILABLE, 0, STAGE,
		       "nothing can be handed over on this system");
}

int handover_open(int *ret_supervisor, int *ret_inside, struct cordon_error *err)
{
	(void)ret_supervisor, (void)ret_inside;
	return unavailable(err);
}

int handover_take(int supervisor, int *ret_fd, struct cordon_error *err)
{
	(void)supervisor, (void)ret_fd;
	return unavailable(err);
}

int handover_agree(int supervisor, struct cordon_error *err)
{
	(void)supervisor;
	return unavailable(err);
}
