/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whose: is what has a guarded name the command's, or somebody else's? Asked by the sentry during
 * a look, and answered in doubt with the command. docs/security-model.md tells the rules.
 */
#ifndef CORDON_RUN_WHOSE_H
#define CORDON_RUN_WHOSE_H

#include <sys/stat.h>

#include "run/sentry.h"

struct sentry_id whose_id(const struct statx *st);
bool whose_same(const struct sentry_id *a, const struct sentry_id *b);
/* Of what was not there at the last look: can a call from inside have put it at `p`, in `dir`? */
bool whose_inside(struct sentry *s, const struct sentry_place *p, struct sentry_place *dir,
		  const struct statx *st);
/* It is left alone; what is needed to see later whether the command changes it is noted. To be
 * called before the place is fine: of calls that were over by then nothing is known any more. */
void whose_leave(struct sentry *s, struct sentry_place *p, int dir, const struct statx *st);
/* Is what was left still what it was, as far as the command goes? */
bool whose_untouched(struct sentry *s, struct sentry_place *p, struct sentry_place *dir,
		     const struct statx *st);

/* The sentry's: looks at a name in a directory, which is opened up for that if need be. 0 or
 * -errno. */
int sentry_stat(struct sentry_place *dir, const char *name, struct statx *ret);

#endif
