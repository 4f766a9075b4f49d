/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatch only. */
#include <stdio.h>

int main(void)
{
	puts("cordon " CORDON_VERSION);
	return 0;
}
