#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Something of the host's that is listed to be hidden goes while a run is set up, or cannot be
# come to by who is to hide it. tests/fault/churn.py does it all at once and at random.

load helper

setup() {
	listener=
	command -v bwrap >/dev/null || must_or_skip "no bwrap"
	# Where the command may write, no bwrap is used; and where it sees nothing, none is covered.
	CORDON_TEST_TMP=$(ground) cordon_setup
	cordon run -q --backend bwrap true || must_or_skip "bubblewrap does not work here"
}

teardown() {
	stop
	cordon_teardown
}

# listen PATH: a server on a unix socket, which listens when this returns.
listen() {
	coproc server {
		exec python3 -uc 'import socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen()
print("listens")
sys.stdin.read()' "$1"
	}
	# shellcheck disable=SC2154 # coproc sets it
	listener=$server_PID
	read -r _ <&"${server[0]}"
}

stop() {
	[ -z "$listener" ] || kill "$listener"
	listener=
	wait
}

# A bwrap that fails the first time, because a socket goes just before it looks.
make_late() {
	mkdir "$SCRATCH/bin"
	cat >"$SCRATCH/bin/bwrap" <<EOF
#!/bin/sh
/bin/rm -f '$SCRATCH/socket'
echo try >>'$SCRATCH/tries'
exec $(command -v bwrap) "\$@"
EOF
	chmod +x "$SCRATCH/bin/bwrap"
}

late() {
	PATH=$SCRATCH/bin:$PATH "$CORDON" run -q --backend bwrap --protect guard "$@"
}

@test "a try that bubblewrap gave up takes no input and no output with it" {
	make_late
	listen "$SCRATCH/socket"
	echo 'from a pipe' | late cat | cat >out
	[ "$(wc -l <"$SCRATCH/tries")" -ge 2 ]
	assert_equal "$(cat out)" 'from a pipe'
	stop
	listen "$SCRATCH/socket"
	echo 'from a file' >in
	late cat <in | cat >out
	[ "$(wc -l <"$SCRATCH/tries")" -ge 4 ]
	assert_equal "$(cat out)" 'from a file'
}

@test "what the command did not read of a file is left to who comes after it" {
	printf 'one\ntwo\n' >in
	for command in true 'head -c 4'; do
		# shellcheck disable=SC2086
		(cordon run -q --backend bwrap -- $command && cat) <in >out
		assert_equal "$(cat out)" "$(printf 'one\ntwo')"
	done
}

@test "a bubblewrap that cannot work is asked once, and its own message is the reason" {
	mkdir "$SCRATCH/bin"
	printf '#!/bin/sh\necho "bwrap: not today" >&2\nexit 1\n' >"$SCRATCH/bin/bwrap"
	chmod +x "$SCRATCH/bin/bwrap"
	# Nothing of the host's shows that could have come and gone.
	run -125 --separate-stderr env PATH="$SCRATCH/bin:$PATH" "$CORDON" run -q -p strict \
		--protect guard --backend bwrap --fallback degrade true
	# shellcheck disable=SC2154 # run sets it
	assert_equal "$(grep -c 'not today' <<<"$stderr")" 1
	[[ $stderr == *"could not set up the boundary"*"message is above"* ]] || fail "$stderr"
}

# connects PATH BACKEND: what an attempt from inside says.
connects() {
	run --separate-stderr cordon run -q --backend "$2" --protect guard -- python3 -c '
import os, socket, sys
try:
    os.chmod(os.path.dirname(sys.argv[1]), 0o755)
except OSError:
    pass
try:
    socket.socket(socket.AF_UNIX).connect(sys.argv[1])
    print("connected")
except OSError as e:
    print("refused")' "$1"
}

# In a user namespace that knows uid 0 alone, root cannot come to it: neither bubblewrap nor
# the command.
@test "somebody else's socket in a closed directory is no reason to fail, and not reached" {
	is_root || skip "for root"
	mkdir "$SCRATCH/theirs"
	listen "$SCRATCH/theirs/socket"
	chown -R 12345 "$SCRATCH/theirs"
	chmod 700 "$SCRATCH/theirs"
	for backend in bwrap native; do
		connects "$SCRATCH/theirs/socket" $backend
		assert_equal "$status $output $stderr" "0 refused "
	done
}

@test "a socket in a directory that root has closed to itself is covered" {
	is_root || skip "for root"
	mkdir closed
	listen "$PWD/closed/socket"
	for backend in bwrap native; do
		chmod 0 closed
		connects "$PWD/closed/socket" $backend
		assert_equal "$status $output $stderr" "0 refused "
	done
}
