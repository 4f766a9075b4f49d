#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What cordon says would allow something, done as it says: it suffices.
load helper

# The home shows inside.
setup() {
	CORDON_TEST_TMP=$(ground) cordon_setup
	export GIT_AUTHOR_NAME=Tester GIT_AUTHOR_EMAIL=t@example.com
	export GIT_COMMITTER_NAME=Tester GIT_COMMITTER_EMAIL=t@example.com
	cordon run -q --backend native true 2>/dev/null ||
		must_or_skip "the native backend does not work here"
}

# hinted ARGUMENTS: runs, and $hint is the one hint.
hinted() {
	run --separate-stderr cordon run "$@"
	hint=$(grep -F 'cordon: hint:' <<<"$stderr") || fail "no hint" "$(outcome)"
	[ "$(wc -l <<<"$hint")" = 1 ] || fail "more than one hint" "$(outcome)"
}

@test "strict: the flags in the hint let a program outside /usr run" {
	cp "$(type -P true)" "$HOME/tool"
	run -125 --separate-stderr cordon run -p strict "$HOME/tool"
	[[ $stderr == *"hint: --allow-read $HOME/tool --allow-exec $HOME/tool" ]] ||
		fail "hint" "$(outcome)"
	run -0 cordon run -p strict --allow-read "$HOME/tool" --allow-exec "$HOME/tool" "$HOME/tool"
	run -125 --separate-stderr cordon run -p custom "$HOME/tool"
	[[ $stderr == *"--allow-read @runtime --allow-exec @system-exec for its loader"* ]] ||
		fail "hint" "$(outcome)"
}

@test "what git needs is said as a whole, and suffices" {
	git init -q
	git commit -q --allow-empty -m first
	mkdir "$HOME/new"
	cd "$HOME/new"
	hinted -- git init
	[[ $hint = *"with all of --allow-write .git/hooks --allow-write .git/branches --allow-write .git/config" ]] ||
		fail "$hint"
	run -0 cordon run --allow-write .git/hooks --allow-write .git/branches \
		--allow-write .git/config -- git init
	git status

	cd "$WORKDIR"
	hinted -- git config --global user.email someone
	[[ $hint = *"needs two: --allow-write ~,"*" --allow-write ~/.gitconfig;"* ]] || fail "$hint"
	run -0 cordon run --allow-write "$HOME" --allow-write "$HOME/.gitconfig" -- \
		git config --global user.email someone

	git init -q --bare "$HOME/other.git"
	hinted -- git push "$HOME/other.git" HEAD
	[[ $hint = *"--allow-write $HOME/other.git lets it"* ]] || fail "$hint"
	run -0 cordon run --allow-write "$HOME/other.git" -- git push "$HOME/other.git" HEAD
}
