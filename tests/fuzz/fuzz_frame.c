/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the frames between libcordon and its supervisor. What is found lies within the
 * input and its kind's limit, prints to the same bytes, and is found in a longer input as
 * well; words come back as they were.
 */
#include "fmt/frame.h"
#include "fuzz.h"

static void check_words(struct str body)
{
	struct arena a = { .max = (size_t)8 << 20 };
	struct cordon_error err = { 0 };
	autobuf struct buf again = buf_make(body.n + 1);
	char **words;

	if (frame_words(&a, body, &words, &err) == 0) {
		for (; *words; words++)
			buf_add(&again, (struct str){ *words, strlen(*words) + 1 });
		CHECK(str_eq(buf_str(&again), body));
	} else {
		CHECK(err.code == CORDON_E_SYNTAX);
	}
	arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str in = { (const char *)data, size };
	struct cordon_error err = { 0 };
	struct frame frame;
	size_t used, most;
	int found;

	while ((found = frame_find(in, &frame, &used, &err)) > 0) {
		autobuf struct buf again = buf_make(used);

		CHECK(used <= in.n && used == frame.body.n + FRAME_HEADER);
		CHECK(frame_limit(frame.kind, &most) && frame.body.n <= most);
		CHECK(frame.body.p >= in.p && frame.body.p + frame.body.n <= in.p + in.n);
		CHECK(frame_add(&again, frame.kind, frame.body));
		CHECK(str_eq(buf_str(&again), str_take(in, used)));
		check_words(frame.body);
		in = str_skip(in, used);
	}
	CHECK(found == 0 || err.code == CORDON_E_SYNTAX || err.code == CORDON_E_LIMIT);
	check_words((struct str){ (const char *)data, size });
	return 0;
}
