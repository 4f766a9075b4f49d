/* SPDX-License-Identifier: Apache-2.0 */
/* How many descriptors this process has, one for looking included. */
#ifndef CORDON_TESTS_LIB_DESCRIPTORS_H
#define CORDON_TESTS_LIB_DESCRIPTORS_H

#include <dirent.h>

static inline int count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

#endif
