# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # status, output and stderr come from bats
#
# What every bats file starts with: `load helper` (`load ../cli/helper` from
# tests/escape). Each test gets
#
#	$SCRATCH	a directory of its own, removed afterwards
#	$HOME		an empty home in it; no CORDON_* variable of the caller
#	$WORKDIR	an empty directory in it, the current one
#	cordon ...	the program under test; `run cordon ...` to look at the outcome
#
# $CORDON names the binary (build/cordon of the clone unless set). A file that
# needs its own setup or teardown calls cordon_setup and cordon_teardown in it.

bats_require_minimum_version 1.5.0

cordon_setup() {
	CORDON=${CORDON:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build/cordon}
	[ -x "$CORDON" ] || fail "no cordon at $CORDON; run make"
	# /var/tmp and not /tmp, which profiles replace by a private one: tests look
	# from outside at what the command did.
	SCRATCH=$(mktemp -d "${CORDON_TEST_TMP:-/var/tmp}/cordon-bats.XXXXXX")
	export HOME=$SCRATCH/home WORKDIR=$SCRATCH/work
	unset CORDON_HOME XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME
	mkdir "$HOME" "$WORKDIR"
	cd "$WORKDIR" || return
}

cordon_teardown() {
	cd /
	[ -n "${SCRATCH:-}" ] || return 0
	[ ! -e "$SCRATCH/served" ] || xargs -r kill <"$SCRATCH/served"
	# A test may have left directories nobody can enter.
	chmod -R u+rwX "$SCRATCH" 2>/dev/null || true
	rm -rf "$SCRATCH"
}

# serve PATH: a server on a unix socket of the host, which listens when this returns, until the
# end of the test.
serve() {
	python3 -c 'import os, signal, socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen()
pid = os.fork()
if pid:
    print(pid, flush=True)
    os._exit(0)
os.closerange(0, s.fileno())
os.closerange(s.fileno() + 1, 256)
signal.pause()' "$1" >>"$SCRATCH/served"
}

setup() {
	cordon_setup
}

teardown() {
	cordon_teardown
}

cordon() {
	"$CORDON" "$@"
}

# For CORDON_TEST_TMP, where a test needs the real home: not in a place that a profile
# replaces by a private one (/tmp, /var/tmp, /run), or everything would be out of reach
# and nothing would be tested.
ground() {
	if [ -n "${CORDON_ESCAPE_TMP:-}" ]; then
		echo "$CORDON_ESCAPE_TMP"
	elif is_root; then
		echo /home
	else
		echo "$HOME"
	fi
}

fail() {
	printf '%s\n' "$@" >&2
	return 1
}

# Sanitizer builds are linked dynamically.
is_static() {
	! readelf -lW "$CORDON" | grep -q INTERP
}

is_root() {
	[ "$(id -u)" = 0 ]
}

# For something this machine lacks although it has to work: a skip for a
# developer, a failure where CORDON_MUST_WORK=1. Plain `skip` is for what does not
# apply: a test for root run by a user, for the static program in a sanitizer build, for
# another architecture. tools/check-shell finds any other.
must_or_skip() {
	[ "${CORDON_MUST_WORK:-}" = 1 ] && fail "must work here: $*"
	skip "$*"
}

# What a machine may lack where everything else must work.
#
#	cargo, java	are installed for one user, or not at all
#	cgroup2		no control group is delegated to whoever runs the tests
#	clock		the machine does not let a process read its counter of cycles
#	fanotify	root may not do everything here
#	fsflags		the file system has no flags for files
#	int80		the kernel is built without 32-bit calls
HONEST_LACKS=' cargo cgroup2 clock cpuset fanotify fsflags int80 java '

# lacking NAME WHY: a skip for what is in that list; must work otherwise.
lacking() {
	local name=$1
	shift

	[[ $HONEST_LACKS == *" $name "* ]] || fail "not in HONEST_LACKS: $name"
	skip "$*"
}

# The outcome of the last `run`, for failure messages.
outcome() {
	printf 'status: %s\noutput:\n%s\n' "$status" "$output"
	[ -z "${stderr:-}" ] || printf 'stderr:\n%s\n' "$stderr"
}

assert_status() {
	[ "$status" -eq "$1" ] || fail "wanted status $1" "$(outcome)"
}

assert_success() {
	assert_status 0
}

assert_equal() {
	[ "$1" = "$2" ] || fail "wanted: $2" "got:    $1"
}

assert_output() {
	[ "$output" = "$1" ] || fail "wanted exactly:" "$1" "$(outcome)"
}

assert_contains() {
	[[ $output == *"$1"* ]] || fail "wanted in the output: $1" "$(outcome)"
}

refute_contains() {
	[[ $output != *"$1"* ]] || fail "not wanted in the output: $1" "$(outcome)"
}

# An extended regular expression against the whole output.
assert_matches() {
	[[ $output =~ $1 ]] || fail "wanted to match: $1" "$(outcome)"
}

# fails_inside CORDON...: the command was started, and failed; a run that does not begin is none.
fails_inside() {
	run "$@"
	[[ $status -gt 0 && $status -lt 125 ]] || fail "the command did not run and fail" "$(outcome)"
}

assert_file() {
	[ -e "$1" ] || [ -L "$1" ] || fail "wanted to exist: $1" "$(outcome)"
}

refute_file() {
	if [ -e "$1" ] || [ -L "$1" ]; then
		fail "not wanted to exist: $1" "$(outcome)"
	fi
}

# assert_json JQ-EXPRESSION: true for the output.
assert_json() {
	jq -e "$1" <<<"$output" >/dev/null || fail "not true of the JSON: $1" "$(outcome)"
}

# valid [FILE]: it, or else the output, is a result as docs/result.schema.json says.
valid() {
	local text=$output
	[ $# -eq 0 ] || text=$(cat "$1")
	valid_as '' "$text"
}

# valid_as NAME TEXT: for the definition NAME of the schema; '': for all of it. Where many
# tests are run, their texts are kept in $CORDON_RESULTS and looked at in one go, for
# starting a validator costs more than most runs of cordon.
valid_as() {
	if [ -n "${CORDON_RESULTS:-}" ]; then
		printf '%s\0' "$BATS_TEST_DESCRIPTION" "$1" "$2" \
			>>"$CORDON_RESULTS/$UID.$BATS_SUITE_TEST_NUMBER"
		return
	fi
	printf '%s\0' "$BATS_TEST_DESCRIPTION" "$1" "$2" |
		"$BATS_TEST_DIRNAME/../../tools/check-results" /dev/stdin ||
		fail "not valid for the schema" "$2"
}

# interruptible COMMAND...: only as a job in the background, which would ignore INT.
interruptible() {
	exec python3 -c 'import signal, os, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' "$@"
}
