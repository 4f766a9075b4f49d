/* SPDX-License-Identifier: Apache-2.0 */
/* The table of capabilities and masking for tests. */
#include "plan/caps.h"

#include "base/num.h"

const struct cap_row cap_rows[CAP_COUNT] = {
#define CAP(id, text, about, remedy) [CAP_##id] = { .name = text, .purpose = about, .fix = remedy },
#include "plan/caps.def"
#undef CAP
};

bool cap_from_string(struct str name, enum cap *ret)
{
	for (unsigned i = 0; i < CAP_COUNT; i++)
		if (str_eq(name, str_of(cap_rows[i].name))) {
			*ret = i;
			return true;
		}
	return false;
}

int caps_mask(struct caps *caps, struct str text, struct cordon_error *err)
{
	struct str item, name, number;
	bool more = text.n > 0;

	while (more) {
		uint64_t value = 0;
		enum cap cap;
		bool lowered;

		more = str_cut(text, ',', &item, &text);
		lowered = str_cut(item, '=', &name, &number);
		if (!cap_from_string(name, &cap) ||
		    (lowered && !num_parse_u64(number, UINT32_MAX, &value)))
			return err_set(err, CORDON_E_USAGE, 0, "caps",
				       "mask: '%.*s' names no capability", STR_ARG(item));
		if (value < caps->value[cap]) {
			caps->value[cap] = (uint32_t)value;
			caps->why[cap] = "masked for a test";
		}
	}
	return 0;
}
