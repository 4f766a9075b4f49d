#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154
#
# Whatever this machine lacks, a run is refused or says what it lost: for many
# combinations of masked capabilities, profiles and backends a probe inside tries
# everything that the guarantees are about, and what is listed as enforced must hold.
load helper

PROFILES="strict moderate permissive shell agent custom"
BACKENDS="native bwrap landlock auto"
SINGLE="none userns mountns pidns netns ipcns utsns cgroupns fresh-proc seccomp openat2 clone3
	bwrap landlock landlock=1 landlock=2 landlock=3 landlock=4 landlock=5 landlock=6
	seccomp-notify notify-killable notify-sync look open-tree mount-setattr overlay cgroup2 pidfd
	close-range relay"
PAIRS="userns,landlock=1 userns,landlock=5 userns,seccomp userns,landlock pidns,fresh-proc
	netns,seccomp netns,landlock ipcns,seccomp landlock,seccomp pidns,landlock=5
	userns,landlock=2,seccomp pidns,netns,ipcns,fresh-proc netns,landlock=5,seccomp"
REQUIRED='["files","metadata","exec","network","processes","privileges","terminal",
	"environment","limits"]'

setup() {
	cordon_setup
	BUILD=$(dirname "$CORDON")
	TESTING=$BUILD/cordon-testing
	[ -x "$TESTING" ] || fail "no cordon-testing at $TESTING; run make"
	mkdir "$SCRATCH/denied" "$SCRATCH/outside" "$SCRATCH/bin"
	echo secret >"$SCRATCH/denied/secret"
	cp "$BUILD/cordon-probe" "$SCRATCH/bin/probe"
	cp "$BUILD/cordon-probe" tool
	cp /bin/true dynamic
	restore
	exec 4< <(exec "$SCRATCH/bin/probe" serve "$SCRATCH" 3>&-)
	SERVER=$!
	read -r PORT PID KEY <&4 || fail "the server did not start"
	export PROBE_TOKEN=1
}

teardown() {
	[ -z "${SERVER:-}" ] || kill "$SERVER"
	cordon_teardown
}

restore() {
	rm -rf "$SCRATCH/outside" linked
	mkdir "$SCRATCH/outside"
	echo original >"$SCRATCH/outside/file"
	touch "$SCRATCH/outside/victim"
}

intact() {
	[ "$(<"$SCRATCH/outside/file")" = original ] && [ -e "$SCRATCH/outside/victim" ] &&
		[ ! -e "$SCRATCH/outside/new" ] && [ ! -e "$SCRATCH/outside/directory" ]
}

# probe_in MASK PROFILE BACKEND FALLBACK: one JSON result on one line, with what it is
# of, appended to results.
probe_in() {
	local mask=$1 text whole=true
	[ "$mask" != none ] || mask=
	text=$(CORDON_CAPS_MASK=$mask "$TESTING" run --json -p "$2" --backend "$3" \
		--fallback "$4" --deny "$SCRATCH/denied" --allow-read "$SCRATCH/outside" --allow-read "$SCRATCH/bin" \
		--allow-exec "$SCRATCH/bin" --allow-write "$WORKDIR" -- \
		"$SCRATCH/bin/probe" check "$SCRATCH" "$PORT" "$PID" "$KEY" 2>/dev/null) || true
	if ! intact; then
		whole=false
		restore
	fi
	printf '{"case":"%s","intact":%s,"result":%s}\n' "$*" "$whole" "${text:-null}" >>results
}

# Filters of jq over `results`; each prints the cases that are wrong.
wrong() {
	run jq -rs "$1" results
	[ "$status" -eq 0 ] || fail "$output"
	[ -z "$output" ] || fail "$2" "$(head -20 <<<"$output")"
}

OPEN='(.result.stdout // "" | split("\n") | map(capture("^(?<g>\\S+) open (?<what>.*)$")))'

judge() {
	wrong '.[] | select(.result == null) | .case' "no result"
	# By policy: a stream that could be changed through it, where nothing opens it again.
	wrong '.[] | select(.result.cause | . != "setup" and . != "policy" and . != "exited") |
		"\(.case): \(.result.cause)"' "ended otherwise"
	wrong '.[] | select(.result.cause != "exited" and (.result.error.message // "") == "") |
		.case' "refused without a reason"
	wrong ".[] | select(.result.cause == \"exited\") | . as \$r | $OPEN[] | . as \$o |
		select(\$r.result.enforced | index(\$o.g)) |
		\"\(\$r.case): \(\$o.g) is claimed, but it could \(\$o.what)\"" "not enforced"
	wrong '.[] | select(.result.cause == "exited" and (.intact | not) and
		(.result.enforced | index("files"))) | .case' "files outside were changed"
	wrong '.[] | select(.result.cause == "exited" and .result.exit_code != 0) |
		"\(.case): \(.result.exit_code) \(.result.stderr)"' "the probe failed"
	# Nothing that was promised is in neither list.
	wrong '.[] | select(.result.cause == "exited" and
		((.result.enforced + .result.degraded) | length) < 10) | .case' "too few promises"
}

@test "without a boundary the probe finds everything open" {
	run -0 "$SCRATCH/bin/probe" check "$SCRATCH" "$PORT" "$PID" "$KEY"
	local name
	for name in files metadata network unix-sockets processes exec environment ipc; do
		assert_matches "$name open"
	done
	assert_contains "network open connect by MPTCP"
	assert_contains "files open truncate outside"
}

@test "every capability that there is can be masked, and is" {
	local name
	run -0 cordon doctor --json
	for name in $(jq -r '.capabilities[].name' <<<"$output"); do
		[[ $name == sandbox-exec || " "$(echo $SINGLE)" " == *" $name "* ]] ||
			fail "not masked by any test: $name"
	done
}

@test "each masked capability: refused, or the loss is listed and the rest holds" {
	local mask profile backend
	for mask in $SINGLE; do
		for profile in $PROFILES; do
			for backend in $BACKENDS; do
				probe_in "$mask" "$profile" "$backend" degrade
			done
		done
	done
	judge
	# The matrix must not be empty of runs, nor of any backend.
	for backend in native bwrap landlock; do
		run -0 jq -s "map(select(.result.backend == \"$backend\" and
			.result.cause == \"exited\")) | length" results
		[ "$output" -gt 50 ] || fail "only $output runs on $backend"
	done
}

# Every two of SINGLE that are different things: some five hundred runs a profile, which is
# for tests/soak.
all_pairs() {
	local a b
	for a in $SINGLE; do
		for b in $SINGLE; do
			if [[ $a != none && $b != none && $a < $b && ${a%%=*} != "${b%%=*}" ]]; then
				echo "$a,$b"
			fi
		done
	done
}

@test "combinations of masked capabilities" {
	local mask profile
	[ "${CORDON_MASK_PAIRS:-}" != all ] || PAIRS=$(all_pairs)
	for mask in $PAIRS; do
		for profile in $PROFILES; do
			probe_in "$mask" "$profile" auto degrade
			probe_in "$mask" "$profile" native degrade
			probe_in "$mask" "$profile" landlock degrade
			probe_in "$mask" "$profile" bwrap degrade
		done
	done
	judge
}

# COUNT SEED: that many, each of three different things of SINGLE.
random_triples() {
	local words=() mask part
	RANDOM=$2
	for part in $SINGLE; do
		[ "$part" = none ] || words+=("$part")
	done
	while [ "${#TRIPLES[@]}" -lt "$1" ]; do
		mask=
		for _ in 1 2 3; do
			part=${words[RANDOM % ${#words[@]}]}
			[[ ,$mask, == *,"${part%%=*}"[,=]* ]] || mask+=${mask:+,}$part
		done
		[[ $mask != *,*,* ]] || TRIPLES+=("$mask")
	done
}

# The same two every day; tests/soak takes more, from another seed.
@test "triples of masked capabilities, names among them" {
	local mask profile backend seed=${CORDON_SEED:-1} TRIPLES=()
	random_triples "${CORDON_MASK_TRIPLES:-2}" "$seed"
	echo "# CORDON_SEED=$seed: ${TRIPLES[*]}" >&3
	for mask in "${TRIPLES[@]}"; do
		for backend in native landlock bwrap; do
			for profile in $PROFILES; do
				probe_in "$mask" "$profile" $backend degrade
			done
		done
		every_name "$mask"
	done
	judge
	judge_names
}

# names_in MASK PROFILE BACKEND PROTECT: as probe_in, for names that do not exist yet.
names_in() {
	local mask=$1 text left=false
	[ "$mask" != none ] || mask=
	rm -rf later built dir
	mkdir dir
	echo hidden >dir/.there
	text=$(CORDON_CAPS_MASK=$mask "$TESTING" run --json -p "$2" --backend "$3" --protect "$4" \
		--fallback degrade --deny "$WORKDIR/later" --hidden-writes deny --allow-read "$SCRATCH/bin" \
		--allow-exec "$SCRATCH/bin" --allow-write "$WORKDIR" -- \
		"$SCRATCH/bin/probe" names "$SCRATCH" 2>/dev/null) || true
	[ ! -e later ] || left=true
	printf '{"case":"%s","intact":true,"left":%s,"result":%s}\n' "$*" $left "${text:-null}" >>results
}

every_name() {
	local profile backend protect
	for profile in strict moderate custom; do
		for backend in native landlock; do
			for protect in guard exact off; do
				names_in "$1" $profile $backend $protect
			done
		done
	done
}

judge_names() {
	wrong '.[] | select(.result.cause == "exited" and .left and
		(.result.enforced | any(. == "guard" or . == "exact"))) | .case' "the name was left"
}

@test "each masked capability: names that do not exist yet are kept, or that is not claimed" {
	local mask
	for mask in none seccomp seccomp-notify notify-killable notify-sync look openat2 open-tree \
		mount-setattr pidfd close-range clone3 userns fresh-proc pidns landlock landlock=1 landlock=5; do
		every_name $mask
	done
	judge
	judge_names
	# Both strengths ran on both, and the probe finds everything open where nothing is claimed.
	for what in guard exact hidden-names; do
		wrong "if any(.[]; .result.backend == \"native\" and (.result.enforced | index(\"$what\"))) and
			any(.[]; .result.backend == \"landlock\" and (.result.enforced | index(\"$what\")))
			then empty else \"$what\" end" "claimed nowhere"
		wrong "if any(.[]; .result.cause == \"exited\" and ($OPEN | any(.g == \"$what\")))
			then empty else \"$what\" end" "open nowhere"
	done
}

@test "without --fallback nothing runs that lost something required" {
	local mask profile backend
	for mask in $SINGLE $PAIRS; do
		for profile in moderate permissive shell; do
			probe_in "$mask" "$profile" auto error
		done
		probe_in "$mask" moderate native error
		probe_in "$mask" moderate landlock error
	done
	judge
	wrong ".[] | select(.result.cause == \"exited\") | . as \$r | .result.degraded[] |
		select(. as \$d | $REQUIRED | index(\$d)) | \"\(\$r.case): \(.)\"" \
		"ran although something required was lost"
	# Some were refused, some ran.
	run -0 jq -s 'map(.result.cause) | unique | length' results
	assert_output 2
}
