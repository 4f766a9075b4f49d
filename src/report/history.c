/* SPDX-License-Identifier: Apache-2.0 */
/* Names of histories, and whose they are. */
#include "report/history.h"

#include "base/path.h"

struct history {
	const char *name;    /* how it begins: .lesshsQ, .viminfo.tmp, .bash_history-4711.tmp */
	const char *program; /* how its comm begins: python3.11 */
};

static const struct history histories[] = {
	{ ".bash_history", "bash" },	  { ".zsh_history", "zsh" },
	{ ".python_history", "python" },  { ".lesshs", "less" },
	{ ".viminf", "vi" },		  { ".node_repl_history", "node" },
	{ ".psql_history", "psql" },	  { ".sqlite_history", "sqlite" },
	{ ".mysql_history", "mysql" },	  { "fish_history", "fish" },
};

static const struct history *find(const struct violation *v)
{
	if (v->op != VIOLATION_write || !str_starts(v->object, STR("/")))
		return NULL;
	for (size_t i = 0; i < sizeof(histories) / sizeof(histories[0]); i++)
		if (str_starts(path_last(v->object), str_of(histories[i].name)))
			return &histories[i];
	return NULL;
}

bool history_is(const struct violation *v)
{
	return find(v);
}

bool history_is_own(const struct violation *v)
{
	const struct history *found = find(v);

	return found && str_starts(str_of(v->program), str_of(found->program));
}
