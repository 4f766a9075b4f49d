/* SPDX-License-Identifier: Apache-2.0 */
/* As /proc/PID/net/tcp and tcp6 tell it. */
#include "run/services.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/fd.h"
#include "run/target.h"

#define LISTENS 0x0a

/* The words of an address as they lie in memory; IPv4 has one. */
static bool is_loopback(const uint32_t *word, bool six)
{
	bool four = !six || (!word[0] && !word[1] && word[2] == htonl(0xffff));
	uint32_t last = ntohl(word[six ? 3 : 0]);

	if (four)
		return last == 0 || last >> 24 == 127;
	return !word[0] && !word[1] && !word[2] && last <= 1;
}

static bool is_it(const char *line, bool six, uint16_t port)
{
	uint32_t word[4];
	unsigned number, state;
	int n = six ? sscanf(line, " %*u: %8x%8x%8x%8x:%x %*[^ ] %x", &word[0], &word[1],
			     &word[2], &word[3], &number, &state)
		    : sscanf(line, " %*u: %8x:%x %*[^ ] %x", &word[0], &number, &state);

	return n == (six ? 6 : 3) && number == port && state == LISTENS && is_loopback(word, six);
}

static enum service search(int fd, bool six, uint16_t port)
{
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	enum service found = SERVICE_NOT_THERE;
	char line[512];

	if (!file) {
		fd_close(&fd);
		return SERVICE_UNKNOWN;
	}
	while (found == SERVICE_NOT_THERE && fgets(line, sizeof(line), file))
		if (is_it(line, six, port))
			found = SERVICE_THERE;
	fclose(file);
	return found;
}

static int open_table(pid_t pid, const char *name)
{
	char path[64];

	if (pid)
		return target_open_proc(pid, name);
	snprintf(path, sizeof(path), "/proc/self/%s", name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

enum service service_find(pid_t pid, uint16_t port)
{
	enum service found = search(open_table(pid, "net/tcp"), false, port);

	if (found != SERVICE_NOT_THERE)
		return found;
	/* There is no such table where there is no IPv6. */
	return search(open_table(pid, "net/tcp6"), true, port) == SERVICE_THERE
		       ? SERVICE_THERE
		       : SERVICE_NOT_THERE;
}
