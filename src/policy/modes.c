/* SPDX-License-Identifier: Apache-2.0 */
/* The modes' faces. Writing is held by the kernel in both confined modes; that reads
 * stay in the workspace is, in sandbox mode, a matter of asking. */
#include "policy/modes.h"

#include "base/buf.h"
#include "base/path.h"

#define WRITES \
	"Files can be created or changed only inside the workspace, in /tmp and in " \
	"~/.claude; writing anywhere else is refused by the operating system. Such a " \
	"refusal is intended: report it, and do not look for a way around it."

static const struct {
	const char *display;
	const char *summary;
	const char *constraint;	/* %s: the workspace; NULL: none */
} modes[] = {
	[MODE_SANDBOX] = {
		"Sandbox", "writes are confined, reads are asked to stay in the workspace",
		"You work in a sandbox. Your workspace is \"%s\". Read only files inside the "
		"workspace unless the user names another file. " WRITES,
	},
	[MODE_RX] = {
		"Read and execute", "everything may be read and executed, writes are confined",
		"You may read any file and execute any program. Your workspace is \"%s\". " WRITES,
	},
	[MODE_RWX] = { "Unconfined", "nothing is confined", NULL },
};

const char *mode_display_name(enum mode mode)
{
	return modes[mode].display;
}

const char *mode_summary(enum mode mode)
{
	return modes[mode].summary;
}

/* A quotation mark in the name would end the quotation. */
static void add_quoted(struct buf *b, struct str text)
{
	struct str part;
	bool more = true;

	while (more) {
		more = str_cut(text, '"', &part, &text);
		buf_add_escaped(b, part);
		if (more)
			buf_adds(b, "\\\"");
	}
}

const char *mode_prompt_constraint(struct arena *a, enum mode mode, struct str workspace)
{
	struct str head, tail;
	autobuf struct buf b = buf_make(8 * (size_t)PATH_BYTES_MAX);

	if (!modes[mode].constraint)
		return "";
	str_cut(str_of(modes[mode].constraint), '%', &head, &tail);
	buf_add(&b, head);
	add_quoted(&b, workspace);
	buf_add(&b, str_skip(tail, 1));
	return b.failed ? NULL : arena_dup(a, buf_str(&b));
}

const char *const *mode_sandboxed_command(struct arena *a, const char *cordon, enum mode mode,
					  const char *data_dir, const char *const *argv)
{
	const char *const front[] = {
		cordon, "run", "--mode", choice_to_string(CHOICES_MODE, mode), "--data-dir",
		data_dir, "--",
	};
	size_t n = 0, given = 0;
	const char **line;

	if (mode == MODE_RWX)
		return argv;
	while (argv[given])
		given++;
	line = arena_array(a, sizeof(front) / sizeof(front[0]) + given + 1, sizeof(*line));
	if (!line)
		return NULL;
	for (size_t i = 0; i < sizeof(front) / sizeof(front[0]); i++)
		if (data_dir || (i != 4 && i != 5))
			line[n++] = front[i];
	for (size_t i = 0; i < given; i++)
		line[n++] = argv[i];
	return line;
}
