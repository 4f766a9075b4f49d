/* SPDX-License-Identifier: Apache-2.0 */
/* base: buffers, strings, numbers, paths, arenas. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/installed.h"
#include "base/map.h"
#include "base/num.h"
#include "base/path.h"
#include "base/str.h"
#include "base/vec.h"
#include "skip.h"

Test(err, wraps_and_keeps_the_code)
{
	struct cordon_error err = { 0 };
	int r = err_set(&err, CORDON_E_IO, 2, "read", "%s", "/x");

	cr_assert_eq(r, -CORDON_E_IO);
	cr_assert_str_eq(err.message, "/x: No such file or directory");
	cr_assert_eq(err_wrap(&err, "profile %s", "p"), -CORDON_E_IO);
	cr_assert_str_eq(err.message, "profile p: /x: No such file or directory");
	cr_assert_str_eq(cordon_code_to_string(err.code), "io");
	cr_assert_eq(cordon_code_exit_status(CORDON_E_TIMEOUT), 124);
}

Test(buf, failure_is_sticky_and_text_terminated)
{
	struct buf b;

	buf_init(&b, 4);
	buf_adds(&b, "abc");
	cr_assert_not(b.failed);
	buf_adds(&b, "de");
	cr_assert(b.failed);
	buf_adds(&b, "f");
	cr_assert_str_eq(b.p, "abc");
	buf_free(&b);
}

Test(buf, escapes_what_a_terminal_would_obey)
{
	struct buf b;

	buf_init(&b, 1024);
	buf_add_escaped(&b, STR("a\x1b]0;x\x07\n\\\xff\xe2\x80\xae\xc3\xa4"));
	cr_assert_str_eq(b.p, "a\\x1b]0;x\\x07\\n\\\\\\xff\\xe2\\x80\\xae\xc3\xa4");
	buf_free(&b);
}

Test(num, sizes)
{
	static const struct {
		const char *text;
		bool good;
		uint64_t value;
	} rows[] = {
		{ "0", true, 0 },
		{ "512M", true, 512u << 20 },
		{ "1KiB", true, 1024 },
		{ "2gb", true, 2ull << 30 },
		{ "", false, 0 },
		{ "-1", false, 0 },
		{ "1X", false, 0 },
		{ "1 K", false, 0 },
		{ "1Kx", false, 0 },
		{ "18446744073709551615", true, UINT64_MAX },
		{ "16777216T", false, 0 },
		{ "99999999999999999999", false, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t value = 7;

		cr_assert_eq(num_parse_size(str_of(rows[i].text), &value), rows[i].good,
			     "%s", rows[i].text);
		cr_assert_eq(value, rows[i].good ? rows[i].value : 7, "%s", rows[i].text);
	}
}

Test(num, durations_round_trip)
{
	static const char *const good[] = { "1h30m", "10m", "5s", "250ms", "1d1ms", "0s" };
	static const char *const bad[] = { "", "1m1h", "s", "1x", "1.5s", "-1s", "1m1m" };
	uint64_t ms;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct buf b;

		buf_init(&b, 64);
		cr_assert(num_parse_duration(str_of(good[i]), &ms), "%s", good[i]);
		num_print_duration(&b, ms);
		cr_assert_str_eq(b.p, good[i]);
		buf_free(&b);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_assert_not(num_parse_duration(str_of(bad[i]), &ms), "%s", bad[i]);
	cr_assert(num_parse_duration(STR("7"), &ms) && ms == 7000);
}

Test(path, normalises_lexically)
{
	static const char *const rows[][3] = {
		{ "/w", "a/b", "/w/a/b" },
		{ "/w", "../x", "/x" },
		{ "/", "..", "/" },
		{ "/w", "/a//b/./c/", "/a/b/c" },
		{ "/w", ".", "/w" },
		{ "/w/x", "../../../..", "/" },
	};
	struct arena a;

	arena_init(&a, 1 << 16);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *out = path_normalise(&a, str_of(rows[i][0]), str_of(rows[i][1]));

		cr_assert_str_eq(out, rows[i][2]);
		cr_assert(path_is_normal(str_of(out)));
		cr_assert_str_eq(path_normalise(&a, STR("/"), str_of(out)), out);
	}
	cr_assert_null(path_normalise(&a, STR("/w"), STR("")));
	cr_assert_null(path_normalise(&a, STR("/w"), STR("a\0b")));
	arena_free(&a);
}

Test(path, relations)
{
	cr_assert(path_below(STR("/a/b"), STR("/a")));
	cr_assert(path_below(STR("/a"), STR("/a")));
	cr_assert_not(path_below(STR("/ab"), STR("/a")));
	cr_assert(path_below(STR("/x"), STR("/")));
	cr_assert(str_eq(path_parent(STR("/a/b")), STR("/a")));
	cr_assert(str_eq(path_parent(STR("/a")), STR("/")));
	cr_assert(str_eq(path_last(STR("/a/b")), STR("b")));
	cr_assert_eq(path_depth(STR("/")), 0);
	cr_assert_eq(path_depth(STR("/a/b")), 2);
}

Test(installed, a_prefix_may_be_moved)
{
	struct arena a;

	arena_init(&a, 1 << 16);
	cr_assert_str_eq(installed_moved(&a, STR("/p/bin"), STR("bin"), "libexec/cordon"),
			 "/p/libexec/cordon");
	cr_assert_str_eq(installed_moved(&a, STR("/bin"), STR("bin"), "libexec"), "/libexec");
	cr_assert_str_eq(installed_moved(&a, STR("/s/usr/lib/x86"), STR("lib/x86"), "bin/cordon"),
			 "/s/usr/bin/cordon");
	cr_assert_null(installed_moved(&a, STR("/p/sbin"), STR("bin"), "x"));
	cr_assert_null(installed_moved(&a, STR("/p/bin2"), STR("bin"), "x"));
	cr_assert_null(installed_moved(&a, STR("bin"), STR("bin"), "x"));
	cr_assert_null(installed_moved(&a, STR("/s/usr/bin"), STR("/usr/bin"), "x"));
	arena_free(&a);
}

Test(str, utf8_is_strict)
{
	cr_assert(str_is_utf8(STR("\xe2\x82\xac\xf0\x9f\x98\x80")));
	cr_assert_not(str_is_utf8(STR("\xc0\xaf")));
	cr_assert_not(str_is_utf8(STR("\xed\xa0\x80")));
	cr_assert_not(str_is_utf8(STR("\xf4\x90\x80\x80")));
	cr_assert_not(str_is_utf8(STR("\xe2\x82")));
}

Test(str, nearest_word)
{
	static const char *const words[] = { "profile", "protect", "report", NULL };

	cr_assert_str_eq(str_nearest(STR("profle"), words), "profile");
	cr_assert_str_eq(str_nearest(STR("reprot"), words), "report");
	cr_assert_null(str_nearest(STR("zzzzzz"), words));
	cr_assert_str_eq(str_nearest(STR("rpeort"), words), "report");
	cr_assert_null(str_nearest(STR("resets"), words), "half of it is another word");
	cr_assert_null(str_nearest(STR("r"), words));
}

Test(vec, grows_and_respects_the_arena)
{
	struct arena a;
	VEC(int) v = { 0 };
	int sum = 0;

	arena_init(&a, 4096);
	vec_each(item, &v)
		cr_assert_fail("an empty vec has no items");
	for (int i = 0; i < 100; i++)
		*vec_push(&v, &a) = i;
	vec_each(item, &v)
		sum += *item;
	cr_assert_eq(sum, 4950);
	while (vec_push(&v, &a))
		cr_assert_lt(v.n, 2000);
	arena_free(&a);
}

Test(map, keeps_the_last_value_of_a_key)
{
	static char keys[300][8];
	static const int one, two;
	struct map m = { 0 };
	struct arena a;
	size_t n = 0;

	arena_init(&a, 1 << 20);
	cr_assert_null(map_get(&m, STR("x")));
	cr_assert_not(map_put(&m, &a, STR(""), &one));
	for (; n < 300; n++) {
		snprintf(keys[n], sizeof(keys[n]), "k%zu", n);
		cr_assert(map_put(&m, &a, str_of(keys[n]), &one));
	}
	cr_assert(map_put(&m, &a, STR("k7"), &two));
	cr_assert_eq(m.used, 300);
	for (n = 0; n < 300; n++)
		cr_assert_eq(map_get(&m, str_of(keys[n])), n == 7 ? &two : &one, "%zu", n);
	cr_assert_null(map_get(&m, STR("k300")));
	cr_assert_null(map_get(&m, STR("k")));
	cr_assert_null(map_get(&m, STR("")));
	arena_free(&a);
}

Test(map, says_when_memory_is_out)
{
	static char keys[300][8];
	static const int one;
	struct map m = { 0 };
	struct arena a;
	size_t n = 0;

	arena_init(&a, 4096);
	for (; n < 300; n++) {
		snprintf(keys[n], sizeof(keys[n]), "k%zu", n);
		if (!map_put(&m, &a, str_of(keys[n]), &one))
			break;
	}
	cr_assert_lt(n, 300);
	for (size_t i = 0; i < n; i++)
		cr_assert_eq(map_get(&m, str_of(keys[i])), &one, "%zu", i);
	arena_free(&a);
}

/* The end that is written to waits, and stays so: others share it. */
Test(fd, writes_what_fits_now, .timeout = 20)
{
	static char bytes[1 << 20];
	int from, to, there = 0;
	ssize_t n;

	cr_assert_eq(fd_pipe(&from, &to), 0);
	cr_assert(fd_is_pipe(from) && fd_is_pipe(to));
	n = fd_write_now(to, bytes, sizeof(bytes));
	if (n < 0 && errno == ENOTSUP)
		honest_skip("the kernel cannot be asked not to wait");
	cr_assert(n > 0 && (size_t)n < sizeof(bytes));
	cr_assert(ioctl(from, FIONREAD, &there) == 0 && there == n);
	cr_assert(fd_write_now(to, bytes, 1) == -1 && errno == EAGAIN);
	cr_assert_not(fcntl(to, F_GETFL) & O_NONBLOCK);
}
