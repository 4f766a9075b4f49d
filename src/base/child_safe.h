/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CHILD_SAFE marks what may run between clone and exec: raw system calls and
 * reads of constant data only. No allocation, no stdio, no locks.
 */
#ifndef CORDON_BASE_CHILD_SAFE_H
#define CORDON_BASE_CHILD_SAFE_H

#ifndef CHILD_SAFE
#define CHILD_SAFE
#endif

#endif
