/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Step 4, in the child: the files that are shown in the place of others, made in a file
 * system of their own. Where they are put is decided in mounts.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/linux/native.h"

/* One attempt is enough: the answer is there at once. */
static const char resolver_file[] = "nameserver 127.0.0.1\noptions attempts:1\n";
static const char hosts_file[] = "127.0.0.1 localhost\n"
				 "::1 localhost ip6-localhost ip6-loopback\n";

static CHILD_SAFE int make_text_file(const char *path, const char *text)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0444);
	ssize_t n;

	/* Whatever the umask says. */
	if (fd < 0 || fchmod(fd, 0444) < 0)
		return -1;
	n = write(fd, text, strlen(text));
	close(fd);
	/* Under a limit of file size of the caller's no file grows; an empty one means
	 * the local host, too. */
	if (n < 0 && errno == EFBIG)
		return 0;
	return n == (ssize_t)strlen(text) ? 0 : -1;
}

CHILD_SAFE int native_make_veils(bool resolver)
{
	int fd;

	if (mkdir(NATIVE_WORKBENCH "/d", 0) < 0)
		return -1;
	fd = open(NATIVE_WORKBENCH "/f", O_CREAT | O_WRONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	close(fd);
	if (resolver && (make_text_file(NATIVE_WORKBENCH "/r", resolver_file) < 0 ||
			 make_text_file(NATIVE_WORKBENCH "/h", hosts_file) < 0))
		return -1;
	return chmod(NATIVE_WORKBENCH, 0);
}
