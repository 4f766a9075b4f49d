/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a run on Linux. */
#include "run/broker.h"
#include "run/egress.h"
#include "run/guard.h"
#include "run/inlet.h"
#include "run/left.h"
#include "run/names.h"
#include "run/outlet.h"
#include "run/terminal.h"
#include "run/unrouted.h"

part_maker_fn *const part_makers[] = {
	egress_make,
	unrouted_make,
	broker_make,
	guard_make,
	names_make,
	terminal_make,
	outlet_make,
	inlet_make,
	left_make,
	NULL,
};
