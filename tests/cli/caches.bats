#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Private caches and a shared /tmp. The home of these tests lies in /var/tmp, which the
# command can write while its /tmp is private: so --tmp shared.
load helper

setup() {
	cordon_setup
	unset GOCACHE GOPATH npm_config_cache CARGO_HOME PIP_CACHE_DIR GRADLE_USER_HOME \
		MAVEN_OPTS NUGET_PACKAGES CCACHE_DIR YARN_GLOBAL_FOLDER BUN_INSTALL_CACHE_DIR
	KEPT=$HOME/.cordon/cache/project
}

# inside BACKEND SCRIPT: a shell under moderate. What the landlock backend lacks is said
# in spite of -q.
inside() {
	cordon run -q --tmp shared --backend "$1" --fallback degrade -- sh -c "$2" 2>/dev/null
}

needs() {
	if [ "$1" = bwrap ] && ! command -v bwrap >/dev/null; then
		must_or_skip "no bwrap here"
	fi
	inside "$1" true || must_or_skip "the $1 backend does not work here"
}

covers() {
	needs "$1"
	mkdir -p "$HOME/.npm" "$HOME/.cargo/registry" "$HOME/.cargo/bin"
	echo mine >"$HOME/.npm/index"
	run inside "$1" 'cat ~/.npm/index; echo theirs >~/.npm/index && echo x >~/.cargo/registry/y'
	assert_success
	refute_contains mine
	run inside "$1" 'cat ~/.npm/index ~/.cargo/registry/y'
	assert_success
	assert_contains theirs
	assert_equal "$(cat "$HOME/.npm/index")" mine
	refute_file "$HOME/.cargo/registry/y"
	run inside "$1" 'echo x >~/.cargo/bin/cargo'
	[ "$status" -ne 0 ] || fail "a program directory is writable" "$(outcome)"
	refute_file "$HOME/.cargo/bin/cargo"
}

@test "native: a cache is covered by one of the project" {
	covers native
}

@test "bwrap: a cache is covered by one of the project" {
	covers bwrap
}

named() {
	needs "$1"
	run inside "$1" 'mkdir -p "$XDG_CACHE_HOME/pip" && echo kept >"$XDG_CACHE_HOME/pip/x"'
	assert_success
	run inside "$1" 'cat "$XDG_CACHE_HOME/pip/x"; test -d ~/.cache && echo debris'
	assert_output kept
	refute_file "$HOME/.cache"
	run inside "$1" 'cat ~/.cordon/config.toml; ls ~/.cordon/cache/project/*/project
		echo x >~/.cordon/x; echo x >"$XDG_CACHE_HOME/../../x"'
	refute_contains "$WORKDIR"
	refute_file "$HOME/.cordon/x"
	[ -z "$(find "$KEPT" -name x -not -path '*/own/*')" ] || fail "wrote outside its own"
}

@test "native: where there is nothing to cover a variable names it" {
	named native
}

@test "bwrap: where there is nothing to cover a variable names it" {
	named bwrap
}

@test "landlock: where there is nothing to cover a variable names it" {
	named landlock
}

@test "landlock: a cache that exists is read, and a variable names the private one" {
	needs landlock
	mkdir "$HOME/.npm"
	echo mine >"$HOME/.npm/index"
	run inside landlock 'cat ~/.npm/index; mkdir -p "$npm_config_cache" &&
		echo theirs >"$npm_config_cache/index"; echo bad >~/.npm/index'
	assert_contains mine
	assert_equal "$(cat "$HOME/.npm/index")" mine
	run inside landlock 'cat "$npm_config_cache/index"'
	assert_output theirs
}

@test "projects do not share a cache, runs of one do" {
	needs native
	run inside native 'mkdir -p "$XDG_CACHE_HOME" && echo one >"$XDG_CACHE_HOME/x"'
	assert_success
	mkdir "$SCRATCH/other"
	cd "$SCRATCH/other"
	run inside native 'cat "$XDG_CACHE_HOME/x"'
	[ "$status" -ne 0 ] || fail "shared" "$(outcome)"
}

# Were the directory that holds the caches shown, a link put in place of one would be
# followed by the next run.
@test "a link put into a cache leads nowhere the next time" {
	needs native
	mkdir -p "$HOME/.npm" "$HOME/.ssh"
	echo secret >"$HOME/.ssh/id"
	run inside native 'ln -s ~/.ssh ~/.npm/ssh; ln -s ~/.ssh "$XDG_CACHE_HOME"
		rmdir ~/.npm; mv ~/.npm ~/.npm2; rm -rf "$XDG_CACHE_HOME/../../npm"'
	for backend in native bwrap; do
		run inside $backend 'cat ~/.npm/ssh/id "$XDG_CACHE_HOME/id" ~/.npm/id'
		refute_contains secret
		[ "$status" -ne 0 ] || fail "read a secret" "$(outcome)"
	done
}

@test "the caller's own cache is read when it is named, and opened when that is asked for" {
	needs native
	mkdir "$HOME/.npm"
	echo mine >"$HOME/.npm/index"
	run -0 cordon run -q --tmp shared --allow-read "$HOME/.npm" -- cat "$HOME/.npm/index"
	assert_output mine
	run -0 cordon run -q --tmp shared --allow-write "$HOME/.npm" -- \
		sh -c 'echo changed >~/.npm/index'
	assert_equal "$(cat "$HOME/.npm/index")" changed
}

@test "without a place for caches the command runs and it is said" {
	needs native
	rm -rf "$HOME/.cordon/cache"
	echo file >"$HOME/.cordon/cache"
	run -0 --separate-stderr cordon run --tmp shared --json -- true
	assert_json '.degraded | index("caches")'
	assert_json '.enforced | index("caches") | not'
}

@test "a dry run makes nothing" {
	run -0 cordon run --tmp shared --dry-run -- true
	assert_contains "cache "
	refute_file "$HOME/.cordon"
}

@test "cache list and clear" {
	needs native
	cordon cache clear --all >/dev/null
	run -0 cordon cache list
	assert_output "no project has private caches, and no /tmp is shared"
	inside native 'mkdir -p "$XDG_CACHE_HOME/deep" && chmod 500 "$XDG_CACHE_HOME/deep"'
	run -0 cordon cache list
	assert_contains "$WORKDIR"
	run -0 cordon cache list --json
	assert_json ".caches | length == 1 and .[0].project == \"$WORKDIR\" and .[0].bytes > 0 and
		(.[0].busy | not)"
	run -0 cordon cache clear -C "$HOME/.."
	assert_output "nothing to clear"
	run -0 cordon cache clear --json
	assert_json '.cleared | length == 1'
	[ -z "$(ls -A "$KEPT")" ] || fail "left behind: $(ls -A "$KEPT")"
	run -125 cordon cache
	run -125 cordon cache drop
}

@test "caches of all projects are listed and cleared from a directory that is gone" {
	needs native
	inside native 'mkdir -p "$XDG_CACHE_HOME/deep"'
	mkdir gone
	cd gone
	rmdir ../gone
	run -0 cordon cache list
	assert_contains "$WORKDIR"
	run cordon cache clear
	assert_status 125
	run -0 cordon cache clear --all
	assert_matches "^cleared .*$WORKDIR"
}

@test "a cache in use is not cleared" {
	needs native
	mkfifo go ready
	inside native 'echo >ready; read -r x <go' &
	read -r _ <ready
	run -125 cordon cache clear
	assert_contains "a run is using"
	run -0 cordon cache list
	assert_contains "(in use)"
	echo >go
	wait $!
	run -0 cordon cache clear
}

@test "one cache in use does not keep the others from being cleared" {
	needs native
	mkdir "$SCRATCH/other"
	cordon run -q -C "$SCRATCH/other" --tmp shared -- true
	inside native true
	exec 8<"$(cordon cache list --json | jq -r '.caches[] | select(.project == "'"$WORKDIR"'").path')"
	flock -s 8
	run --separate-stderr cordon cache clear --all --json
	assert_status 125
	assert_json "[.cleared[].project] == [\"$SCRATCH/other\"]"
	assert_json '.error.message | contains("a run is using")'
	exec 8<&-
	run -0 cordon cache clear --all
	assert_contains "$WORKDIR"
}

@test "a run does not begin with caches that are being cleared" {
	needs native
	inside native true
	exec 8<"$(cordon cache list --json | jq -r '.caches[0].path')"
	flock -x 8
	run --separate-stderr cordon run -q --tmp shared -- touch ran
	assert_status 125
	output=$stderr
	assert_contains "the private caches of this project are being cleared"
	refute_file ran
	exec 8<&-
	run -0 cordon run -q --tmp shared -- touch ran
}

@test "what a clearing that was killed left is removed by the next" {
	mkdir -p "$KEPT/.gone-x-1/deep" "$KEPT/.gone-y-2"
	exec 8<"$KEPT/.gone-y-2"
	flock -x 8
	run -0 cordon cache clear
	refute_file "$KEPT/.gone-x-1"
	assert_file "$KEPT/.gone-y-2"
	exec 8<&-
	run -0 cordon cache clear
	refute_file "$KEPT/.gone-y-2"
}

shares() {
	needs "$1"
	local script='T=${TMPDIR:-/tmp}; cat "$T/x" 2>/dev/null; echo "$1" >>"$T/x"'
	local start=(run -0 --separate-stderr cordon run -q --backend "$1" --fallback degrade)
	"${start[@]}" --share-tmp team -- sh -c "$script" - one
	"${start[@]}" --share-tmp team -- sh -c "$script" - two
	assert_output one
	"${start[@]}" --share-tmp other -- sh -c "$script" - three
	assert_output ""
	"${start[@]}" -- sh -c "$script" - four
	assert_output ""
	assert_equal "$(cat "$HOME/.cordon/tmp/team/x")" "one
two"
	refute_file /tmp/x
}

@test "native: runs of one name share a private /tmp" {
	shares native
}

@test "bwrap: runs of one name share a private /tmp" {
	shares bwrap
}

@test "landlock: runs of one name share a private /tmp" {
	shares landlock
}

# in_tmp NAME [FLAG...] SCRIPT
in_tmp() {
	local name=$1
	shift
	cordon run -q --share-tmp "$name" "${@:1:$#-1}" -- sh -c "${!#}"
}

@test "a shared /tmp is listed and cleared by its name" {
	needs native
	in_tmp one 'head -c 100000 /dev/zero >/tmp/x'
	in_tmp two 'mkdir -p /tmp/deep && chmod 500 /tmp/deep'
	run -0 cordon cache list
	assert_contains "  --share-tmp one"
	run -0 cordon cache list --json
	assert_json '[.caches[] | select(.shared_tmp)] | length == 2 and
		.[0].shared_tmp == "one" and .[0].bytes >= 100000 and (.[0].busy | not)'
	run -0 cordon cache clear --json
	assert_json '[.cleared[] | select(.shared_tmp)] == []'
	run -0 cordon cache clear --shared none
	assert_output "nothing to clear"
	run -0 cordon cache clear --shared one
	assert_contains "--share-tmp one"
	refute_file "$HOME/.cordon/tmp/one"
	run -0 in_tmp one 'ls -A /tmp'
	assert_output ""
	run -0 cordon cache clear --all
	[ -z "$(ls -A "$HOME/.cordon/tmp")" ] || fail "left behind: $(ls -A "$HOME/.cordon/tmp")"
}

@test "a shared /tmp in use is not cleared, whatever the command does to it" {
	needs native
	mkfifo up down
	# The lock is out of its reach.
	in_tmp one 'flock -x /tmp true; echo >up; read x <down' 3>&- &
	read -r _ <up
	run -0 cordon cache list --json
	assert_json '[.caches[] | select(.shared_tmp == "one" and .busy)] | length == 1'
	run -125 cordon cache clear --shared one
	assert_contains "a run is using $HOME/.cordon/tmp/one"
	run -0 in_tmp one 'echo also'
	assert_output also
	echo >down
	wait
	run -0 cordon cache clear --shared one
}

@test "a shared /tmp is not used when it holds more than tmp_size" {
	needs native
	in_tmp one 'head -c 300000 /dev/zero >/tmp/x'
	run -125 in_tmp one --tmp-size 200K 'echo ran'
	assert_contains "and tmp_size is 200K"
	assert_contains "'cordon cache clear --shared one' empties it"
	refute_contains ran
	run -0 in_tmp one --tmp-size 2M 'echo ran'
	run -0 in_tmp one --tmp-size none 'rm /tmp/x'
	run -0 in_tmp one --tmp-size 200K 'echo ran'
	assert_output ran
}

@test "TMPDIR names a directory that is there" {
	needs native
	local variable
	for variable in TMPDIR TMP TEMP; do
		run -0 env "$variable=/tmp/no/such" "$CORDON" run -q -- sh -c "echo \$$variable"
		assert_output /tmp
		run -0 env "$variable=$HOME" "$CORDON" run -q --tmp shared -- sh -c "echo \$$variable"
		assert_output /tmp
		run -0 env "$variable=$WORKDIR" "$CORDON" run -q -- sh -c "echo \$$variable"
		assert_output "$WORKDIR"
	done
	run -0 env TMPDIR=/tmp/no/such "$CORDON" run -q -- sh -c 'rm "$(mktemp)"'
}

@test "a shared /tmp needs a plain name and a private /tmp" {
	local name
	for name in ../x .x a/b '' "$(printf 'x%.0s' {1..100})"; do
		run -125 cordon run --share-tmp "$name" -- true
	done
	run -125 cordon run --share-tmp 'a b' -- true
	assert_contains "--share-tmp: 'a b' is not a name of letters, digits, '.', '_' and '-'"
	run -125 cordon run --tmp shared --share-tmp x -- true
	assert_contains "share_tmp needs a private /tmp"
	echo '[sandbox]
share_tmp = "x"' >.cordon.toml
	run -125 cordon run -- true
	assert_contains "share_tmp"
}

@test "no caches at all" {
	needs native
	run -0 --separate-stderr cordon run -q --tmp shared -- sh -c 'echo "$XDG_CACHE_HOME"'
	assert_contains "$KEPT"
	run -0 --separate-stderr cordon run -q --tmp shared --caches none -- sh -c 'echo "$XDG_CACHE_HOME"'
	refute_contains "$KEPT"
	run -0 --separate-stderr cordon run --json --tmp shared --caches none -- true
	assert_json '(.enforced + .degraded) | index("caches") | not'
}
