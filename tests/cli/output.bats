#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# --output: held wherever the output goes, and nobody notices it who keeps below.
load helper

# of_result JQ-EXPRESSION: true for what --result wrote.
of_result() {
	jq -e "$1" "$SCRATCH/r" >/dev/null || fail "not true of the result: $1" "$(cat "$SCRATCH/r")"
}

backends() {
	local backend
	for backend in native bwrap landlock; do
		cordon run -q --backend "$backend" --fallback degrade true ||
			must_or_skip "$backend does not work here"
		echo "$backend"
	done
}

needs_python() {
	command -v python3 >/dev/null || must_or_skip "no python3"
}

# has_children PID: a run without any has only its output left to deliver.
has_children() {
	[[ -n $(cat "/proc/$1/task/$1/children") ]]
}

@test "a limit of output holds for a pipe, to the byte" {
	local backend
	for backend in $(backends) passthrough; do
		run -0 --separate-stderr bash -c '"$@" | wc -c; echo "${PIPESTATUS[0]}"' - "$CORDON" run -q --result "$SCRATCH/r" \
			--backend "$backend" --fallback degrade --output 1K -- seq 1000
		[[ $stderr == *"it printed too much: --output 1K"* ]] || fail "$(outcome)"
		assert_output $'1024\n137'
		of_result '.cause == "output"'
	done
}

@test "a limit of output holds for files and devices, both streams together" {
	backends >/dev/null
	run -137 bash -c '"$0" run -q --output 1K -- seq 1000 >file' "$CORDON"
	assert_equal "$(wc -c <file)" 1024
	run -137 bash -c '"$0" run -q --timeout 60s --output 1K -- yes >/dev/null' "$CORDON"
	run -137 --separate-stderr bash -c \
		'"$0" run -q --output 1000 -- sh -c "head -c 600 /dev/zero; head -c 600 /dev/zero >&2"' \
		"$CORDON" >/dev/null
	run -0 bash -c '"$0" run -q --output 1K true >&-' "$CORDON"
	assert_output ""
	run -0 bash -c '"$0" run -q --output 1200 -- sh -c "head -c 600 /dev/zero >&2; exec head -c 600 /dev/zero" 2>&1 | wc -c' "$CORDON"
	assert_equal "$output" 1200
}

@test "a device that does not wait and takes nothing holds up no other limit" {
	backends >/dev/null
	needs_python
	python3 -c 'import os; os.eventfd' 2>/dev/null || must_or_skip "no eventfd in python3"
	run -124 --separate-stderr timeout -k 1 20 python3 -c 'import os, sys
fd = os.eventfd(2 ** 32 - 1, os.EFD_NONBLOCK)
os.write(fd, (2 ** 64 - 1 - 2 ** 32).to_bytes(8, "little"))
os.dup2(fd, 1)
os.execv(sys.argv[1], sys.argv[1:])' "$CORDON" run -q --output 1K --timeout 1s -- \
		sh -c 'printf "\001\0\0\0\0\0\0\0"; exec sleep 300'
	[[ $stderr == *"its time was up: --timeout 1s"* ]] || fail "$(outcome)"
}

@test "a full disk ends the run with its error, not with the command's own status" {
	backends >/dev/null
	[ -w /dev/full ] || must_or_skip "no /dev/full"
	run -125 --separate-stderr bash -c '"$0" run -q --output 1K -- sh -c "echo x; exit 0" >/dev/full' "$CORDON"
	[[ $stderr == *"cannot write the command's standard output: No space left"* ]] || fail "$(outcome)"
}

@test "a command that ended before its output was counted is named, too" {
	backends >/dev/null
	for _ in 1 2 3 4 5; do
		run -137 cordon run -q --json --output 1K -- seq 300
		run -0 bash -c '"$0" run -q --output 1K -- seq 300 2>/dev/null | cat >/dev/null
			echo "${PIPESTATUS[0]}"' "$CORDON"
		assert_equal "$output" 137
	done
}

@test "with a limit of output a pipe is a pipe: SIGPIPE, order, a slow reader" {
	backends >/dev/null
	run -0 bash -c '"$0" run -q --timeout 60s --output 1G -- yes | head -n 1; echo "${PIPESTATUS[0]}"' "$CORDON"
	assert_output $'y\n141'
	run -0 bash -c '"$0" run -q --output 1M -- sh -c "echo a; echo b >&2; echo c" 2>&1 | cat' "$CORDON"
	assert_output $'a\nb\nc'
	run -0 bash -c '"$0" run -q --output 1G -- seq 300000 | (sleep 0.5; cksum)' "$CORDON"
	assert_output "$(seq 300000 | cksum)"
	run -3 cordon run -q --output 1K -- sh -c 'exit 3'
}

@test "a command that does not write learns that its reader is gone" {
	needs_python
	backends >/dev/null
	run -0 bash -c '"$0" run -q --timeout 20s --output 1K -- python3 -c "
import select
poll = select.poll()
poll.register(1, 0)
poll.poll()" | true; echo "${PIPESTATUS[0]}"' "$CORDON"
	assert_output 0
}

@test "a reader that takes nothing does not stop the supervisor" {
	backends >/dev/null
	local lines_of
	# More than the pipes hold, and less: the command has ended then.
	for lines_of in 1000000 20000; do
		mkfifo "full$lines_of"
		exec 8<>"full$lines_of"
		run -124 bash -c '"$@" >"$0"' "full$lines_of" "$CORDON" run -q --result "$SCRATCH/r" \
			--timeout 1s --output 1G -- seq "$lines_of"
		exec 8>&-
		of_result '.cause == "timeout" and .undelivered'
	done
}

@test "a signal ends the wait for a reader that takes nothing" {
	backends >/dev/null
	mkfifo full
	exec 8<>full
	"$CORDON" run -q --result "$SCRATCH/r" --output 1G -- sh -c 'seq 20000; echo >ended' \
		8>&- 3>&- >full 2>"$SCRATCH/said" &
	local pid=$!
	until [[ -e ended ]] && ! has_children "$pid"; do sleep 0.05; done
	kill "$pid"
	local ended=0
	wait "$pid" || ended=$?
	exec 8>&-
	assert_equal "$ended" 143
	of_result '.undelivered and .signal == 15'
	grep -q "the end of the command's output is lost" "$SCRATCH/said" || fail "$(cat "$SCRATCH/said")"
}

@test "carried output: the caller's pipe keeps its flags; sockets; a pipe of another user" {
	needs_python
	backends >/dev/null
	run -0 python3 - "$CORDON" <<'EOF2'
import fcntl, os, socket, subprocess, sys, time

def start(stdout, *before):
    return subprocess.Popen([*before, sys.argv[1], "run", "-q", "--output", "1G", "--", "seq",
                             "100000"], stdout=stdout)

expected = b"".join(b"%d\n" % i for i in range(1, 100001))

def check(read, run):
    got = b""
    while piece := read(65536):
        got += piece
    assert got == expected and run.wait() == 0, (len(got), run.returncode)

ours, theirs = os.pipe()
flags = fcntl.fcntl(theirs, fcntl.F_GETFL)
run = start(theirs)
for _ in range(20):
    assert fcntl.fcntl(theirs, fcntl.F_GETFL) == flags
    time.sleep(0.01)
os.close(theirs)
check(lambda n: os.read(ours, n), run)

a, b = socket.socketpair()
run = start(b)
b.close()
time.sleep(0.2)
check(a.recv, run)

# What may not be written to cannot be opened again, nor by root without its right to all files.
ours, theirs = os.pipe()
os.fchmod(theirs, 0)
less = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
again = [*less, "sh", "-c", ": 2>/dev/null >/proc/self/fd/1"]
assert subprocess.run(again, stdout=theirs).returncode != 0
run = start(theirs, *less)
os.close(theirs)
time.sleep(0.2)
check(lambda n: os.read(ours, n), run)
EOF2
}

@test "who was given the command's end of its output is not waited for" {
	needs_python
	backends >/dev/null
	cat >hold.py <<-'EOF2'
	import os, socket
	s = socket.create_server("s", family=socket.AF_UNIX)
	os.close(os.open("listens", os.O_CREAT))
	c = s.accept()[0]
	held = socket.recv_fds(c, 1, 1)[1]
	assert len(held) == 1
	c.send(b"x")
	open("gone").read()
	EOF2
	cat >give.py <<-'EOF2'
	import os, socket
	s = socket.socket(socket.AF_UNIX)
	s.connect("s")
	socket.send_fds(s, [b"x"], [1])
	assert s.recv(1)
	left = 170000
	while left:
	    left -= os.write(1, b"x" * left)
	EOF2
	mkfifo gone
	python3 hold.py 3>&- >/dev/null 2>&1 &
	local stranger=$!
	until [[ -e listens ]]; do sleep 0.05; done
	# More than one pipe holds, less than two and what is under way: the command is gone first.
	run bash -c '"$@" | (sleep 1; wc -c); echo "${PIPESTATUS[0]}"' - "$CORDON" run -q --timeout 20s \
		--output 10M --allow-unix "$WORKDIR/s" -- python3 give.py
	kill -0 "$stranger" || fail "the stranger did not hold it" "$(outcome)"
	echo >gone
	wait "$stranger"
	assert_output $'170000\n0'
}

@test "a terminal that was stopped holds up no limit" {
	local backend
	for backend in native landlock bwrap; do
		cordon run -q --backend $backend --fallback degrade true ||
			must_or_skip "$backend does not work here"
		run -0 python3 - "$CORDON" $backend <<'EOF'
import pty, subprocess, sys, termios
_, terminal = pty.openpty()
termios.tcflow(terminal, termios.TCOOFF)
run = subprocess.Popen(
    [sys.argv[1], "run", "-q", "--backend", sys.argv[2], "--fallback", "degrade", "--output", "1M",
     "--timeout", "500ms", "--", "sh", "-c", "yes | head -c 300000; sleep 60"],
    stdin=subprocess.DEVNULL, stdout=terminal)
try:
    print(run.wait(20))
except subprocess.TimeoutExpired:
    run.kill()
    print("waits")
EOF
		[ "${lines[-1]}" = 124 ] || fail "$backend" "$output"
	done
}
