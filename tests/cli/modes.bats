#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Provider modes, as a provider's command would be run in them.
load helper

@test "sandbox and rx write to the data directory, /tmp and ~/.claude only" {
	local mode data=$HOME/data
	mkdir -p "$data" "$HOME/.claude"
	for mode in sandbox rx; do
		run -0 cordon run -q --mode "$mode" --data-dir "$data" -- sh -c '
			echo a >"$0/in-data" && echo b >"$HOME/.claude/note" &&
			t=$(mktemp /tmp/cordon-mode.XXXXXX) && rm "$t"' "$data"
		fails_inside cordon run -q --mode "$mode" --data-dir "$data" -- sh -c 'echo >"$HOME/elsewhere"'
		fails_inside cordon run -q --mode "$mode" --data-dir "$data" -- sh -c 'echo >/etc/cordon-mode-test'
		refute_file "$HOME/elsewhere"
	done
}

@test "what executes something in ~/.claude stays as it is" {
	mkdir -p "$HOME/.claude/hooks" "$HOME/data"
	echo '{}' >"$HOME/.claude/settings.json"
	fails_inside cordon run -q --mode sandbox --data-dir "$HOME/data" -- sh -c 'echo x >"$HOME/.claude/settings.json"'
	fails_inside cordon run -q --mode sandbox --data-dir "$HOME/data" -- sh -c 'echo x >"$HOME/.claude/hooks/h"'
	[ "$(cat "$HOME/.claude/settings.json")" = '{}' ]
}

@test "reads and executes everywhere" {
	mkdir -p "$HOME/data" "$HOME/bin"
	printf '#!/bin/sh\necho ran\n' >"$HOME/bin/tool"
	chmod +x "$HOME/bin/tool"
	run -0 cordon run -q --mode rx --data-dir "$HOME/data" -- "$HOME/bin/tool"
	[ "$output" = ran ]
}

@test "rwx is not confined, and says so" {
	run -0 --separate-stderr cordon run --mode rwx -- sh -c 'echo x >"$HOME/anywhere"'
	[ -e "$HOME/anywhere" ]
	[[ $stderr == *"WITHOUT confinement"* ]]
}

@test "a link that a run left in the workdir is no data directory outside it" {
	mkdir data
	cordon run -q -- sh -c 'rmdir data; ln -s "$HOME" data'
	run -125 cordon run -q --mode sandbox --data-dir data -- sh -c 'echo x >>"$HOME/elsewhere"'
	assert_contains "leads out of it"
	refute_file "$HOME/elsewhere"
}
