#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Ways to have git run something outside, after the run: by its hooks, configuration and
# whatever leads git to another one.

load helper

# In every script of an attack: a configuration that leaves $RAN.
# shellcheck disable=SC2016 # for the shell of the attack
EVIL='evil() { printf "[core]\nrepositoryformatversion = 0\nbare = false\nfsmonitor = \"touch $RAN;false\"\n"; }
hook() { printf "#!/bin/sh\ntouch $RAN\n" >"$1"; chmod +x "$1"; }
'

setup() {
	escape_setup
	export GIT_AUTHOR_NAME=Tester GIT_AUTHOR_EMAIL=t@example.com
	export GIT_COMMITTER_NAME=Tester GIT_COMMITTER_EMAIL=t@example.com
	export RAN=$SCRATCH/ran
	printf '[init]\ndefaultBranch = main\n' >"$HOME/.gitconfig"
	needs_enforced guard "no guard on this machine"
}

# boundary SCRIPT, nothing SCRIPT: runs it with and without cordon.
boundary() {
	run cordon run -q -p "$PROFILE" --env RAN -- sh -c "$EVIL$1"
}

nothing() {
	run sh -c "$EVIL$1"
}

# attack HOW MAKE SCRIPTS...: in a fresh $SCRATCH/repo; then what a user does outside.
attack() {
	local how=$1 make=$2 script
	shift 2
	chmod -R u+rwX "$SCRATCH/repo" 2>/dev/null || true
	rm -rf "$SCRATCH/repo" "$RAN"
	mkdir "$SCRATCH/repo"
	cd "$SCRATCH/repo"
	"$make"
	for script; do
		"$how" "$script"
	done
	user >/dev/null 2>&1
}

# Whatever of it makes sense in that repository.
user() {
	git status || true
	git commit -q --allow-empty -m later || true
	[ ! -d sub ] || git -C sub commit -q --allow-empty -m later || true
	[ ! -d ../main ] || git -C ../main status || true
}

# held MAKE SCRIPTS...: nothing runs outside; without cordon it does.
held() {
	for PROFILE in ${PROFILES_GIT:-moderate permissive}; do
		attack boundary "$@"
		refute_file "$RAN"
	done
	attack nothing "$@"
	assert_file "$RAN"
}

plain() {
	git init -q
	git commit -q --allow-empty -m first
}

# A linked worktree of ../main.
worktree() {
	git init -q main
	git -C main commit -q --allow-empty -m first
	git -C main worktree add -q ../tree
	cd tree
}

# A repository with the submodule sub.
super() {
	git init -q library
	git -C library commit -q --allow-empty -m first
	git init -q super
	cd super
	git -c protocol.file.allow=always submodule --quiet add ../library sub
	git commit -qm first
}

submodule() {
	super
	cd sub
}

@test "H23 the .git file of a linked worktree" {
	held worktree 'git init -q --bare other; evil >other/config
		printf "[core]\nworktree = ..\n" >>other/config; echo "gitdir: other" >.git'
	held worktree 'cp -r ../main/.git other; rm -rf other/worktrees; evil >other/config
		echo "gitdir: other" >new; mv new .git || { ln .git second && cat new >second; }'
	held worktree 'cp -r ../main/.git other; rm -rf other/worktrees; evil >other/config
		mv .git away; mv other .git'
}

@test "H23 the .git file of a submodule" {
	local other='cp -r .git/modules/sub other; evil >other/config
		printf "[core]\nworktree = ../sub\n" >>other/config
		echo "gitdir: ../other" >new;'
	held super "$other cat new >sub/.git"
	held super "$other mv new sub/.git"
	held super "$other mv sub away; mkdir sub; mv new sub/.git"
	held submodule 'git init -q --bare other; evil >other/config
		printf "[core]\nworktree = ..\n" >>other/config; echo "gitdir: other" >.git'
}

@test "H23 another common directory" {
	held super 'cp -r .git/modules/sub other; evil >other/config
		printf "[core]\nworktree = ../../../sub\n" >>other/config
		echo "$PWD/other" >.git/modules/sub/commondir'
	held worktree 'cp -r ../main/.git other; rm -rf other/worktrees; evil >other/config
		echo "$PWD/other" >../main/.git/commondir'
}

@test "H23 a submodule's directory that is made to look like none, in two runs" {
	held super 'cd .git/modules/sub; B=$(sed "s/ref: //" HEAD); rm HEAD; ln -s "$B" HEAD' \
		'evil >>.git/modules/sub/config
		printf "[core]\nworktree = ../../../sub\n" >>.git/modules/sub/config'
	held super 'mv .git/modules/sub/HEAD .git/modules/sub/away' \
		'cd .git/modules/sub; mv away HEAD; evil >>config
		printf "[core]\nworktree = ../../../sub\n" >>config'
}

@test "H23 submodules that cannot be listed, in two runs" {
	local change='evil >>.git/modules/sub/config
		printf "[core]\nworktree = ../../../sub\n" >>.git/modules/sub/config'
	held super 'chmod 0 .git/modules' "chmod 755 .git/modules; $change"
	held super 'chmod 0 .git/modules/sub' "chmod 755 .git/modules/sub; $change"
	held super 'chmod 0 .git/modules/sub/config' "chmod 644 .git/modules/sub/config; $change"
}

@test "H23 a bare layout in the workdir" {
	local layout='mkdir objects refs; evil >config; printf "[core]\nworktree = $PWD\n" >>config
		echo "ref: refs/heads/main" >HEAD'
	PROFILES_GIT='moderate permissive strict'
	held plain "rm -f .git/HEAD; $layout || ln -s refs/heads/main HEAD"
	held plain "rm -f .git/HEAD; $layout || { echo ref: refs/heads/main >h; mv h HEAD; }"
	subdirectory() {
		plain
		mkdir inner
		cd inner
	}
	held subdirectory "$layout"
	held subdirectory 'mkdir objects refs; evil >config; printf "[core]\nworktree = $PWD\n" >>config' \
		'echo "ref: refs/heads/main" >HEAD'
}

@test "H23 a bare repository that is made to look like none, in two runs" {
	bare_repository() {
		git init -q --bare
	}
	PROFILES_GIT=moderate
	held bare_repository 'mv HEAD away' \
		'mv away HEAD || cp away HEAD; evil >config; printf "[core]\nworktree = $PWD\n" >>config'
	held bare_repository 'mv refs away' \
		'mv away refs; evil >config; printf "[core]\nworktree = $PWD\n" >>config'
}

@test "H24 directories of hooks that other configurations name" {
	local hooks='mkdir -p .husky; hook .husky/pre-commit'
	checkout() {
		submodule
		git config core.hooksPath .husky
	}
	held checkout "$hooks"
	inner_checkout() {
		super
		git -C sub config core.hooksPath .husky
	}
	held inner_checkout 'mkdir -p sub/.husky; hook sub/.husky/pre-commit'
}

@test "H23 a git directory of another name in the workdir" {
	separate() {
		git init -q --separate-git-dir store
		git commit -q --allow-empty -m first
	}
	held separate 'evil >>store/config'
	held separate 'hook store/hooks/pre-commit'
	linked() {
		plain
		mv .git store
		ln -s store .git
	}
	held linked 'evil >>store/config'
}

@test "H24 programs that the configuration names" {
	scripts() {
		plain
		mkdir tools
		printf '#!/bin/sh\ncat\n' >tools/clean.sh
		cp tools/clean.sh clean.sh
		chmod +x tools/clean.sh
		git config core.fsmonitor "$1"
	}
	first() { scripts 'sh tools/clean.sh'; }
	second() { scripts 'sh clean.sh'; }
	third() { scripts 'env A=1 "tools/clean.sh"'; }
	fourth() { scripts 'sh tools/missing.sh'; }
	held first 'hook tools/clean.sh'
	held second 'hook clean.sh'
	held third 'hook tools/clean.sh'
	held fourth 'hook tools/missing.sh'
}

# What one run planted is read by the next, which it must not slow down, stop or blind.
planted() {
	git init -q
	run -0 --separate-stderr cordon run -q -- sh -c "$1"
	run -0 --separate-stderr cordon run -q -- true
	run -0 --separate-stderr cordon run -q -- sh -c 'echo x >.git/hooks/post-commit; mkdir .git/modules/evil; true'
	refute_file .git/hooks/post-commit
}

@test "a submodule that was planted keeps no later run from starting: a great many names" {
	planted 'mkdir -p .git/modules/a && cd .git/modules/a && echo ref: refs/heads/x >HEAD &&
		{ printf "[x \"y\"]\n"; seq -f " cmd=./%.0f" 20010; } >config'
	# All of them are closed.
	refute_file .git/modules/evil
}

@test "a submodule that was planted keeps no later run from starting: deep names" {
	planted 'mkdir -p .git/modules/a && cd .git/modules/a && echo ref: refs/heads/x >HEAD &&
		deep=$(printf "/b%.0s" $(seq 1500)) &&
		{ printf "[core]\nworktree = ../../..\n[x \"y\"]\n"
		for i in $(seq 20); do echo "cmd = ./$i$deep"; done; } >config'
	refute_file .git/modules/evil
}

@test "more submodules than a program may have descriptors" {
	local soft
	soft=$(ulimit -Sn)
	[ "$(ulimit -Hn)" = unlimited ] || [ "$(ulimit -Hn)" -ge 2000 ] ||
		must_or_skip "too few descriptors"
	ulimit -Sn 256
	planted 'for i in $(seq 120); do d=.git/modules/m$i; mkdir -p $d/hooks; echo x >$d/HEAD
		: >$d/config; : >$d/config.worktree; done'
	run -0 --separate-stderr cordon run -q -- sh -c 'ulimit -Sn; echo x >.git/modules/m100/config; true'
	assert_output 256
	assert_equal "$(cat .git/modules/m100/config)" ""
	ulimit -Sn "$soft"
}

@test "H48 a protected name beside a great many others does not stay, whoever planted those" {
	git init -q
	mkdir -p .git/modules/a
	echo ref: refs/heads/x >.git/modules/a/HEAD
	for i in $(seq 1500); do mkdir ".a$i"; done
	{ printf '[core]\n worktree = ../../..\n[x "y"]\n'; seq -f ' cmd = ./.a%.0f/x' 1500; } >.git/modules/a/config
	ulimit -Sn 1024
	run --separate-stderr timeout -k 5 200 "$CORDON" run -q --json -- ./attack race file 20000 \
		.git/harmless .git/commondir
	refute_file .git/commondir
	refute_contains "Too many open files"
}

# The lock file's content changes while it takes the configuration's place.
changes_while_judged() {
	cd "$SCRATCH/work"
	git init -q
	cat >swap.py <<-'END'
		import os, threading, time

		before = open(".git/config").read()
		good = (before + '[branch "b"]\n\tremote = .\n').encode()
		evil = (before + '[core]\n\tfsmonitor = ').encode().ljust(len(good) - 1, b"e") + b"\n"
		end = time.monotonic() + 2
		lock = os.open(".git/config.lock", os.O_RDWR | os.O_CREAT)

		def swap():
		    while time.monotonic() < end:
		        os.pwrite(lock, evil, 0)
		        os.pwrite(lock, good, 0)

		threading.Thread(target=swap).start()
		passed = 0
		while time.monotonic() < end:
		    try:
		        os.rename(".git/config.lock", ".git/config")
		        passed += 1
		        new = os.open(".git/config.lock", os.O_RDWR | os.O_CREAT)
		        os.dup2(new, lock)
		        os.close(new)
		    except OSError:
		        pass
		    if "fsmonitor" in open(".git/config").read():
		        print("EVIL")
		        break
		print("tried, passed:", passed)
	END
	run cordon run -q --protect "$1" -- python3 swap.py
	assert_contains 'tried, passed:'
	refute_contains EVIL
	run git config --get core.fsmonitor
	assert_equal "$status" 1
}

@test "H24 H48 a configuration that changes while it is judged" {
	changes_while_judged guard
}

@test "H24 H48 a configuration that changes while it is judged, under a broker" {
	changes_while_judged exact
}
