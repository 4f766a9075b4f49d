#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
load helper

commands=(run explain profile policy config cache quarantine doctor status completion help version)

@test "help lists every command" {
	local command
	run -0 --separate-stderr cordon help
	for command in "${commands[@]}"; do
		assert_matches "(^|"$'\n'")  $command  "
	done
	local first=$output
	run -0 cordon --help
	assert_output "$first"
	run -0 cordon -h
	assert_output "$first"
}

@test "each command has help, in three spellings" {
	local command first
	for command in "${commands[@]}"; do
		run -0 cordon help "$command"
		assert_contains "usage: cordon $command"
		first=$output
		run -0 cordon "$command" --help
		assert_output "$first"
		run -0 cordon "$command" -h
		assert_output "$first"
		run -0 cordon help "$command" --json
		assert_json ".name == \"$command\" and (.options | length > 3)"
	done
}

@test "--help after the command belongs to the command" {
	run -0 --separate-stderr cordon run sh -c 'echo "$1"' - --help
	assert_output "--help"
}

@test "completion scripts are valid and know the flags" {
	run -0 cordon completion bash
	assert_contains "--allow-write"
	bash -n <<<"$output" || fail "bash does not accept its script"
	eval "$output"
	COMP_WORDS=(cordon run --allow-r) COMP_CWORD=2
	_cordon
	assert_equal "${COMPREPLY[*]}" "--allow-read"
	COMP_WORDS=(cordon exp) COMP_CWORD=1
	_cordon
	assert_equal "${COMPREPLY[*]}" "explain"
	COMP_WORDS=(cordon run -p str) COMP_CWORD=3
	_cordon
	assert_equal "${COMPREPLY[*]}" "strict"
	COMP_WORDS=(cordon profile show mod) COMP_CWORD=3
	_cordon
	assert_equal "${COMPREPLY[*]}" "moderate"
	COMP_WORDS=(cordon config show --pro) COMP_CWORD=3
	_cordon
	[[ " ${COMPREPLY[*]} " == *" --profile "* ]] || fail "config show: ${COMPREPLY[*]}"
	run -0 cordon completion fish
	assert_matches "from show' -a '.*moderate"
	assert_contains "-l allow-write -r"
	run -0 cordon completion zsh
	assert_contains "#compdef cordon"
}

@test "a closed pipe ends the answer and nothing else" {
	run bash -c '"$1" help run | head -n 1' - "$CORDON"
	assert_output "usage: cordon run [OPTIONS] [--] COMMAND [ARGUMENT...]"
	run -0 bash -c 'set -o pipefail; "$1" config show | { read -r x; cat >/dev/null; }' - "$CORDON"
}

@test "standard output full or closed is an error" {
	[ -w /dev/full ] || must_or_skip "no /dev/full"
	local command
	for command in help version "status" "config show" "policy render" "explain /" "status --json"; do
		run -125 bash -c '"$1" $2 >/dev/full' - "$CORDON" "$command"
		assert_contains "standard output: No space left"
		run -125 bash -c '"$1" $2 >&-' - "$CORDON" "$command"
		assert_contains "standard output: Bad file descriptor"
	done
	run -125 bash -c '"$1" run --json true >/dev/full' - "$CORDON"
}

@test "standard streams that are closed are not taken by files" {
	echo precious >file
	run -0 bash -c '"$1" run -q --result result.json cat file 0<&-' - "$CORDON"
	assert_output precious
	run -0 jq -e '.cause == "exited"' result.json
	run bash -c '"$1" run -q --result result.json sh -c "echo text >&2" 2>&-' - "$CORDON"
	run -0 jq -e '.cause == "exited"' result.json
	run -0 cat file
	assert_output precious
}
