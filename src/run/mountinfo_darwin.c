/* SPDX-License-Identifier: Apache-2.0 */
/* The mounts of macOS, in the words of Linux. Each is the whole of its file system. */
#include "run/mountinfo.h"

#include <stdlib.h>
#include <sys/mount.h>
#include <sys/param.h>

static void add_escaped(struct buf *b, const char *text)
{
	for (; *text; text++)
		if (*text == ' ' || *text == '\t' || *text == '\n' || *text == '\\')
			buf_addf(b, "\\%03o", (unsigned)(unsigned char)*text);
		else
			buf_addc(b, *text);
}

bool mountinfo_read(struct buf *b)
{
	struct statfs *mounts;
	int n = getmntinfo(&mounts, MNT_NOWAIT);

	for (int i = 0; i < n; i++) {
		buf_addf(b, "%d 0 %u:%u / ", i + 1, (unsigned)mounts[i].f_fsid.val[0],
			 (unsigned)mounts[i].f_fsid.val[1]);
		add_escaped(b, mounts[i].f_mntonname);
		buf_addf(b, " rw - %s - -\n", mounts[i].f_fstypename);
	}
	return n > 0 && !b->failed;
}
