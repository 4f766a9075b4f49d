#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# cordon shell: the user's shell inside. What it looks like in a terminal is in tmux.bats.
load helper

@test "the shell that SHELL names, with its arguments" {
	run -0 env SHELL=/bin/bash "$CORDON" shell -q -- -c 'echo "$0 $1 ${BASH_VERSION:+bash}"' a b
	assert_output "a b bash"
	run -3 env SHELL=/bin/sh "$CORDON" shell -q -- -c 'exit 3'
}

@test "a shell that is none is replaced by sh" {
	for shell in /none relative ''; do
		run -0 env SHELL="$shell" "$CORDON" shell -q -- -c 'echo works'
		assert_output works
	done
	run -0 env -u SHELL "$CORDON" shell -q -- -c 'echo works'
	run -0 env SHELL=/none "$CORDON" shell -- -c 'echo works'
	assert_contains "SHELL is '/none'"
}

@test "it is confined like any command" {
	mkdir "$HOME/.ssh"
	echo secret >"$HOME/.ssh/id"
	run env SHELL=/bin/sh "$CORDON" shell -q -- -c "cat '$HOME/.ssh/id'"
	[ "$status" -ne 0 ] || fail "$(outcome)"
	refute_contains secret
	run -124 env SHELL=/bin/sh "$CORDON" shell -q --timeout 1s -- -c 'sleep 100'
}

@test "input from a pipe, and a note unless quiet" {
	run -0 bash -c "echo 'echo in \$((1 + 1))' | SHELL=/bin/sh '$CORDON' shell -q -- -s"
	assert_contains "in 2"
	run -0 env SHELL=/bin/sh "$CORDON" shell -- -c true
	assert_contains "this shell is inside the boundary"
}

@test "it says that it is inside only where it is" {
	for flags in '--no-sandbox' '--backend passthrough' '--mode rwx'; do
		# shellcheck disable=SC2086
		run -0 env SHELL=/bin/bash "$CORDON" shell $flags -- -c 'echo "<$PROMPT_COMMAND>"'
		assert_contains "WITHOUT confinement"
		refute_contains "inside the boundary"
		assert_contains "<>"
	done
	for flags in '-p nonsense' '-C /nonexistent' '--allow-write /nonexistent'; do
		# shellcheck disable=SC2086
		run -125 env SHELL=/bin/sh "$CORDON" shell $flags -- -c true
		refute_contains "inside the boundary"
	done
}

@test "no prompt, and no word about job control, for what a pipe says" {
	run -0 --separate-stderr env SHELL=/bin/bash "$CORDON" shell -q <<<'echo $((6 * 7)); echo $-'
	assert_equal "${lines[0]}" 42
	[[ ${lines[1]} != *i* ]] || fail "interactive" "$(outcome)"
	assert_equal "$stderr" ""
}

@test "bash keeps no history, unless it is told where" {
	run -0 env -u HISTFILE SHELL=/bin/bash "$CORDON" shell -q -- -c 'echo "<${HISTFILE-unset}>"'
	assert_output "<>"
	run -0 env HISTFILE=here SHELL=/bin/bash "$CORDON" shell -q -- -c 'echo "<$HISTFILE>"'
	assert_output "<here>"
}

@test "what does not belong is refused" {
	run -125 "$CORDON" shell ls
	assert_contains "arguments of the shell follow '--'"
	run -125 "$CORDON" shell --json
	assert_contains "not in JSON"
	run -125 "$CORDON" shell --capture
	run -125 "$CORDON" shell -c 'echo hi'
	assert_contains "cordon shell -- -c"
}
