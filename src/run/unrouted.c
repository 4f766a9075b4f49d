/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the kernel's counters. */
#include "run/unrouted.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/backend.h"
#include "base/fd.h"
#include "plan/plan.h"
#include "report/violation.h"
#include "run/state.h"
#include "run/supervise.h"

#define WORD "OutNoRoutes"
/* More than the kernel's text is long. */
#define TEXT 16384

struct unrouted {
	struct run_part part;
	struct run *run;
	int four, six;	   /* the counters; -1: none */
	uint64_t connects; /* that were seen */
	uint64_t counted;  /* by the kernel */
	bool known;	   /* how often that was */
};

/* How many words are before this place of a line? */
static size_t words_before(const char *line, const char *at)
{
	size_t n = 0;

	for (const char *p = line; p < at; p++)
		n += *p == ' ';
	return n;
}

/* A line of names and one of numbers begin with "Ip:". */
uint64_t unrouted_four(const char *text)
{
	const char *names = strstr(text, "Ip:"), *at = names ? strstr(names, WORD) : NULL;
	const char *numbers = names ? strstr(names, "\nIp:") : NULL;
	size_t n;

	if (!at || !numbers || at > numbers)
		return 0;
	numbers++;
	for (n = words_before(names, at); n > 0 && numbers; n--) {
		numbers = strchr(numbers, ' ');
		if (numbers)
			numbers++;
	}
	return numbers ? strtoull(numbers, NULL, 10) : 0;
}

uint64_t unrouted_six(const char *text)
{
	const char *at = strstr(text, "Ip6" WORD);

	return at ? strtoull(at + strlen("Ip6" WORD), NULL, 10) : 0;
}

static bool read_text(int fd, char text[TEXT])
{
	ssize_t n;

	do
		n = fd < 0 ? 0 : pread(fd, text, TEXT - 1, 0);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return true;
}

static void count(void *data)
{
	struct unrouted *u = data;
	char text[TEXT];

	u->known = true;
	u->counted = read_text(u->four, text) ? unrouted_four(text) : 0;
	u->counted += read_text(u->six, text) ? unrouted_six(text) : 0;
}

void unrouted_feed(struct unrouted *u, struct observer *observer, struct notify *listener)
{
	observer->connects = &u->connects;
	if (!listener)
		return;
	listener->over = count;
	listener->over_data = u;
}

static int open_counters(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* While it lives: what is open is of its network then. */
static int begin(struct run_part *part, struct run *run, struct cordon_error *err)
{
	struct unrouted *u = part->data;

	(void)err;
	u->run = run;
	u->four = open_counters(run->main.pid, "snmp");
	u->six = open_counters(run->main.pid, "snmp6");
	return 0;
}

static void end(struct run_part *part, struct run_result *result)
{
	struct unrouted *u = part->data;
	struct violation v = { .op = VIOLATION_send,
			       .source = VIOLATION_BY_kernel,
			       .object = STR(VIOLATION_UNLISTED),
			       .errnum = ENETUNREACH };

	(void)result;
	if (!u->known)
		count(u);
	if (u->counted > u->connects) {
		v.count = u->counted - u->connects;
		violations_add(run_violations(u->run), &v);
	}
	fd_close(&u->four);
	fd_close(&u->six);
}

int unrouted_make(struct arena *a, const struct part_input *in, struct run_part **ret,
		  struct cordon_error *err)
{
	struct unrouted *u;

	if (!(in->launch->clone_flags & CLONE_NEWNET) ||
	    !(in->launch->hands_over & HANDOVER_BIT(LISTENER)) ||
	    policy_number(in->plan->policy, KEY_REPORT) < REPORT_WRITES)
		return 0;
	u = arena_new(a, struct unrouted);
	if (!u)
		return err_nomem(err, "unrouted");
	u->four = u->six = -1;
	u->part = (struct run_part){ .name = "unrouted", .begin = begin, .end = end, .data = u };
	*in->unrouted = u;
	*ret = &u->part;
	return 0;
}
