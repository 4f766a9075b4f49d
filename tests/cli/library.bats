#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The examples of docs/library.md do what it says; what libcordon starts is not for people.
load helper

setup() {
	CORDON_TEST_TMP=$(ground) cordon_setup
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	build=$(dirname "$(command -v "$CORDON")")
	mkdir "$HOME/.ssh" "$SCRATCH/elsewhere"
	echo key >"$HOME/.ssh/id_rsa"
	[ -e "$build/libcordon.so.0" ] || must_or_skip "no libcordon beside $CORDON"
	cordon run -q true 2>/dev/null || must_or_skip "no backend works here"
}

# compile NAME shared|static: docs/examples/NAME.c as $SCRATCH/NAME.
compile() {
	local flags=(-L"$build" -lcordon -Wl,-rpath,"$build")

	command -v cc >/dev/null || must_or_skip "no C compiler"
	is_static || skip "a sanitizer in the library only does not work"
	if [ "$2" = static ]; then
		flags=("$build/libcordon.a" -ljansson)
	fi
	cc -Wall -Wextra -Werror -I"$top/include" -o "$SCRATCH/$1" "$top/docs/examples/$1.c" \
		"${flags[@]}"
}

@test "C: run_shell" {
	compile run_shell shared
	run -0 "$SCRATCH/run_shell" 'echo out; echo err >&2'
	assert_output $'out\nerr\nexit code 0'
	run -1 "$SCRATCH/run_shell" 'exit 3'
	assert_output 'exit code 3'
	run -1 "$SCRATCH/run_shell" 'kill -KILL $$'
	assert_output 'ended by signal 9'
	run -1 "$SCRATCH/run_shell" 'cat ~/.ssh/id_rsa'
	assert_contains "refused: read $HOME/.ssh/id_rsa (rule: deny ~/.ssh (@secrets), a secret)"
	assert_contains " (warning: that gives a secret away)"
	refute_contains key
	run -1 "$SCRATCH/run_shell" "touch $SCRATCH/elsewhere/x"
	assert_contains "refused: write $SCRATCH/elsewhere/x"
	assert_contains "; ask the user for --allow-write $SCRATCH/elsewhere"
	echo 'no = such = thing' >.cordon.toml
	run -1 "$SCRATCH/run_shell" true
	assert_contains "not started: $WORKDIR/.cordon.toml"
}

# R4.4: the file counts, and what the program says stands above it.
@test "configuration files count" {
	compile run_shell shared
	mkdir -p "$HOME/.cordon"
	echo '[sandbox]
env.set.COLOUR = "blue"' >"$HOME/.cordon/config.toml"
	run -0 "$SCRATCH/run_shell" 'echo $COLOUR'
	assert_output $'blue\nexit code 0'
	echo '[sandbox]
default_profile = "no-such-profile"' >"$HOME/.cordon/config.toml"
	run -1 "$SCRATCH/run_shell" 'echo here'
	assert_contains no-such-profile
}

@test "C: follow" {
	compile follow shared
	run -2 "$SCRATCH/follow" </dev/null
	assert_contains "usage: follow COMMAND"
	run -3 "$SCRATCH/follow" "echo going; touch $SCRATCH/elsewhere/x 2>&-; exit 3" </dev/null
	assert_contains going
	assert_contains "refused: write $SCRATCH/elsewhere/x"
	mkfifo "$SCRATCH/button" "$SCRATCH/seen"
	"$SCRATCH/follow" 'echo going; sleep 1000' <"$SCRATCH/button" >"$SCRATCH/seen" 3>&- &
	local pid=$! line
	exec 8>"$SCRATCH/button" 9<"$SCRATCH/seen"
	read -r -u 9 line
	[ "$line" = going ] || fail "$line"
	echo >&8
	local status=0
	wait "$pid" || status=$?
	exec 8>&- 9<&-
	[ "$status" = 143 ] || fail "cancelled, and ended with $status"
}

# Beside a program that it was linked into, the library looks for nothing: a command that
# can write there would be its own supervisor.
@test "C: the static library does not take a cordon that lies about" {
	compile run_shell static
	printf '#!/bin/sh\necho taken >%s/taken\n' "$SCRATCH" >"$SCRATCH/cordon"
	chmod +x "$SCRATCH/cordon"
	cd "$SCRATCH" || fail
	PATH=$SCRATCH:$PATH run "$SCRATCH/run_shell" 'echo out'
	refute_file "$SCRATCH/taken"
}

@test "Python: ctypes" {
	is_static || skip "a sanitizer in the library only does not work"
	LIBCORDON=$build/libcordon.so.0 run -1 python3 "$top/docs/examples/libcordon.py" \
		'printf "a\0b" | tr "\0" -; exit 3'
	assert_contains "exited 3"
	LIBCORDON=$build/libcordon.so.0 run -1 python3 "$top/docs/examples/libcordon.py" \
		"touch $SCRATCH/elsewhere/x"
	assert_contains "refused: write $SCRATCH/elsewhere/x - --allow-write $SCRATCH/elsewhere"
	echo 'no = such = thing' >.cordon.toml
	LIBCORDON=$build/libcordon.so.0 run -1 python3 "$top/docs/examples/libcordon.py" true
	assert_contains .cordon.toml
	refute_contains Traceback
}

@test "cordon --supervise by hand" {
	run -125 cordon --supervise
	assert_contains "for libcordon"
	run -125 cordon --supervise 3</dev/null
	assert_contains "for libcordon"
}

# What talks to the supervisor may be anything: it ends, with an answer or without.
@test "cordon --supervise and nonsense" {
	python3 - "$CORDON" <<-'PYTHON' || fail "see above"
		import os, random, shutil, socket, struct, subprocess, sys

		cordon = shutil.which(sys.argv[1])

		def frame(kind, body):
		    return struct.pack("=II", kind, len(body)) + body

		def ask(data):
		    ours, theirs = socket.socketpair()

		    def place():
		        os.dup2(theirs.fileno(), 3)
		        os.set_inheritable(3, True)

		    done = subprocess.Popen([cordon, "--supervise"], close_fds=False,
		                            stdin=subprocess.DEVNULL, preexec_fn=place)
		    theirs.close()
		    try:
		        ours.sendall(data)
		        ours.shutdown(socket.SHUT_WR)
		    except OSError:
		        pass
		    got = b""
		    while chunk := ours.recv(65536):
		        got += chunk
		    assert done.wait(20) >= 0, (data, done.returncode)
		    assert b"1 " in got[:16], got[:32]
		    return got

		assert b"a request was expected" in ask(frame(2, b""))
		assert b"unknown kind" in ask(frame(77, b""))
		assert b"do not end" in ask(frame(1, b"run"))
		assert b"at most" in ask(struct.pack("=II", 1, 1 << 30))
		assert b"does not do that" in ask(frame(1, b"doctor\0"))
		assert b"no command" in ask(frame(1, b"run\0"))
		random.seed(1)
		for _ in range(30):
		    ask(random.randbytes(random.randrange(200)))
		    ask(frame(1, random.randbytes(random.randrange(50)) + b"\0"))
	PYTHON
}
