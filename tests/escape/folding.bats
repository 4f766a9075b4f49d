#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# H25: names in another case, where the file system (a server's, by FUSE) takes them for the same.

load helper

setup() {
	escape_setup
	needs_enforced guard "no guard on this machine"
}

@test "H25 a name in another case, where the file system takes it for the same" {
	folding_workdir
	for name in .CLAUDE .Mcp.JSON; do
		refused "$name" mkdir "$name"
		refused "$name" write-created "$name"
	done
	git init -q .
	echo x >.git/config
	# By the guard no longer promised, but done.
	for flag in --fallback=degrade --protect=exact; do
		FLAGS=("$flag")
		# A name of its own: the kernel remembers the other spelling of what was removed.
		hook=hooks/${flag##*=}
		for name in ".GIT/$hook" ".git/${hook/hooks/HOOKS}"; do
			refused ".git/$hook" write-created "$name"
		done
		inside write .GIT/config
		inside rename .GIT .git2
		assert_equal "$(cat .git/config)" x
	done
}

# A mount covers one spelling, and the server answers to every other.
@test "H25 what is hidden where a server folds names is hidden in fact, or not promised" {
	folding_workdir
	echo "$SECRET" >hidden
	for flags in '--backend native' '--backend bwrap --protect off'; do
		# shellcheck disable=SC2086
		run -125 cordon run $flags --deny hidden -- cat HIDDEN
		assert_contains '--protect exact'
		# shellcheck disable=SC2086
		run --separate-stderr cordon run --json $flags --fallback degrade --deny hidden -- true
		assert_json '.degraded | index("files")'
	done
	run --separate-stderr cordon run --json --protect exact --deny hidden -- cat HIDDEN
	assert_json '.exit_code != 0 and (.enforced | index("files"))'
	# What is not below a tree that can be written is closed by Landlock, whatever it is called.
	mkdir sub
	run --separate-stderr cordon run --json --workdir sub --deny "$FOLDING/hidden" -- cat ../HIDDEN
	assert_json '.exit_code != 0 and (.enforced | index("files"))'
	refute_contains "$SECRET"
}

@test "H25 what is read-only where a server folds names is so in fact, or not promised" {
	local write flags
	folding_workdir
	git init -q .
	echo x | tee .git/config >ro.txt
	# shellcheck disable=SC2016
	write='echo y >>.GIT/config; echo y >.git/HOOKS/pre-commit; echo y >>RO.txt
		cat .git/config ro.txt; ls .git/hooks'
	for flags in '--backend native' '--backend native --protect off' '--backend bwrap' \
		'--backend bwrap --protect off'; do
		# shellcheck disable=SC2086
		run -125 cordon run $flags -- sh -c "$write"
		assert_contains "in any case"
		assert_contains '--protect exact'
		# shellcheck disable=SC2086
		run --separate-stderr cordon run --json $flags --fallback degrade -- true
		assert_json '(.degraded | index("files")) and (.enforced | index("files") | not)'
	done
	run --separate-stderr cordon run --json --protect exact --allow-read ro.txt -- sh -c "$write"
	assert_json '.enforced | index("files")'
	assert_equal "$(cat .git/config ro.txt)" x$'\n'x
	refute_file .git/hooks/pre-commit
	# A file alone, without a repository around.
	rm -rf .git
	for flags in '--backend native' '--backend bwrap --protect off'; do
		# shellcheck disable=SC2086
		run -125 cordon run $flags --allow-read ro.txt -- sh -c 'echo y >>RO.txt'
		assert_contains "/ro.txt' takes names in any case"
	done
	assert_equal "$(cat ro.txt)" x
	# What lies in a tree that is only read has no spelling that gives more.
	mkdir sub
	run --separate-stderr cordon run --json --workdir sub --allow-read "$FOLDING/ro.txt" -- \
		sh -c 'echo y >>../RO.txt'
	assert_json '.exit_code != 0 and (.enforced | index("files"))'
	assert_equal "$(cat ro.txt)" x
}

@test "H25 what is not executed where a server folds names is promised by nobody" {
	folding_workdir
	mkdir -p tools/no
	for flags in '' '--protect exact'; do
		# shellcheck disable=SC2086
		run -125 cordon run --backend native $flags --deny tools --allow-read tools/no -- true
		assert_contains "in any case"
		# shellcheck disable=SC2086
		run --separate-stderr cordon run --json --backend native $flags --fallback degrade \
			--deny tools --allow-read tools/no -- true
		assert_json '.degraded | index("exec")'
	done
	# Nothing around it is executed.
	run --separate-stderr cordon run --json --backend native -p shell --deny tools \
		--allow-read tools/no -- true
	assert_json '.enforced | index("exec")'
}

# Nobody can execute on a command's behalf, so what a broker refuses to read is executed.
@test "H25 H36 a denied program where a server folds names is not executed, or not promised" {
	local run flags profile
	folding_workdir
	mkdir hidden
	cp /bin/echo prog
	cp /bin/echo hidden/prog
	for flags in '--deny prog' '--deny hidden'; do
		run='./prog no; ./PROG yes; cat PROG'
		[ "$flags" = '--deny prog' ] || run='hidden/prog no; HIDDEN/prog yes; cat HIDDEN/prog'
		for profile in strict moderate; do
			# shellcheck disable=SC2086
			run -125 cordon run -p $profile --protect exact $flags -- sh -c "$run"
			assert_contains "cannot promise 'files'"
			assert_contains '--profile shell'
			# shellcheck disable=SC2086
			run --separate-stderr cordon run --json -p $profile --protect exact \
				--fallback degrade $flags -- sh -c "$run"
			# The attack works, and it is said that it may.
			assert_json '(.degraded | index("files")) and (.enforced | index("files") | not)'
			assert_json '.stdout | contains("yes") and (contains("no") | not)'
		done
		# As it is said: nothing in the workdir is executed.
		# shellcheck disable=SC2086
		run --separate-stderr cordon run --json -p shell $flags -- sh -c "$run"
		assert_json '(.enforced | index("files")) and .stdout == ""'
		# Without mounts each program that is there is granted by itself.
		# shellcheck disable=SC2086
		run --separate-stderr cordon run --json --backend landlock -p strict --fallback degrade \
			$flags -- sh -c "$run"
		assert_json '(.enforced | index("files")) and .stdout == ""'
	done
	# What nobody may execute is held by the broker, and stays so.
	install -m 644 /bin/echo data
	run --separate-stderr cordon run --json -p strict --deny data -- \
		sh -c 'chmod 755 DATA; chmod 755 data; ./DATA yes; cat DATA'
	assert_json '(.enforced | index("files")) and .stdout == ""'
	# In a tree that is only read Landlock grants the others.
	mkdir sub
	run --separate-stderr cordon run --json --workdir sub --deny "$FOLDING/prog" -- \
		sh -c '../PROG yes'
	assert_json '(.enforced | index("files")) and .stdout == ""'
}

# The cover is on one spelling, and the guard can be deceived.
@test "H25 H58 a socket where a server folds names is not promised" {
	folding_workdir
	mkfifo "$SCRATCH/up"
	background sh -c 'exec /usr/bin/python3 -c "$1" >"$2"' sh 'import os, socket, signal
s = socket.socket(socket.AF_UNIX); s.bind(os.getcwd() + "/a.sock"); s.listen(); print(flush=True); signal.pause()' "$SCRATCH/up"
	read -r -t 30 _ <"$SCRATCH/up"
	for flags in '' '--protect exact' '--backend bwrap --protect off' '--deny a.sock'; do
		# shellcheck disable=SC2086
		run -125 cordon run $flags -- true
		assert_contains "/a.sock' takes names in any case"
		refute_contains '--protect exact'
		# shellcheck disable=SC2086
		run --separate-stderr cordon run --json --fallback degrade $flags -- true
		assert_json '.degraded | index("files")'
	done
	# Named, it is meant to be reached.
	run --separate-stderr cordon run --json --allow-unix "$PWD/a.sock" -- true
	assert_json '.enforced | index("files")'
}
