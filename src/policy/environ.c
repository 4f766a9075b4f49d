/* SPDX-License-Identifier: Apache-2.0 */
/* The environment filter. */
#include "policy/environ.h"

#include <stdlib.h>
#include <string.h>

#include "fmt/glob.h"

/* Names that carry credentials, or lead to an agent, a bus or a session. */
static const char *const secret_words[] = {
	"TOKEN",      "SECRET",	   "PASSWORD", "PASSWD",     "PASSPHRASE",
	"CREDENTIAL", "APIKEY",	   "API_KEY",  "ACCESS_KEY", "PRIVATE_KEY",
	"COOKIE",     "ACCESSKEY", "BEARER",   "WEBHOOK",    NULL,
};
static const char *const secret_starts[] = {
	"AWS_",	   "AZURE_",	       "GOOGLE_", "GCLOUD_",	"CLOUDSDK_",
	"GH_",	   "GITHUB_",	       "GITLAB_", "DOCKER_",	"SSH_",
	"DBUS_",   "PGPASS",	       "VAULT_",  "OP_SESSION", "SUDO_",
	"CORDON_", "NPM_CONFIG__AUTH", NULL,
};
static const char *const secret_ends[] = {
	"_KEY",		"_PAT",	  "_AUTH", "_DSN", "_CONNECTION_STRING",
	"DATABASE_URL", "_PWD",	  "_PASS", "_PW",  "_SK",
	"_JWT",		"_CREDS", NULL,
};
static const char *const secret_names[] = {
	"KUBECONFIG",	"GPG_AGENT_INFO",  "GNUPGHOME",	 "XAUTHORITY",
	"ICEAUTHORITY", "SESSION_MANAGER", "KRB5CCNAME", "NETRC",
	"SSHPASS",	"CREDS",	   "JWT",	 NULL,
};

const char *environ_get(const char *const *env, const char *name)
{
	size_t n = strlen(name);

	for (; env && *env; env++)
		if (!strncmp(*env, name, n) && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

static char to_upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* Is `word`, which is in capitals, at this place of the name? Programs read their
 * variables in either case: http_proxy, npm_config_*. */
static bool is_at(struct str name, size_t at, struct str word)
{
	if (at > name.n || name.n - at < word.n)
		return false;
	for (size_t i = 0; i < word.n; i++)
		if (to_upper(name.p[at + i]) != word.p[i])
			return false;
	return true;
}

static bool contains(struct str name, struct str word)
{
	for (size_t at = 0; at + word.n <= name.n; at++)
		if (is_at(name, at, word))
			return true;
	return false;
}

static bool starts(struct str name, struct str word)
{
	return is_at(name, 0, word);
}

static bool ends(struct str name, struct str word)
{
	return name.n >= word.n && is_at(name, name.n - word.n, word);
}

static bool equals(struct str name, struct str word)
{
	return name.n == word.n && is_at(name, 0, word);
}

static bool any(bool (*test)(struct str, struct str), struct str name, const char *const *list)
{
	for (; *list; list++)
		if (test(name, str_of(*list)))
			return true;
	return false;
}

bool environ_is_secret(struct str name)
{
	/* These hold paths that every program needs. */
	if (str_eq(name, STR("PWD")) || str_eq(name, STR("OLDPWD")))
		return false;
	return any(contains, name, secret_words) || any(starts, name, secret_starts) ||
	       any(ends, name, secret_ends) || any(equals, name, secret_names);
}

/* The host part of a URL with what stands before it: up to the path, or to where the URL
 * ends in a longer text. */
static struct str authority(struct str text)
{
	size_t n = 0;

	while (n < text.n && (unsigned char)text.p[n] > ' ' && !strchr("/?#\"'", text.p[n]))
		n++;
	return str_take(text, n);
}

/* NAME:PASSWORD@HOST..., what comes after the scheme. */
static bool has_password(struct str text)
{
	struct str host = authority(text), user, password;

	/* An unescaped @ may be part of the password. */
	while (host.n && host.p[host.n - 1] != '@')
		host.n--;
	str_cut(str_take(host, host.n ? host.n - 1 : 0), ':', &user, &password);
	return password.n;
}

static bool has_url_with_password(struct str value)
{
	const char *sign;

	while (value.n && (sign = memmem(value.p, value.n, "://", 3))) {
		value = str_skip(value, (size_t)(sign - value.p) + 3);
		if (has_password(value))
			return true;
	}
	return false;
}

/* A property of Java's, as in JAVA_TOOL_OPTIONS: -Dhttp.proxyPassword=... */
static bool has_property_with_password(struct str value)
{
	const char *sign;

	while (value.n && (sign = memmem(value.p, value.n, "-D", 2))) {
		struct str word, name, set;
		size_t n = 0;

		value = str_skip(value, (size_t)(sign - value.p) + 2);
		while (n < value.n && (unsigned char)value.p[n] > ' ')
			n++;
		word = str_take(value, n);
		str_cut(word, '=', &name, &set);
		if (set.n && contains(name, STR("PASSWORD")))
			return true;
	}
	return false;
}

/* In the variables that name a proxy a URL may come without its scheme. */
bool environ_has_credentials(struct str name, struct str value)
{
	return has_url_with_password(value) || has_property_with_password(value) ||
	       (ends(name, STR("_PROXY")) && has_password(value));
}

/* The last matching statement of a list, or NULL. */
static const struct statement *last_match(const struct item_list *list, struct str name)
{
	const struct statement *found = NULL;

	vec_each(s, &list->items)
		if (!glob_component_fault(s->text) && glob_component_match(s->text, name))
			found = s;
	return found;
}

/* env.set with a bare name hands on; with a value it sets. */
static const struct statement *last_set(const struct item_list *list, struct str name)
{
	const struct statement *found = NULL;
	struct str key, value;

	vec_each(s, &list->items) {
		str_cut(s->text, '=', &key, &value);
		if (str_eq(key, name))
			found = s;
	}
	return found;
}

static bool handed_on(const struct policy *policy, struct str name, struct str value)
{
	const struct item_list *lists = policy->effective_lists;
	const struct statement *pass = last_match(&lists[KEY_ENV_PASS], name);
	const struct statement *set = last_set(&lists[KEY_ENV_SET], name);
	const struct statement *unset = last_match(&lists[KEY_ENV_UNSET], name);

	if (!pass || (set && set->origin.source > pass->origin.source))
		pass = set;
	if (unset && unset->origin.source == SOURCE_PROJECT)
		return false;
	if (pass && unset)
		return pass->origin.source > unset->origin.source;
	if (pass || unset)
		return pass;
	if (policy->confined && policy_net_mode(policy) != NET_ON && ends(name, STR("_PROXY")))
		return false;
	return !environ_is_secret(name) && !environ_has_credentials(name, value);
}

static bool valid_name(struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] <= ' ' || name.p[i] == 0x7f)
			return false;
	return name.n > 0;
}

static int keep(struct arena *a, struct variables *v, struct str name, struct str value,
		const struct origin *origin, struct cordon_error *err)
{
	size_t order = v->items.n;
	struct variable *slot = vec_push(&v->items, a);

	if (!slot)
		return err_nomem(err, "environment");
	*slot = (struct variable){ name, value, origin, order };
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct variable *x = a, *y = b;
	int c = str_cmp(x->name, y->name);

	return c ? c : x->order < y->order ? -1 : 1;
}

/* Sorted, and of each name only the last. */
static void sort_and_unite(struct variables *v)
{
	size_t kept = 0;

	if (v->items.n)
		qsort(v->items.at, v->items.n, sizeof(v->items.at[0]), by_name);
	for (size_t i = 0; i < v->items.n; i++) {
		if (kept && str_eq(v->items.at[kept - 1].name, v->items.at[i].name))
			kept--;
		v->items.at[kept++] = v->items.at[i];
	}
	v->items.n = kept;
}

static int add_set_ones(struct arena *a, const struct policy *policy, struct variables *v,
			struct cordon_error *err)
{
	vec_each(s, &policy->effective_lists[KEY_ENV_SET].items) {
		struct str name, value;
		int r = 0;

		if (str_cut(s->text, '=', &name, &value) && handed_on(policy, name, value))
			r = keep(a, v, name, value, &s->origin, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int environ_filter(struct arena *a, const struct policy *policy, const char *const *environ,
		   struct variables *ret, struct cordon_error *err)
{
	struct variables v = { 0 };
	int r;

	for (; environ && *environ; environ++) {
		struct str name, value, *dropped;

		if (!str_cut(str_of(*environ), '=', &name, &value) || !valid_name(name))
			continue;
		if (handed_on(policy, name, value)) {
			r = keep(a, &v, name, value, NULL, err);
			if (r < 0)
				return r;
			continue;
		}
		dropped = vec_push(&v.dropped, a);
		if (!dropped)
			return err_nomem(err, "environment");
		*dropped = name;
	}
	r = add_set_ones(a, policy, &v, err);
	if (r < 0)
		return r;
	sort_and_unite(&v);
	*ret = v;
	return 0;
}
