#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# cordon run: streams, exit status, what it says.
load helper

needs_backend() {
	cordon run -q true 2>/dev/null || must_or_skip "no backend works here"
}

@test "exit status of the command is kept" {
	needs_backend
	local status_wanted
	for status_wanted in 0 1 2 3 100 125 126 127 255; do
		run "-$status_wanted" cordon run -q sh -c "exit $status_wanted"
	done
}

@test "a signal gives 128 plus its number" {
	needs_backend
	run cordon run -q sh -c 'kill -TERM $$'
	assert_status 143
	run cordon run -q sh -c 'kill -KILL $$'
	assert_status 137
}

@test "a word of the shell's own is said to be that" {
	run --separate-stderr -127 cordon run cd sub
	[[ $stderr == *"cd is a shell's own word"*"-C DIR"* ]] || fail "not said" "$stderr"
	run --separate-stderr -127 cordon run source x
	[[ $stderr == *"use sh -c 'source ...'"* && $stderr != *"-C DIR"* ]] || fail "not said" "$stderr"
}

@test "not found is 127, not executable 126, and nothing else is run" {
	needs_backend
	run -127 --separate-stderr cordon run -q no-such-program-anywhere
	[[ $stderr == *"no-such-program-anywhere"* ]] || fail "not named" "$(outcome)"
	echo text >plain
	run -126 cordon run -q ./plain
	run -127 cordon run -q ./absent
	refute_contains blanks
}

@test "a command line given as one word: the hint says how to write it" {
	needs_backend
	local word
	for word in 'echo hi' './tool --flag'; do
		run -127 cordon run "$word"
		assert_contains "one word with blanks in it: write the words apart, or use sh -c"
	done
	run -0 cordon run -q sh -c 'echo hi'
	assert_output hi
	# Such a name is a name like any other.
	printf '#!/bin/sh\necho ran\n' >'a tool'
	chmod +x 'a tool'
	run -0 cordon run -q './a tool'
	assert_output ran
}

@test "time out is 124 and one sentence" {
	needs_backend
	run -124 --separate-stderr cordon run --timeout 200ms sleep 30
	[[ $stderr == *"its time was up: --timeout 200ms"* ]] || fail "no sentence" "$(outcome)"
	run -124 --separate-stderr cordon run -q --timeout 200ms sleep 30
	assert_equal "$stderr" "cordon: the command was ended because its time was up: --timeout 200ms"
}

@test "the sentence on a limit names who set it" {
	needs_backend
	mkdir -p "$HOME/.cordon"
	printf '[sandbox]\nlimits = { timeout = "200ms" }\n' >"$HOME/.cordon/config.toml"
	run -124 --separate-stderr cordon run -q sleep 30
	[[ $stderr == *": limits.timeout 200ms, from $HOME/.cordon/config.toml:2" ]] ||
		fail "no place" "$(outcome)"
}

@test "hints name what works" {
	needs_backend
	run -125 --separate-stderr cordon run --backend bwrap --allow-network=example.com true
	[[ $stderr == *"only --backend native can let listed hosts be reached"* || $stderr == *install* ]] ||
		fail "hosts" "$(outcome)"
	run --separate-stderr cordon run --deny '*.pem' true
	[[ $status -eq 0 || $stderr == *"hint: "*"name the paths"* ]] || fail "glob" "$(outcome)"
}

@test "what a grant is to make need not be there, what a file for many projects names neither" {
	needs_backend
	mkdir "$HOME/.cordon"
	printf '[sandbox]\ndeny = ["/opt/absent-deny"]\nread = ["/opt/absent-read"]\n' \
		>"$HOME/.cordon/config.toml"
	run -0 --separate-stderr cordon run --allow-write "$WORKDIR/.claude" true
	[[ $stderr != *"nothing is there now"* ]] || fail "warned" "$(outcome)"
	run -0 --separate-stderr cordon run --allow-read "$WORKDIR/absent" true
	[[ $stderr == *"--allow-read: read $WORKDIR/absent: nothing is there now"* ]] ||
		fail "not warned" "$(outcome)"
}

@test "-q does not hide the loss of what is required" {
	command -v bwrap >/dev/null || must_or_skip "no bwrap"
	local flags=(--backend bwrap --fallback degrade --allow-network=example.com)
	run -0 --separate-stderr cordon run -q "${flags[@]}" true
	# bubblewrap says it if something of others' is gone before it is covered; it is tried again.
	[[ ${stderr_lines[0]} == "cordon: not enforced by "*": network (REQUIRED)" ]] ||
		fail "hidden" "$(outcome)"
	run -0 --separate-stderr cordon run --report output "${flags[@]}" true
	[[ $stderr == *"network (REQUIRED), "*report* ]] || fail "not said" "$(outcome)"
}

@test "who chose to run without a backend is said" {
	run -0 --separate-stderr cordon run -q --backend passthrough true
	assert_equal "$stderr" "cordon: running WITHOUT confinement (--backend passthrough)"
	mkdir -p "$HOME/.cordon"
	echo 'sandbox.backend = "passthrough"' >"$HOME/.cordon/config.toml"
	run -0 --separate-stderr cordon run -q true
	assert_equal "$stderr" \
		"cordon: running WITHOUT confinement (backend passthrough, from $HOME/.cordon/config.toml:1)"
}

@test "streams are passed through untouched" {
	needs_backend
	head -c 300000 /dev/urandom >in
	cordon run -q cat <in >out
	cmp in out
	run -0 --separate-stderr cordon run -q sh -c 'echo out; echo err >&2'
	assert_output out
	assert_equal "$stderr" err
}

@test "files that are standard streams may be opened again in the way they are open" {
	needs_backend
	echo given >"$HOME/in"
	cordon run -q sh -c 'cat /dev/stdin; echo out | tee /dev/stderr >/dev/null' \
		<"$HOME/in" >"$HOME/out" 2>"$HOME/err"
	assert_equal "$(cat "$HOME/out" "$HOME/err")" "given"$'\n'"out"
	# Reading gives no writing, and appending no writing anywhere else.
	run -2 cordon run -q sh -c 'echo no >/proc/self/fd/0' <"$HOME/in"
	assert_equal "$(cat "$HOME/in")" given
	for profile in moderate strict shell; do
		echo kept >"$HOME/log"
		cordon run -q -p $profile sh -c 'echo more >/dev/stdout' >>"$HOME/log"
		assert_equal "$(cat "$HOME/log")" kept$'\n'more
	done
}

@test "a descriptor that is not passed on is said" {
	needs_backend
	run -1 --separate-stderr bash -c '"$0" run cat <(echo hi)' "$CORDON"
	[[ $stderr == "cordon: warning: '/dev/fd/"*"is not passed on"* ]] || fail "not said" "$(outcome)"
	run -0 --separate-stderr cordon run bash -c 'cat <(echo hi) /dev/fd/0' </dev/null
	assert_output hi
	assert_equal "$stderr" ""
}

# As where executing is limited.
@test "output that is carried to a file keeps order and place, and a full disk is said" {
	needs_backend
	echo before >out
	bash -c 'for i in 1 2; do
		"$0" run -q -p shell -- sh -c "echo o; echo e >&2; echo p; exec head -c 100000 /dev/zero"
	done >>out 2>&1; echo after >>out' "$CORDON"
	assert_equal "$(tr -d '\0' <out | tr '\n' ' ')" "before o e p o e p after "
	assert_equal "$(stat -c %s out)" 200025
	echo "a longer text" >both
	cordon run -q -p shell -- sh -c 'printf XY' 1<>both
	assert_equal "$(cat both)" "XYlonger text"
	run -137 bash -c '"$0" run -q -p shell --file-size 5000 yes >big' "$CORDON"
	assert_contains "file's size"
	assert_equal "$(stat -c %s big)" 5000
	run -137 bash -c '"$0" run -q -p shell --output 5000 yes >big 2>&1; s=$?; tail -n 1 big; exit $s' "$CORDON"
	assert_contains "printed too much"
	refute_contains "is not held"
	# A disk is full where the caller's own limit ends, too.
	run -125 bash -c 'ulimit -f 4; "$0" run -q -p shell yes >full' "$CORDON"
	assert_contains "cannot write the command's standard output: File too large"
	run -125 bash -c 'ulimit -f 4; "$0" run -q -p shell head -c 9000 /dev/zero >full' "$CORDON"
}

@test "a recipe of make may open its standard output again" {
	needs_backend
	command -v make >/dev/null || must_or_skip "no make"
	printf 'all:\n\t@echo first\n\t@printf "b\\na\\n" | "$(CORDON)" run -q sort -o /dev/stdout\n\t@echo last\n' >Makefile
	CORDON="$CORDON" make >"$HOME/log"
	assert_equal "$(tr '\n' ' ' <"$HOME/log")" "first a b last "
}

@test "TERM, HUP and, without a terminal, INT are followed by the end of everything" {
	needs_backend
	local sig pid
	for sig in TERM HUP INT; do
		mkfifo up
		interruptible "$CORDON" run -q -- sh -c \
			'trap "" TERM HUP INT; setsid sleep 600 & echo >up; while :; do sleep 1; done' \
			</dev/null >out 2>&1 &
		pid=$!
		read -r <up
		kill -$sig $pid
		status=0
		wait $pid || status=$?
		assert_status 137
		rm up
	done
}

@test "a command that runs has its grace, however late init hears of it" {
	cordon run -q --backend native true 2>/dev/null || must_or_skip "native does not work here"
	run -0 timeout 60 python3 - "$CORDON" <<-'EOF'
	import os, signal, subprocess, sys
	def words(path):
	    try:
	        return open(path).read().split()
	    except OSError:
	        return []
	def children(pid):
	    return [int(p) for p in words(f"/proc/{pid}/task/{pid}/children")]
	def is_init(pid):
	    said = words(f"/proc/{pid}/status")
	    return "NSpid:" in said and said[said.index("NSpid:") + 2:][:1] == ["1"]
	os.mkfifo("up")
	for _ in range(10):
	    run = subprocess.Popen([sys.argv[1], "run", "-q", "--backend", "native", "--", "sh", "-c",
	        'trap "echo asked; exit" TERM; : >up; while :; do sleep 0.01; done'],
	        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
	    # Init waits for its child to execute, and does not get to run after that.
	    while not (init := [p for p in children(run.pid) if is_init(p) and children(p)]):
	        pass
	    os.kill(init[0], signal.SIGSTOP)
	    open("up").close()
	    run.send_signal(signal.SIGTERM)
	    asked = run.stdout.read(6)
	    os.kill(init[0], signal.SIGCONT)
	    run.wait()
	    assert asked == b"asked\n", (asked, run.returncode)
	EOF
}

@test "what the mechanism cannot do is said in one line, and -q silences it" {
	needs_backend
	run -0 --separate-stderr cordon run --backend bwrap --report all true
	assert_equal "${#stderr_lines[@]}" 1
	[[ $stderr == "cordon: not enforced by bwrap: "*report* ]] || fail "not said" "$(outcome)"
	run -0 --separate-stderr cordon run -q --backend bwrap --report all true
	[ -z "$stderr" ] || fail "-q still speaks" "$(outcome)"
}

@test "running without confinement is always said" {
	run -0 --separate-stderr cordon run --no-sandbox true
	assert_equal "$stderr" "cordon: running WITHOUT confinement (--no-sandbox)"
	run -0 --separate-stderr cordon run -q --no-sandbox true
	assert_equal "$stderr" "cordon: running WITHOUT confinement (--no-sandbox)"
	run -0 --separate-stderr cordon run -q --mode rwx true
	assert_equal "$stderr" "cordon: running WITHOUT confinement (mode rwx)"
	mkdir -p "$HOME/.cordon"
	echo 'sandbox.enabled = false' >"$HOME/.cordon/config.toml"
	run -0 --separate-stderr cordon run -q true
	assert_equal "$stderr" "cordon: running WITHOUT confinement (enabled = false)"
	needs_backend
	run -0 --separate-stderr cordon run -q --sandbox true
	[ -z "$stderr" ] || fail "--sandbox should confine" "$(outcome)"
}

@test "what a sandbox is for" {
	needs_backend
	mkdir "$HOME/.ssh"
	echo key >"$HOME/.ssh/id"
	run cordon run -q cat "$HOME/.ssh/id"
	[ "$status" -ne 0 ] || fail "a secret was read" "$(outcome)"
	refute_contains key
	run cordon run -q sh -c 'echo x >"$HOME/.bashrc"'
	refute_file "$HOME/.bashrc"
	run -0 cordon run -q sh -c 'echo fine >made'
	assert_file made
	run -0 cordon run -q --allow-read "$HOME/.ssh/id" --allow-exec "$HOME/.ssh/id" \
		cat "$HOME/.ssh/id"
	assert_output key
}

# connect PORT OPTION...: prints what a server on the loopback says to the command.
connect() {
	local port=$1
	shift
	cordon run -q "$@" bash -c "exec 3<>/dev/tcp/127.0.0.1/$port && head -c 7 <&3"
}

@test "the network is away, and there when it is allowed" {
	needs_backend
	local port away allowed
	coproc server { exec python3 -uc 'import socket
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1])
while True: s.accept()[0].sendall(b"reached")' 3>&-; }
	read -r port <&"${server[0]}"
	away=$(connect "$port" 2>&1) || away="refused: $away"
	allowed=$(connect "$port" --allow-network 2>&1) || true
	kill "$server_PID"
	[[ $away == "refused: "* ]] || fail "connected: $away"
	assert_equal "$allowed" reached
}

@test "a bwrap of the workdir is not used" {
	command -v bwrap >/dev/null || must_or_skip "no bwrap"
	mkdir bin
	printf '#!/bin/sh\ntouch "%s/ran"\n' "$SCRATCH" >bin/bwrap
	chmod +x bin/bwrap
	# It would be, were it found: nothing else in the PATH is called so.
	run env PATH="$WORKDIR/bin" "$CORDON" run -q --backend bwrap /bin/true
	assert_status 125
	run env PATH="$WORKDIR/bin:$PATH" "$CORDON" run -q --backend bwrap /bin/true
	refute_file "$SCRATCH/ran"
}

@test "opening a secret is warned about" {
	mkdir "$HOME/.ssh"
	run -0 --separate-stderr cordon run --dry-run --fallback degrade --allow-read "$HOME/.ssh" true
	[[ $stderr == *"warning: "*"opens a secret"* ]] || fail "no warning" "$(outcome)"
	run -0 --separate-stderr cordon run -q --dry-run --fallback degrade --allow-read "$HOME/.ssh" true
	[ -z "$stderr" ] || fail "-q still speaks" "$(outcome)"
}

@test "a socket that leads out of the sandbox is warned about, another is not" {
	local name
	for name in docker.sock bus plain; do
		python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$name"
		run -0 --separate-stderr cordon run --dry-run --fallback degrade --allow-unix "$PWD/$name" true
		case $name in
		plain) [[ $stderr != *warning* ]] || fail "a warning" "$(outcome)" ;;
		*) [[ $stderr == *"warning: --allow-unix: unix $PWD/$name leads out of the sandbox"* ]] ||
			fail "no warning" "$(outcome)" ;;
		esac
	done
	mkdir -m 700 -p "$HOME/.cordon"
	printf '[sandbox]\nunix = ["%s"]\n' "$PWD/docker.sock" >"$HOME/.cordon/config.toml"
	run -0 --separate-stderr cordon run --dry-run --fallback degrade true
	[[ $stderr == *"warning: "*"config.toml:2"*"leads out"* ]] || fail "no warning" "$(outcome)"
}

# On the other backends root has no rights over them (docs/backends.md).
@test "files of other users in the workdir stay editable for root, and theirs" {
	is_root || skip "a user edits his own"
	install -o 4321 -g 4322 -m 640 /dev/null theirs
	run -0 cordon run -q --backend native -- sh -c 'echo one >theirs; echo two >>theirs'
	assert_equal "$(stat -c '%u %g %a' theirs) $(tr '\n' ' ' <theirs)" "4321 4322 640 one two "
}

@test "the spellings of R4.6" {
	needs_backend
	mkdir ../extra
	run -0 cordon run -q --sandbox --sandbox-profile moderate --sandbox-allow-write ../extra \
		sh -c 'echo x >../extra/made'
	assert_file ../extra/made
	run -0 cordon run --dry-run --sandbox-allow-network true
	refute_contains unshare-net
	run -0 cordon run --dry-run true
	assert_contains unshare-net
}

@test "--dry-run prints the plan and runs nothing" {
	run -0 --separate-stderr cordon run --dry-run touch ran
	refute_file ran
	assert_contains "bind-rw         $WORKDIR"
	local plan=$output
	run -0 --separate-stderr cordon policy render
	assert_output "$plan"
	run -0 --separate-stderr cordon run --dry-run --json touch ran
	assert_json '.profile == "moderate" and (.operations | length > 10)'
	refute_file ran
}

@test "--on-violation fail and kill are refused where nothing observes" {
	needs_backend
	run -0 cordon run -q --on-violation report true
	local how
	for how in fail kill; do
		run -125 --separate-stderr cordon run --backend bwrap --on-violation $how touch ran
		[[ $stderr == *"does not observe refused actions"* ]] || fail "not said" "$(outcome)"
		refute_file ran
		run -125 --separate-stderr cordon run --report none --on-violation $how touch ran
		[[ $stderr == *"--on-violation $how needs refused actions to be seen, and report is \"none\""* ]] ||
			fail "not said" "$(outcome)"
		refute_file ran
	done
}

@test "8,000 arguments" {
	needs_backend
	local -a many
	mapfile -t many < <(seq 8000)
	run -0 --separate-stderr cordon run -q sh -c 'echo $#' - "${many[@]}"
	assert_output 8000
}

@test "arguments and paths that are not UTF-8" {
	needs_backend
	local name=$'caf\xe9 *?[x]{workdir}\n'
	mkdir "$name"
	run -0 --separate-stderr cordon run -q printf %s "$name"
	[ "$output" = "$name" ] || [ "$output" = "${name%$'\n'}" ] || fail "changed" "$(outcome)"
	cordon run -q -C "$name" sh -c 'echo inside >made'
	assert_file "$name/made"
	run -0 cordon run -C "$name" --dry-run true
	assert_contains 'caf\xe9 *?[x]{workdir}\n'
	run -0 cordon run -q --json sh -c 'printf "\351\\"'
	assert_json '.escaped == true and .stdout == "\\xe9\\\\"'
}

@test "HOME unset, relative, missing or a link" {
	needs_backend
	mkdir "$HOME/.ssh"
	echo key >"$HOME/.ssh/id"
	ln -s "$HOME" "$SCRATCH/link"
	run env -u HOME "$CORDON" run -q true
	assert_success
	# Not a place: the passwd file is asked instead.
	run -0 env HOME=relative "$CORDON" run -q --dry-run true
	refute_contains relative
	run env HOME="$SCRATCH/missing" "$CORDON" run -q true
	assert_success
	run env HOME="$SCRATCH/link" "$CORDON" run -q cat "$SCRATCH/link/.ssh/id"
	[ "$status" -ne 0 ] || fail "read through the link" "$(outcome)"
	run env HOME="$SCRATCH/link" "$CORDON" run -q cat "$HOME/.ssh/id"
	[ "$status" -ne 0 ] || fail "read by its real name" "$(outcome)"
	refute_contains key
}

@test "a workdir that is deleted, unreadable, the root or the home directory" {
	needs_backend
	mkdir gone
	run -125 bash -c 'cd gone && rmdir ../gone && "$1" run -q touch ran' - "$CORDON"
	(cd / && run -125 cordon run -q true)
	run -125 bash -c 'cd / && "$1" run -q true' - "$CORDON"
	assert_contains --workdir
	run -125 bash -c 'cd "$HOME" && "$1" run -q touch ran' - "$CORDON"
	assert_contains --workdir
	refute_file "$HOME/ran"
	run -0 cordon run -q -C "$HOME" touch ran
	assert_file "$HOME/ran"
	run -125 cordon run -q -C ./absent true
	echo file >file
	run -125 cordon run -q -C ./file true
	if ! is_root; then
		mkdir closed && chmod 000 closed
		local mode backend
		for mode in 000 400 100; do
			chmod $mode closed
			for backend in native bwrap landlock; do
				run -125 cordon run -q --backend $backend -C closed touch /tmp/ran
				assert_contains "workdir $WORKDIR/closed: Permission denied"
				assert_contains "hint: nothing could work there"
			done
		done
		chmod 755 closed
	fi
}

@test "-C decides what relative means" {
	needs_backend
	mkdir sub
	run -0 cordon run -q -C sub sh -c 'pwd; touch made'
	assert_output "$WORKDIR/sub"
	assert_file sub/made
}

@test "the sandbox's variables do nothing to bubblewrap, which is outside" {
	command -v cc >/dev/null || must_or_skip "no C compiler"
	cordon run -q --backend bwrap true || must_or_skip "bubblewrap does not work here"
	cat >evil.c <<-'C'
	#include <fcntl.h>
	__attribute__((constructor)) static void run(void)
	{
		open("../outside", O_CREAT | O_WRONLY, 0600);
	}
	C
	cc -shared -fPIC -o evil.so evil.c
	run -0 cordon run -q --backend bwrap --env "LD_PRELOAD=$WORKDIR/evil.so" sh -c 'echo "$LD_PRELOAD"'
	assert_output "$WORKDIR/evil.so"
	refute_file "$SCRATCH/outside"
	run -0 cordon run -q --backend bwrap --env EMPTY= --env 'ODD=a=b c' sh -c 'echo "[$EMPTY][$ODD]"'
	assert_output "[][a=b c]"
}

@test "--tmp-size holds for /dev/shm, too" {
	cordon run -q --backend native true || must_or_skip "native does not work here"
	run cordon run -q --backend native --tmp-size 8M \
		sh -c 'head -c 32M /dev/zero >/dev/shm/file; stat -c %s /dev/shm/file'
	assert_contains "No space left on device"
	assert_contains $'\n8388608'
	run -0 cordon run -q --backend native --tmp-size 8M head -c 4 /dev/zero
}

@test "--keyring gives the caller's keyring, and only that does" {
	cordon run -q --backend native true || must_or_skip "native does not work here"
	command -v cc >/dev/null || must_or_skip "no C compiler"
	cat >keyring.c <<-'C'
	#include <linux/keyctl.h>
	#include <sys/syscall.h>
	#include <unistd.h>
	int main(void)
	{
		return syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 1) < 0;
	}
	C
	cc -o keyring keyring.c
	./keyring || must_or_skip "no keyrings here"
	run -1 cordon run -q --backend native ./keyring
	run -0 cordon run -q --backend native --keyring ./keyring
}

@test "a program in a place that the sandbox has for itself is explained" {
	needs_backend
	local program backend
	program=$(mktemp /tmp/cordon-bats-program.XXXXXX)
	printf '#!/bin/sh\necho ran\n' >"$program"
	chmod 755 "$program"
	ln -s "$program" link
	for backend in native bwrap; do
		run -127 --separate-stderr cordon run --backend "$backend" "$program"
		[[ $stderr == *"hint: the sandbox has its own /tmp;"* ]] || fail "no hint" "$(outcome)"
		run -127 cordon run --backend "$backend" ./link
	done
	run -0 cordon run -q --allow-read "$program" "$program"
	assert_output ran
	run -0 cordon run -q --tmp shared "$program"
	run -0 cordon run -q --backend passthrough "$program"
	rm "$program"
	[ -L /bin ] || return 0
	run -127 --separate-stderr cordon run -p custom --allow-read /usr --allow-exec /usr/bin /bin/pwd
	[[ $stderr == *"hint: the sandbox does not show it; --allow-read /bin" ]] || fail "no hint" "$(outcome)"
}

@test "the hint of -p custom leads to a command that works" {
	run -125 --separate-stderr cordon run -q -p custom -- true
	[[ $stderr =~ (--allow-read [@a-z-]+ --allow-exec [@a-z-]+) ]] || fail "no hint" "$(outcome)"
	# shellcheck disable=SC2086 # two flags and their values
	run -0 cordon run -q -p custom ${BASH_REMATCH[1]} -- true
}

@test "what the command leaves running is ended, and that is said" {
	local backend
	for backend in native landlock; do
		run -3 --separate-stderr cordon run --backend $backend --fallback degrade -- \
			sh -c "sleep 1000.$$ & exit 3"
		[[ $stderr == *"1 process that the command left running was ended"* ]] ||
			fail "$(outcome)"
		! pgrep -f "^sleep 1000.$$\$" || fail "it runs still"
	done
	run -0 --separate-stderr cordon run --json -- sh -c 'sleep 1000 & sleep 1000 & exit 0'
	assert_json '.survivors == 2'
	run -0 --separate-stderr cordon run --json -- true
	assert_json '.survivors == 0'
}

@test "more arguments than bubblewrap takes are said to be that, not a missing program" {
	command -v bwrap >/dev/null || must_or_skip "no bwrap"
	# shellcheck disable=SC2046 # one argument a number
	run -125 cordon run -q --backend bwrap -- true $(seq 9500)
	assert_contains "more than bubblewrap's limit of 9000"
	refute_contains "install bubblewrap"
}

@test "the result of a refused run claims no boundary" {
	run -125 cordon run --json --backend bwrap --allow-network=example.com -- true
	assert_json '.cause == "setup" and .error.code == "unavailable"'
	assert_json '(.enforced // []) == [] and (has("backend") | not)'
}

# The workdir of these tests lies below /var/tmp, of which a command has its own.
@test "what is left beside a workdir in a private directory is said to be gone" {
	cordon run -q --backend native true 2>/dev/null || must_or_skip "native does not work here"
	mkdir -p project/deep
	cd project/deep
	run --separate-stderr cordon run -- sh -c 'echo x >inside; echo x >/var/tmp/t; rm /var/tmp/t'
	assert_equal "$stderr" ""
	for profile in moderate strict; do
		run --separate-stderr cordon run -p "$profile" -- sh -c 'echo x >../beside'
		assert_success
		refute_file "$WORKDIR/project/beside"
		[[ $stderr = *"is gone with the command's own /var/tmp: $WORKDIR/project/beside" ]] ||
			fail "not said" "$(outcome)"
	done
	# Names are the command's, and may be many.
	run --separate-stderr cordon run -- sh -c 'for i in $(seq 300); do : >"/var/tmp/$i
	cordon: forged"; done; chmod 0 ../..; mkfifo ../fifo'
	[[ $stderr = *"cordon: forged and more than 99 others" && $stderr != *$'\n'* ]] ||
		fail "not one line" "$(outcome)"
	run --separate-stderr cordon run -q -- sh -c 'echo x >../beside'
	assert_equal "$stderr" ""
}

@test "the flags that are named for a workdir in /tmp keep what is beside it" {
	cordon run -q --backend native true 2>/dev/null || must_or_skip "native does not work here"
	local top
	top=$(mktemp -d /tmp/cordon-bats.XXXXXX)
	mkdir "$top/work"
	cd "$top/work"
	run --separate-stderr cordon run -- touch ../beside
	[[ $stderr = *"own /tmp: $top/beside; --tmp shared uses"*"--share-tmp NAME"* ]] ||
		fail "not said" "$(outcome)"
	refute_file "$top/beside"
	run --separate-stderr cordon run --share-tmp beside -- touch /tmp/kept
	assert_equal "$stderr" ""
	run cordon run --share-tmp beside -- ls /tmp/kept
	assert_success
	run --separate-stderr cordon run --tmp shared -- touch ../beside
	assert_equal "$stderr" ""
	assert_file "$top/beside"
	cd /
	rm -rf "$top"
}

@test "a pipe ends when the command has done with it, and not when the run is over" {
	local ways=('--backend native' '-p strict' '--backend landlock --fallback degrade')
	! is_static || ways+=('--backend bwrap')
	for how in "${ways[@]}"; do
		# shellcheck disable=SC2086
		run -0 --separate-stderr python3 - "$CORDON" run -q $how -- <<'EOF'
import os, select, subprocess, sys

def start(script, **streams):
    return subprocess.Popen(sys.argv[1:] + ["sh", "-c", script], **streams)

def seen(stream, events):
    poll = select.poll()
    poll.register(stream, events)
    return poll.poll(10000)

# The command goes on until it is told to end, so an end that is seen comes before that.
out = start("exec >&-; read x", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
assert seen(out.stdout, select.POLLIN) and out.poll() is None, "the end of output"
out.communicate(b"end\n")
assert out.returncode == 0

into = start("exec <&-; echo closed; exec >&-; exec sleep 60",
             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
assert into.stdout.readline() == b"closed\n"
assert seen(into.stdin, 0) and into.poll() is None, "nobody reads"
into.terminate()
into.wait()
EOF
	done
}

# Whoever inherits that has its children taken in by the kernel, and never hears of their end.
@test "a caller that ignores SIGCHLD hears how the command ended, and nothing is left" {
	local backend began
	for backend in native bwrap; do
		began=$SECONDS
		run -3 env --ignore-signal=CHLD "$CORDON" run --quiet --timeout 20s \
			--backend $backend --fallback degrade -- \
			sh -c '(trap "" TERM; sleep 30) & exit 3'
		[ "$SECONDS" -lt $((began + 15)) ]
	done
	run -0 env --ignore-signal=CHLD "$CORDON" run -- sed -n 's/^SigIgn:\t//p' /proc/self/status
	[ $((0x${lines[0]} & 1 << 16)) -ne 0 ]
}

# In set-up, too: as a signal to cordon alone, as a terminal's to everybody of the job, and as
# an interrupt where a terminal is, which is otherwise the command's to take.
@test "processors that are added later are had inside, too" {
	is_root || skip "only root makes sets of processors"
	local set=/sys/fs/cgroup/cpuset/cordon-test.$$ all
	all=$(cat /sys/fs/cgroup/cpuset/cpuset.cpus 2>/dev/null) && [ "$(nproc)" -gt 1 ] && mkdir "$set" ||
		lacking cpuset "no sets of processors, or only one processor"
	cat "${set%/*}/cpuset.mems" >"$set/cpuset.mems"
	echo 0 >"$set/cpuset.cpus"
	mkfifo up go
	run -0 sh -c 'echo $$ >'"$set"'/cgroup.procs; "$1" run -q -- sh -c "echo >up; read -r x <go
		grep Cpus_allowed_list: /proc/self/status" & read -r x <up; echo '"$all"' >'"$set"'/cpuset.cpus
		echo >go; wait; echo $$ >'"${set%/*}"'/cgroup.procs' sh "$CORDON"
	rmdir "$set"
	assert_output "Cpus_allowed_list:"$'\t'"$all"
}

@test "a signal ends the run as that signal, however early it comes" {
	local backend
	for backend in native landlock bwrap; do
		if ! cordon run -q --backend $backend --fallback degrade -- true; then
			must_or_skip "the $backend backend does not work here"
		fi
		python3 - "$CORDON" $backend <<-'EOF'
		import os, pty, random, signal, subprocess, sys, tempfile, time

		cordon, backend = sys.argv[1:]
		tmp = os.environ["TMPDIR"] = tempfile.mkdtemp()
		terminal = pty.openpty()[1]
		for i in range(60):
		    run = subprocess.Popen([cordon, "run", "--quiet", "--backend", backend,
		                            "--fallback", "degrade", "--", "sleep", "60"],
		                           stdin=terminal if i % 3 == 2 else subprocess.DEVNULL,
		                           stderr=subprocess.PIPE, start_new_session=True)
		    after = random.uniform(0, 0.015)
		    time.sleep(after)
		    sig = signal.SIGINT if i % 3 else signal.SIGTERM
		    (os.killpg if i % 3 == 1 else os.kill)(run.pid, sig)
		    said = run.communicate()[1].decode()
		    what = (after, run.returncode, said)
		    assert run.returncode in (-sig, 128 + sig), what
		    assert "hand-over" not in said and "spawn" not in said, what
		    assert not os.listdir(tmp), what + tuple(os.listdir(tmp))
		os.rmdir(tmp)
		EOF
	done
}
