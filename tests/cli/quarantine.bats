#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# cordon quarantine. How names get there is tests/escape/names.bats; here they are put
# there by hand, but for one.
load helper

setup() {
	cordon_setup
	TOP=$HOME/.cordon/quarantine
	RUN=20250102T030405-678
	ID=$RUN/0
}

# entry N FROM: a file with the text "kept" in quarantine.
entry() {
	mkdir -p "$TOP/$RUN"
	echo kept >"$TOP/$RUN/$1"
	jq -n --arg from "$2" --arg workdir "$WORKDIR" \
		'{time: 1735787045, from: $from, run: "x", workdir: $workdir}' >"$TOP/$RUN/$1.json"
}

# Errors are one line of what and one of what next.
refused() {
	run --separate-stderr cordon quarantine "$@"
	assert_status 125
	assert_output ""
	output=$stderr
}

@test "with nothing in quarantine that is said, and nothing is made" {
	run -0 --separate-stderr cordon quarantine list
	assert_output "nothing is in quarantine"
	run -0 --separate-stderr cordon quarantine list --json
	assert_json '. == {"quarantine": []}'
	run -0 --separate-stderr cordon quarantine clear
	assert_output "nothing is in quarantine"
	refused restore "$ID"
	assert_contains "nothing in quarantine has the id '$ID'"
	refute_file "$HOME/.cordon"
}

@test "list and show say what, when, from where and by which run" {
	export TZ=UTC
	entry 0 "$WORKDIR/.mcp.json"
	mkdir "$TOP/$RUN/1"
	run -0 --separate-stderr cordon quarantine list
	assert_equal "${lines[0]}" "$ID  2025-01-02 03:04:05  file       $WORKDIR/.mcp.json"
	assert_matches "$RUN/1  [0-9: -]+  directory  \(not known\)"
	run -0 --separate-stderr cordon quarantine show "$ID"
	assert_output "id       $ID
from     $WORKDIR/.mcp.json
taken    2025-01-02 03:04:05
run      $RUN
workdir  $WORKDIR
kind     file, 5 bytes
kept in  $TOP/$ID"
	run -0 --separate-stderr cordon quarantine list --json
	assert_json '.quarantine | length == 2 and .[1].from == null and .[1].kind == "directory"'
	output=$(jq '.quarantine[0]' <<<"$output")
	assert_json '. == {time: 1735787045, kind: "file", bytes: 5, id: "'"$ID"'", run: "'$RUN'",
		from: "'"$WORKDIR"'/.mcp.json", workdir: "'"$WORKDIR"'", path: "'"$TOP/$ID"'"}'
	local first
	first=$(jq -S . <<<"$output")
	run -0 --separate-stderr cordon quarantine show --json "$ID"
	assert_equal "$(jq -S . <<<"$output")" "$first"
}

@test "restore puts it back, says where, and leaves nothing behind" {
	entry 0 "$WORKDIR/.mcp.json"
	run -0 --separate-stderr cordon quarantine restore "$ID"
	assert_output "restored $WORKDIR/.mcp.json"
	assert_equal "$(cat .mcp.json)" kept
	refute_file "$TOP/$RUN"
	entry 0 "$WORKDIR/gone/x"
	mkdir sub
	ln -s sub link
	run -0 --separate-stderr cordon quarantine restore "$ID" --to link/name --json
	assert_json '. == {"restored": "'"$WORKDIR"'/sub/name", "id": "'"$ID"'"}'
	assert_equal "$(cat sub/name)" kept
}

@test "restore overwrites nothing and follows no link in the last place" {
	entry 0 "$WORKDIR/.mcp.json"
	echo mine >.mcp.json
	refused restore "$ID"
	assert_contains "there is something already at $WORKDIR/.mcp.json"
	assert_equal "$(cat .mcp.json)" mine
	ln -s target dangling
	refused restore "$ID" --to dangling
	assert_contains "there is something already at $WORKDIR/dangling"
	refute_file target
	mkdir empty
	refused restore "$ID" --to empty/
	assert_contains "there is something already at $WORKDIR/empty"
	rmdir empty
	refused restore "$ID" --to absent/x
	assert_contains "cannot restore to absent/x: No such file or directory"
	refused restore "$ID" --to ''
	refused restore "$ID" --to sub/..
	assert_contains "--to needs the name it gets"
	assert_equal "$(cat "$TOP/$ID")" kept
	assert_file "$TOP/$ID.json"
}

@test "the way back does not lead through a link that came meanwhile" {
	mkdir elsewhere
	entry 0 "$WORKDIR/dir/x"
	ln -s elsewhere dir
	refused restore "$ID"
	assert_contains "--to PATH"
	refute_file elsewhere/x
	assert_equal "$(cat "$TOP/$ID")" kept
}

@test "restore to another file system copies whole, modes and links included" {
	local other
	other=$(mktemp -d /dev/shm/cordon-bats.XXXXXX)
	mkdir -p "$TOP/$RUN/0/bin"
	printf '#!/bin/sh\n' >"$TOP/$RUN/0/bin/x"
	chmod 751 "$TOP/$RUN/0/bin/x"
	ln -s bin/x "$TOP/$RUN/0/link"
	ln -s nowhere "$other/taken"
	refused restore "$ID" --to "$other/taken"
	assert_contains "already at $other/taken"
	run -0 --separate-stderr cordon quarantine restore "$ID" --to "$other/.claude"
	output="$(stat -c %a "$other/.claude/bin/x") $(readlink "$other/.claude/link") $(ls -A "$other")"
	rm -rf "$other"
	assert_output "751 bin/x .claude
taken"
	refute_file "$TOP/$RUN"
}

@test "where it came from is not known: --to has to say" {
	mkdir -p "$TOP/$RUN"
	echo kept >"$TOP/$ID"
	echo '{"from": "../../x"}' >"$TOP/$ID.json"
	refused restore "$ID"
	assert_contains "where $ID came from is not known"
	run -0 cordon quarantine restore "$ID" --to x
	assert_equal "$(cat x)" kept
}

@test "clear removes one or all, says what, and follows no link" {
	entry 0 "$WORKDIR/a"
	entry 1 "$WORKDIR/b"
	mkdir -p "$TOP/$RUN/2/deep" outside
	echo mine >outside/file
	ln -s "$WORKDIR/outside" "$TOP/$RUN/2/deep/link"
	ln -s "$WORKDIR/outside" "$TOP/$RUN/3"
	chmod 0 "$TOP/$RUN/2"
	run -0 --separate-stderr cordon quarantine clear "$ID"
	assert_matches "^removed $ID  [^"$'\n'"]* $WORKDIR/a$"
	refute_file "$TOP/$ID"
	refute_file "$TOP/$ID.json"
	assert_file "$TOP/$RUN/1"
	run -0 --separate-stderr cordon quarantine clear --json
	assert_json '[.cleared[].id] == ["'$RUN'/1", "'$RUN'/2", "'$RUN'/3"] and (has("error") | not)'
	refute_file "$TOP/$RUN"
	assert_equal "$(cat outside/file)" mine
}

@test "a bad id is refused, with the nearest there is" {
	entry 0 "$WORKDIR/a"
	local word
	for word in show restore clear; do
		refused "$word" 20250102T030405-687/0
		assert_contains "nothing in quarantine has the id '20250102T030405-687/0'"
		assert_contains "did you mean '$ID'?"
		refused "$word" "$RUN"
		refused "$word" "$ID.json"
		refused "$word" "../quarantine/$ID"
		refused "$word" zzz
		assert_contains "'cordon quarantine list' shows what there is"
	done
	refused show $'\e[31m'
	refute_contains $'\e'
	refused show
	refused list "$ID"
	refused clear --to x
	assert_contains "--to is for restore alone"
	run --separate-stderr cordon quarantine show nothing --json
	assert_status 125
	assert_json '.error.code == "usage"'
	assert_equal "$(cat "$TOP/$ID")" kept
}

@test "a quarantine that cannot be read is an error that names it" {
	mkdir -p "$HOME/.cordon"
	echo >"$TOP"
	local word
	for word in list clear; do
		refused "$word"
		assert_contains "cannot list $TOP: Not a directory"
	done
	rm "$TOP"
	is_root && skip "root reads everything"
	entry 0 "$WORKDIR/a"
	chmod 0 "$TOP/$RUN"
	refused list
	assert_contains "cannot list $TOP/$RUN: Permission denied"
	chmod 0 "$TOP"
	refused clear
	assert_contains "cannot list $TOP: Permission denied"
}

@test "names cannot disturb the terminal" {
	entry 0 "$WORKDIR/"$'\e]0;x\a\nremoved'
	run -0 --separate-stderr cordon quarantine list
	refute_contains $'\e'
	assert_equal "${#lines[@]}" 1
	assert_contains '\x1b]0;x\x07\nremoved'
	run -0 --separate-stderr cordon quarantine show "$ID"
	refute_contains $'\e'
	run -0 --separate-stderr cordon quarantine restore "$ID"
	refute_contains $'\e'
	assert_output "restored $WORKDIR/"'\x1b]0;x\x07\nremoved'
	assert_file $'\e]0;x\a\nremoved'
}

@test "what a run still holds is neither restored nor removed" {
	entry 0 "$WORKDIR/a"
	exec 8<"$TOP/$RUN"
	flock -s 8
	refused restore "$ID"
	assert_contains "a run, or another cordon, is using $TOP/$RUN"
	run --separate-stderr cordon quarantine clear --json
	assert_status 125
	assert_json '.cleared == [] and .error.code == "io"'
	exec 8<&-
	run -0 --separate-stderr cordon quarantine clear
	assert_contains "removed $ID"
}

# soon COMMAND...: within half a minute it succeeds.
soon() {
	local i
	for ((i = 0; i < 300; i++)); do
		"$@" && return
		sleep 0.1
	done
	return 1
}

taken() {
	compgen -G "$TOP/*/0.json" >/dev/null && [ ! -e "$1" ]
}

@test "a run says how to get back what was taken, and that works" {
	run --separate-stderr cordon run -q --json -- true
	jq -e '.enforced | index("guard")' <<<"$output" >/dev/null ||
		must_or_skip "no guard on this machine"
	cp "${ATTACK:-$(dirname "$CORDON")/tests/escape/attack}" attack
	# A machine that has much else to do may take many of them.
	"$CORDON" run -q --result result -- sh -c 'for _ in $(seq 100); do
			./attack race mkdir 20000 harmless .claude && : >won && break
		done
		: >over; until [ -e stop ]; do sleep 0.01; done' 2>said 3>&- &
	local pid=$! id name=.claude
	until [ -e over ]; do
		kill -0 "$pid" || fail "the run has ended: $(cat said)"
		sleep 0.1
	done
	assert_file won
	soon taken "$name" || fail "it stays"
	run cordon quarantine clear
	assert_status 125
	: >stop
	wait "$pid"
	output=$(cat said)
	refute_file "$name"
	assert_matches "'cordon quarantine restore ([0-9T]+-$pid/0)' gets it back"
	id=${BASH_REMATCH[1]}
	assert_equal "$(jq -r '.quarantined[0].kept' result)" "$TOP/$id"
	run -0 --separate-stderr cordon quarantine show --json "$id"
	assert_json '.from == "'"$WORKDIR/$name"'" and .workdir == "'"$WORKDIR"'"
		and .kind == "directory" and (.run | endswith("-'"$pid"'"))'
	run -0 --separate-stderr cordon quarantine restore "$id"
	assert_output "restored $WORKDIR/$name"
	[ -d "$name" ] || fail "no directory"
	refute_file "$TOP/${id%/0}"
}

@test "the completion of bash knows the words and the ids" {
	eval "$(cordon completion bash)"
	COMP_WORDS=(cordon quarantine re) COMP_CWORD=2
	_cordon
	assert_equal "${COMPREPLY[*]}" restore
	COMP_WORDS=(cordon quarantine restore x --t) COMP_CWORD=4
	_cordon
	assert_equal "${COMPREPLY[*]}" --to
	entry 0 "$WORKDIR/"$'a\n99/7 b'
	entry 1 '$(touch ran)'
	mkdir "$TOP/"'$(touch ran)'
	echo >"$TOP/"'$(touch ran)/0'
	COMP_WORDS=(cordon quarantine restore '') COMP_CWORD=3
	_cordon
	assert_equal "${COMPREPLY[*]}" "$ID $RUN/1"
	refute_file ran
}
