#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What must not be told as a refusal, or not so loudly; and what must be told in full.
load helper

setup() {
	CORDON_TEST_TMP=$(ground) cordon_setup
	cordon run -q true 2>/dev/null || must_or_skip "no backend works here"
}

# silent: nothing is refused, neither in the object nor in the remarks.
silent() {
	jq -e '.violations == []' <<<"$output" >/dev/null || fail "told as refused" "$(outcome)"
	if grep -q 'refused' <<<"$stderr"; then fail "told as refused" "$(outcome)"; fi
}

@test "the frames of a traceback are not what was refused" {
	mkdir "$HOME/newdir"
	printf 'def go():\n    raise PermissionError(13, "Permission denied")\n' >"$HOME/newdir/mod.py"
	echo text >big
	for program in 'import subprocess; subprocess.run(["./big"])' \
		"import sys; sys.dont_write_bytecode = True; sys.path.insert(0, '$HOME/newdir'); import mod; mod.go()"; do
		for backend in native landlock; do
			run --separate-stderr cordon run --backend "$backend" --fallback degrade --json -- python3 -c "$program"
			assert_status 1
			valid
			silent
		done
	done
}

@test "a file of the system that may not be executed anywhere is not told as written" {
	run --separate-stderr cordon run --json -- sh -c /etc/passwd
	assert_status 126
	valid
	silent
}

@test "lines that grep and diff show are no complaints" {
	mkdir "$HOME/.ssh"
	echo key >"$HOME/.ssh/id_rsa"
	echo "cat: $HOME/.ssh/id_rsa: Permission denied" >a.txt
	cp a.txt b.txt
	run --separate-stderr cordon run --json -- \
		sh -c 'grep -n denied a.txt; grep denied a.txt b.txt; diff -u /dev/null a.txt; cat -n a.txt; true'
	assert_status 0
	valid
	silent
}
