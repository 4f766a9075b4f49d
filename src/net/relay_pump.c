/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moving bytes without looking at them: received into a piece of memory and sent from it.
 * A flow owns a piece only while the receiver is slower than the sender; that is also the
 * back-pressure, for nothing more is taken while something is held.
 *
 * They are copied, not spliced through a pipe, because that is faster. For splice the
 * kernel handles every page by itself, at the price of copying it; pages that are held
 * for long come back cold to those who sent them, and do not add up to the large packets
 * that the network inside takes (backend/linux/egress.c). bench/run has the figures.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "net/relay_in.h"

/* What is moved at once: a large piece stays in a processor's cache, and only flows that
 * fill a small one get it, a few at a time, so that those who do not read hold little. */
#define BYTES ((size_t)32 << 10)
#define LARGE_BYTES ((size_t)256 << 10)
#define LARGE_PIECES 64
#define SPARE_PIECES 8
/* In one go, so that other connections have their turn. */
#define ROUNDS 4

struct relay_piece {
	struct relay_piece *next;
	size_t size;
	char bytes[];
};

static bool is_large(const struct relay_piece *p)
{
	return p->size == LARGE_BYTES;
}

static struct relay_piece *take_piece(struct relay_pieces *pieces, bool large)
{
	struct relay_spare *spare;
	struct relay_piece *p;

	large = large && pieces->n_large < LARGE_PIECES;
	spare = &pieces->spare[large];
	p = spare->first;
	if (p) {
		spare->first = p->next;
		spare->n--;
	} else {
		p = malloc(sizeof(*p) + (large ? LARGE_BYTES : BYTES));
		if (!p)
			return NULL;
		p->size = large ? LARGE_BYTES : BYTES;
	}
	pieces->n_large += large;
	return p;
}

void relay_flow_drop(struct relay_pieces *pieces, struct relay_flow *flow)
{
	struct relay_piece *p = flow->piece;
	struct relay_spare *spare;

	if (!p)
		return;
	flow->piece = NULL;
	flow->held = 0;
	pieces->n_large -= is_large(p);
	spare = &pieces->spare[is_large(p)];
	if (spare->n == SPARE_PIECES) {
		free(p);
		return;
	}
	p->next = spare->first;
	spare->first = p;
	spare->n++;
}

static bool would_wait(ssize_t n)
{
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static bool take_in(struct relay_flow *flow)
{
	size_t most = flow->piece->size < flow->may ? flow->piece->size : (size_t)flow->may;
	ssize_t n = recv(flow->from, flow->piece->bytes, most, MSG_DONTWAIT);

	if (n < 0)
		return would_wait(n);
	if (flow->may != RELAY_ALL)
		flow->may -= (uint64_t)n;
	flow->held = (size_t)n;
	flow->at = 0;
	flow->ended = n == 0;
	flow->bulk = flow->held >= BYTES;
	return true;
}

static bool let_out(struct relay_pieces *pieces, struct relay_flow *flow)
{
	size_t most = flow->held < pieces->left ? flow->held : (size_t)pieces->left;
	ssize_t n;

	pieces->spent |= !most;
	if (pieces->spent)
		return false;
	n = send(flow->to, flow->piece->bytes + flow->at, most, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0)
		return would_wait(n);
	pieces->left -= (uint64_t)n;
	flow->held -= (size_t)n;
	flow->at += (size_t)n;
	flow->bytes += (uint64_t)n;
	return true;
}

/* The half of a connection that has ended is ended on the other side, too. */
static bool finish(struct relay_flow *flow)
{
	flow->over = true;
	return shutdown(flow->to, SHUT_WR) == 0 || errno == ENOTCONN;
}

void relay_flow_begin(struct relay_flow *flow, int from, int to)
{
	static const int yes = 1;

	*flow = (struct relay_flow){ .from = from, .to = to, .may = RELAY_ALL };
	/* An urgent byte goes on as an ordinary one; otherwise it would be left out, here and
	 * where the name is looked at (relay_name.c). */
	setsockopt(from, SOL_SOCKET, SO_OOBINLINE, &yes, sizeof(yes));
}

/* Is there more to be had? Where nothing came, or what did not fill the piece, that was all
 * there was, and the end is told by itself. */
static bool goes_on(const struct relay_flow *flow, uint64_t before)
{
	return !flow->held && !flow->ended && flow->bulk && flow->may && flow->bytes != before;
}

bool relay_flow_run(struct relay_pieces *pieces, struct relay_flow *flow)
{
	bool good = true;
	unsigned i = 0;
	uint64_t before;

	if (flow->over || (!flow->may && !flow->held && !flow->ended))
		return true;
	do {
		before = flow->bytes;
		if (!flow->piece && !(flow->piece = take_piece(pieces, flow->bulk)))
			return false;
		if (!flow->held && !flow->ended && flow->may)
			good = take_in(flow);
		if (good && flow->held)
			good = let_out(pieces, flow);
		if (!flow->held)
			relay_flow_drop(pieces, flow);
	} while (good && goes_on(flow, before) && ++i < ROUNDS);
	if (good && flow->ended && !flow->held)
		good = finish(flow);
	return good;
}
