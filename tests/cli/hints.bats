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
	ln -s "$HOME/.local/bin/two" through
	ln -s through behind
	ln -s "$HOME/cur" lib
	ln -s lib "$HOME/cur"
	export PATH=$HOME/.local/bin:$PATH
	for profile in strict shell; do
		for word in one two "$HOME/.local/bin/two" ./here ./through ./behind ./lib/tool; do
			run -125 --separate-stderr cordon run -p $profile --json "$word"
			fix=$(jq -r '.violations[0].fix.flags' <<<"$output")
			run -125 --separate-stderr cordon run -p $profile "$word"
			hint=$(sed -n 's/^ *hint: //p' <<<"$stderr")
			# shellcheck disable=SC2086 # words
			run -0 cordon run -q -p $profile $fix "$word"
			# shellcheck disable=SC2086 # words
			run -0 cordon run -q -p $profile $hint "$word"
			fix=$(cordon explain -p $profile --exec "$(type -P "$word")" |
				sed -n 's/^ *to allow it: //p')
			# shellcheck disable=SC2086 # words
			run -0 cordon run -q -p $profile $fix "$word"
		done
	done
}

# follows COMMAND...: refused; then, with the flags of the first refusal and no others, not.
follows() {
	local fix
	run --separate-stderr cordon run "${profile[@]}" --json -- "$@"
	[ "$status" != 0 ] || fail "not refused" "$(outcome)"
	fix=$(jq -r '.violations[0].fix.flags' <<<"$output")
	# shellcheck disable=SC2086 # words
	run -0 --separate-stderr cordon run "${profile[@]}" $fix -- "$@"
	fixed=$fix
}

@test "strict: of a shim all that it starts is shown, by its hint, its fix and explain" {
	local flags
	mkdir -p "$HOME/.someenv/shims" "$HOME/.someenv/libexec" "$HOME/.someenv/versions/1/bin"
	printf '#!/bin/sh\nexec "%s/.someenv/libexec/env" tool "$@"\n' "$HOME" >"$HOME/.someenv/shims/tool"
	printf '#!/bin/sh\nexec "%s/.someenv/versions/1/bin/$1"\n' "$HOME" >"$HOME/.someenv/libexec/env"
	cp "$(type -P true)" "$HOME/.someenv/versions/1/bin/tool"
	chmod -R +x "$HOME/.someenv"
	export PATH=$HOME/.someenv/shims:$PATH
	for profile in strict shell; do
		run -125 --separate-stderr cordon run -p $profile --json tool
		flags=$(jq -r '.violations[0].fix.flags' <<<"$output")
		# shellcheck disable=SC2086 # words
		run -0 cordon run -q -p $profile $flags tool
		run -125 --separate-stderr cordon run -p $profile tool
		flags=$(sed -n 's/^ *hint: //p' <<<"$stderr")
		# shellcheck disable=SC2086 # words
		run -0 cordon run -q -p $profile $flags tool
		run -0 cordon explain -p $profile --exec "$HOME/.someenv/shims/tool"
		assert_contains "--allow-exec $HOME/.someenv"$'\n'
		assert_contains "all of that directory, since the program starts others in it"
	done
	# But not all of a home.
	mkdir "$HOME/shims"
	cp "$(type -P true)" "$HOME/shims/other"
	run -125 --separate-stderr cordon run -p strict "$HOME/shims/other"
	[[ $stderr == *"--allow-read $HOME/shims/other --allow-exec $HOME/shims/other"* ]] ||
		fail "not that program alone" "$(outcome)"
}

@test "what git needs is said as a whole, by fix and hint alike, and suffices" {
	local profile=() fixed
	git init -q
	git commit -q --allow-empty -m first
	mkdir "$HOME/new"
	cd "$HOME/new"
	hinted -- git init
	[[ $hint = *"inside, with the flags above" ]] || fail "$hint"
	rm -rf .git
	follows git init
	assert_equal "$fixed" "--allow-write $PWD/.git/hooks --allow-write $PWD/.git/branches --allow-write $PWD/.git/config"
	git status

	cd "$WORKDIR"
	git config --global user.name Me
	follows git config --global user.email someone
	assert_equal "$fixed" "--allow-write $HOME --allow-write $HOME/.gitconfig"

	git init -q --bare "$HOME/other.git"
	follows git push "$HOME/other.git" HEAD
	assert_equal "$fixed" "--allow-write $HOME/other.git"
	run --separate-stderr cordon run -- git push "$HOME/other.git" HEAD:again
	[[ $stderr != *hint* ]] || fail "said twice" "$(outcome)"
}

@test "hints on git are for git, and what is taken away is not to be made elsewhere" {
	local n
	git init -q
	git commit -q --allow-empty -m first
	for n in {1..12}; do
		git worktree add -q "$HOME/linked$n"
	done
	run --separate-stderr cordon run -- rm -rf .git
	[[ $stderr == *"refused: removing "*" and 11 more under $PWD/.git/worktrees "* ]] ||
		fail "not told" "$(outcome)"
	[[ $stderr == *"rules are on what is in it, which 'cordon explain --last' lists"* ]] ||
		fail "not said" "$(outcome)"
	[[ $stderr != *"hint: git"* && $stderr != *"make it outside"* ]] || fail "said" "$(outcome)"
}

@test "strict: git commits with the one line that is said, who commits included" {
	local profile=(-p strict) fixed
	unset GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
	git config --global user.name Me
	git config --global user.email me@example.com
	git init -q
	follows git commit -q --allow-empty -m first
	assert_equal "$fixed" "--hidden-writes git --allow-read $HOME/.gitconfig"
	hinted -p strict --hidden-writes git -- git commit -q --allow-empty -m second
	[[ $hint = *"--allow-read $HOME/.gitconfig shows it" ]] || fail "$hint"
	git worktree add -q "$HOME/linked"
	cd "$HOME/linked"
	hinted -p strict -- git status
	[[ $hint = *"git reads it with --allow-read $WORKDIR/.git; commits take --profile moderate"* ]] ||
		fail "$hint"
	run -0 cordon run -q -p strict --allow-read "$WORKDIR/.git" -- git status
	run -0 cordon run -q -p moderate -- git commit -q --allow-empty -m third
}

# allowed PROFILE OP COMMAND: refused; with what the refusal says, word by word, not.
allowed() {
	local first fix
	output=$(cordon run -q -p "$1" --report all --json -- sh -c "$3" || true)
	jq -e --arg op "$2" '.violations[0] | .op == $op' <<<"$output" >/dev/null ||
		fail "not refused: $3" "$(outcome)"
	first=$(jq -r '.violations[0].fix.first // "true"' <<<"$output")
	fix=$(jq -r '.violations[0].fix.flags' <<<"$output")
	bash -c "$first" || fail "$first"
	output=$(bash -c "\"\$0\" run -q -p $1 --report all --json $fix -- sh -c \"\$1\"" \
		"$CORDON" "$3" || true)
	jq -e '.exit_code == 0 and .violations == []' <<<"$output" >/dev/null ||
		fail "not allowed by $fix: $3" "$(outcome)"
}

@test "what would allow it, done as it says: fifteen kinds" {
	mkdir -p "$HOME/.ssh" "$HOME/d" "$HOME/dir with blanks"
	touch "$HOME/.ssh/key" "$HOME/f" "$HOME/d/old" "$HOME/d/moved" "$HOME/.profile"
	cp "$(type -P true)" "$HOME/tool"
	cp "$HOME/tool" here
	allowed moderate read 'cat ~/.ssh/key'
	allowed moderate write 'echo x >~/f'
	allowed moderate write 'echo x >~/d/new'
	allowed moderate write 'echo x >>~/.profile'
	allowed moderate write 'echo x >>~/.bashrc'
	allowed moderate write 'rm ~/d/old'
	allowed moderate write 'mv ~/d/moved ~/d/there'
	allowed moderate write 'chmod 600 ~/f'
	allowed moderate write 'echo x >"$HOME/dir with blanks/new"'
	allowed moderate write 'mkdir .vscode'
	allowed moderate write 'echo x >.mcp.json'
	allowed strict write 'echo x >.hidden'
	allowed strict read 'cat ~/f'
	allowed shell exec './here'
	allowed strict exec '"$HOME/tool"'
}

@test "strict: of a directory that is to be made, and of a copy into the home, what would allow it" {
	local profile
	mkdir "$HOME/d"
	touch a "$HOME/d/old"
	for profile in moderate strict; do
		allowed $profile write "mkdir ~/$profile-made || [ -d ~/$profile-made ]"
		allowed $profile write "cp a ~/$profile-copy"
		run -0 cordon run -q -p $profile --json -- sh -c "cp a ~/$profile-other; true"
		jq -e --arg to "$HOME/$profile-other" '.violations[0].fix |
			.first == "touch " + $to and .flags == "--allow-write " + $to' \
			<<<"$output" >/dev/null || fail "$profile: not that file alone" "$(outcome)"
	done
	allowed strict write 'mkdir ~/.config || [ -d ~/.config ]'
	allowed strict write 'rm ~/d/old'
}

# pasted OPTION: what `cordon explain OPTION` would allow $dir with, as flags and as a line of the
# configuration, is pasted.
pasted() {
	local flags line
	run -0 cordon explain "$@"
	flags=$(sed -n 's/^ *to allow it: //p' <<<"$output")
	line=$(sed -n 's/^ *or in config.toml, below \[sandbox\]: //p' <<<"$output")
	rm -f "$dir/x"
	run -0 bash -c "\"\$CORDON\" run -q $flags -- touch \"\$dir/x\""
	rm "$dir/x"
	mkdir -p "$HOME/.cordon"
	printf '[sandbox]\n%s\n' "$line" >"$HOME/.cordon/config.toml"
	run -0 cordon run -q -- touch "$dir/x"
	rm -r "$HOME/.cordon/config.toml"
}

@test "a path with quotes, backslashes and other bytes: what explain prints can be pasted" {
	local dir name
	export CORDON dir
	for name in 'a"b' "a'b" 'a\b' 'a{b' $'a\xffb'; do
		dir=$HOME/$name
		mkdir "$dir"
		run ! cordon run -q -- touch "$dir/x"
		pasted --last
		pasted --write "$dir"
	done
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

@test "in the home and in / what only looks is not refused, and a run is" {
	local dir
	for dir in "$HOME" / /etc; do
		cd "$dir"
		run -125 --separate-stderr cordon run -- true
		run -125 --separate-stderr cordon policy render
		run -125 --separate-stderr cordon run --dry-run -- true
		run -0 --separate-stderr cordon run --no-sandbox -- true
		run -0 cordon profile list
		run -0 cordon profile show moderate
		run -0 cordon config show
		run -0 cordon config path
		run -0 cordon status
		run -0 cordon quarantine list
		run -0 cordon cache list
		run -0 cordon explain "$HOME/.ssh"
		run -0 cordon explain --last
		run cordon doctor
		[[ $output == *"This machine can enforce"* ]] || fail "$dir" "$(outcome)"
	done
}

@test "the workdir /: what is said of it is true, and no built-in profile is to be edited" {
	cd /
	run -125 --separate-stderr cordon run -- touch cordon-bats-x
	[[ $stderr == *"the workdir would be /, which is the whole machine"* &&
		$stderr != *writable* && $stderr == *"cd into a project"* ]] || fail "words" "$(outcome)"
	run -1 --separate-stderr cordon run --workdir / -- touch cordon-bats-x
	refute_file /cordon-bats-x
	[[ $stderr == *"the workdir is /, which as such is not made writable"* &&
		$stderr != *"leave out the read"* ]] || fail "words" "$(outcome)"
	# What somebody wrote twice is still to be written once.
	mkdir -p "$HOME/.cordon"
	cat >"$HOME/.cordon/config.toml" <<-EOF
		[sandbox.profiles.twice]
		read = ["{workdir}"]
		write = ["{workdir}"]
	EOF
	cd "$WORKDIR"
	run --separate-stderr cordon explain -p twice x
	[[ $stderr == *"leave out the read"* ]] || fail "words" "$(outcome)"
}

@test "what is to be writable and is not there: the hint makes it" {
	local hint path
	for path in "$HOME/out/of/it" "$HOME/beside"; do
		run -125 --separate-stderr cordon run --allow-write "$path" true
		hint=$(sed -n 's/.*hint: create it first: \(.*\), or mkdir.*/\1/p' <<<"$stderr")
		[ -n "$hint" ] || fail "no hint" "$(outcome)"
		eval "$hint" || fail "the hint fails: $hint"
		[ -f "$path" ] || fail "not made: $hint"
		run -0 cordon run -q --allow-write "$path" sh -c "echo x >'$path'"
	done
	[[ $hint != *mkdir* ]] || fail "what is there is to be made: $hint"
}
