#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# System calls: H42 to H47, and device nodes (H35).

load helper

# killed NAME: the process dies of SIGSYS, it does not merely get an error.
killed() {
	for profile in $PROFILES; do
		run cordon run -q -p "$profile" -- ./attack "$@"
		assert_status 159
	done
}

@test "H42 the 32-bit system call table kills" {
	[ "$(uname -m)" = x86_64 ] || skip "x86 only"
	run ./attack int80
	[ "$status" -ne 139 ] || lacking int80 "this kernel has no 32-bit calls"
	assert_success
	killed int80
}

@test "H43 x32 numbers kill" {
	[ "$(uname -m)" = x86_64 ] || skip "x86 only"
	bare x32
	killed x32
}

@test "H44 io_uring" { holds_where_known io-uring; }
@test "H45 mount" { holds_root mount; }
@test "H45 open_tree" { holds_root open-tree; }
@test "H45 fsopen" { holds_root fsopen; }
@test "H45 fspick" { holds_root fspick; }
@test "H45 mount_setattr" { holds_root mount-setattr; }
@test "H46 unshare" { holds unshare; }
@test "H46 unshare with high bits" { inside unshare-high; }
@test "H46 clone with a namespace flag" { holds clone; }
@test "H46 clone with high bits" { holds clone-high; }
@test "H46 clone3 with a namespace flag" { holds clone3; }
@test "H46 setns" { holds_root setns; }
@test "H46 setns by the descriptor of a process" {
	start_victim
	inside setns-pidfd "$VICTIM"
	PROFILES=moderate
	# One's own, which is seen everywhere.
	run cordon run -q -- sh -c './attack setns-pidfd $$'
	assert_status 10
	assert_contains "held: setns"
	if is_root; then
		bare setns-pidfd "$VICTIM"
	fi
}
@test "H47 bpf" { holds_root bpf; }
@test "H47 perf_event_open" { holds_where_known perf; }
@test "H47 userfaultfd" { holds_where_known userfaultfd; }
@test "H47 keyctl" { holds keyctl; }
@test "H47 add_key" { holds add-key; }
@test "H47 request_key" { holds request-key; }
@test "H47 pidfd_getfd" { holds pidfd-getfd; }
@test "H47 kcmp" { holds_where_known kcmp; }
@test "H47 process_madvise" { holds_where_known process-madvise; }
@test "H47 personality" { holds personality; }
@test "H47 modify_ldt" { holds_where_known modify-ldt; }
@test "H47 vmsplice" { holds vmsplice; }
@test "H19 name_to_handle_at" { holds name-to-handle; }
@test "H19 open_by_handle_at" { holds_root open-by-handle; }
@test "H35 a device node" { holds_root mknod; }
@test "H35 a device node with high bits in the mode" { holds_root mknod-high; }
@test "H35 no capability is left to regain, no_new_privs is set" {
	is_root || [ $BACKEND = native ] || skip "for root: others have no bounding set to give up"
	holds_root capabilities
}
@test "neighbour: chroot" { holds_root chroot; }
@test "neighbour: the host's name" { holds_root sethostname; }
@test "neighbour: the kernel log" { holds_root syslog; }
@test "neighbour: fanotify" { holds fanotify; }

@test "neighbour: a read-only mount is not made writable, a mask not taken off" {
	PROFILES=moderate
	inside remount /
	inside umount "$HOME/.ssh"
	inside umount "$HOME/.netrc"
}
