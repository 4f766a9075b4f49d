#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# H45 to H47 seen from the other side: what is said of a system call that is refused. That
# the calls are refused is in calls.bats.

load helper

# seen ARGS...: the result in $output, what is said in $stderr.
seen() {
	run --separate-stderr cordon run --json "$@"
	valid
}

# told ATTACK CALL WORDS: refused, on record once under the name of the call, and said.
told() {
	seen "${FLAGS[@]}" -- ./attack "$1"
	assert_status 10
	assert_json "[.violations[] | select(.op == \"call\")] | length == 1 and (.[0] |
		.object == \"$2\" and .source == \"notify\" and .program == \"attack\" and .fix == null)"
	assert_json ".violations[0].rule | contains(\"$3\")"
	[ "$(grep -cF "refused: calling $2 (attack, seen at the system call): " <<<"$stderr")" = 1 ] ||
		fail "not said once: $2" "$(outcome)"
}

# silent ATTACK: refused, and nothing is said.
silent() {
	seen "${FLAGS[@]}" -- ./attack "$1"
	assert_status 10
	assert_json '[.violations[] | select(.op == "call")] == []'
	if grep -qF 'refused: calling' <<<"$stderr"; then fail "said: $1" "$(outcome)"; fi
}

@test "a sandbox inside the sandbox" {
	told unshare unshare "no sandbox inside the sandbox"
	told unshare-high unshare "no sandbox inside the sandbox"
	told clone clone "no sandbox inside the sandbox"
	told setns setns "entering another namespace"
}

@test "mounting" {
	told mount mount "mounting is not possible"
	told open-tree open_tree "mounting is not possible"
	told fsopen fsopen "mounting is not possible"
	told mount-setattr mount_setattr "mounting is not possible"
	told chroot chroot "chroot is not possible"
}

@test "other interfaces of the kernel" {
	told keyctl keyctl "kernel keyring"
	told add-key add_key "kernel keyring"
	told bpf bpf "BPF programs"
	told perf perf_event_open "perf events"
	told syslog syslog "kernel log"
	told fanotify fanotify_init "inotify is"
	told sethostname sethostname "host name"
}

@test "a keyring that is allowed is used" {
	bare keyctl
	seen --keyring -- ./attack keyctl
	assert_status 0
	assert_json '.violations == []'
	seen --keyring -- ./attack unshare
	assert_status 10
	assert_json '.violations[0].object == "unshare"'
}

@test "the same where there are no namespaces" {
	FLAGS=(--backend landlock --fallback degrade)
	told unshare unshare "no sandbox inside the sandbox"
	told keyctl keyctl "kernel keyring"
	told mount mount "mounting is not possible"
	silent clone3
}

@test "the same where every open is seen" {
	FLAGS=(--report all)
	told clone clone "no sandbox inside the sandbox"
	silent io-uring
}

@test "what programs try in passing is not worth a line" {
	silent clone3
	silent io-uring
	silent personality
	silent vmsplice
	silent name-to-handle
}

@test "without a listener the filter answers by itself, with the same errno" {
	for report in none output writes; do
		seen --protect off --report $report -- python3 -c 'import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for call in (lambda: libc.unshare(0x10000000), lambda: libc.mount(b"x", b"/mnt", b"tmpfs", 0, 0),
             lambda: libc.chroot(b"/"), lambda: libc.setns(0, 0)):
    assert call() == -1
    print(ctypes.get_errno())'
		assert_json '.stdout == "1\n1\n1\n1\n"'
		[ $report = writes ] ||
			assert_json '[.violations[] | select(.op == "call")] == []'
	done
	assert_json '[.violations[] | select(.op == "call") | .object] ==
		["unshare", "mount", "chroot", "setns"]'
}

@test "however often: one violation with a count, one line for one reason" {
	seen -- sh -c 'for i in 1 2 3; do ./attack mount; done; ./attack fsopen; ./attack open-tree'
	assert_json '[.violations[] | [.object, .count]] == [["mount", 3], ["fsopen", 1], ["open_tree", 1]]'
	[ "$(grep -c refused <<<"$stderr")" = 1 ] || fail "not one line" "$(outcome)"
	[[ $stderr == *"refused: calling mount and 2 more (attack, seen at the system call): mounting is not possible"* ]] ||
		fail "not said" "$(outcome)"
	run cordon explain --last
	assert_contains "mounting is not possible inside the sandbox"
}

@test "a raw socket is told, the protocols that programs fall back from are not" {
	seen -- python3 -c 'import socket
for kind in ((socket.AF_INET, socket.SOCK_RAW, 1), (socket.AF_INET, socket.SOCK_STREAM, 262),
             (socket.AF_INET, socket.SOCK_DGRAM, 1), (40, socket.SOCK_STREAM, 0),
             (socket.AF_NETLINK, socket.SOCK_RAW, 9)):
    try:
        socket.socket(*kind)
    except OSError as e:
        print(e.errno)
    else:
        raise SystemExit("made")
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    socket.socket(socket.AF_INET, kind).close()'
	assert_json '.exit_code == 0 and .stdout == "1\n93\n13\n97\n93\n"'
	assert_json '[.violations[] | [.op, .object, .count]] == [["call", "socket", 1]]'
	[[ $stderr == *"no raw sockets (ping)"* ]] || fail "not said" "$(outcome)"
}

@test "--on-violation kill ends the run at the first refused call" {
	run --separate-stderr cordon run --on-violation kill --json -- sh -c './attack unshare; sleep 600'
	assert_status 125
	assert_json '.cause == "policy" and .violations[0].object == "unshare"'
}

@test "bubblewrap inside" {
	command -v bwrap >/dev/null || must_or_skip "no bwrap"
	run --separate-stderr cordon run -- bwrap --ro-bind / / true
	[ "$status" -ne 0 ] || fail "it worked" "$(outcome)"
	[[ $stderr == *"(bwrap, seen at the system call): no sandbox inside the sandbox"* ]] ||
		fail "not said" "$(outcome)"
}
