# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# For bats files whose sandboxes reach real servers in a network without a way out
# (netlab): `load lab` after `load helper`.

# The setup of these files.
lab_setup() {
	cordon_setup
	export LAB=$SCRATCH/lab
	mkdir "$LAB"
	run cordon run -q --backend native --allow-network=ok.test true
	[ "$status" -eq 0 ] || must_or_skip "a list of hosts does not work here"
	run unshare --user --map-root-user --net ip link add v0 type veth peer name v1
	[ "$status" -eq 0 ] || must_or_skip "no network of one's own can be made here"
}

# lab COMMAND ...: on the machine of the lab.
lab() {
	rm -rf "$LAB"
	mkdir "$LAB"
	"$BATS_TEST_DIRNAME/netlab" "$LAB" "$@"
}

# listed HOSTS COMMAND ...: the command in a sandbox with the list; output and stderr.
listed() {
	local hosts=$1
	shift
	run --separate-stderr lab "$CORDON" run --json --backend native --allow-network="$hosts" \
		"${FLAGS[@]}" -- "$@"
	valid
}

# in_python HOSTS SCRIPT: it succeeds.
in_python() {
	listed "$1" /usr/bin/python3 -c 'import errno, os, socket, struct, sys
def get(host, port=80):
    s = socket.create_connection((host, port), 20)
    s.sendall(b"GET / HTTP/1.0\r\n\r\n")
    return s.makefile("rb").read()
def refused(host, port=80):
    try:
        return get(host, port) == b""
    except OSError:
        return True
'"$2"
	assert_json '.exit_code == 0'
}

curl_works() {
	assert_json '.exit_code == 0 and .stdout == "hello\n"'
}

setup() {
	lab_setup
}
