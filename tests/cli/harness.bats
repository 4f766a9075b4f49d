#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The harnesses of docs/harness.md do what it says, with the JSON and nothing else.
load helper

setup() {
	CORDON_TEST_TMP=$(ground) cordon_setup
	examples=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/docs/examples
	mkdir "$HOME/.ssh" "$SCRATCH/elsewhere"
	echo key >"$HOME/.ssh/id_rsa"
	export CORDON
	cordon run -q true 2>/dev/null || must_or_skip "no backend works here"
}

# check HARNESS...: what each of them has to get right.
check() {
	run -0 "$@" 'echo out; echo err >&2'
	assert_output $'out\nerr\nexit code 0'
	run -1 "$@" 'exit 3'
	assert_output 'exit code 3'
	run -1 "$@" 'kill -KILL $$'
	assert_output 'ended by signal 9'
	run -1 "$@" 'cat ~/.ssh/id_rsa'
	assert_contains "refused: read $HOME/.ssh/id_rsa (rule: deny ~/.ssh (@secrets), a secret)"
	assert_contains "; ask the user for --allow-read $HOME/.ssh/id_rsa (warning: that gives a secret away)"
	refute_contains key
	run -1 "$@" "touch $SCRATCH/elsewhere/x"
	assert_contains "refused: write $SCRATCH/elsewhere/x"
	assert_contains "; ask the user for --allow-write $SCRATCH/elsewhere"
	mkdir -p .git/hooks
	run -1 "$@" 'echo >.git/hooks/pre-commit'
	assert_contains "; ask the user for --allow-write $WORKDIR/.git/hooks (all of that directory, since the file does not exist yet) (warning: what runs later, outside, can be changed with it)"
	run -1 "$@" 'touch ~/new'
	assert_contains "; ask the user for touch $HOME/new, outside, then --allow-write $HOME/new"
	refute_contains "whole home"
	run -1 "$@" 'mkdir ~/new'
	assert_contains "; ask the user for mkdir -p $HOME/new, outside, then --allow-write $HOME/new"
	run -1 "$@" 'set -C; echo >~/new'
	assert_contains "; ask the user for --allow-write $HOME (all of that directory, since the file does not exist yet) (warning: that opens your whole home directory)"
	run "$@"
	[ "$status" != 0 ] || fail "nothing to run, and it ran" "$(outcome)"
	assert_contains "usage: harness"
	echo 'no = such = thing' >.cordon.toml
	run "$@" true
	[ "$status" != 0 ] || fail "a broken configuration passed" "$(outcome)"
	rm .cordon.toml
	CORDON=$SCRATCH/no-such-cordon run "$@" true
	[ "$status" != 0 ] || fail "without cordon it passed" "$(outcome)"
	refute_contains Traceback
}

@test "Python" {
	check python3 "$examples/harness.py"
}

@test "Python: what the user approves is allowed, a secret is not" {
	run -0 python3 "$examples/harness.py" --approve "touch $SCRATCH/elsewhere/x && echo made"
	assert_output $'made\nexit code 0'
	assert_file "$SCRATCH/elsewhere/x"
	run -1 python3 "$examples/harness.py" --approve 'cat ~/.ssh/id_rsa'
	refute_contains key
	mkdir -p .git/hooks
	run -1 python3 "$examples/harness.py" --approve 'echo >.git/hooks/pre-commit'
	refute_file .git/hooks/pre-commit
	run -1 python3 "$examples/harness.py" --approve 'touch ~/new'
	refute_file "$HOME/new"
	assert_contains "; ask the user for touch $HOME/new, outside"
	run -1 python3 "$examples/harness.py" --approve 'set -C; echo >~/new'
	refute_file "$HOME/new"
	assert_contains "(warning: that opens your whole home directory)"
}

@test "Python: a socket of the host is not approved" {
	serve "$WORKDIR/docker.sock"
	run -1 python3 "$examples/harness.py" --approve \
		"python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"docker.sock\")'"
	assert_contains "; ask the user for --allow-unix $WORKDIR/docker.sock (warning: that leads out of the sandbox: a container engine"
}

@test "Python: bytes that are not UTF-8" {
	run -0 python3 "$examples/harness.py" 'printf "%s\n" "a\\b"; printf "caf\351\n" >&2'
	assert_contains 'a\b'
	assert_contains 'café'
}

@test "Node" {
	command -v node >/dev/null || must_or_skip "node is not installed"
	check node "$examples/harness.js"
}

@test "C" {
	command -v cc >/dev/null || must_or_skip "no C compiler"
	cc -Wall -Wextra -Werror -Wno-unused-parameter -o "$SCRATCH/harness" "$examples/harness.c" -ljansson
	check "$SCRATCH/harness"
}
