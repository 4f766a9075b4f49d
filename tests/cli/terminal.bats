#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# cordon in a terminal: what is typed there reaches the command.
load helper

# in_terminal TEXT COMMAND...: runs COMMAND in a terminal of its own, types TEXT when it
# has said "up", and prints "STATUS SECONDS" after what it wrote.
in_terminal() {
	python3 - "$@" <<-'PY'
	import os, pty, sys, time
	text, command = sys.argv[1], sys.argv[2:]
	pid, master = pty.fork()
	if pid == 0:
	    os.execvp(command[0], command)
	said, typed = bytearray(), 0
	while True:
	    try:
	        got = os.read(master, 4096)
	    except OSError:
	        break
	    if not got:
	        break
	    said += got
	    if not typed and b"up" in said:
	        typed = time.monotonic()
	        os.write(master, text.encode())
	status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
	print(said.decode().replace("\r", ""), status, int(time.monotonic() - typed))
	PY
}

works() {
	command -v python3 >/dev/null || must_or_skip "no python3"
	cordon run -q --backend "$1" true || must_or_skip "$1 does not work here"
}

interrupt() {
	# Not before sleep runs: a shell that is about to start it takes the signal alone.
	run -0 in_terminal $'\x03' "$@" sh -c \
		'(until grep -qsx sleep /proc/[0-9]*/comm; do :; done; echo up) & sleep 9; echo done'
	refute_contains done
	assert_matches ' (130|-2) [0-3]$' # as a number from bubblewrap, else as what it was
}

handled() {
	run -0 in_terminal $'\x03' "$@" sh -c \
		'trap "echo caught; exit 5" INT; echo up; read x; echo not'
	assert_matches $'caught\n 5 [0-3]$'
}

@test "what the terminal shows is searched for complaints, to its end" {
	works native
	mkdir "$HOME/.ssh"
	echo secret >"$HOME/.ssh/id_rsa"
	run -0 in_terminal '' "$CORDON" run --backend native -- \
		sh -c 'echo up; cat "$0"; seq 3000' "$HOME/.ssh/id_rsa"
	assert_contains "probably refused: reading $HOME/.ssh/id_rsa"
	run -0 in_terminal '' "$CORDON" run --backend native --report none -- \
		sh -c 'echo up; cat "$0"' "$HOME/.ssh/id_rsa"
	refute_contains "refused"
	# Only the end of it is kept.
	run -0 in_terminal '' "$CORDON" run --backend native -- \
		sh -c 'echo up; cat "$0"; seq 30000' "$HOME/.ssh/id_rsa"
	refute_contains "refused"
}

# Input or output is a pipe or a file, and the command asks the terminal.
asks() {
	works native
	run -0 in_terminal $'hello\n' timeout --foreground 60 sh -c "$1" "$CORDON"
	assert_contains "got hello"
	assert_matches ' 0 [0-9]+$'
}

@test "keys reach a command that reads a pipe" {
	asks 'seq 3 | "$0" run -q --backend native -- sh -c "echo up; read x </dev/tty; echo got \$x"'
}

@test "keys reach a command that reads a file and writes a pipe" {
	asks '"$0" run -q --backend native -- sh -c "echo up; read x </dev/tty; echo got \$x" </dev/null | cat'
}

@test "keys reach a command that takes them one by one, behind a pipe" {
	asks 'seq 3 | "$0" run -q --backend native -- python3 -c "
import os, select, termios, tty
fd = os.open(\"/dev/tty\", os.O_RDWR)
tty.setcbreak(fd)
print(\"up\", flush=True)
text = b\"\"
while not text.endswith(b\"\n\"):
    select.select([fd], [], [])
    text += os.read(fd, 1)
print(\"got\", text.decode())
"'
}

@test "keys stay with who is before the command in the pipe" {
	works native
	run -0 in_terminal $'hello\n' sh -c \
		'sh -c "echo up >&2; read x </dev/tty; echo \$x" | "$0" run -q --backend native -- sed "s/^/got /"' \
		"$CORDON"
	assert_contains "got hello"
}

@test "Ctrl-C ends what the command waits for, native" {
	works native
	interrupt "$CORDON" run -q --backend native
}

@test "Ctrl-C ends what the command waits for, bubblewrap" {
	works bwrap
	interrupt "$CORDON" run -q --backend bwrap
}

@test "Ctrl-C is the command's to handle, native" {
	works native
	handled "$CORDON" run -q --backend native
}

@test "Ctrl-C is the command's to handle, bubblewrap" {
	works bwrap
	handled "$CORDON" run -q --backend bwrap
}

@test "Ctrl-C for a plain user" {
	is_root || skip "the other tests are for this user"
	works native
	command -v setpriv >/dev/null || must_or_skip "no setpriv"
	chown -R 65534:65534 "$SCRATCH"
	cp "$CORDON" "$SCRATCH/cordon"
	local backend
	for backend in native bwrap; do
		interrupt setpriv --reuid 65534 --regid 65534 --clear-groups "$SCRATCH/cordon" \
			run -q --backend "$backend"
	done
}

@test "a limit of output holds on a terminal, when it was asked for" {
	local backend
	for backend in native bwrap landlock; do
		cordon run -q --backend "$backend" --fallback degrade true ||
			must_or_skip "$backend does not work here"
		run -0 in_terminal '' "$CORDON" run -q --backend "$backend" --fallback degrade \
			--output 64K -- sh -c 'echo up; exec yes'
		assert_contains "it printed too much: --output 64K"
		assert_matches ' 137 [0-9]+$'
	done
	echo '[sandbox]
default_profile = "mine"
[sandbox.profiles.mine]
extends = "moderate"
limits = { output = "32K" }' >"$SCRATCH/config.toml"
	mkdir -m 700 "$HOME/.cordon"
	cp "$SCRATCH/config.toml" "$HOME/.cordon/"
	run -0 in_terminal '' "$CORDON" run -q -- sh -c 'echo up; exec yes'
	assert_contains "it printed too much: limits.output 32K"
	assert_matches ' 137 [0-9]+$'
}

@test "the profile's limit of output is not for a terminal" {
	works native
	run -0 in_terminal '' "$CORDON" run -q -- sh -c \
		'echo up; dd if=/dev/zero bs=1M count=17 2>/dev/null | tr "\\0" "\\15"; echo end'
	assert_matches $'end\n 0 [0-9]+$'
}

@test "output to a terminal that is the command's own is not counted, and that is said" {
	works native
	mkdir -m 700 "$HOME/.cordon"
	printf '[sandbox.profiles.mine]\nextends = "moderate"\nnew_session = false\n' \
		>"$HOME/.cordon/config.toml"
	run -0 in_terminal '' "$CORDON" run -q -p mine --output 1K -- \
		sh -c 'echo up; seq 1000'
	assert_contains "limits.output is not held for standard output, a terminal"
	assert_matches $'\n1000\n 0 '
}

@test "JSON in a terminal is plain ASCII" {
	local name=$'a\x7f\u009b31m\u202e'
	touch "$name"
	run -0 in_terminal '' "$CORDON" explain --json --read "$name"
	assert_contains '/a\u007f\u009B31m\u202E"'
	[[ $output != *[$'\x7f\u009b\u202e']* ]] || fail "came through" "$(outcome)"
	run -0 cordon explain --json --read "$name"
	assert_contains "$name"
}

# Longer than the grace: only time can tell that nothing happens.
@test "an interrupt ends nothing by force where there is a terminal" {
	mkfifo up
	# shellcheck disable=SC2016 # for the shells inside
	printf '%s\n' 'trap "sleep 3; exit 7" INT; echo >up; while :; do sleep 0.1; done' >script
	printf '%s\n' 'echo $$ >pid; exec "$CORDON" run -q -- sh script' >start
	CORDON=$CORDON interruptible script -qec 'sh start' /dev/null >shown </dev/null 3>&- &
	read -r <up
	kill -INT "$(cat pid)"
	status=0
	wait $! || status=$?
	assert_status 7
}
