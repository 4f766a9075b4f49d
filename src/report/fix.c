/* SPDX-License-Identifier: Apache-2.0 */
/* A fix as JSON. */
#include "report/fix.h"

#include "fmt/json.h"

static bool set_optional(json_t *row, const char *key, const char *text)
{
	return !text || json_set_text(row, key, str_of(text));
}

const char *fix_warning(const struct fix *fix)
{
	if (fix->opens_secret)
		return FIX_SECRET_WARNING;
	if (fix->leads)
		return fix->leads;
	if (fix->breadth)
		return fix->breadth;
	if (fix->opens_system)
		return FIX_SYSTEM_WARNING;
	return fix->opens_control ? FIX_CONTROL_WARNING : NULL;
}

json_t *fix_to_json(const struct fix *fix)
{
	json_t *row;

	if (!fix->flags)
		return json_null();
	row = json_object();
	if (row && json_set_text(row, "flags", str_of(fix->flags)) &&
	    set_optional(row, "toml", fix->toml) && set_optional(row, "first", fix->first) &&
	    set_optional(row, "remark", fix->remark) && set_optional(row, "note", fix->note) &&
	    json_object_set_new(row, "opens_secret", json_boolean(fix->opens_secret)) == 0 &&
	    json_object_set_new(row, "opens_control", json_boolean(fix->opens_control)) == 0 &&
	    set_optional(row, "warning", fix_warning(fix)))
		return row;
	json_decref(row);
	return NULL;
}
