#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What decides in a repository what git runs later cannot be changed under moderate,
# wherever the repository keeps it; git itself goes on working.
load helper

setup() {
	cordon_setup
	# The home of these tests does not show inside.
	export GIT_AUTHOR_NAME=Tester GIT_AUTHOR_EMAIL=t@example.com
	export GIT_COMMITTER_NAME=Tester GIT_COMMITTER_EMAIL=t@example.com
	printf '[init]\ndefaultBranch = main\n' >"$HOME/.gitconfig"
	cordon run -q --backend native true 2>/dev/null ||
		must_or_skip "the native backend does not work here"
	git init -q
	git commit -q --allow-empty -m first
}

# closed FILE: cannot be written, replaced or made, and is as it was.
closed() {
	local before
	before=$(cat "$1" 2>/dev/null || true)
	run cordon run -q --backend native -- sh -c \
		'echo evil >"$1"; echo evil >"$1.tmp" && mv "$1.tmp" "$1"; rm -f "$1"' - "$1"
	assert_equal "$(cat "$1" 2>/dev/null || true)" "$before"
	[ -z "$before" ] || assert_file "$1"
	rm -f "$1.tmp"
}

@test "hooks and configuration of a submodule" {
	git init -q "$SCRATCH/library"
	git -C "$SCRATCH/library" commit -q --allow-empty -m first
	git -c protocol.file.allow=always submodule --quiet add "$SCRATCH/library" lib/deep
	mkdir -p .git/modules/lib/deep/hooks
	echo mine >.git/modules/lib/deep/hooks/pre-commit
	closed .git/modules/lib/deep/hooks/pre-commit
	closed .git/modules/lib/deep/config
	run -0 cordon run -q --backend native -- \
		sh -euc 'cd lib/deep; echo x >file; git add file; git commit -qm inside; git log --oneline'
	assert_contains inside
}

@test "a directory of hooks that core.hooksPath names" {
	mkdir -p .hooks tools
	echo mine >.hooks/pre-push
	git config core.hooksPath .hooks
	closed .hooks/pre-push
	run cordon run -q --backend native -- sh -c 'mv .hooks away || mv tools/../.hooks away'
	assert_file .hooks/pre-push
	git config core.hooksPath "$PWD/tools/hooks"
	mkdir tools/hooks
	echo mine >tools/hooks/pre-push
	closed tools/hooks/pre-push
	run cordon run -q --backend native -- mv tools away
	assert_file tools/hooks/pre-push
	run -0 cordon run -q --backend native -- sh -c 'echo x >tools/other; git status'
}

@test "what the configuration includes, and programs it names in the workdir" {
	echo '[alias]
x = status' >shared.cfg
	git config include.path ../shared.cfg
	printf '#!/bin/sh\ncat\n' >clean.sh
	git config filter.x.clean ./clean.sh
	closed shared.cfg
	closed clean.sh
	echo '[core]
hooksPath = globally' >>"$HOME/.gitconfig"
	mkdir globally
	echo mine >globally/pre-commit
	closed globally/pre-commit
}

@test "what an included configuration names, and one that git reads from elsewhere" {
	printf '[core]\nhooksPath = deep\n' >"$HOME/inner.cfg"
	git config include.path "$HOME/inner.cfg"
	mkdir -p deep usual "$HOME/.config/git"
	echo mine >deep/pre-commit
	closed deep/pre-commit
	printf '[core]\nhooksPath = usual\n' >"$HOME/.config/git/config"
	echo mine >usual/pre-commit
	closed usual/pre-commit
	git config core.fsmonitor ./not-there
	closed not-there
}

@test "a great many files among the submodules cost no time: all of it is closed" {
	mkdir .git/modules
	(cd .git/modules && seq 5000 | xargs touch)
	run cordon run -q --backend native -- sh -c 'echo x >.git/modules/new'
	[ "$status" -ne 0 ] || fail "it is writable" "$(outcome)"
	refute_file .git/modules/new
}

@test "the common directory of a worktree" {
	git worktree add -q tree
	closed .git/worktrees/tree/commondir
	run -0 cordon run -q --backend native -- \
		sh -euc 'cd tree; echo x >f; git add f; git commit -qm there; git log --oneline'
	assert_contains there
}

@test "a bare layout" {
	git init -q --bare "$SCRATCH/bare"
	cd "$SCRATCH/bare"
	echo mine >hooks/post-update
	closed hooks/post-update
	closed config
	run -0 cordon run -q --backend native -- git rev-parse --is-bare-repository
	assert_output true
}

@test "a configuration that git refuses stops nothing" {
	printf '[core\n' >>.git/config
	run -0 cordon run -q --backend native -- true
	head -c 1000000 /dev/zero >.git/config
	run -0 cordon run -q --backend native -- true
}

# What people do in a checkout; every step has to work.
everyday() {
	run -0 cordon run -q --backend native -- sh -euc '
		echo a >file; git add file; git commit -qm one; git switch -qc side
		echo b >>file; git commit -qam two; git switch -q -; echo c >other; git add other
		git commit -qm three; git switch -q side; git rebase -q -; git stash list
		echo d >>file; git stash -q; git stash pop -q; git commit -qam four
		git tag done; git status --short; git log --oneline'
	assert_contains four
	assert_contains three
}

@test "a linked worktree as the workdir" {
	git worktree add -q "$SCRATCH/linked"
	cd "$SCRATCH/linked"
	everyday
	closed .git
}

@test "a separate git directory in the workdir" {
	rm -rf .git
	git init -q --separate-git-dir store
	git commit -q --allow-empty -m first
	everyday
	closed .git
	closed store/config
}

@test "work in a bare repository" {
	git clone -q --bare . "$SCRATCH/bare"
	cd "$SCRATCH/bare"
	run -0 cordon run -q --backend native -- sh -euc '
		git branch side; git symbolic-ref HEAD refs/heads/side; git pack-refs --all
		git worktree add -q tree main; cd tree; echo x >file; git add file
		git commit -qm there; git log --oneline'
	assert_contains there
	assert_equal "$(cat HEAD)" 'ref: refs/heads/side'
}

@test "a file named HEAD is not made in a workdir, nor changed" {
	closed HEAD
	refute_file HEAD
	echo mine >HEAD
	closed HEAD
	run -0 cordon run -q --backend native -- sh -euc 'mkdir sub; echo x >sub/HEAD; cat HEAD'
	assert_output mine
}

# The configuration after SCRIPT, run inside, is the same file with these lines more.
config_gains() {
	local before inode
	before=$(cat .git/config) inode=$(stat -c %i .git/config)
	run cordon run --backend native --protect "$PROTECT" -- sh -euc "$1"
	assert_equal "$status" 0
	refute_contains refused
	assert_equal "$(cat .git/config)" "$before$2"
	assert_equal "$(stat -c %i .git/config)" "$inode"
	refute_file .git/config.lock
}

branches_and_submodules() {
	PROTECT=$1
	git init -q "$SCRATCH/library"
	git -C "$SCRATCH/library" commit -q --allow-empty -m first
	git branch side
	git -c protocol.file.allow=always submodule --quiet add "$SCRATCH/library" lib
	git commit -qm lib
	git clone -q . "$SCRATCH/clone"
	cd "$SCRATCH/clone"
	config_gains 'git switch -q side' \
		$'\n[branch "side"]\n\tremote = origin\n\tmerge = refs/heads/side'
	config_gains 'git switch -q main; git submodule --quiet init' \
		$'\n[submodule "lib"]\n\tactive = true\n\turl = '"$SCRATCH/library"
	config_gains 'git switch -q -c new --track origin/side' \
		$'\n[branch "new"]\n\tremote = origin\n\tmerge = refs/heads/side'
}

@test "git sets up branches and submodules, by a configuration that is judged" {
	branches_and_submodules guard
}

@test "so it does under a broker" {
	branches_and_submodules exact
}

runs_something() {
	local before change
	before=$(cat .git/config)
	for change in 'core.fsmonitor evil' 'alias.st !evil' 'branch.main.remote https://evil.example' \
		'submodule.x.update !evil' 'remote.evil.url https://evil.example' \
		'remote.origin.pushurl https://evil.example'; do
		# shellcheck disable=SC2086 # two words
		run cordon run --backend native --protect "$1" -- git config $change
		[ "$status" -ne 0 ] || fail "$change" "$(outcome)"
		assert_contains "refused: writing $PWD/.git/config"
		assert_equal "$(cat .git/config)" "$before"
	done
}

@test "a configuration that runs something stays as it was, and it is said" {
	runs_something guard
}

@test "under a broker, too, a configuration that runs something stays as it was" {
	runs_something exact
}

# lock_stays FLAG...: a lock that may only be read is not taken away for git, nor is what it says added.
lock_stays() {
	local before
	git remote add origin "$SCRATCH/none"
	before=$(cat .git/config)
	printf '%s\n[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n' "$before" >.git/config.lock
	run cordon run --backend native --allow-read .git/config.lock "$@" -- mv .git/config.lock .git/config
	[ "$status" -ne 0 ] || fail "it was moved" "$(outcome)"
	assert_equal "$(cat .git/config)" "$before"
	assert_file .git/config.lock
	rm .git/config.lock
	git remote remove origin
}

@test "a lock of git's configuration that may only be read stays" {
	lock_stays
	lock_stays --protect exact
}

# again FLAG...: what is set up already is set up again, in silence, and stays as it was.
again() {
	local before round command
	git clone -q --bare . "$SCRATCH/origin"
	git remote add origin "$SCRATCH/origin"
	git branch feature
	git push -q -u origin main feature
	git config user.name last # a section behind those of the branches
	before=$(cat .git/config)
	for round in 1 2; do
		for command in 'git push -u origin main' 'git push -u --all origin' \
			'git branch --set-upstream-to=origin/feature feature' \
			'git switch -q feature; git switch -q main' 'git config branch.main.remote origin'; do
			run cordon run --backend native --allow-write "$SCRATCH/origin" "$@" -- sh -euc "$command"
			assert_status 0
			refute_contains refused
			refute_contains 'could not write'
			assert_equal "$(cat .git/config)" "$before"
		done
	done
	refute_file .git/config.lock
}

@test "what a branch follows is set again as it was, in silence" {
	again
}

@test "so it is under a broker" {
	again --protect exact
}

# Nobody looks at calls there: what git prints is all that is known, where it is seen.
@test "on bwrap what a branch follows is not set again, and that is told" {
	git init -q --bare "$SCRATCH/origin"
	git remote add origin "$SCRATCH/origin"
	git push -q -u origin main
	run --separate-stderr cordon run --backend bwrap --fallback degrade --json \
		--allow-write "$SCRATCH/origin" -- git push -u origin main
	assert_json '.exit_code == 0 and (.degraded | index("report"))'
	assert_json '.violations | length == 1 and (.[0] | .source == "inferred" and .op == "write" and
		(.object | endswith("/.git/config")) and .fix.opens_control)'
}

# kept FLAG...: what only unsets it, or sets it to something else, changes nothing and is told.
kept() {
	local before command
	printf '[remote "origin"]\n\turl = %s\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n' \
		"$SCRATCH/none" >>.git/config
	printf '[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n' >>.git/config
	git update-ref refs/remotes/origin/other HEAD
	before=$(cat .git/config)
	for command in 'git config --unset branch.main.merge' \
		'git branch --set-upstream-to=origin/other main' 'git branch --unset-upstream' \
		'git config --unset branch.main.merge; git config core.pager x'; do
		run --separate-stderr cordon run --backend native --json "$@" -- sh -c "$command"
		jq -e '.violations | length == 1 and (.[0].object | endswith("/.git/config"))' \
			<<<"$output" >/dev/null || fail "not told: $command" "$(outcome)"
		assert_equal "$(cat .git/config)" "$before"
	done
	run cordon run --backend native --on-violation fail "$@" -- git config --unset branch.main.merge
	assert_status 125
}

@test "what a branch follows is not unset nor changed, and that is told" {
	kept
}

@test "under a broker it is not either" {
	kept --protect exact
}

@test "addresses of remotes in the places that git had before its configuration" {
	run cordon run -q --backend native -- sh -c '
		mkdir -p .git/remotes .git/branches
		echo "URL: $PWD/evil.git" >.git/remotes/origin; echo "$PWD/evil.git" >.git/branches/origin'
	refute_file .git/remotes/origin
	refute_file .git/branches/origin
	mkdir -p .git/branches
	echo mine >.git/branches/other
	closed .git/branches/other
}

# half OPTIONS -- COMMAND...: git is refused a part of it, and the hint on what to do is in $hint.
half() {
	run --separate-stderr cordon run "$@"
	hint=$(grep -F 'cordon: hint:' <<<"$stderr") || fail "no hint" "$(outcome)"
	[ "$(wc -l <<<"$hint")" = 1 ] || fail "more than one hint" "$(outcome)"
}

@test "what git could not finish: a hint says what is left to do, and that helps" {
	git commit -q --allow-empty -m first
	git worktree add -q before
	half -- git worktree remove before
	[[ $hint = *"then 'git worktree prune'"* ]] || fail "$hint"
	[ -e .git/worktrees/before ] || fail "nothing is left to do"
	git worktree prune
	[ ! -e .git/worktrees/before ] || fail "it does not help"

	git branch -q --track other
	half -- git branch -d other
	[[ $hint = *"'git config'"* ]] || fail "$hint"
	git config --remove-section branch.other
	git config --get-regexp '^branch[.]other' && fail "it does not help"

	mkdir "$HOME/new" "$HOME/clone"
	cd "$HOME/new"
	half -- git init
	[[ $hint = *"half made"*"'git init', outside, completes it"* ]] || fail "$hint"
	git init -q && git status
	cd "$HOME/clone"
	half --allow-read "$WORKDIR" -- git clone "$WORKDIR" .
	[[ $hint = *"not made in the workdir itself"* ]] || fail "$hint"
	[ -z "$(ls -A)" ] || fail "something is left: $(ls -A)"
}

@test "a repository above the workdir that is not shown: the flag in the hint finds it" {
	mkdir -p sub/deep
	cd sub/deep
	half -p strict -- git status
	run cordon run -p strict --workdir "$WORKDIR" -- git status
	assert_success
	[[ $hint = *"--workdir $WORKDIR" ]] || fail "$hint"
	# Where it is shown, or there is none, nothing is said.
	run --separate-stderr cordon run -- git log nothing
	assert_status 128
	[[ $stderr != *hint* ]] || fail "$stderr"
	mkdir "$HOME/none"
	cd "$HOME/none"
	run --separate-stderr cordon run -p strict -- git status
	assert_status 128
	[[ $stderr != *hint* ]] || fail "$stderr"
}
