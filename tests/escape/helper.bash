# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154,SC2034 # from bats, and for the files of attacks
#
# What every file of attacks starts with. Beside the helper of tests/cli:
#
#	./attack	the program with the attacks, in the workdir
#	$PROFILES	the profiles that `inside` goes through: moderate and strict
#	$SECRET		what must never be printed; it is in the secrets of $HOME
#	$OUTSIDE	a directory that is neither home nor workdir
#	$BACKEND	landlock in a file called NAME-landlock.bats, which is NAME.bats under
#			another name; native elsewhere
#
# An attack exits with 0 when it succeeded, 10 when it was refused and 20 when it could
# not be tried (tests/escape/src/attack.h).

load ../cli/helper

escape_setup() {
	CORDON_TEST_TMP=$(ground) cordon_setup
	PROFILES='moderate strict'
	FLAGS=()
	SECRET=marker-$RANDOM$RANDOM
	OUTSIDE=$SCRATCH/outside
	BACKGROUND=()
	mkdir -p "$OUTSIDE" "$HOME/.ssh" "$HOME/.config/gh" "$HOME/notes"
	for file in .ssh/id .netrc .bashrc .config/gh/hosts.yml notes/plain; do
		echo "$SECRET" >"$HOME/$file"
	done
	echo "$SECRET" >"$OUTSIDE/file"
	cp "${ATTACK:-$(dirname "$CORDON")/tests/escape/attack}" attack
	ATTACK_PATH=$WORKDIR/attack
	BACKEND=native
	[[ $BATS_TEST_FILENAME != *-landlock.bats ]] || { BACKEND=landlock && configure; }
}

# configure LINE...: lines of [sandbox] in the user's file, beside those that choose the backend.
configure() {
	mkdir -p -m 700 "$HOME/.cordon"
	{
		echo '[sandbox]'
		[ $BACKEND = native ] ||
			printf 'backend = "%s"\nfallback_on_unavailable = "degrade"\n' $BACKEND
		[ $# -eq 0 ] || printf '%s\n' "$@"
	} >"$HOME/.cordon/config.toml"
}

# claimed NAME [FLAGS...]: a run with these flags promises it. native has to; what landlock does
# not it declares, and what it does not promise there is nothing to try of.
claimed() {
	local what=$1
	shift
	run --separate-stderr "$CORDON" run -q --json "$@" -- true
	# A caller that asks with || is not ended by what fails in here.
	assert_json "(.enforced + .degraded) | index(\"$what\")" || exit 1
	[ $BACKEND = landlock ] || assert_json ".enforced | index(\"$what\")" || exit 1
	jq -e --arg what "$what" '.enforced | index($what)' <<<"$output" >/dev/null
}

escape_teardown() {
	[ -z "${FOLDING:-}" ] || { cd / && umount -l "$FOLDING"; }
	for pid in "${BACKGROUND[@]}"; do
		kill -KILL "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	[ -z "${SOCKETS:-}" ] || rm -rf "$SOCKETS"
	cordon_teardown
}

setup() {
	escape_setup
}

teardown() {
	escape_teardown
}

# with_broker NAME...: for what landlock promises only where a broker acts; native has it anyway.
with_broker() {
	local what
	[ $BACKEND = native ] || FLAGS+=(--protect exact)
	for what; do
		claimed "$what" "${FLAGS[@]}" || fail "$what is not claimed with a broker" "$(outcome)"
	done
}

# Runs a program until the test ends; its process id is in $STARTED.
background() {
	"$@" >/dev/null 2>&1 3>&- &
	STARTED=$!
	BACKGROUND+=("$STARTED")
}

# A process of the caller, outside, in $VICTIM.
start_victim() {
	mkfifo "$SCRATCH/ready"
	background env CANARY_TOKEN="$SECRET" "$ATTACK_PATH" victim "$SCRATCH/ready"
	read -r VICTIM <"$SCRATCH/ready"
}

# start_server KIND WHERE: its port is in $PORT; who reached it in $SCRATCH/hits.
start_server() {
	rm -f "$SCRATCH/ready"
	mkfifo "$SCRATCH/ready"
	: >"$SCRATCH/hits"
	background "$ATTACK_PATH" serve "$1" "$2" "$SCRATCH/ready" "$SCRATCH/hits"
	read -r PORT <"$SCRATCH/ready"
}

# unreached KIND WHERE: the server of the host is reached without cordon, not with it.
unreached() {
	inside connect "$1" "$2"
	assert_equal "$(cat "$SCRATCH/hits")" ""
	bare connect "$1" "$2"
}

# Short enough for a socket's address, not in a private place.
short_dir() {
	SOCKETS=$(mktemp -d "$(ground)/s.XXXXXX")
}

# The workdir becomes one whose file system takes names in any case for the same.
folding_workdir() {
	is_root || skip "only root mounts"
	[ -c /dev/fuse ] && /usr/bin/python3 -c 'import fusepy' || must_or_skip "no FUSE here"
	mkdir "$SCRATCH/backing" "$SCRATCH/folding"
	mkfifo "$SCRATCH/mounted"
	background /usr/bin/python3 "$BATS_TEST_DIRNAME/folding.py" "$SCRATCH/backing" \
		"$SCRATCH/folding" "$SCRATCH/mounted"
	read -r -t 30 _ <"$SCRATCH/mounted"
	FOLDING=$SCRATCH/folding
	cp attack "$FOLDING"
	cd "$FOLDING"
}

# needs_enforced WHAT WHY FLAGS...: a run with these flags claims it.
needs_enforced() {
	local what=$1 why=$2
	shift 2
	run --separate-stderr cordon run -q "$@" --json -- true
	jq -e --arg what "$what" '.enforced | index($what)' <<<"$output" >/dev/null ||
		must_or_skip "$why"
}

# The attack works where nothing stops it.
bare() {
	run ./attack "$@"
	[ "$status" -eq 0 ] || fail "without cordon the attack must succeed: $*" "$(outcome)"
}

# The attack is refused inside, under every profile of $PROFILES and with $FLAGS.
inside() {
	local profile

	for profile in $PROFILES; do
		run cordon run -q -p "$profile" "${FLAGS[@]}" -- ./attack "$@"
		[ "$status" -eq 10 ] || fail "$profile: not held: $*" "$(outcome)"
		refute_contains "$SECRET"
	done
}

# Both. The order keeps what a successful attack left from helping the next one.
holds() {
	inside "$@"
	bare "$@"
}

# For what a plain user could not do without cordon either.
holds_root() {
	inside "$@"
	if is_root; then
		bare "$@"
	fi
}

# For what not every kernel has.
holds_where_known() {
	inside "$@"
	run ./attack "$@"
	[ "$status" -eq 0 ] || echo "# this kernel does not have it: $*" >&3
}

# flooded FLAGS...: each of 20,000 refusals is counted, and the report stays bounded.
flooded() {
	run --separate-stderr timeout -k 5 200 "$CORDON" run --json "$@" -- \
		./attack flood 10000 "$OUTSIDE/x" .claude
	assert_json '.exit_code == 10 and .cause == "exited" and (.violations | length) == 256'
	assert_json '([.violations[].count] | add) + .violations_dropped == 20000'
	assert_json '.violations | any(.count == 10000)'
	[ "${#output}" -lt 300000 ] || fail "the result has ${#output} bytes"
	# shellcheck disable=SC2154 # from bats
	[ "$(wc -l <<<"$stderr")" -le 12 ] || fail "too many lines: $stderr"
	echo "# $(jq -r .stdout <<<"$output" | head -n 1)" >&3
}

# refused NAME ATTACK ARGS...: nothing of that name is there afterwards, and the attack
# works without cordon.
refused() {
	local name=$1
	shift
	inside "$@"
	refute_file "$name"
	bare "$@"
	rm -rf "$name"
}
