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

@test "strict: a program that is a link elsewhere, by its hint and by its fix" {
	local fix hint
	mkdir -p "$HOME/.local/bin" "$HOME/lib"
	cp "$(type -P true)" "$HOME/lib/tool"
	ln -s ../../lib/tool "$HOME/.local/bin/one"
	ln -s one "$HOME/.local/bin/two"
	ln -s "$HOME/lib/tool" here
	export PATH=$HOME/.local/bin:$PATH
	for profile in strict shell; do
		for word in one two "$HOME/.local/bin/two" ./here; do
			run -125 --separate-stderr cordon run -p $profile --json "$word"
			fix=$(jq -r '.violations[0].fix.flags' <<<"$output")
			run -125 --separate-stderr cordon run -p $profile "$word"
			hint=$(sed -n 's/^ *hint: //p' <<<"$stderr")
			# shellcheck disable=SC2086 # words
			run -0 cordon run -q -p $profile $fix "$word"
			# shellcheck disable=SC2086 # words
			run -0 cordon run -q -p $profile $hint "$word"
		done
	done
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

@test "read and write of one path: which holds is said, and the fix suffices" {
	local both=(--allow-read "$HOME/d" --allow-write "$HOME/d")
	mkdir "$HOME/d"
	touch "$HOME/d/old"
	run --separate-stderr cordon run "${both[@]}" -- touch "$HOME/d/new"
	[ "$status" != 0 ] || fail "written" "$(outcome)"
	[[ $stderr == *"warning: --allow-write: write $HOME/d does nothing: read $HOME/d [--allow-read]"* ]] ||
		fail "no warning" "$(outcome)"
	[[ $stderr == *"refused: writing $HOME/d/new"*"leave out --allow-read $HOME/d and give --allow-write $HOME/d alone"* ]] ||
		fail "no fix" "$(outcome)"
	[[ $stderr != *"nothing allows it"* ]] || fail "false" "$(outcome)"
	run --separate-stderr cordon run "${both[@]}" -- rm "$HOME/d/old"
	[[ $stderr == *"refused: "*"leave out --allow-read $HOME/d and"* ]] || fail "no fix" "$(outcome)"
	run -0 --separate-stderr cordon run --allow-write "$HOME/d" -- touch "$HOME/d/new"
	[[ $stderr != *"does nothing"* ]] || fail "warned" "$(outcome)"
	# The deeper one holds, and a flag against a profile.
	run -0 --separate-stderr cordon run --allow-read "$HOME" --allow-write "$HOME/d" -- \
		touch "$HOME/d/newer"
	[[ $stderr != *"does nothing"* ]] || fail "warned" "$(outcome)"
}

@test "a profile with read and write of one path: a warning that says where" {
	mkdir -p "$HOME/d" "$HOME/.cordon"
	cat >"$HOME/.cordon/config.toml" <<-EOF
		[sandbox.profiles.mine]
		extends = "moderate"
		read = ["~/d"]
		write = ["~/d"]
	EOF
	run -0 --separate-stderr cordon run -p mine -- true
	[[ $stderr == *"warning: "*"config.toml:4: write ~/d does nothing: read ~/d ["*"config.toml:3]"* ]] ||
		fail "no warning" "$(outcome)"
	run -0 --separate-stderr cordon run -p mine --allow-write "$HOME/d" -- touch "$HOME/d/new"
}

@test "a workdir that no rule shows is said before the command starts elsewhere" {
	local base=(-p custom --allow-read @runtime --allow-exec @system-exec)
	run -0 --separate-stderr cordon run "${base[@]}" -- pwd
	assert_equal "$output" /
	[[ $stderr == *"warning: no rule shows the workdir ($WORKDIR), so the command starts in /; --allow-read . or"* ]] ||
		fail "not said" "$(outcome)"
	run -0 --separate-stderr cordon run "${base[@]}" --allow-read . -- pwd
	assert_equal "$output" "$WORKDIR"
	[[ $stderr != *"starts in"* ]] || fail "said" "$(outcome)"
}
