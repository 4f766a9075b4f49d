/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests out, reports in. The relay has read what strangers sent, so a report is
 * believed only as far as it is about a connection that the relay has, once.
 */
#include "run/egress_relay.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "report/violation.h"
#include "run/supervise.h"

#define STAGE "egress"
#define LITERALS_MAX 1024
#define TEXT 320
/* For the last reports. */
#define END_MS 1000
#define NONE (~(uint32_t)0)

/* --- starting: when it is needed ---------------------------------------------------- */

static char *address_word(struct arena *a, const char *mark, const struct host *address)
{
	autobuf struct buf text = buf_make(TEXT);

	buf_adds(&text, mark);
	host_print(&text, address);
	return arena_dup(a, buf_str(&text));
}

/* The addresses that are listed and denied, as words for its command line. */
static char **arguments(struct arena *a, const struct policy *policy)
{
	char **argv = arena_array(a, policy->hosts.n + policy->denied.n + 2, sizeof(*argv));
	size_t n = 0;

	if (!argv)
		return NULL;
	argv[n++] = arena_dup(a, STR(RELAY_PROGRAM));
	vec_each(h, &policy->hosts)
		if (h->host.kind == HOST_ADDRESS)
			argv[n++] = address_word(a, "", &h->host);
	vec_each(h, &policy->denied)
		if (h->host.kind == HOST_ADDRESS)
			argv[n++] = address_word(a, RELAY_DENIED, &h->host);
	for (size_t i = 0; i < n; i++)
		if (!argv[i])
			return NULL;
	return argv;
}

/* Nothing of the caller's environment is its business, but what says how a build for
 * tests reports its own mistakes. */
static char **environment(struct arena *a)
{
	static const struct str passed[] = { STR("ASAN_OPTIONS="), STR("UBSAN_OPTIONS=") };
	char **envp = arena_array(a, sizeof(passed) / sizeof(passed[0]) + 1, sizeof(*envp));
	size_t n = 0;

	for (char **e = environ; envp && *e; e++)
		for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
			if (str_starts(str_of(*e), passed[i]) && n < i + 1)
				envp[n++] = *e;
	return envp;
}

static int spawn_relay(struct egress_relay *r, struct arena *a, const char *program, int inside,
		       const struct policy *policy, struct cordon_error *err)
{
	autoclose int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const struct spawn_fd fds[] = { { null, 0 }, { null, 1 }, { inside, RELAY_CONTROL_FD } };
	/* A session of its own: what the user types at the terminal is not for it. */
	struct spawn_request request = {
		.program = program,
		.argv = arguments(a, policy),
		.envp = environment(a),
		.new_session = true,
		.die_with_parent = true,
		.fds = fds,
		.n_fds = sizeof(fds) / sizeof(fds[0]),
	};

	if (null < 0)
		return err_set(err, CORDON_E_IO, errno, STAGE, "/dev/null");
	if (!request.argv || !request.envp)
		return err_nomem(err, STAGE);
	return spawn_start(&request, &r->process, err);
}

static int send_setup(int control, const struct policy *policy, const struct proxies *proxies,
		      struct cordon_error *err)
{
	struct relay_setup setup = { .traffic = policy_number(policy, KEY_TRAFFIC) };
	ssize_t n;

	memcpy(setup.proxies, proxies->at, sizeof(setup.proxies));
	n = send(control, &setup, sizeof(setup), MSG_NOSIGNAL);
	explicit_bzero(&setup, sizeof(setup));
	if (n == (ssize_t)sizeof(setup))
		return 0;
	return err_set(err, CORDON_E_SYSTEM, errno, STAGE, "cannot tell cordon-relay its task");
}

static void set_limits(struct egress_relay *r, const struct policy *policy)
{
	uint64_t most = policy_number(policy, KEY_CONNECTIONS);

	r->limited = policy_number(policy, KEY_TRAFFIC);
	r->most_out = most && most < RELAY_CONNECTIONS_MAX ? most : RELAY_CONNECTIONS_MAX;
}

/* It is started in the middle of a run, where it is too late to find out that it is no
 * program: damaged, or of another architecture than this one. */
static int check_program(const char *program, struct cordon_error *err)
{
	autoclose int own = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	autoclose int fd = open(program, O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr ours, its;

	/* What may be executed need not be readable. */
	if (fd < 0 && errno != EACCES)
		return err_set(err, CORDON_E_UNAVAILABLE, errno, STAGE, "cannot open %s", program);
	if (fd < 0 || own < 0 || read(own, &ours, sizeof(ours)) != (ssize_t)sizeof(ours))
		return 0;
	if (read(fd, &its, sizeof(its)) == (ssize_t)sizeof(its) &&
	    memcmp(ours.e_ident, its.e_ident, EI_DATA + 1) == 0 &&
	    ours.e_machine == its.e_machine)
		return 0;
	err_set(err, CORDON_E_UNAVAILABLE, 0, STAGE, "%s is no program that runs here", program);
	return err_hint(err, "it belongs to cordon and makes connections to listed hosts; "
			     "install cordon again");
}

int egress_relay_prepare(struct egress_relay *r, struct arena *a, const char *program,
			 const struct policy *policy, const struct proxies *proxies,
			 struct cordon_error *err)
{
	autoclose int ours = -1, theirs = -1;
	int ends[2], failed = check_program(program, err);

	if (failed)
		return failed;
	r->arena = a;
	r->program = program;
	r->policy = policy;
	r->process = (struct spawned){ .pidfd = -1, .error_fd = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return err_set(err, CORDON_E_SYSTEM, errno, STAGE, "cannot make a socket pair");
	ours = ends[0];
	theirs = ends[1];
	set_limits(r, policy);
	failed = send_setup(ours, policy, proxies, err);
	if (failed)
		return failed;
	r->control.fd = steal_fd(&ours);
	r->theirs = steal_fd(&theirs);
	for (uint32_t i = 0; i < RELAY_CONNECTIONS_MAX; i++)
		r->connections[i].next_free = i + 1 < RELAY_CONNECTIONS_MAX ? i + 1 : NONE;
	return 0;
}

/* --- hosts ------------------------------------------------------------------------- */

static struct run_host *host_for(struct egress_relay *r, const struct host *target)
{
	autobuf struct buf text = buf_make(TEXT);
	struct host named = *target;
	struct run_host *h;

	named.port = 0;
	host_print(&text, &named);
	for (size_t i = 0; i < r->n_hosts; i++)
		if (r->hosts[i].port == target->port && strcmp(r->hosts[i].host, text.p) == 0)
			return &r->hosts[i];
	h = r->n_hosts < RUN_HOSTS_MAX ? &r->hosts[r->n_hosts] : &r->others;
	if (h == &r->others)
		return h;
	*h = (struct run_host){ .host = arena_dup(r->arena, buf_str(&text)), .port = target->port };
	if (!h->host)
		return &r->others;
	r->n_hosts++;
	return h;
}

static const char *const failures[RELAY_OUTCOME_COUNT] = {
	[RELAY_NO_NAME] = "the name has no address",
	[RELAY_NO_SERVER] = "this machine's name servers gave no answer",
	[RELAY_FORBIDDEN] = "the name leads to an address that only a policy may give",
	[RELAY_UNREACHABLE] = "nothing answered",
	[RELAY_OTHER_NAME] = "TLS was to ask for another name",
	[RELAY_NO_ROOM] = "too many connections at a time (limits.connections)",
	[RELAY_SPENT] = "no more bytes may be exchanged (limits.traffic)",
	[RELAY_NO_PROXY] = "the proxy was not reached, or did not answer",
	[RELAY_PROXY_NO] = "the proxy refused it",
};

/* What a proxy means, where it can be told. */
static const char *failure_of(const struct egress_connection *c,
			      const struct relay_report *report)
{
	static const struct {
		uint32_t status;
		const char *text;
	} known[] = {
		{ 407, "the proxy wants a name and a password, or others (407); they go into "
		       "the variable that names it" },
		{ 401, "the proxy wants another name and password (401); they go into the "
		       "variable that names it" },
		{ 403, "the proxy refused it (403); many let through port 443 only" },
		{ 405, "the proxy refused it (405); many let through port 443 only" },
		{ 500, "the proxy could not reach it (500)" },
		{ 502, "the proxy could not reach it (502)" },
		{ 503, "the proxy could not reach it (503)" },
		{ 504, "the proxy could not reach it (504)" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (report->outcome == RELAY_PROXY_NO && report->status == known[i].status)
			return known[i].text;
	if (report->outcome == RELAY_FORBIDDEN && c->to_address)
		return "it is an address that only a policy which names it may give";
	if (report->outcome == RELAY_OTHER_NAME && !report->other[0])
		return "what TLS asked for could not be read";
	return failures[report->outcome];
}

/* The address itself can be listed, so it is what the report names. */
static void note_forbidden(struct egress_relay *r, const struct egress_connection *c,
			   const struct relay_report *report)
{
	struct violation v = { .op = VIOLATION_connect, .source = VIOLATION_BY_relay };
	struct host there = { .kind = HOST_ADDRESS, .prefix_bits = 128, .port = c->port };
	autobuf struct buf text = buf_make(TEXT);

	memcpy(there.address, report->address, sizeof(there.address));
	host_print(&text, &there);
	v.object = buf_str(&text);
	violations_add(run_violations(r->run), &v);
}

/* The name that TLS asked for; false: it is none. */
static bool read_other(const struct relay_report *report, struct host *ret)
{
	struct cordon_error ignored;

	return memchr(report->other, 0, sizeof(report->other)) &&
	       host_parse_target(str_of(report->other), ret, &ignored) == 0 && !ret->port &&
	       ret->kind == HOST_NAME;
}

/* That name is what the command wanted; that it was connected to under another is why it is
 * told. Where there is none, what was connected to is told. */
static void note_other(struct egress_relay *r, const struct egress_connection *c,
		       const struct relay_report *report)
{
	struct violation v = { .op = VIOLATION_connect, .source = VIOLATION_BY_relay };
	autobuf struct buf text = buf_make(TEXT);
	struct cordon_error ignored;
	struct host wanted;

	if (!read_other(report, &wanted) &&
	    (!c->host->host || host_parse_target(str_of(c->host->host), &wanted, &ignored) < 0))
		return;
	wanted.port = c->port;
	host_print(&text, &wanted);
	v.object = buf_str(&text);
	violations_add(run_violations(r->run), &v);
}

/* That there was no room is told although a later connection found some: it is the limit, or
 * this machine, that has to change. */
static void note_failure(struct run_host *h, const char *failure)
{
	if (failure || h->failure != failures[RELAY_NO_ROOM])
		h->failure = failure;
}

static void account(struct egress_relay *r, const struct relay_report *report)
{
	struct egress_connection *c;
	struct run_host *h;

	if (report->id >= RELAY_CONNECTIONS_MAX || report->outcome >= RELAY_OUTCOME_COUNT)
		return;
	c = &r->connections[report->id];
	h = c->host;
	if (!h)
		return;
	h->sent += report->sent;
	h->received += report->received;
	h->duration_ms += loop_now() - c->since;
	h->reached |= report->outcome == RELAY_DONE || report->sent || report->received;
	if (report->outcome != RELAY_UNDECIDED)
		note_failure(h, failure_of(c, report));
	if (report->outcome == RELAY_FORBIDDEN && h != &r->published)
		note_forbidden(r, c, report);
	if (report->outcome == RELAY_OTHER_NAME && h != &r->published)
		note_other(r, c, report);
	if (report->outcome == RELAY_SPENT && r->limited)
		run_stop(r->run, RUN_CAUSE_traffic);
	if (h != &r->published)
		r->n_out--;
	c->host = NULL;
	r->n_active--;
	c->next_free = r->first_free;
	r->first_free = report->id;
}

/* --- the conversation ---------------------------------------------------------------- */

/* False: there will be no more. */
static bool take_report(struct egress_relay *r)
{
	struct relay_report report;
	ssize_t n = recv(r->control.fd, &report, sizeof(report), MSG_DONTWAIT);

	if (n == (ssize_t)sizeof(report))
		account(r, &report);
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static void close_control(struct egress_relay *r)
{
	loop_unwatch(run_loop(r->run), &r->control);
	fd_close(&r->control.fd);
}

static void is_gone(struct egress_relay *r)
{
	close_control(r);
	r->lost = true;
	r->gone(r->data);
}

static void control_ready(void *data, uint32_t events)
{
	(void)events;
	if (!take_report(data))
		is_gone(data);
}

/* What was sent before waits in the socket. */
static int start(struct egress_relay *r, struct cordon_error *err)
{
	autoclose int theirs = steal_fd(&r->theirs);
	int failed = theirs < 0 ? 0
				: spawn_relay(r, r->arena, r->program, theirs, r->policy, err);

	if (theirs < 0 || failed)
		return failed;
	run_leave_out(r->run, r->process.pid);
	return run_disown(r->run, r->process.pid, err);
}

void egress_relay_wake(struct egress_relay *r)
{
	if (start(r, &r->error) < 0)
		is_gone(r);
}

/* Could the command put another program in its place? Nobody confines what is started there.
 * A link on the way may be the command's to change; which one is not asked. */
static bool may_be_replaced(const struct egress_relay *r)
{
	char *real = realpath(r->program, NULL);
	bool safe = real && strcmp(real, r->program) == 0 &&
		    policy_decide(r->policy, str_of(real)).data != ACCESS_WRITE;

	free(real);
	return !safe;
}

int egress_relay_begin(struct egress_relay *r, struct run *run, struct cordon_error *err)
{
	int failed;

	r->run = run;
	r->control.ready = control_ready;
	r->control.data = r;
	failed = loop_watch(run_loop(run), &r->control, EPOLLIN, err);
	if (failed || !may_be_replaced(r))
		return failed;
	/* Then it runs before the command does. */
	return start(r, err);
}

static bool send_request(int control, const struct relay_request *q, const int *fds, size_t n)
{
	union {
		char space[CMSG_SPACE(sizeof(int) * RELAY_FDS_MAX)];
		struct cmsghdr align;
	} with = { .space = { 0 } };
	struct iovec from = { .iov_base = (void *)(uintptr_t)q, .iov_len = sizeof(*q) };
	struct msghdr message = { .msg_iov = &from,
				  .msg_iovlen = 1,
				  .msg_control = &with,
				  .msg_controllen = CMSG_SPACE(sizeof(int) * n) };
	struct cmsghdr *h = CMSG_FIRSTHDR(&message);

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int) * n);
	memcpy(CMSG_DATA(h), fds, sizeof(int) * n);
	return sendmsg(control, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof(*q);
}

static void is_sent(struct egress_relay *r, const struct relay_request *q, struct run_host *h)
{
	struct egress_connection *c = &r->connections[q->id];

	r->first_free = c->next_free;
	*c = (struct egress_connection){ .host = h,
					 .port = q->target.port,
					 .to_address = q->target.kind == HOST_ADDRESS,
					 .since = loop_now() };
	r->n_active++;
}

static enum egress_relay_sent try_send(struct egress_relay *r, const struct relay_request *q,
				       const int *fds, size_t n)
{
	egress_relay_wake(r);
	if (r->control.fd < 0 || q->id == NONE)
		return EGRESS_RELAY_FULL;
	if (send_request(r->control.fd, q, fds, n))
		return EGRESS_RELAY_SENT;
	return errno == EAGAIN ? EGRESS_RELAY_BUSY : EGRESS_RELAY_FULL;
}

enum egress_relay_sent egress_relay_publish(struct egress_relay *r, uint16_t port, int fd,
					    int four, int six)
{
	struct relay_request q = { .id = r->first_free,
				   .proxy = PROXY_USES,
				   .published = 1,
				   .target.port = port };
	const int fds[RELAY_FDS_MAX] = { fd, four, six };
	enum egress_relay_sent sent;

	/* Anybody on the host can connect: there is always room for what the command wants. */
	if (r->n_active - r->n_out >= RELAY_PUBLISHED_MAX)
		return EGRESS_RELAY_BUSY;
	sent = try_send(r, &q, fds, six < 0 ? 2 : 3);
	if (sent == EGRESS_RELAY_SENT)
		is_sent(r, &q, &r->published);
	return sent;
}

enum egress_relay_sent egress_relay_send(struct egress_relay *r, const struct host *target,
					 enum proxy_use proxy, int *fd)
{
	struct relay_request q = { .id = r->first_free, .proxy = proxy, .target = *target };
	struct run_host *h = host_for(r, target);
	enum egress_relay_sent sent =
		r->n_out < r->most_out ? try_send(r, &q, fd, 1) : EGRESS_RELAY_FULL;

	if (sent == EGRESS_RELAY_BUSY)
		return sent;
	h->count++;
	h->proxy |= proxy < PROXY_USES;
	if (sent == EGRESS_RELAY_FULL) {
		h->failure = failures[RELAY_NO_ROOM];
		return sent;
	}
	is_sent(r, &q, h);
	r->n_out++;
	fd_close(fd);
	return sent;
}

/* --- the end ------------------------------------------------------------------------- */

/* It reports on what is still open when it sees the end of the requests. */
static void drain(struct egress_relay *r)
{
	struct pollfd end = { .fd = r->control.fd, .events = POLLIN };
	uint64_t until = loop_now() + END_MS, now = until - END_MS;

	shutdown(r->control.fd, SHUT_WR);
	for (; now < until; now = loop_now())
		if (poll(&end, 1, (int)(until - now)) > 0 && !take_report(r))
			return;
}

void egress_relay_end(struct egress_relay *r, struct run_result *result)
{
	if (r->control.fd >= 0 && r->n_active) {
		loop_unwatch(run_loop(r->run), &r->control);
		drain(r);
	}
	close_control(r);
	fd_close(&r->theirs);
	spawn_discard(&r->process);
	result->relay_lost = r->lost;
	result->relay_error = r->error;
	result->hosts = r->hosts;
	result->n_hosts = r->n_hosts;
	result->more_hosts = r->others.count;
}
