#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What `cordon explain` says of a thing is what a run can do with it.
load helper

setup() {
	listeners=()
	CORDON_TEST_TMP=$(ground) cordon_setup
	cordon run -q true 2>/dev/null || must_or_skip "no backend works here"
}

# verdict OP FIELD: from the JSON of the first object.
verdict() {
	jq -r ".objects[0].verdicts[] | select(.op == \"$1\") | .$2" <<<"$output"
}

# agrees OPTIONS... -- OP OBJECT: what explain says of it is what a run does.
agrees() {
	local options=() said did=true script
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	case $2 in
	read) script='cat -- "$1"' ;;
	write) script=': >>"$1"' ;;
	exec) script='"$1"' ;;
	connect) script='python3 -c "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])" "$1"' ;;
	esac
	said=$(cordon explain -q --json "${options[@]}" "$3" 2>/dev/null |
		jq --arg op "$2" '.objects[0].verdicts[] | select(.op == $op).allowed')
	cordon run -q "${options[@]}" -- sh -c "$script" - "$3" >"$SCRATCH/out" 2>&1 || did=false
	[ "$said" = "$did" ] || fail "explain ${options[*]} $2 $3: $said, a run: $did" "$(cat "$SCRATCH/out")"
}

# listening_at ADDRESS: a server of the host, which the end of the test ends.
listening_at() {
	python3 -c 'import os, socket, sys
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen()
os.set_inheritable(s.fileno(), True)
print(flush=True)
os.close(1)
os.execvp("sleep", ["sleep", "300"])' "$1" 3>&- >"$SCRATCH/ready" &
	listeners+=($!)
	until [ -s "$SCRATCH/ready" ]; do kill -0 "${listeners[-1]}"; done
	: >"$SCRATCH/ready"
}

teardown() {
	[ ${#listeners[@]} = 0 ] || kill "${listeners[@]}"
	cordon_teardown
}

@test "what explain says is what a run does" {
	local profile row outside=$SCRATCH/outside temporary
	mkdir "$outside" "$HOME/.ssh" .dir
	echo text | tee "$outside/file" "$HOME/.ssh/key" .dot .dir/file plain >/dev/null
	printf '#!/bin/sh\n' | tee tool "$outside/tool" >/dev/null
	chmod +x tool "$outside/tool"
	git init -q .
	listening_at "$PWD/socket"
	temporary=$(mktemp "${TMPDIR:-/tmp}/cordon-bats.XXXXXX")
	printf '#!/bin/sh\n' >"$temporary"
	chmod 755 "$temporary"
	for profile in moderate strict shell; do
		for row in "read $temporary" "exec $temporary" "write $temporary" "write /tmp/cordon-new" \
			"read $outside/file" "write $outside/file" "write $outside/new" "exec $outside/tool" \
			"read $HOME/.ssh/key" "write plain" "write new" "exec ./tool" "read .dot" \
			"write .dot" "write .new" "write .dir/file" "write .dir/new" "write .git/config" \
			"write .git/hooks/new" "write .git/index.lock" "write .claude" "connect $PWD/socket" \
			"read /etc/passwd" "write /etc/passwd" "exec /usr/bin/true"; do
			# shellcheck disable=SC2086 # two words
			agrees -p $profile -- $row
			rm -f new .new .dir/new .claude .git/index.lock
		done
	done
	agrees --allow-read "$temporary" -- read "$temporary"
	agrees --hidden-writes deny -- write .dot
	agrees --allow-write "$outside" -- write "$outside/new"
	rm "$temporary"
}

@test "a socket: connecting is what is explained, and the flag that is named opens it" {
	listening_at "$PWD/socket"
	run -0 --separate-stderr cordon explain --json socket
	assert_equal "$(jq -r '.objects[0].verdicts | length' <<<"$output")" 1
	assert_equal "$(verdict connect allowed) $(verdict connect enforced_by)" "false hide-file $PWD/socket"
	agrees -- connect "$PWD/socket"
	# shellcheck disable=SC2046 # words
	agrees $(verdict connect fix.flags) -- connect "$PWD/socket"
}

# Nobody but the kernel knows where it is (SECURITY.md).
@test "a socket bound by a relative path, where the command may write" {
	listening_at socket
	agrees -- connect "$PWD/socket"
	mkdir "$SCRATCH/outside"
	cd "$SCRATCH/outside"
	listening_at socket
	cd "$WORKDIR"
	agrees -- connect "$SCRATCH/outside/socket"
}
