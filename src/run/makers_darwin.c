/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a run on macOS. Guard, broker, names and the way out to listed hosts all need
 * to be asked about system calls, or a network of the run's own; what would need them is not
 * claimed by any backend of this system, so the plan says that it is lost. */
#include "run/outlet.h"
#include "run/terminal.h"

part_maker_fn *const part_makers[] = {
	terminal_make,
	outlet_make,
	NULL,
};
