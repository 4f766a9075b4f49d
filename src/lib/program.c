/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which program cordon is started, and with which words.
 *
 * In the build tree it lies beside the shared library, once installed in the same prefix,
 * wherever that was moved to. Around a program into which the library was linked it is not
 * looked for: that may be a directory which a confined command can write to.
 */
#include "lib/lib.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "base/installed.h"
#include "base/path.h"

#define stage "program"
/* More than can be sent, so that what is too long is told from want of memory. */
#define WORDS_MAX ((size_t)64 << 20)

static bool is_shared_library(struct str path)
{
	struct str name = str_skip(path, path_parent(path).n);

	return path.n && path.p[0] == '/' &&
	       (str_starts(name, STR("/libcordon.so")) ||
		(str_starts(name, STR("/libcordon.")) && str_ends(name, STR(".dylib"))));
}

static const char *beside(struct arena *a)
{
	Dl_info self;
	struct str path;
	const char *program;

	if (!dladdr((void *)(uintptr_t)cordon_version, &self))
		return NULL;
	path = str_of(self.dli_fname);
	if (!is_shared_library(path))
		return NULL;
	path = path_parent(path);
	program = arena_printf(a, "%.*s/cordon", STR_ARG(path));
	if (program && access(program, X_OK) == 0)
		return program;
	program = installed_moved(a, path, STR(CORDON_LIBDIR), CORDON_BINDIR "/cordon");
	return program && access(program, X_OK) == 0 ? program : NULL;
}

int lib_program(struct arena *a, const struct cordon_policy *policy, const char **ret,
		struct cordon_error *err)
{
	const char *found = policy ? policy->program : NULL;

	if (!found)
		found = beside(a);
	if (!found)
		found = CORDON_PROGRAM;
	if (access(found, X_OK) < 0) {
		err_set(err, CORDON_E_UNAVAILABLE, 0, stage, "there is no program %s", found);
		return err_hint(err, "make install with the PREFIX it will run in (DESTDIR is for "
				     "packages), or name it with cordon_policy_program; PATH is "
				     "not searched");
	}
	*ret = found;
	return 0;
}

struct buf lib_words(void)
{
	return buf_make(WORDS_MAX);
}

void lib_add_word(struct buf *words, const char *text)
{
	buf_adds(words, text);
	buf_addc(words, '\0');
}

static void add_pair(struct buf *words, const char *flag, const char *value)
{
	if (!value)
		return;
	buf_adds(words, flag);
	lib_add_word(words, value);
}

int lib_begin_words(struct buf *words, const struct cordon_policy *policy, const char *command,
		    const char *workdir, struct cordon_error *err)
{
	int failed = cordon_policy_check(policy, err);

	if (failed)
		return failed;
	lib_add_word(words, command);
	lib_add_word(words, "--json");
	add_pair(words, "--profile=", policy->profile);
	add_pair(words, "--workdir=", workdir ? workdir : policy->workdir);
	add_pair(words, "--data-dir=", policy->data_dir);
	vec_each(word, &policy->words)
		lib_add_word(words, *word);
	return 0;
}
