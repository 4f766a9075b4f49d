#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What everybody tries first, on native and on landlock: one clear sentence each, with who saw it,
# the rule with its place and the smallest flag; in the result the same.
load helper

setup() {
	CORDON_TEST_TMP=$(ground) cordon_setup
	mkdir "$HOME/.ssh"
	echo key >"$HOME/.ssh/id_rsa"
	echo rc >"$HOME/.bashrc"
	git init -q .
}

# says SENTENCE FLAGS... -- COMMAND...: of the remarks after the command that one alone, on each of
# $BACKENDS; a * in it stands for anything.
says() {
	local sentence=$1 backend remarks
	shift
	for backend in $BACKENDS; do
		run --separate-stderr cordon run --backend "$backend" --fallback degrade "$@"
		[[ $status -gt 0 && $status -lt 125 ]] || fail "$backend: it did not fail" "$(outcome)"
		remarks=$(grep '^cordon: ' <<<"$stderr" | grep -v '^cordon: not enforced by ')
		# shellcheck disable=SC2053 # a pattern
		[[ $remarks == "cordon: "$sentence && $remarks != *$'\n'* ]] ||
			fail "$backend: wanted: $sentence" "$(outcome)"
	done
}

# records EXPRESSION FLAGS... -- COMMAND...: that is true of the one violation in the result.
records() {
	local expression=$1 backend
	shift
	for backend in $BACKENDS; do
		run --separate-stderr cordon run --json --backend "$backend" --fallback degrade "$@"
		valid
		assert_json "(.violations | length) == 1 and (.violations[0] | $expression)"
	done
}

BACKENDS='native landlock'

@test "echo x >> ~/.bashrc" {
	local command=(-p moderate -- sh -c 'echo x >> ~/.bashrc')
	says "refused: writing $HOME/.bashrc (sh, seen at the system call): read ~/.bashrc (@shell-files) \
\[profile moderate:*]; to allow it: --allow-write $HOME/.bashrc (warning: what runs later*" "${command[@]}"
	records ".op == \"write\" and .object == \"$HOME/.bashrc\" and .source == \"notify\" and
		.fix.flags == \"--allow-write $HOME/.bashrc\" and .fix.opens_control" "${command[@]}"
	assert_equal "$(cat "$HOME/.bashrc")" rc
}

@test "curl https://example.com" {
	command -v curl >/dev/null || must_or_skip "no curl"
	BACKENDS=native says "refused: looking up example.com (seen by the name server*): network off \
\[profile moderate:*]; to allow it: --allow-network=example.com" -p moderate -- curl -s https://example.com
	BACKENDS=native records '.op == "resolve" and .object == "example.com" and .source == "dns"' \
		-p moderate -- curl -s https://example.com
	# No socket is made there to ask with.
	BACKENDS=landlock says "refused: connecting to the network (curl, seen at the system call*): \
network off, and on this backend localhost, too \[profile moderate:*]; to allow it: --allow-network=on" \
		-p moderate -- curl -s https://example.com
	BACKENDS=landlock records '.op == "connect" and .source == "notify"' \
		-p moderate -- curl -s https://example.com
}

@test "echo > .git/hooks/pre-commit" {
	local command=(-p moderate -- sh -c 'echo > .git/hooks/pre-commit')
	says "refused: writing $WORKDIR/.git/hooks/pre-commit (sh, seen *): read {gitdir}/hooks \
(@git-control) \[profile moderate:*]; to allow it: --allow-write $WORKDIR/.git/hooks *" "${command[@]}"
	# Where there is a mount it refuses, elsewhere the guard.
	BACKENDS=native records '.op == "write" and .source == "notify"' "${command[@]}"
	BACKENDS=landlock records '.op == "write" and .source == "guard"' "${command[@]}"
	refute_file .git/hooks/pre-commit
}

@test "mkdir .claude" {
	local command=(-p moderate -- mkdir .claude)
	says "refused: writing $WORKDIR/.claude (mkdir, seen by the guard): read .claude (@control) \
\[profile moderate:*]; to allow it: --allow-write $WORKDIR/.claude (warning: *" "${command[@]}"
	records ".op == \"write\" and .source == \"guard\" and .object == \"$WORKDIR/.claude\"" "${command[@]}"
	refute_file .claude
}

@test "cat ~/.ssh/id_rsa" {
	local told="reading $HOME/.ssh/id_rsa (%s): deny ~/.ssh (@secrets), a secret \[profile %s:*]; \
to allow it: --allow-read $HOME/.ssh/id_rsa (warning: that gives a secret away)"
	# shellcheck disable=SC2059 # a format of our own
	says "$(printf "refused: $told" 'cat, seen at the system call' shell)" -p shell -- cat "$HOME/.ssh/id_rsa"
	records '.op == "read" and .source == "notify" and .fix.opens_secret' -p shell -- cat "$HOME/.ssh/id_rsa"
	# shellcheck disable=SC2059
	says "$(printf "probably refused: $told" 'inferred from the output' moderate)" \
		-p moderate --capture --result r -- cat "$HOME/.ssh/id_rsa"
	records '.op == "read" and .source == "inferred" and .fix.opens_secret' -p moderate -- cat "$HOME/.ssh/id_rsa"
	refute_contains $'"stdout": "key'
}
