/* SPDX-License-Identifier: Apache-2.0 */
/* What the beginning of a line, or the neighbours of an error's words, say. */
#include "report/shown.h"

#include <stddef.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_quote(char c)
{
	return c == '"' || c == '\'' || c == '`';
}

static struct str skip_digits(struct str s)
{
	while (s.n && is_digit(s.p[0]))
		s = str_skip(s, 1);
	return s;
}

/* "12:text", as one file's lines come from grep -n. */
static bool is_numbered(struct str s)
{
	struct str rest = skip_digits(s);

	return rest.n > 1 && rest.n < s.n && rest.p[0] == ':' && rest.p[1] != ' ' &&
	       !is_digit(rest.p[1]);
}

/* "   12<tab>text": cat -n, nl. */
static bool is_counted(struct str line)
{
	struct str s = str_trim(line), rest = skip_digits(s);

	return rest.n && rest.n < s.n && rest.p[0] == '\t';
}

/* "src/a.c:text" and "src/a.c:12:text". Compilers and shells put a blank or a column there;
 * Ruby's frames go on with "in". */
static bool is_found(struct str line)
{
	struct str file, rest;

	str_cut(line, ':', &file, &rest);
	if (!rest.n || str_find(file, ' ') < file.n)
		return false;
	if (is_numbered(rest))
		return !str_starts(skip_digits(rest), STR(":in "));
	/* "ERROR:root:..." is a log. */
	return is_letter(rest.p[0]) &&
	       (str_find(file, '.') < file.n || str_find(file, '/') < file.n);
}

/* "-bash: ..." is a login shell; other lines with a dash are of diff and of ls -l. */
static bool is_login_shell(struct str line)
{
	struct str name, rest;

	str_cut(line, ':', &name, &rest);
	return str_ends(name, STR("sh")) && str_starts(rest, STR(" ")) &&
	       str_find(name, ' ') == name.n;
}

static bool is_result(struct str line)
{
	static const struct str starts[] = {
#define INFER_RESULT(words) STR(words),
#include "report/infer.def"
#undef INFER_RESULT
	};

	line = str_trim(line);
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (str_starts(line, starts[i]))
			return true;
	return false;
}

bool shown_line(struct str line)
{
	if (!line.n)
		return false;
	if (line.p[0] == '+' || (line.p[0] == '-' && !is_login_shell(line)))
		return true;
	return is_numbered(line) || is_counted(line) || is_found(line) || is_result(line);
}

bool shown_as_error(struct str before, struct str after)
{
	size_t n = before.n;

	if (n && (is_quote(before.p[n - 1]) || is_letter(before.p[n - 1]) ||
		  is_digit(before.p[n - 1])))
		return false;
	if (n > 1 && before.p[n - 1] == ' ' &&
	    (is_letter(before.p[n - 2]) || is_digit(before.p[n - 2])))
		return false;
	if (after.n && (is_letter(after.p[0]) || is_digit(after.p[0])))
		return false;
	return after.n < 2 || !is_quote(after.p[0]) || (after.p[1] != ')' && after.p[1] != ';');
}
