/* SPDX-License-Identifier: Apache-2.0 */
/* A result as the JSON object of docs/result.schema.json. */
#include "fmt/json.h"
#include "run/execute.h"

static int add_names(json_t *root, const struct plan *plan)
{
	json_t *enforced = json_array(), *degraded = json_array();
	int bad = json_object_set_new(root, "enforced", enforced) |
		  json_object_set_new(root, "degraded", degraded);

	for (unsigned g = 0; plan && !bad && g < GUARANTEE_COUNT; g++)
		if (plan->enforced[g])
			bad |= json_array_append_new(enforced, json_string(guarantee_rows[g].name));
	for (size_t i = 0; plan && !bad && i < plan->degraded.n; i++)
		bad |= json_array_append_new(
			degraded, json_string(guarantee_rows[plan->degraded.at[i].guarantee].name));
	return bad;
}

static json_t *hosts_to_json(const struct run_result *result)
{
	json_t *list = json_array();
	int bad = !list;

	for (size_t i = 0; !bad && i < result->n_hosts; i++) {
		const struct run_host *h = &result->hosts[i];
		json_t *o = json_pack("{s:s, s:i, s:b, s:b, s:I, s:I, s:I, s:I, s:s*}", "host",
				      h->host, "port", h->port, "allowed", true, "proxy", h->proxy,
				      "count", (json_int_t)h->count, "sent", (json_int_t)h->sent,
				      "received", (json_int_t)h->received, "duration_ms",
				      (json_int_t)h->duration_ms, "failure", h->failure);

		bad |= json_array_append_new(list, o);
	}
	if (!bad)
		return list;
	json_decref(list);
	return NULL;
}

static int add_report(json_t *root, const struct run_result *result,
		      const struct execute_report *report)
{
	uint64_t dropped = violations_dropped(report->violations);
	int bad = json_object_set_new(root, "violations",
				      violations_to_json(report->violations, report->advisor));

	if (dropped)
		bad |= json_object_set_new(root, "violations_dropped",
					   json_integer((json_int_t)dropped));
	return bad | json_object_set_new(root, "hosts", hosts_to_json(result)) |
	       json_object_set_new(root, "changes", changes_to_json(report->changes));
}

static bool is_lost(const struct plan *plan, enum guarantee guarantee)
{
	vec_each(loss, &plan->degraded)
		if (loss->guarantee == guarantee)
			return true;
	return false;
}

/* Which strength was used, which is not always the one that was asked for. */
static const char *strength(const struct plan *plan)
{
	uint64_t protect = policy_number(plan->policy, KEY_PROTECT);

	if (!execute_confines(plan))
		protect = PROTECT_OFF;
	if (protect == PROTECT_EXACT && !plan->enforced[GUARANTEE_EXACT])
		protect = PROTECT_GUARD;
	if (protect == PROTECT_GUARD && is_lost(plan, GUARANTEE_GUARD))
		protect = PROTECT_OFF;
	return choice_to_string(CHOICES_PROTECT, (unsigned)protect);
}

json_t *execute_to_json(const struct run_result *result, const struct plan *plan,
			const struct execute_report *report)
{
	const struct policy *policy = plan ? plan->policy : NULL;
	json_t *root = json_object();
	struct cordon_error ignored;
	int bad = !root || run_result_to_json(result, root, &ignored) < 0;

	if (!bad && plan) {
		bad |= json_object_set_new(root, "backend", json_string(plan->backend));
		bad |= json_object_set_new(root, "profile", json_string(policy->profile));
		bad |= json_object_set_new(root, "confined", json_boolean(execute_confines(plan)));
		bad |= json_object_set_new(root, "protect", json_string(strength(plan)));
	}
	if (!bad)
		bad |= add_names(root, plan);
	if (!bad)
		bad |= add_report(root, result, report);
	if (!bad)
		return root;
	json_decref(root);
	return NULL;
}
