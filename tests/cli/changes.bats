#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# --changes: what a run leaves behind, and what of it runs later.
load helper

setup() {
	cordon_setup
	cordon run -q true 2>/dev/null || must_or_skip "no backend works here"
}

@test "created, changed and deleted, with a mark on what runs later" {
	echo old >old
	echo gone >gone
	echo same >same
	mkdir old_dir
	run -0 --separate-stderr cordon run --changes --json -- sh -c \
		'echo new >new; echo more >>old; rm gone; mkdir sub; echo all: >sub/Makefile; rmdir old_dir'
	valid
	assert_json "[.changes.created[].path] == [\"$WORKDIR/sub/Makefile\", \"$WORKDIR/new\"]"
	assert_json '.changes.created[0].later == "make"'
	assert_json "[.changes.changed[].path] == [\"$WORKDIR/old\"]"
	assert_json "[.changes.deleted[].path] == [\"$WORKDIR/gone\", \"$WORKDIR/old_dir\"]"
	output=$stderr
	assert_contains "changes: 2 created, 1 changed, 2 deleted"
	assert_contains "  created $WORKDIR/sub/Makefile (runs later, outside: make)"
	refute_contains same
}

@test "what cannot be entered or lies too deep is named, and nothing is made up of it" {
	mkdir -p "$(printf 'd/%.0s' {1..70})"
	is_root || mkdir -p closed/in
	is_root || chmod 0 closed
	run -0 --separate-stderr cordon run --changes --json -- sh -c \
		'echo x >x; chmod 700 closed 2>/dev/null; echo deep >"$(printf "d/%.0s" $(seq 70))/file"'
	valid
	assert_json "[.changes.created[].path] == [\"$WORKDIR/x\"]"
	assert_json 'any(.changes.unseen[].path; endswith("/d/d"))'
	is_root || assert_json "any(.changes.unseen[].path; . == \"$WORKDIR/closed\")"
	assert_json '.changes.incomplete == null'
	output=$stderr
	assert_contains "changes: not seen, for it cannot be entered or lies too deep: $WORKDIR/"
}

@test "without the option nobody looks, and with it nothing is said in one line" {
	run -0 --separate-stderr cordon run --json -- sh -c 'echo x >x'
	valid
	assert_json '.changes == {}'
	if grep -q changes: <<<"$stderr"; then fail "said something" "$(outcome)"; fi
	run -0 --separate-stderr cordon run --changes --json -- true
	valid
	assert_json '.changes == {"created": [], "changed": [], "deleted": []}'
	assert_equal "$(grep changes: <<<"$stderr")" \
		"cordon: changes: nothing was changed where the policy lets it write"
	run -0 --separate-stderr cordon run --changes -q -- true
	assert_equal "$stderr" ""
}

@test "at most ten names for a person, links are not followed, names are escaped" {
	mkdir "$SCRATCH/outside"
	touch "$SCRATCH/outside/file"
	ln -s "$SCRATCH/outside" link
	run -0 --separate-stderr cordon run --changes -- sh -c \
		'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do echo >"f$i"; done; echo >"$(printf "a\033[31m")"'
	output=$stderr
	assert_contains "changes: 14 created"
	assert_contains "and 4 more"
	refute_contains outside
	refute_contains $'\033[31m'
	run -0 --separate-stderr cordon run -q --changes -- sh -c 'echo >quiet'
	assert_equal "$stderr" ""
}
