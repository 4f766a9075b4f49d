/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moving bytes without looking at them: from a socket into a pipe and from there into the
 * other socket, so that the kernel hands over pages. A flow owns a pipe only while the
 * receiver is slower than the sender; that is also the back-pressure, for nothing more is
 * taken while something is held.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/relay_in.h"

/* What is moved at once. A pipe has a place for each page, and one place takes a run of
 * pages: more fits than its size says. A few pipes are large, which makes long transfers
 * a fifth faster; all of them would use up what a user may have in pipes, and hold much
 * memory for those who do not read. */
#define LARGE_PIPES 8
#define LARGE_PIPE_BYTES (1 << 20)
#define LARGE_BYTES ((size_t)4 << 20)
#define BYTES ((size_t)256 << 10)
/* In one go, so that other connections have their turn. */
#define ROUNDS 4

struct relay_pipe {
	int read, write;
	bool large;
	struct relay_pipe *next;
};

static struct relay_pipe *take_pipe(struct relay_pipes *pipes)
{
	struct relay_pipe *p = pipes->spare;
	int ends[2];

	if (p) {
		pipes->spare = p->next;
		return p;
	}
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return NULL;
	p = malloc(sizeof(*p));
	if (!p) {
		close(ends[0]);
		close(ends[1]);
		return NULL;
	}
	*p = (struct relay_pipe){ .read = ends[0], .write = ends[1] };
	/* Smaller is slower and works as well. */
	p->large = pipes->n_large < LARGE_PIPES &&
		   fcntl(ends[0], F_SETPIPE_SZ, LARGE_PIPE_BYTES) >= 0;
	pipes->n_large += p->large;
	return p;
}

static void give_back(struct relay_pipes *pipes, struct relay_flow *flow)
{
	flow->pipe->next = pipes->spare;
	pipes->spare = flow->pipe;
	flow->pipe = NULL;
}

/* One with something in it must not serve another connection. */
void relay_flow_drop(struct relay_pipes *pipes, struct relay_flow *flow)
{
	if (!flow->pipe)
		return;
	if (!flow->held) {
		give_back(pipes, flow);
		return;
	}
	close(flow->pipe->read);
	close(flow->pipe->write);
	pipes->n_large -= flow->pipe->large;
	free(flow->pipe);
	flow->pipe = NULL;
	flow->held = 0;
}

static bool would_wait(ssize_t n)
{
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

/* splice stops in front of an urgent byte for good, as if there were nothing more; it goes
 * on as an ordinary one. Where there is none, this finds the end, nothing, or what has
 * come meanwhile. */
static bool take_one(struct relay_flow *flow)
{
	static const int yes = 1;
	char byte;
	ssize_t n;

	setsockopt(flow->from, SOL_SOCKET, SO_OOBINLINE, &yes, sizeof(yes));
	n = recv(flow->from, &byte, 1, MSG_DONTWAIT);
	if (n < 0)
		return would_wait(n);
	if (n > 0 && write(flow->pipe->write, &byte, 1) != 1)
		return false;
	flow->held = (size_t)n;
	flow->ended = n == 0;
	return true;
}

static bool take_in(struct relay_flow *flow)
{
	size_t most = flow->pipe->large ? LARGE_BYTES : BYTES;
	ssize_t n = splice(flow->from, NULL, flow->pipe->write, NULL, most,
			   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);

	if (n <= 0)
		return (n == 0 || would_wait(n)) && take_one(flow);
	flow->held = (size_t)n;
	return true;
}

static bool let_out(struct relay_pipes *pipes, struct relay_flow *flow)
{
	size_t most = flow->held < pipes->left ? flow->held : (size_t)pipes->left;
	ssize_t n;

	pipes->spent |= !most;
	if (pipes->spent)
		return false;
	n = splice(flow->pipe->read, NULL, flow->to, NULL, most,
		   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	if (n < 0)
		return would_wait(n);
	pipes->left -= (uint64_t)n;
	flow->held -= (size_t)n;
	flow->bytes += (uint64_t)n;
	return true;
}

/* The half of a connection that has ended is ended on the other side, too. */
static bool finish(struct relay_flow *flow)
{
	flow->over = true;
	return shutdown(flow->to, SHUT_WR) == 0 || errno == ENOTCONN;
}

bool relay_flow_run(struct relay_pipes *pipes, struct relay_flow *flow)
{
	bool good = true;

	for (unsigned i = 0; good && i < ROUNDS && !flow->over; i++) {
		if (!flow->pipe && !(flow->pipe = take_pipe(pipes)))
			return false;
		if (!flow->held && !flow->ended)
			good = take_in(flow);
		if (good && !flow->held)
			break;
		if (good)
			good = let_out(pipes, flow);
		if (flow->held)
			break;
	}
	if (good && flow->ended && !flow->held && !flow->over)
		good = finish(flow);
	if (flow->pipe && !flow->held)
		give_back(pipes, flow);
	return good;
}
