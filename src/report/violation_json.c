/* SPDX-License-Identifier: Apache-2.0 */
/* Violations as JSON. */
#include "report/violation.h"

#include <stdio.h>
#include <time.h>

#include "fmt/json.h"

#define TIME_BYTES 40

/* RFC 3339 in UTC, with milliseconds. */
static void print_time(char *ret, uint64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	char whole[TIME_BYTES / 2];
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || !strftime(whole, sizeof(whole), "%Y-%m-%dT%H:%M:%S", &tm))
		whole[0] = '\0';
	snprintf(ret, TIME_BYTES, "%s.%03uZ", whole, (unsigned)(ms % 1000));
}

static bool set(json_t *row, const char *key, json_t *value)
{
	return json_object_set_new(row, key, value) == 0;
}

static bool set_optional(json_t *row, const char *key, const char *text)
{
	return text ? json_set_text(row, key, str_of(text)) : set(row, key, json_null());
}

static bool set_facts(json_t *row, const struct violation *v)
{
	char when[TIME_BYTES];

	print_time(when, v->time_ms);
	return set(row, "op", json_string(violation_op_to_string(v->op))) &&
	       json_set_text(row, "object", v->object) &&
	       set(row, "source", json_string(violation_source_to_string(v->source))) &&
	       (!v->pid || set(row, "pid", json_integer(v->pid))) &&
	       (!v->program[0] || json_set_text(row, "program", str_of(v->program))) &&
	       set(row, "time", json_string(when)) &&
	       set(row, "count", json_integer((json_int_t)v->count)) &&
	       (!(v->advisory || v->need == VIOLATION_SPARED) || set(row, "advisory", json_true()));
}

static bool set_advice(json_t *row, const struct violation_advice *advice)
{
	return set_optional(row, "rule", advice->rule) &&
	       set_optional(row, "origin", advice->origin) &&
	       set(row, "fix", fix_to_json(&advice->fix)) &&
	       (!advice->fix.why_not || json_set_text(row, "reason", str_of(advice->fix.why_not)));
}

json_t *violation_to_json(const struct violation *v, const struct violation_advisor *advisor)
{
	struct violation_advice advice = { 0 };
	json_t *row = json_object();

	if (advisor)
		advisor->advise(advisor->data, v, &advice);
	if (row && set_facts(row, v) && set_advice(row, &advice))
		return row;
	json_decref(row);
	return NULL;
}

json_t *violations_to_json(const struct violations *all, const struct violation_advisor *advisor)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < violations_count(all); i++)
		if (json_array_append_new(list,
					  violation_to_json(violations_at(all, i), advisor)) < 0) {
			json_decref(list);
			list = NULL;
		}
	return list;
}
