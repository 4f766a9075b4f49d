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

# other: a repository beside the workdir, with a file of another time than its index says.
other() {
	git init -q "$HOME/other"
	echo x >"$HOME/other/file"
	git -C "$HOME/other" add file
	git -C "$HOME/other" -c user.name=T -c user.email=t@example.com commit -qm x
	touch -d 2001-01-01 "$HOME/other/file" # its index is refreshed
}

@test "git status of a repository beside the workdir: its optional lock is not told as refused" {
	other
	run --separate-stderr cordon run -- git -C "$HOME/other" status -s
	assert_status 0
	assert_equal "$stderr" ""
	run --separate-stderr cordon run --json -- git -C "$HOME/other" status -s
	assert_status 0
	valid
	assert_equal "$stderr" ""
	jq -e '.violations | length == 1 and (.[0] | .advisory and (.object | endswith("/index.lock")))' \
		<<<"$output" >/dev/null || fail "not marked" "$(outcome)"
	# Of a shell nobody knows whether git ended well: it is said, without a flag.
	run --separate-stderr cordon run -- sh -c "git -C '$HOME/other' status -s"
	assert_status 0
	[[ $stderr == *"$HOME/other/.git/index.lock"*"git status and git diff go on without it" ]] ||
		fail "not told, or with a flag" "$(outcome)"
}

@test "a git command that needs the lock is told with all of it" {
	other
	echo y >"$HOME/other/new"
	for command in "git -C '$HOME/other' add new" "git -C '$HOME/other' add new || exit 3"; do
		run --separate-stderr cordon run -- sh -c "$command"
		[ "$status" -ne 0 ] || fail "it went through" "$(outcome)"
		[[ $stderr == *"refused: writing $HOME/other/.git/"*"to allow it: --allow-write"* ]] ||
			fail "not told" "$(outcome)"
	done
	run --separate-stderr cordon run -- sh -c "git -C '$HOME/other' add new; true"
	assert_status 0
	[[ $stderr == *"refused: writing $HOME/other/.git/"* ]] || fail "not told" "$(outcome)"
	run --separate-stderr cordon run --on-violation fail -- git -C "$HOME/other" status -s
	assert_status 125
	[[ $stderr == *"refused: writing $HOME/other/.git/index.lock"* ]] || fail "not told" "$(outcome)"
}

@test "what Python would keep of a module beside the workdir is not told as refused" {
	mkdir "$HOME/newdir"
	echo 'x = 1' >"$HOME/newdir/mod.py"
	run --separate-stderr cordon run --json -- env -u PYTHONDONTWRITEBYTECODE PYTHONPATH="$HOME/newdir" \
		python3 -c 'import mod'
	assert_status 0
	valid
	assert_equal "$stderr" ""
	jq -e '.violations | length >= 1 and all(.advisory)' <<<"$output" >/dev/null ||
		fail "not marked" "$(outcome)"
	run --separate-stderr cordon run -- env -u PYTHONDONTWRITEBYTECODE PYTHONPATH="$HOME/newdir" \
		python3 -c 'import mod, sys; sys.exit(3)'
	assert_status 3
	[[ $stderr == *"refused: writing $HOME/newdir/__pycache__"* ]] || fail "not told" "$(outcome)"
}

@test "whoever changes what Python has kept is told, and ends well or not" {
	mkdir -p "$HOME/newdir/__pycache__"
	echo old >"$HOME/newdir/__pycache__/mod.cpython-311.pyc"
	for command in 'echo x >mod.cpython-311.pyc' 'rm mod.cpython-311.pyc' 'mv mod.cpython-311.pyc a' \
		'cd .. && mv __pycache__ a' 'mkdir a'; do
		run --separate-stderr cordon run -- sh -c "cd '$HOME/newdir/__pycache__' && $command; true"
		assert_status 0
		[[ $stderr == *"refused: "*" $HOME/newdir/"* ]] || fail "$command: not told" "$(outcome)"
	done
	# With the directory there it is the file that is begun.
	echo 'x = 1' >"$HOME/newdir/mod.py"
	run --separate-stderr cordon run -- env -u PYTHONDONTWRITEBYTECODE PYTHONPATH="$HOME/newdir" \
		python3 -c 'import mod'
	assert_status 0
	assert_equal "$stderr" ""
}
