/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The init of suites that send signals: whoever started the tests in the background may
 * have them ignored, and what a shell finds ignored it cannot trap.
 */
#ifndef CORDON_TESTS_HEED_SIGNALS_H
#define CORDON_TESTS_HEED_SIGNALS_H

#include <signal.h>

static void heed_signals(void)
{
	for (int sig = SIGHUP; sig <= SIGQUIT; sig++)
		signal(sig, SIG_DFL);
}

#endif
