/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel constants that the headers of the oldest supported distribution (6.1) do
 * not have yet. The only place where such numbers are written down. System calls
 * from 424 on have the same number on every architecture cordon runs on.
 */
#ifndef CORDON_BASE_LINUX_COMPAT_H
#define CORDON_BASE_LINUX_COMPAT_H

#include <linux/ioctl.h>
#include <sys/syscall.h>

#ifndef __NR_cachestat
#define __NR_cachestat 451 /* 6.5 */
#endif
#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452 /* 6.6 */
#endif
#ifndef __NR_map_shadow_stack
#define __NR_map_shadow_stack 453 /* 6.6 */
#endif
#ifndef __NR_futex_wake
#define __NR_futex_wake 454 /* 6.7 */
#endif
#ifndef __NR_futex_wait
#define __NR_futex_wait 455 /* 6.7 */
#endif
#ifndef __NR_futex_requeue
#define __NR_futex_requeue 456 /* 6.7 */
#endif
#ifndef __NR_statmount
#define __NR_statmount 457 /* 6.8 */
#endif
#ifndef __NR_listmount
#define __NR_listmount 458 /* 6.8 */
#endif
#ifndef __NR_lsm_get_self_attr
#define __NR_lsm_get_self_attr 459 /* 6.8 */
#endif
#ifndef __NR_lsm_set_self_attr
#define __NR_lsm_set_self_attr 460 /* 6.8 */
#endif
#ifndef __NR_lsm_list_modules
#define __NR_lsm_list_modules 461 /* 6.8 */
#endif
#ifndef __NR_mseal
#define __NR_mseal 462 /* 6.10 */
#endif
#ifndef __NR_setxattrat
#define __NR_setxattrat 463 /* 6.13 */
#endif
#ifndef __NR_getxattrat
#define __NR_getxattrat 464 /* 6.13 */
#endif
#ifndef __NR_listxattrat
#define __NR_listxattrat 465 /* 6.13 */
#endif
#ifndef __NR_removexattrat
#define __NR_removexattrat 466 /* 6.13 */
#endif
#ifndef __NR_open_tree_attr
#define __NR_open_tree_attr 467 /* 6.15 */
#endif
#ifndef __NR_file_getattr
#define __NR_file_getattr 468 /* 6.17 */
#endif
#ifndef __NR_file_setattr
#define __NR_file_setattr 469 /* 6.17 */
#endif

#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0) /* 6.6 */
#endif
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS _IOW('!', 4, unsigned long long) /* 6.6 */
#endif

/* Landlock: rights and scopes later than ABI 2. */
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14) /* ABI 3 */
#endif
#ifndef LANDLOCK_ACCESS_NET_BIND_TCP
#define LANDLOCK_ACCESS_NET_BIND_TCP (1ULL << 0) /* ABI 4 */
#define LANDLOCK_ACCESS_NET_CONNECT_TCP (1ULL << 1)
#endif
#ifndef LANDLOCK_ACCESS_FS_IOCTL_DEV
#define LANDLOCK_ACCESS_FS_IOCTL_DEV (1ULL << 15) /* ABI 5 */
#endif
#ifndef LANDLOCK_SCOPE_SIGNAL
#define LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET (1ULL << 0) /* ABI 6 */
#define LANDLOCK_SCOPE_SIGNAL (1ULL << 1)
#endif

#ifndef AT_HANDLE_FID
#define AT_HANDLE_FID 0x200 /* 6.5 */
#endif

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8 /* 6.3 */
#endif

/* Of a process's flags in /proc/PID/stat, which no header has: forked, but not executed. */
#define PF_FORKNOEXEC 0x40

/* An enumerator in newer headers, so it has a name of its own here. */
#define LINUX_IFLA_GSO_IPV4_MAX_SIZE 63 /* 6.3 */

#endif
