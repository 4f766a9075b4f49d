/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What deciding and building cost, by the number of rules. Prints the figures and two
 * ratios of the same run, so that they can be compared on any machine:
 *
 *	decide_ratio  time of one policy_decide with 10,000 rules over that with 10
 *	build_ratio   time per rule of policy_build with 10,000 rules over that with 1,000
 *
 * With --check the program fails when decide_ratio is above 2 or build_ratio above 3.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "policy/policy.h"
#include "policy/profiles.h"

#define ARENA_MAX ((size_t)512 << 20)
#define OBJECTS 64
#define ROUNDS 7

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void must(int r, const struct cordon_error *err)
{
	if (r == 0)
		return;
	fprintf(stderr, "bench-decide: %s\n", err->message);
	exit(1);
}

/* Nothing is listed in it: the time is that of the policy, not of a file system. */
static int plain_resolve(const struct world *world, struct arena *a, struct str path,
			 struct str *ret_real, struct node *ret_node, struct cordon_error *err)
{
	(void)world;
	(void)a;
	(void)err;
	*ret_real = path;
	*ret_node = (struct node){ .type = NODE_ABSENT };
	return 0;
}

struct subject {
	struct arena arena;
	struct policy *policy;
	double build_ns;
	double decide_ns;
};

static void add_rules(struct arena *a, struct layer *flags, unsigned rules)
{
	static const enum key keys[] = { KEY_READ, KEY_WRITE, KEY_DENY };
	struct origin origin = { SOURCE_FLAGS, "bench", 0, 0 };
	struct cordon_error err;

	for (unsigned i = 0; i < rules; i++) {
		const char *path = arena_printf(a, "/w/d%u/e%u/f%u", i % 97, i % 13, i);

		must(layer_add_text(a, flags, keys[i % 3], str_of(path), &origin, &err), &err);
	}
}

static void build(struct subject *s, const struct config *builtin, unsigned rules)
{
	struct world world = { plain_resolve, NULL };
	struct layer flags = { 0 };
	struct policy_input in = {
		.profile = "custom",
		.builtin = builtin,
		.flags = &flags,
		.world = &world,
		.places = { .workdir = STR("/w"),
			    .home = STR("/home/u"),
			    .tmp = STR("/tmp"),
			    .data = STR("/w"),
			    .cordon_home = STR("/home/u/.cordon") },
	};
	struct cordon_error err;
	double start;

	arena_init(&s->arena, ARENA_MAX);
	add_rules(&s->arena, &flags, rules);
	start = now();
	must(policy_build(&s->arena, &in, &s->policy, &err), &err);
	s->build_ns = now() - start;
}

static double decide_once(const struct subject *s, const char (*objects)[64])
{
	unsigned sum = 0;
	double start = now();

	for (unsigned i = 0; i < 200 * OBJECTS; i++)
		sum += policy_decide(s->policy, str_of(objects[i % OBJECTS])).data;
	if (sum == 1)
		printf("#\n"); /* keeps the loop */
	return (now() - start) / (200 * OBJECTS);
}

/* The best of several rounds, the subjects in turn, so that a busy machine hits both. */
static void measure(struct subject *subjects, unsigned count)
{
	char objects[OBJECTS][64];

	for (unsigned i = 0; i < OBJECTS; i++)
		snprintf(objects[i], sizeof(objects[i]), "/w/d%u/e%u/f%u/g/h", i % 10, i % 10,
			 i % 10);
	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned i = 0; i < count; i++) {
			double t = decide_once(&subjects[i], objects);

			if (!round || t < subjects[i].decide_ns)
				subjects[i].decide_ns = t;
		}
}

/* The best of several builds, in nanoseconds. */
static void build_best(struct subject *s, const struct config *builtin, unsigned rules)
{
	double best = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		if (round)
			arena_free(&s->arena);
		build(s, builtin, rules);
		if (!round || s->build_ns < best)
			best = s->build_ns;
	}
	s->build_ns = best;
}

int main(int argc, char **argv)
{
	static const unsigned sizes[] = { 10, 1000, 10000 };
	struct subject subjects[3];
	struct cordon_error err;
	struct config builtin;
	double decide_ratio, build_ratio;
	struct arena a;

	arena_init(&a, ARENA_MAX);
	must(profiles_load(&a, &builtin, &err), &err);
	for (unsigned i = 0; i < 3; i++)
		build_best(&subjects[i], &builtin, sizes[i]);
	measure(subjects, 3);
	for (unsigned i = 0; i < 3; i++)
		printf("rules %u decide_ns %.0f build_us %.0f build_ns_per_rule %.0f\n", sizes[i],
		       subjects[i].decide_ns, subjects[i].build_ns / 1e3,
		       subjects[i].build_ns / sizes[i]);
	decide_ratio = subjects[2].decide_ns / subjects[0].decide_ns;
	build_ratio = subjects[2].build_ns / sizes[2] / (subjects[1].build_ns / sizes[1]);
	printf("decide_ratio %.2f\nbuild_ratio %.2f\n", decide_ratio, build_ratio);
	for (unsigned i = 0; i < 3; i++)
		arena_free(&subjects[i].arena);
	arena_free(&a);
	return argc > 1 && !strcmp(argv[1], "--check") && (decide_ratio > 2 || build_ratio > 3);
}
