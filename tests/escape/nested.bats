#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154
#
# cordon inside cordon: the inner one works without any setting of its own, and nothing
# that the outer one holds is given up.

load helper

setup() {
	escape_setup
	mkdir -m 700 "$HOME/.cordon"
	mkdir "$SCRATCH/bin"
	cp "$CORDON" "$SCRATCH/bin/cordon"
	NESTED=$SCRATCH/bin/cordon
	printf '[sandbox]\ndeny = ["%s"]\n' "$OUTSIDE" >"$HOME/.cordon/config.toml"
}

# nested BACKEND ARGS...: an inner run with ARGS in an outer one on BACKEND.
nested() {
	local backend=$1
	shift
	run cordon run -q --backend "$backend" --fallback degrade --allow-exec "$SCRATCH/bin" -- \
		"$NESTED" run --fallback degrade "$@"
}

# works_in BACKEND [OPTION...]: what the user's configuration denies stays denied although the inner one cannot read it.
works_in() {
	nested "$@" -- sh -c 'echo inner; echo x >made; cat "$1/file" "$2/.ssh/id" "$2/.cordon/config.toml"' \
		- "$OUTSIDE" "$HOME"
	assert_contains inner
	assert_equal "$(<made)" x
	refute_contains "$SECRET"
	refute_contains "deny ="
	# With mounts of its own the outer one shows no such file.
	[ "$1" != landlock ] || assert_contains "closed by the cordon around this one"
}

@test "an inner run works in native, without any setting" { works_in native; }
@test "an inner run works in landlock, without any setting" { works_in landlock; }
# bubblewrap covers files by some that are unlinked, on which nothing can be mounted.
@test "an inner run works in bwrap, on landlock" {
	command -v bwrap >/dev/null || must_or_skip "no bubblewrap"
	works_in bwrap --backend landlock
}

# Only of the same program: whoever calls itself cordon may be anybody.
@test "what an inner run tries in vain is on record, and told by nobody but itself" {
	local backend
	for backend in native landlock; do
		run --separate-stderr "$NESTED" run --backend $backend --fallback degrade --json \
			--allow-exec "$SCRATCH/bin" -- "$NESTED" run --fallback degrade -- sh -c 'echo x >>~/.bashrc'
		assert_json '[.violations[] | select(.op == "call")] | length >= 2 and
			all(.program == "cordon" and .advisory)'
		assert_json '.violations | any(.op == "write" and (.object | endswith("/.bashrc")))'
		[ "$(grep -c "refused: " <<<"$stderr")" = 1 ] || fail "told otherwise" "$(outcome)"
		# It knows at once what it has not, and says it once.
		assert_json '(.stderr | split("not enforced by") | length) == 2 and
			(.stderr | test("not enforced by landlock: .*guard"))'
	done
	run --separate-stderr cordon run --on-violation fail --allow-exec "$SCRATCH/bin" -- \
		"$NESTED" run -q --fallback degrade -- true
	assert_status 125
	run --separate-stderr cordon run -- /usr/bin/python3 -c '
import ctypes
libc = ctypes.CDLL(None)
libc.prctl(15, b"cordon", 0, 0, 0)
libc.unshare(0x10000000)'
	[[ $stderr == *"refused: calling unshare (cordon, "* ]] || fail "not told" "$(outcome)"
}

@test "what an inner run tries in vain is not told at once, either; what others try is" {
	local profile
	for profile in moderate strict; do
		run --separate-stderr "$NESTED" run -p $profile --watch --allow-read "$SCRATCH/bin" \
			--allow-exec "$SCRATCH/bin" -- "$NESTED" run -q --fallback degrade -- true
		[[ $stderr != *"refused: calling"* ]] || fail "$profile: told" "$(outcome)"
		# shellcheck disable=SC2016 # for the shell inside
		run --separate-stderr "$NESTED" run -p $profile --watch --allow-read "$SCRATCH/bin" \
			--allow-exec "$SCRATCH/bin" -- \
			sh -c '"$1" run -q --fallback degrade -- true; unshare -n true' - "$NESTED"
		[[ $stderr == *"refused: calling unshare (unshare, "* ]] ||
			fail "$profile: not told" "$(outcome)"
	done
}

@test "doctor, inside: that is the cause, and no setting of the machine" {
	run cordon run -q --allow-exec "$SCRATCH/bin" -- "$NESTED" doctor
	assert_contains "fix: this is already inside cordon"
	refute_contains max_user_namespaces
	refute_contains CONFIG_NAMESPACES
	run cordon run -q --allow-exec "$SCRATCH/bin" -- "$NESTED" doctor --json
	refute_contains max_user_namespaces
	run cordon doctor --json
	refute_contains "already inside"
}

@test "three deep, each narrower" {
	run cordon run -q --allow-exec "$SCRATCH/bin" -- \
		"$NESTED" run -q --fallback degrade --deny "$HOME/notes" -- \
		"$NESTED" run -q --fallback degrade -- \
		sh -c 'echo deep; cat "$1/file" "$2/notes/plain"' - "$OUTSIDE" "$HOME"
	assert_contains deep
	refute_contains "$SECRET"
}

@test "a configuration that cannot be read is an error everywhere else" {
	is_root && skip "root reads everything"
	chmod 0 "$HOME/.cordon/config.toml"
	CORDON_INSIDE=native run cordon run -- true
	assert_status 125
	assert_contains "config.toml"
	# Not even with no_new_privs, when there is no such variable.
	command -v setpriv >/dev/null || must_or_skip "no setpriv"
	run setpriv --no-new-privs "$CORDON" run -- true
	assert_status 125
	assert_contains "config.toml"
}

@test "CORDON_INSIDE names the backend, and is the caller's for nobody" {
	CORDON_INSIDE=other run -0 cordon run -q -- sh -c 'echo "[$CORDON_INSIDE]"'
	assert_output "[native]"
	CORDON_INSIDE=other run -0 cordon run -q --backend landlock --fallback degrade -- \
		sh -c 'echo "[$CORDON_INSIDE]"'
	assert_contains "[landlock]"
}
