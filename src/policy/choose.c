/* SPDX-License-Identifier: Apache-2.0 */
/* Which profile holds, and the layers of trusted sources that follow from it. */
#include "fmt/located.h"
#include "policy/build_in.h"
#include "policy/profiles.h"

#define EXTENDS_MAX 8

struct names {
	VEC(const char *) items;
};

static int push_layer(struct builder *b, const struct layer *layer)
{
	const struct layer **slot = vec_push(&b->layers, b->arena);

	if (!slot)
		return err_nomem(b->err, "policy");
	*slot = layer;
	return 0;
}

static const struct statement *find_scalar(const struct layer *layer, enum key key)
{
	const struct statement *found = NULL;

	if (layer)
		vec_each(s, &layer->statements)
			if (s->key == key)
				found = s;
	return found;
}

static void add_name(struct builder *b, struct names *names, const char *name)
{
	const char **slot = vec_push(&names->items, b->arena);

	if (slot)
		*slot = name;
}

static const char *nearest_profile(struct builder *b, struct str name)
{
	const struct config *configs[] = { b->in->system, b->in->user };
	struct names names = { 0 };

	for (const struct builtin_file *f = builtin_files; f->name; f++)
		if (profiles_text(str_of(f->name)))
			add_name(b, &names, f->name);
	for (unsigned i = 0; i < 2; i++)
		for (size_t k = 0; configs[i] && k < configs[i]->profiles.n; k++)
			add_name(b, &names, configs[i]->profiles.at[k].name.p);
	return vec_push(&names.items, b->arena) ? str_nearest(name, names.items.at) : NULL;
}

/* A built-in profile is read when it is asked for. */
static int find_profile(struct builder *b, const struct config *config, struct str name,
			const struct profile **ret)
{
	const struct builtin_file *file = profiles_text(name);
	struct config *one;
	int r;

	*ret = config ? config_profile(config, name) : NULL;
	if (*ret || config != b->in->builtin || !file)
		return 0;
	one = arena_new(b->arena, struct config);
	if (!one)
		return err_nomem(b->err, "policy");
	r = profiles_load_one(b->arena, file, one, b->err);
	if (r == 0)
		*ret = config_profile(one, name);
	return r;
}

static int unknown_profile(struct builder *b, struct str name, const struct origin *wanted)
{
	const char *near = nearest_profile(b, name);

	err_set(b->err, CORDON_E_CONFIG, 0, "policy", "there is no profile %s", quote(name).text);
	if (wanted)
		origin_wrap(b->err, wanted);
	if (near)
		return err_hint(b->err, "did you mean %s?", quote(str_of(near)).text);
	return err_hint(b->err, "'cordon profile list' shows what there is");
}

/* The layers of a profile, parents first. The same name in several files is one
 * profile that the later files amend. */
static int collect_profile(struct builder *b, struct str name, const struct origin *wanted,
			   unsigned depth)
{
	const struct config *configs[] = { b->in->builtin, b->in->system, b->in->user };
	bool found = false;
	int r = 0;

	if (depth > EXTENDS_MAX)
		return origin_error(b->err, CORDON_E_CONFIG, "policy", wanted,
				    "profiles extend each other more than %d times (a cycle "
				    "through %s?)",
				    EXTENDS_MAX, quote(name).text);
	for (unsigned i = 0; i < 3 && r == 0; i++) {
		const struct statement *parent;
		const struct profile *p;

		r = find_profile(b, configs[i], name, &p);
		if (r < 0 || !p)
			continue;
		parent = find_scalar(&p->layer, KEY_EXTENDS);
		/* A profile may extend what an earlier file says under its own name. */
		if (parent && !found && str_eq(parent->text, name))
			return origin_error(b->err, CORDON_E_CONFIG, "policy", &parent->origin,
					    "profile %s extends itself", quote(name).text);
		found = true;
		if (parent && !str_eq(parent->text, name))
			r = collect_profile(b, parent->text, &parent->origin, depth + 1);
		if (r == 0)
			r = push_layer(b, &p->layer);
	}
	return r < 0 || found ? r : unknown_profile(b, name, wanted);
}

/* The last word of the trusted sources on a setting that chooses the profile. */
static const struct statement *trusted_scalar(struct builder *b, enum key key)
{
	const struct config *configs[] = { b->in->user, b->in->system, b->in->builtin };
	const struct statement *s = find_scalar(b->in->flags, key);

	for (unsigned i = 0; i < 3 && !s; i++)
		s = configs[i] ? find_scalar(&configs[i]->sandbox, key) : NULL;
	return s;
}

static void set_unconfined(struct builder *b, const char *reason)
{
	b->policy->confined = false;
	b->policy->unconfined_reason = reason;
}

/* --mode, --profile or --settings, then default_profile. The setting "mode" in a file is what a
 * provider is told; it chooses nothing, for writing a default down must not widen. */
static int choose_profile(struct builder *b, struct str *ret, const struct origin **ret_wanted)
{
	const struct statement *mode = find_scalar(b->in->flags, KEY_MODE);
	const struct statement *enabled = trusted_scalar(b, KEY_ENABLED);
	const struct statement *preset = trusted_scalar(b, KEY_DEFAULT_PROFILE);

	*ret_wanted = NULL;
	b->policy->confined = true;
	if (b->in->no_sandbox)
		set_unconfined(b, "--no-sandbox");
	else if (enabled && !enabled->number)
		set_unconfined(b, "enabled = false");
	if (b->in->profile && mode)
		return err_set(b->err, CORDON_E_USAGE, 0, "policy",
			       "--mode and --profile both choose a profile; give one of them");
	if (b->in->settings && (b->in->profile || mode)) {
		err_set(b->err, CORDON_E_USAGE, 0, "policy",
			"--settings brings a whole policy, and %s another; give one of them",
			mode ? "--mode" : "--profile");
		return err_hint(b->err, "flags such as --allow-write go with both");
	}
	if (b->in->settings) {
		*ret = STR(SRT_PROFILE);
		return 0;
	}
	if (mode) {
		if (mode->number == MODE_RWX)
			set_unconfined(b, "mode rwx");
		*ret = STR("agent");
		return 0;
	}
	*ret = b->in->profile ? str_of(b->in->profile) : preset ? preset->text : STR("moderate");
	if (!b->in->profile && preset)
		*ret_wanted = &preset->origin;
	return 0;
}

int build_collect_layers(struct builder *b)
{
	const struct origin *wanted;
	struct str name = { 0 };
	int r = choose_profile(b, &name, &wanted);

	if (r == 0)
		r = push_layer(b, &b->in->builtin->sandbox);
	if (r == 0)
		r = collect_profile(b, name, wanted, 0);
	if (r == 0 && b->in->system)
		r = push_layer(b, &b->in->system->sandbox);
	if (r == 0 && b->in->user)
		r = push_layer(b, &b->in->user->sandbox);
	if (r == 0 && b->in->settings)
		r = push_layer(b, &b->in->settings->layer);
	if (r == 0 && b->in->flags)
		r = push_layer(b, b->in->flags);
	if (r < 0)
		return r;
	b->policy->profile = arena_dup(b->arena, name);
	return b->policy->profile ? 0 : err_nomem(b->err, "policy");
}
