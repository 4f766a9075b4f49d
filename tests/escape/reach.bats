#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What of the host is not reached by a socket, and which kinds there are none of: H03, H55 to
# H59, H61, H64, H73. Nothing here leaves the machine: what is aimed at other addresses only
# asks for a route.

load helper

@test "H73 a server on the host's loopback" {
	start_server tcp 0
	unreached tcp "$PORT"
}

@test "H57 UDP to the host's loopback" {
	start_server udp 0
	unreached udp "$PORT"
}

@test "H55 MPTCP to the host's loopback" {
	start_server tcp 0
	inside connect mptcp "$PORT"
	assert_equal "$(cat "$SCRATCH/hits")" ""
	run ./attack connect mptcp "$PORT"
	[ "$status" -eq 0 ] || echo "# this kernel has no MPTCP" >&3
}

@test "H56 MSG_FASTOPEN to the host's loopback" {
	start_server tcp 0
	inside fastopen "$PORT"
	inside fastopen-connect
	assert_equal "$(cat "$SCRATCH/hits")" ""
	bare fastopen "$PORT"
}

@test "no route leads out" {
	inside route
	# An empty list is off; so is one that only the project file fills.
	for list in '[]' '"off"'; do
		configure "network = $list"
		inside route
	done
}

@test "H64 an empty allow-list allows nothing, also on top of a profile with network" {
	start_server tcp 0
	configure 'network = []'
	PROFILES='moderate permissive agent'
	for profile in $PROFILES; do
		run cordon run -q -p $profile -- ./attack connect tcp "$PORT"
		[ "$status" -eq 10 ] || [ "$status" -eq 125 ] || fail "$profile" "$(outcome)"
	done
	configure
	run cordon run -q --allow-network= -- ./attack connect tcp "$PORT"
	[ "$status" -eq 10 ] || [ "$status" -eq 125 ] || fail "flag" "$(outcome)"
	assert_equal "$(cat "$SCRATCH/hits")" ""
	# The profile does give the network when nobody takes it away.
	run cordon run -q -p permissive -- ./attack connect tcp "$PORT"
	assert_success
}

@test "H64 a project file that takes the network away is heard" {
	start_server tcp 0
	printf '[sandbox]\nnetwork = "off"\n' >.cordon.toml
	run cordon run -q -p permissive -- ./attack connect tcp "$PORT"
	assert_status 10
	assert_equal "$(cat "$SCRATCH/hits")" ""
}

@test "H58 a unix socket in home" {
	short_dir
	start_server unix "$SOCKETS/s"
	HOME=$SOCKETS unreached unix "$SOCKETS/s"
}

@test "H58 a unix socket beside home and workdir" {
	short_dir
	start_server unix "$SOCKETS/s"
	unreached unix "$SOCKETS/s"
}

@test "H58 a unix socket with the network on" {
	short_dir
	start_server unix "$SOCKETS/s"
	PROFILES='permissive agent'
	unreached unix "$SOCKETS/s"
}

@test "H58 a unix datagram, connected and not" {
	short_dir
	start_server unix-dgram "$SOCKETS/s"
	inside sendto unix-dgram "$SOCKETS/s"
	unreached unix-dgram "$SOCKETS/s"
	bare sendto unix-dgram "$SOCKETS/s"
}

@test "H58 a unix socket in the workdir" {
	short_dir
	mkdir "$SOCKETS/w"
	cp attack "$SOCKETS/w"
	start_server unix "$SOCKETS/w/s"
	cd "$SOCKETS/w"
	unreached unix "$SOCKETS/w/s"
}

# What is there when the run starts is found in the kernel's list of sockets, by the name
# it was bound to. The rest is the guard's, which a racing thread can deceive.

@test "H58 a unix socket bound by a relative name" {
	short_dir
	cd "$SOCKETS"
	start_server unix s
	cd "$WORKDIR"
	ln -s "$SOCKETS/s" link
	inside connect unix link
	inside connect unix "$SOCKETS/../${SOCKETS##*/}/s"
	unreached unix "$SOCKETS/s"
}

@test "H58 a unix socket that was renamed" {
	short_dir
	start_server unix "$SOCKETS/s"
	mv "$SOCKETS/s" "$SOCKETS/t"
	unreached unix "$SOCKETS/t"
	[ $BACKEND = native ] || return 0 # not even a socket can be made there
	run --separate-stderr cordon run --json -- ./attack connect unix "$SOCKETS/t"
	assert_json ".violations == [.violations[] | select(.op == \"connect\" and .source == \"guard\" and
		.object == \"$SOCKETS/t\")] and (.violations | length) == 1"
}

@test "H58 a unix socket in /run, /tmp and /dev/shm" {
	for dir in /tmp /var/tmp /dev/shm /run; do
		[ -w $dir ] || continue
		SOCKETS=$(mktemp -d $dir/s.XXXXXX)
		start_server unix "$SOCKETS/s"
		unreached unix "$SOCKETS/s"
		rm -rf "$SOCKETS"
	done
}

@test "H59 an abstract socket" {
	start_server abstract "cordon-escape-$SECRET"
	unreached abstract "cordon-escape-$SECRET"
}

@test "H59 an abstract socket with the network on" {
	start_server abstract "cordon-escape-$SECRET"
	PROFILES='permissive agent'
	unreached abstract "cordon-escape-$SECRET"
}

@test "H59 an abstract datagram" {
	start_server abstract-dgram "cordon-escape-$SECRET"
	inside sendto abstract-dgram "cordon-escape-$SECRET"
	unreached abstract-dgram "cordon-escape-$SECRET"
}

# family NAME FAMILY TYPE PROTOCOL
@test "H61 vsock" { holds_where_known family 40 1 0; }
@test "H61 packet" { holds_root family 17 3 0; }
@test "H61 packet by the old type" { holds_root family 2 10 768; }
@test "H61 netlink audit" { holds_where_known family 16 3 9; }
@test "H61 netlink socket diagnosis" { holds_where_known family 16 3 4; }
@test "H61 netlink kobject events" { holds_where_known family 16 3 15; }
@test "H61 crypto" { holds_where_known family 38 5 0; }
@test "H61 key management" { holds_where_known family 15 3 2; }
@test "H61 xdp" { holds_where_known family 44 3 0; }
@test "H61 bluetooth" { holds_where_known family 31 3 1; }
@test "H61 can" { holds_where_known family 29 3 1; }
@test "H61 tipc" { holds_where_known family 30 2 0; }
@test "H61 qrtr" { holds_where_known family 42 2 0; }
@test "H57 sctp" { holds_where_known family 2 1 132; }
@test "H57 dccp" { holds_where_known family 2 6 33; }
@test "H57 smc" { holds_where_known family 43 1 0; }
@test "H57 rds" { holds_where_known family 21 5 0; }
@test "H57 raw" { holds_root family 2 3 1; }
@test "H57 ping" { holds_where_known family 2 2 1; }
@test "H03 packet with high bits in every argument" { inside family 17 3 0 high; }
@test "H03 raw with high bits in every argument" { inside family 2 3 1 high; }
