/* SPDX-License-Identifier: Apache-2.0 */
/* Variables in, messages out and in. */
#include "net/proxy.h"

#include <string.h>
#include <strings.h>

#include "policy/environ.h"

#define STAGE "proxy"
#define DEFAULT_PORT 80

/* --- one proxy ---------------------------------------------------------------------- */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One character, which may be written as %XX; -1: it is none that can be sent. */
static int take_character(struct str *text)
{
	int high, low, c = (unsigned char)text->p[0];

	if (c == '%') {
		high = text->n > 2 ? hex_digit(text->p[1]) : -1;
		low = text->n > 2 ? hex_digit(text->p[2]) : -1;
		if (high < 0 || low < 0)
			return -1;
		c = high << 4 | low;
		*text = str_skip(*text, 2);
	}
	*text = str_skip(*text, 1);
	return c < ' ' || c == 0x7f ? -1 : c;
}

/* The name and the password, the colon between them. */
static bool read_credentials(struct str text, uint8_t *ret, size_t *ret_n)
{
	bool colon = false;
	size_t n = 0;

	while (text.n) {
		int c = take_character(&text);

		if (c < 0 || n == PROXY_CREDENTIALS_MAX - 1)
			return false;
		colon |= c == ':';
		ret[n++] = (uint8_t)c;
	}
	if (!colon)
		ret[n++] = ':';
	*ret_n = n;
	return true;
}

static void write_base64(const uint8_t *bytes, size_t n, char *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		uint32_t three = (uint32_t)bytes[i] << 16 |
				 (i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0) |
				 (i + 2 < n ? bytes[i + 2] : 0);

		*out++ = digits[three >> 18];
		*out++ = digits[three >> 12 & 63];
		*out++ = i + 1 < n ? digits[three >> 6 & 63] : '=';
		*out++ = i + 2 < n ? digits[three & 63] : '=';
	}
	*out = '\0';
}

/* Also where nobody reads it again, as the compiler sees. */
static void wipe(void *p, size_t n)
{
	memset(p, 0, n);
	__asm__ volatile("" : : "r"(p) : "memory");
}

static int set_authorization(struct str userinfo, struct proxy *p, struct cordon_error *err)
{
	uint8_t bytes[PROXY_CREDENTIALS_MAX];
	size_t n;

	if (!userinfo.n)
		return 0;
	if (!read_credentials(userinfo, bytes, &n))
		return err_set(err, CORDON_E_CONFIG, 0, STAGE,
			       "its name and password are too long, or not well written");
	write_base64(bytes, n, p->authorization);
	wipe(bytes, sizeof(bytes));
	return 0;
}

/* False: there is a scheme, and it is another. */
static bool skip_scheme(struct str *url)
{
	const char *sign = memmem(url->p, url->n, "://", 3);

	if (!sign)
		return true;
	if (sign - url->p != 4 || strncasecmp(url->p, "http", 4) != 0)
		return false;
	*url = str_skip(*url, 7);
	return true;
}

static size_t authority_length(struct str text)
{
	size_t n = 0;

	while (n < text.n && !memchr("/?#", text.p[n], 3))
		n++;
	return n;
}

int proxy_parse(struct str url, struct proxy *ret, struct cordon_error *err)
{
	struct proxy p = { 0 };
	struct str host, user = { 0 };
	struct cordon_error ignored;
	size_t at;
	int r;

	if (!skip_scheme(&url))
		return err_set(err, CORDON_E_UNAVAILABLE, 0, STAGE,
			       "only a proxy of the kind http:// can be used");
	host = str_take(url, authority_length(url));
	/* An unescaped @ may be part of the password. */
	for (at = host.n; at > 0 && host.p[at - 1] != '@'; at--)
		;
	if (at) {
		user = str_take(host, at - 1);
		host = str_skip(host, at);
	}
	/* Its own words would show what stands there, which can be half a password. */
	if (host_parse_target(host, &p.at, &ignored) < 0) {
		err_set(err, CORDON_E_UNAVAILABLE, 0, STAGE,
			"its host or port is not well written");
		return err_hint(err, "in a password, write / ? # @ as %%2F %%3F %%23 %%40");
	}
	r = set_authorization(user, &p, err);
	if (r < 0)
		return r;
	if (!p.at.port)
		p.at.port = DEFAULT_PORT;
	*ret = p;
	return 0;
}

/* --- the variables ------------------------------------------------------------------ */

/* In small letters, then in capitals; an empty one is as good as none. */
static const char *find(const char *const *env, const char *const names[2], const char **ret_name)
{
	for (unsigned i = 0; i < 2; i++) {
		const char *value = environ_get(env, names[i]);

		if (value && *value) {
			*ret_name = names[i];
			return value;
		}
	}
	return NULL;
}

static int unusable(const char *name, struct cordon_error *err)
{
	err_wrap(err, "the proxy of %s cannot be used", name);
	return err_hint(err, "give an http:// proxy there, or run without it: env -u %s cordon ...",
			name);
}

static int read_one(const char *const *env, enum proxy_use use, struct proxies *ret,
		    struct cordon_error *err)
{
	static const char *const names[PROXY_USES][2] = {
		[PROXY_FOR_WEB] = { "http_proxy", "HTTP_PROXY" },
		[PROXY_FOR_OTHERS] = { "https_proxy", "HTTPS_PROXY" },
	};
	static const char *const all[2] = { "all_proxy", "ALL_PROXY" };
	const char *name, *value = find(env, names[use], &name);

	if (!value)
		value = find(env, all, &name);
	ret->has[use] = value;
	if (!value || proxy_parse(str_of(value), &ret->at[use], err) == 0)
		return 0;
	return unusable(name, err);
}

int proxies_read(const char *const *env, struct proxies *ret, struct cordon_error *err)
{
	static const char *const without[2] = { "no_proxy", "NO_PROXY" };
	const char *ignored, *list = find(env, without, &ignored);
	int r = 0;

	memset(ret, 0, sizeof(*ret));
	ret->without = list ? str_of(list) : STR("");
	if (str_eq(ret->without, STR("*")))
		return 0;
	for (enum proxy_use use = 0; r == 0 && use < PROXY_USES; use++)
		r = read_one(env, use, ret, err);
	return r;
}

/* A name in the list means what is below it, too. */
static bool word_covers(struct str word, const struct host *target)
{
	struct cordon_error ignored;
	struct host pattern;

	if (str_eq(word, STR("*")))
		return true;
	if (str_starts(word, STR("*.")))
		word = str_skip(word, 1);
	if (str_starts(word, STR(".")))
		word = str_skip(word, 1);
	if (host_parse(word, &pattern, &ignored) < 0)
		return false;
	if (host_covers(&pattern, target))
		return true;
	if (pattern.kind != HOST_NAME)
		return false;
	pattern.kind = HOST_SUFFIX;
	return host_covers(&pattern, target);
}

bool proxy_is_without(struct str list, const struct host *target)
{
	while (list.n) {
		size_t n = 0;

		while (n < list.n && !memchr(", \t", list.p[n], 3))
			n++;
		if (n && word_covers(str_take(list, n), target))
			return true;
		list = str_skip(list, n < list.n ? n + 1 : n);
	}
	return false;
}

enum proxy_use proxies_for(const struct proxies *proxies, const struct host *target)
{
	enum proxy_use use = target->port == 80 ? PROXY_FOR_WEB : PROXY_FOR_OTHERS;

	if (!proxies->has[use] || host_is_local(target) ||
	    proxy_is_without(proxies->without, target))
		return PROXY_USES;
	return use;
}

/* --- the messages ------------------------------------------------------------------- */

void proxy_write_request(struct buf *b, const struct host *target, const struct proxy *proxy)
{
	buf_adds(b, "CONNECT ");
	host_print(b, target);
	buf_adds(b, " HTTP/1.1\r\nHost: ");
	host_print(b, target);
	buf_adds(b, "\r\n");
	if (*proxy->authorization)
		buf_addf(b, "Proxy-Authorization: Basic %s\r\n", proxy->authorization);
	buf_adds(b, "\r\n");
}

/* "HTTP/1.x NNN": 12 characters, and one that ends the number. */
static enum proxy_answer read_status(const uint8_t *bytes, size_t n, unsigned *ret)
{
	static const char shape[] = "HTTP/1.# ###";
	unsigned status = 0;

	for (size_t i = 0; i < sizeof(shape) - 1; i++) {
		if (i == n)
			return PROXY_ANSWER_MORE;
		if (shape[i] != '#' ? bytes[i] != shape[i] : bytes[i] < '0' || bytes[i] > '9')
			return PROXY_ANSWER_BAD;
		if (i > 8)
			status = status * 10 + bytes[i] - '0';
	}
	if (n == sizeof(shape) - 1)
		return PROXY_ANSWER_MORE;
	*ret = status;
	return memchr(" \r\n", bytes[sizeof(shape) - 1], 3) ? PROXY_ANSWER_READ : PROXY_ANSWER_BAD;
}

/* Where the empty line ends; 0: it has not come. */
static size_t head_length(const uint8_t *bytes, size_t n)
{
	bool empty = false;

	for (size_t i = 0; i < n; i++) {
		if (bytes[i] == '\n' && empty)
			return i + 1;
		empty = bytes[i] == '\n' || (bytes[i] == '\r' && empty);
	}
	return 0;
}

enum proxy_answer proxy_read_answer(const uint8_t *bytes, size_t n, unsigned *ret_status,
				    size_t *ret_length)
{
	unsigned status = 0;
	enum proxy_answer answer = read_status(bytes, n, &status);
	size_t length;

	if (answer != PROXY_ANSWER_READ)
		return answer;
	length = head_length(bytes, n < PROXY_ANSWER_MAX ? n : PROXY_ANSWER_MAX);
	if (!length)
		return n < PROXY_ANSWER_MAX ? PROXY_ANSWER_MORE : PROXY_ANSWER_BAD;
	*ret_status = status;
	*ret_length = length;
	return PROXY_ANSWER_READ;
}
