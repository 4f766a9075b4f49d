/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run leaves beside its workdir where that lies in a directory of which the command
 * has its own (a project below /tmp): it looks like any other place of the host from inside,
 * and all of it but the workdir is gone at the end. Looked at when the command has ended,
 * through a descriptor that init hands over before it begins.
 */
#ifndef CORDON_RUN_LEFT_H
#define CORDON_RUN_LEFT_H

#include "run/part.h"

part_maker_fn left_make;

#endif
