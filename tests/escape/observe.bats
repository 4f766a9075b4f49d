#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What the supervisor sees of writes that the kernel refuses, and what it leaves out.

load helper

setup() {
	escape_setup
	git init -q .
	mkdir "$HOME/dir"
}

# seen ARGS...: the result in $output, without what was deduced from the text.
seen() {
	run --separate-stderr cordon run -q --json "$@"
	output=$(jq '.violations |= map(select(.source != "inferred"))' <<<"$output")
}

@test "a refused write names the object and where it was seen" {
	seen -- sh -c 'echo y >>~/.bashrc'
	assert_json '.violations | length == 1'
	assert_json ".violations[0] | .object == \"$HOME/.bashrc\" and .op == \"write\" and
		.source == \"notify\" and .program == \"sh\""
}

@test "relative paths, dots, links and covered places" {
	ln -s "$HOME/.bashrc" link
	mkdir sub
	seen -- sh -c 'cd sub; echo y >../link; echo y >../.git/hooks/pre-commit; echo y >~/.ssh/key'
	assert_json "[.violations[].object] == [\"$HOME/.bashrc\",
		\"$WORKDIR/.git/hooks/pre-commit\", \"$HOME/.ssh/key\"]"
}

@test "making and moving" {
	echo x >file
	seen -- sh -c 'mkdir ~/new; ln -s x ~/link; mv file ~/moved; mv ~/dir here; mkfifo ~/fifo'
	assert_json "[.violations[].object | ltrimstr(\"$HOME/\")] | contains([\"new\", \"link\",
		\"moved\", \"dir\", \"fifo\"])"
}

@test "what would have failed anyway is not reported" {
	mkdir there
	seen -- sh -c 'mkdir -p ~/dir there; mkdir ~/dir; mkdir ~/none/x; echo x >~/none/x
		echo x >~/dir; cat ~/nothing; mv nothing ~/x'
	assert_json '[.violations[].object] - ["'"$HOME"'/x"] == []'
}

@test "what is allowed is not reported" {
	seen -- sh -c 'mkdir -p a/b; echo x >a/b/c; mv a z; echo x >/tmp/t; echo x >/dev/null
		ln z/b/c l; git add -A; git status >/dev/null'
	assert_json '.exit_code == 0 and .violations == []'
}

@test "a plain user's own permissions are not cordon's to explain" {
	is_root && skip "for a plain user"
	seen -- sh -c 'echo x >/etc/cordon-none; echo x >>/etc/passwd'
	assert_json '.violations == []'
}

@test "report = none and output: nothing is observed, the guard still says what it refused" {
	for level in none output; do
		seen --report $level -- sh -c 'echo y >>~/.bashrc; mkdir .claude'
		assert_json '[.violations[] | select(.source == "notify")] == []'
	done
}

@test "without anything to guard writes are observed all the same" {
	seen --protect off -- sh -c 'echo y >>~/.bashrc; mkdir .claude'
	assert_json '[.violations[].object | endswith("/.bashrc")] == [true]'
	assert_file .claude
}
