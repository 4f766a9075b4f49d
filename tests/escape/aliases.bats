#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# H31: the same files under another path, by bind mounts and overlays. Each test mounts in a
# mount namespace of its own.
# shellcheck disable=SC2016 # scripts are for the shell in there

load helper

setup() {
	escape_setup
	mkdir "$OUTSIDE/again" "$OUTSIDE/over"
	export OUTSIDE SCRATCH SECRET
}

# mounted SCRIPT COMMAND...: runs the script, then the command, where only they see mounts.
mounted() {
	local flags=-m script=$1
	shift

	is_root || flags=-rm
	run unshare $flags -- sh -c 'eval "$0" || exit 99; exec "$@"' "$script" "$@"
	[ "$status" -ne 99 ] || fail "cannot mount here" "$(outcome)"
}

# hidden SCRIPT PATH...: with those mounts the files show, but not inside.
hidden() {
	local script=$1 path backend
	shift

	for path; do
		mounted "$script" cat "$path"
		assert_output "$SECRET"
		for backend in native landlock; do
			mounted "$script" "$CORDON" run -q --backend $backend --fallback degrade -- cat "$path"
			[ "$status" -ne 0 ] || fail "$backend: $path is read" "$(outcome)"
			refute_contains "$SECRET"
		done
	done
}

@test "H31 a bind mount of the home" {
	hidden 'mount --bind "$HOME" "$OUTSIDE/again"' \
		"$OUTSIDE/again/.ssh/id" "$OUTSIDE/again/.netrc" "$HOME/.ssh/id" "$HOME/.netrc"
}

@test "H31 a bind mount of what is above the home, and of what is in a secret" {
	hidden 'mount --bind "$SCRATCH" "$OUTSIDE/again"' \
		"$OUTSIDE/again/home/.ssh/id" "$HOME/.ssh/id"
	hidden 'mount --bind "$HOME/.ssh" "$OUTSIDE/again"' "$OUTSIDE/again/id" "$HOME/.ssh/id"
	hidden 'touch "$OUTSIDE/one"; mount --bind "$HOME/.ssh/id" "$OUTSIDE/one"' "$OUTSIDE/one"
}

@test "H31 a bind mount of what is above the home, without it" {
	local home='mount -t tmpfs none "$HOME" && mkdir "$HOME/.ssh" && echo "$SECRET" >"$HOME/.ssh/id"'
	hidden "$home"' && mount --bind "$SCRATCH" "$OUTSIDE/again"' "$HOME/.ssh/id"
	# Others may not bind the root without what is mounted on it.
	! is_root || hidden "$home"' && mount --bind / "$OUTSIDE/again"' "$HOME/.ssh/id"
}

@test "H31 a bind mount of a bind mount; one whose name has a blank" {
	mkdir "$OUTSIDE/a b" "$OUTSIDE/third"
	hidden 'mount --bind "$HOME" "$OUTSIDE/again"; mount --bind "$OUTSIDE/again" "$OUTSIDE/a b"
		mount --bind "$OUTSIDE/a b/.ssh" "$OUTSIDE/third"' \
		"$OUTSIDE/a b/.ssh/id" "$OUTSIDE/third/id"
}

@test "H31 a secret that is itself mounted from elsewhere" {
	mkdir "$OUTSIDE/keys" "$OUTSIDE/keys/sub"
	echo "$SECRET" >"$OUTSIDE/keys/id"
	hidden 'mount --bind "$OUTSIDE/keys" "$HOME/.ssh"' "$OUTSIDE/keys/id" "$HOME/.ssh/id"
	mkdir "$HOME/.ssh/sub"
	hidden 'mount --bind "$OUTSIDE/keys" "$HOME/.ssh/sub"' "$OUTSIDE/keys/id"
}

@test "H31 an overlay over the home, and what it is made of" {
	local make='mount -t tmpfs none "$OUTSIDE/again" && mkdir "$OUTSIDE/again/up" "$OUTSIDE/again/work" &&
		mount -t overlay none -o lowerdir="$LOWER",upperdir="$OUTSIDE/again/up",workdir="$OUTSIDE/again/work" "$POINT"'
	export LOWER=$HOME POINT=$OUTSIDE/over
	hidden "$make" "$OUTSIDE/over/.ssh/id" "$OUTSIDE/over/.netrc"
	# And the other way round: the secret is read in the layer.
	mkdir -p "$OUTSIDE/lower/.ssh"
	echo "$SECRET" >"$OUTSIDE/lower/.ssh/id"
	export LOWER=$OUTSIDE/lower POINT=$HOME
	hidden "$make" "$OUTSIDE/lower/.ssh/id" "$HOME/.ssh/id"
}

@test "H31 what is not shown twice stays as it is" {
	local script='mount --bind "$HOME" "$OUTSIDE/again"; mount -t tmpfs none "$OUTSIDE/again/.ssh"
		echo open >"$OUTSIDE/again/.ssh/id"; mkdir "$OUTSIDE/again/.ssh/notes"'
	mounted "$script" "$CORDON" run -q -- cat "$OUTSIDE/again/.ssh/id" "$OUTSIDE/again/notes/plain"
	assert_output "open
$SECRET"
}

@test "H31 a start file under the other path is not written" {
	mounted 'mount --bind "$HOME" "$OUTSIDE/again"' "$CORDON" run -q --workdir "$OUTSIDE/again" -- \
		sh -c 'echo x >made && echo x >>.bashrc'
	[ "$status" -ne 0 ] || fail "written" "$(outcome)"
	assert_equal "$(cat "$HOME/.bashrc")" "$SECRET"
	assert_file "$HOME/made"
}

@test "H31 --deny of a path holds for its other name; who works there works there" {
	mkdir "$WORKDIR/private"
	echo "$SECRET" >"$WORKDIR/private/file"
	mounted 'mount --bind "$WORKDIR" "$OUTSIDE/again"' "$CORDON" run -q --deny "$WORKDIR/private" -- \
		cat "$OUTSIDE/again/private/file"
	[ "$status" -ne 0 ] || fail "read" "$(outcome)"
	mounted 'mount --bind "$HOME/.ssh" "$OUTSIDE/again"' "$CORDON" run -q --workdir "$OUTSIDE/again" -- \
		cat id
	assert_output "$SECRET"
}
