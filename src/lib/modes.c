/* SPDX-License-Identifier: Apache-2.0 */
/* Provider modes, and what says nothing about any policy. */
#include "policy/modes.h"

#include <stdlib.h>
#include <string.h>

#include "lib/lib.h"

#define stage "mode"
#define MEMORY_MAX ((size_t)1 << 20)

const char *cordon_version(void)
{
	return CORDON_VERSION;
}

int cordon_abi(void)
{
	return CORDON_ABI;
}

char *lib_copy(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = malloc(size);

	return copy ? memcpy(copy, text, size) : NULL;
}

void cordon_free(void *memory)
{
	free(memory);
}

/* The public ones count from the default; the others from loose to strict. */
static enum mode mode_of(enum cordon_mode mode)
{
	switch (mode) {
	case CORDON_MODE_sandbox:
		break;
	case CORDON_MODE_rx:
		return MODE_RX;
	case CORDON_MODE_rwx:
		return MODE_RWX;
	}
	return MODE_SANDBOX;
}

int cordon_mode_from_string(const char *text, enum cordon_mode *ret, struct cordon_error *err)
{
	for (int mode = CORDON_MODE_sandbox; text && mode <= CORDON_MODE_rwx; mode++)
		if (strcmp(text, choice_to_string(CHOICES_MODE,
						  mode_of((enum cordon_mode)mode))) == 0) {
			*ret = (enum cordon_mode)mode;
			return 0;
		}
	err = LIB_ERR(err);
	return err_set(err, CORDON_E_CONFIG, 0, stage, "there is no such mode");
}

const char *cordon_mode_name(enum cordon_mode mode)
{
	return mode_display_name(mode_of(mode));
}

int cordon_mode_prompt_constraint(enum cordon_mode mode, const char *workspace, char **ret,
				  struct cordon_error *err)
{
	autoarena struct arena a = { .max = MEMORY_MAX };
	const char *text = mode_prompt_constraint(&a, mode_of(mode), str_of(workspace));
	char *copy = text ? lib_copy(text) : NULL;

	if (!copy)
		return err_nomem(LIB_ERR(err), stage);
	*ret = copy;
	return 0;
}

/* Pointers first, then what they point to. */
static char **one_block(const char *const *words)
{
	size_t n = 0, bytes = 0;
	char **block, *at;

	for (; words[n]; n++)
		bytes += strlen(words[n]) + 1;
	block = malloc((n + 1) * sizeof(*block) + bytes);
	if (!block)
		return NULL;
	at = (char *)(block + n + 1);
	for (size_t i = 0; i < n; i++) {
		size_t size = strlen(words[i]) + 1;

		block[i] = memcpy(at, words[i], size);
		at += size;
	}
	block[n] = NULL;
	return block;
}

int cordon_sandboxed_command(const char *program, enum cordon_mode mode, const char *data_dir,
			     char ***ret, struct cordon_error *err)
{
	autoarena struct arena a = { .max = MEMORY_MAX };
	const char *const argv[] = { program, NULL };
	const char *const *words;
	const char *cordon = "cordon";
	char **block;
	int failed = 0;

	err = LIB_ERR(err);
	if (!program || !*program)
		return err_set(err, CORDON_E_USAGE, 0, stage, "no program was named");
	if (mode != CORDON_MODE_rwx)
		failed = lib_program(&a, NULL, &cordon, err);
	if (failed)
		return failed;
	words = mode_sandboxed_command(&a, cordon, mode_of(mode), data_dir, argv);
	block = words ? one_block(words) : NULL;
	if (!block)
		return err_nomem(err, stage);
	*ret = block;
	return 0;
}
