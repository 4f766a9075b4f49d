/* SPDX-License-Identifier: Apache-2.0 */
/* Printing. The only file of the program that writes to standard output or error. */
#include "cli/out.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/fd.h"
#include "fmt/json.h"

#define LINE_MAX_BYTES ((size_t)64 << 10)

static const struct out_divert *diverted;

void out_divert(const struct out_divert *to)
{
	diverted = to;
}

static void open_standard(void)
{
	static const char cannot[] = "cordon: start: a standard stream is closed and /dev/null "
				     "cannot be opened in its place\n";

	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd) {
			fd_write_all(2, cannot, sizeof(cannot) - 1);
			_exit(STATUS_FAILED);
		}
}

static void go_on(int sig)
{
	(void)sig;
}

/* Caught and not ignored, so that the command gets the default action back. */
static void survive_size_limit(void)
{
	struct sigaction now, caught = { .sa_handler = go_on, .sa_flags = SA_RESTART };

	if (sigaction(SIGXFSZ, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
		sigaction(SIGXFSZ, &caught, NULL);
}

void out_prepare(void)
{
	open_standard();
	survive_size_limit();
}

static bool use_colour(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(2) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

void out_add_message(struct buf *b, struct str text)
{
	struct str part;
	bool more = true;

	while (more) {
		more = str_cut(text, '\\', &part, &text);
		buf_add_escaped(b, part);
		if (more)
			buf_addc(b, '\\');
	}
}

/* While a command has a terminal of its own, the user's does not go back to the first
 * column by itself. */
static const char *line_end(void)
{
	struct termios mode;

	return tcgetattr(2, &mode) == 0 && !(mode.c_oflag & OPOST) ? "\r\n" : "\n";
}

/* A command that opened /dev/stderr again has written where the position that we share
 * with the caller still is. What is there already is not ours to write over. */
static void write_error(const char *text, size_t n)
{
	off_t at = lseek(2, 0, SEEK_CUR);
	struct stat st;

	if (at >= 0 && fstat(2, &st) == 0 && S_ISREG(st.st_mode) && at != st.st_size)
		lseek(2, 0, SEEK_END);
	fd_write_all(2, text, n);
}

/* One line on standard error; what cannot be written there is lost. Without memory for
 * it (or for `text`, then NULL) it is a fixed line: silence would pass for success. */
static bool remark(const char *colour, const char *text)
{
	static const char no_memory[] = "cordon: memory: out of memory\n";
	autobuf struct buf b = buf_make(LINE_MAX_BYTES);
	bool paint = !diverted && use_colour();

	if (diverted) {
		out_add_message(&b, str_of(text ? text : "out of memory"));
		diverted->remark(diverted->data, buf_str(&b));
		return text && !b.failed;
	}
	buf_addf(&b, "%scordon:%s ", paint ? colour : "", paint ? "\033[0m" : "");
	out_add_message(&b, str_of(text ? text : ""));
	buf_adds(&b, line_end());
	if (!text || b.failed) {
		write_error(no_memory, sizeof(no_memory) - 1);
		return false;
	}
	write_error(b.p, b.n);
	return true;
}

/* What helps is the same wherever it was met. */
static const char *hint_of(const struct cordon_error *err)
{
	if (!*err->hint && err->sys_errno == EMFILE)
		return "raise the limit of open files (ulimit -n)";
	return err->hint;
}

int out_error_text(const struct cordon_error *err)
{
	autobuf struct buf b = buf_make(LINE_MAX_BYTES);
	const char *hint = hint_of(err);

	buf_addf(&b, "%s: %s", err->stage, err->message);
	remark("\033[1;31m", b.failed ? NULL : b.p);
	if (*hint && diverted) {
		diverted->remark(diverted->data, str_of(hint));
	} else if (*hint) {
		buf_clear(&b);
		buf_adds(&b, "  hint: ");
		out_add_message(&b, str_of(hint));
		buf_addc(&b, '\n');
		write_error(b.p, b.n);
	}
	return cordon_code_exit_status(err->code);
}

json_t *out_error_to_json(const struct cordon_error *err)
{
	json_t *e = json_pack("{s:s, s:s, s:s}", "code", cordon_code_to_string(err->code), "kind",
			      cordon_kind_to_string(cordon_code_kind(err->code)), "stage",
			      err->stage);

	if (e && json_set_text(e, "message", str_of(err->message)) &&
	    json_set_text(e, "hint", str_of(hint_of(err))))
		return e;
	json_decref(e);
	return NULL;
}

int out_error(const struct opts *o, const struct cordon_error *err)
{
	json_t *e;
	int status;

	if (!opts_given(o, OPTION_JSON))
		return out_error_text(err);
	e = out_error_to_json(err);
	status = out_json(o, e ? json_pack("{s:o}", "error", e) : NULL);
	return status ? status : cordon_code_exit_status(err->code);
}

int out_text(const struct opts *o, const struct buf *text)
{
	struct cordon_error err;
	int r;

	(void)o;
	if (text->failed) {
		err_nomem(&err, "output");
		return out_error_text(&err);
	}
	r = diverted ? diverted->answer(diverted->data, buf_str(text))
		     : fd_write_all(1, text->p, text->n);
	if (r == 0)
		return 0;
	err_set(&err, CORDON_E_IO, -r, "output", "standard output");
	return out_error_text(&err);
}

int out_json(const struct opts *o, json_t *value)
{
	autobuf struct buf b = buf_make(OUT_BYTES_MAX);

	if (!value)
		b.failed = true;
	else if (!diverted && isatty(1))
		json_print_ascii(&b, value);
	else
		json_print(&b, value, true);
	json_decref(value);
	return out_text(o, &b);
}

__attribute__((format(printf, 2, 0))) static bool remark_va(const char *colour, const char *fmt,
							    va_list ap)
{
	char *text;
	bool said;

	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	said = remark(colour, text);
	free(text);
	return said;
}

bool out_note(const struct opts *o, const char *fmt, ...)
{
	va_list ap;
	bool said;

	if (opts_given(o, OPTION_QUIET))
		return true;
	va_start(ap, fmt);
	said = remark_va("\033[1;33m", fmt, ap);
	va_end(ap);
	return said;
}

bool out_loud(const char *fmt, ...)
{
	va_list ap;
	bool said;

	va_start(ap, fmt);
	said = remark_va("\033[1;31m", fmt, ap);
	va_end(ap);
	return said;
}

static bool is_plain_word(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      strchr("/._=:,@%+-", c)))
			return false;
	}
	return s.n > 0;
}

/* Of what is escaped for a terminal, a backslash alone is harmless. */
static bool is_shown_plain(struct str text, struct str escaped)
{
	size_t backslashes = 0;

	for (size_t i = 0; i < text.n; i++)
		backslashes += text.p[i] == '\\';
	return escaped.n == text.n + backslashes;
}

/* In the quotes of bash, zsh and ksh, which can spell any byte. */
static void quote_escaped(struct buf *b, struct str escaped)
{
	buf_adds(b, "$'");
	for (size_t i = 0; i < escaped.n; i++) {
		if (escaped.p[i] == '\'')
			buf_addc(b, '\\');
		buf_addc(b, escaped.p[i]);
	}
	buf_addc(b, '\'');
}

void out_shell_quote(struct buf *b, struct str text)
{
	autobuf struct buf escaped = buf_make(4 * text.n + 1);
	struct str part;
	bool more = true;

	if (is_plain_word(text)) {
		buf_add(b, text);
		return;
	}
	buf_add_escaped(&escaped, text);
	if (!is_shown_plain(text, buf_str(&escaped))) {
		quote_escaped(b, buf_str(&escaped));
		return;
	}
	buf_addc(b, '\'');
	while (more) {
		more = str_cut(text, '\'', &part, &text);
		buf_add(b, part);
		if (more)
			buf_adds(b, "'\\''");
	}
	buf_addc(b, '\'');
}
