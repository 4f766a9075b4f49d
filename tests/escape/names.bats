#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Protected names that do not exist yet: H18, H20, H21, H23, H27, H30, H48, H52, H53,
# H54, H82 and their neighbours. Whatever of it exists is the business of paths.bats.

load helper

setup() {
	escape_setup
	needs_enforced guard "no guard on this machine"
}

@test "H20 a protected name is not made, whatever makes it" {
	echo x >plain
	mkdir dir
	refused .claude mkdir .claude
	refused .claude mkdirat . .claude
	refused .mcp.json write-created .mcp.json
	refused .mcp.json write-creat .mcp.json
	refused .mcp.json create-openat2 .mcp.json
	refused .mcp.json create-at . .mcp.json
	refused .mcp.json mkfifo .mcp.json
	refused .mcp.json symlink plain .mcp.json
	[ $BACKEND = landlock ] || refused .mcp.json bind-name .mcp.json
	refused .mcp.json link plain .mcp.json
	refused .mcp.json tmpfile .mcp.json
	inside rename plain .mcp.json
	inside rename dir .claude
	assert_file plain
	assert_file dir
}

@test "H20 every protected name of the workdir" {
	for name in .claude .codex .cursor .gemini .vscode .idea .devcontainer; do
		refused $name mkdir $name
	done
	for name in .mcp.json .cordon.toml .ripgreprc; do
		refused $name write-created $name
	done
}

@test "H20 and H21 without namespaces" {
	PROFILES=moderate
	FLAGS=(--backend landlock --fallback degrade)
	echo x >plain
	mkdir dir
	refused .claude mkdir .claude
	refused .mcp.json write-created .mcp.json
	refused .mcp.json create-openat2 .mcp.json
	refused .mcp.json symlink plain .mcp.json
	refused .mcp.json link plain .mcp.json
	refused .git write-created .git
	inside rename plain .mcp.json
	inside rename dir .claude
	assert_file plain
	assert_file dir
}

@test "H18 exchanging a directory with a protected one" {
	mkdir -p here .git
	echo x >here/config.worktree
	inside exchange here .git
	refute_file .git/config.worktree
	bare exchange here .git
}

@test "H21 the chain to a protected name: not as a file, not as a link, not by a move" {
	PROFILES=moderate
	mkdir -p elsewhere/hooks
	refused .git write-created .git
	refused .git symlink elsewhere .git
	refused .git mkfifo .git
	[ $BACKEND = landlock ] || refused .git bind-name .git
	inside rename elsewhere .git
	refute_file .git
	mkdir .git
	inside mkdir .git/hooks
	inside write-created .git/config.worktree
	refute_file .git/hooks
	refute_file .git/config.worktree
}

@test "H21 the directory of a protected name is not moved away" {
	PROFILES=moderate
	mkdir -p .git/hooks
	inside rename .git other
	assert_file .git
	bare rename .git other
}

@test "H23 what git reads in a worktree or a second configuration" {
	PROFILES=moderate
	git init -q .
	for name in commondir config.worktree info/attributes; do
		refused .git/$name write-created .git/$name
	done
}

@test "H27 from a subdirectory, by dots, by an absolute path" {
	mkdir -p sub/deeper
	refused .claude mkdir sub/../.claude
	refused .claude mkdir "$WORKDIR/.claude"
	refused .claude mkdir "$WORKDIR/sub/deeper/../../.claude"
	for profile in moderate strict; do
		run cordon run -q -p $profile -- sh -c 'cd sub/deeper && ../../attack mkdir ../../.claude'
		assert_status 10
		run cordon run -q -p $profile -- sh -c 'cd sub && ../attack mkdirat .. .claude'
		assert_status 10
	done
	refute_file .claude
}

@test "H27 the control files at the top of the repository, from a run in a part of it" {
	local name
	git init -q "$HOME/proj"
	mkdir "$HOME/proj/sub"
	cp attack "$HOME/proj/sub"
	cd "$HOME/proj/sub"
	PROFILES='moderate permissive'
	for name in .claude .vscode; do
		refused ../$name mkdir ../$name
	done
	for name in .mcp.json .cordon.toml .git/config.worktree .git/info/attributes HEAD; do
		refused ../$name write-created ../$name
	done
	# What is opened above the workdir has them as the workdir has, unless it is named.
	PROFILES=moderate
	FLAGS=(--allow-write ..)
	refused ../.mcp.json write-created ../.mcp.json
	mkdir ../.vscode
	inside write-created ../.vscode/tasks.json
	run -0 cordon run -q --allow-write ../.vscode -- ./attack write-created ../.vscode/tasks.json
	assert_file ../.vscode/tasks.json
	# Neither the top nor the workdir: a name like any other.
	run -0 cordon run -q -p permissive -- mkdir -p ../other/.vscode
}

@test "H27 what is at the top of the repository already is not changed" {
	with_broker files
	git init -q "$HOME/proj"
	mkdir -p "$HOME/proj/sub" "$HOME/proj/.claude"
	echo mine >"$HOME/proj/.claude/settings.json"
	cp attack "$HOME/proj/sub"
	cd "$HOME/proj/sub"
	PROFILES='moderate permissive'
	inside write ../.claude/settings.json
	inside unlink ../.claude/settings.json
	inside rename ../.claude ../away
	inside write-created ../.claude/new
	assert_equal "$(cat ../.claude/settings.json)" mine
	bare write ../.claude/settings.json
	bare rename ../.claude ../away
}

@test "H27 a workdir in such a directory stays the caller's" {
	git init -q "$HOME/proj"
	mkdir "$HOME/proj/.vscode"
	cd "$HOME/proj/.vscode"
	run -0 cordon run -q -- sh -c 'echo x >tasks.json'
	assert_file tasks.json
}

@test "other spellings: slashes, dots, a slash at the end" {
	refused .claude mkdir .//.claude
	refused .claude mkdir ././.claude
	refused .claude mkdir .claude/
	refused .claude mkdir .claude///
}

@test "through a link to the directory" {
	PROFILES=moderate
	ln -s . here
	ln -s "$WORKDIR" there
	ln -s here/there chain
	for dir in here there chain; do
		refused .claude mkdir $dir/.claude
		refused .mcp.json write-created $dir/.mcp.json
	done
}

@test "through a link that leads to the name" {
	PROFILES=moderate
	ln -s .mcp.json direct
	ln -s direct twice
	ln -s "$WORKDIR/.mcp.json" absolute
	for link in direct twice absolute; do
		refused .mcp.json write-created $link
		refused .mcp.json write-creat $link
	done
}

@test "through /proc/self, /proc/thread-self and /dev/fd" {
	PROFILES=moderate
	mkdir sub
	for dir in /proc/self/cwd /proc/thread-self/cwd "/proc/self/root$WORKDIR" \
		/proc/self/cwd/sub/..; do
		refused .claude mkdir "$dir/.claude"
		refused .mcp.json write-created "$dir/.mcp.json"
	done
	for dir in /dev/fd/7 /proc/self/fd/7 /proc/thread-self/fd/7; do
		run cordon run -q -- sh -c "exec 7<. && ./attack mkdir $dir/.claude"
		assert_status 10
		run cordon run -q -- sh -c "exec 7<sub && ./attack write-created $dir/../.mcp.json"
		assert_status 10
	done
	refute_file .claude
	refute_file .mcp.json
}

@test "through another process of the sandbox" {
	PROFILES=moderate
	run cordon run -q -- sh -c 'sleep 60 & ./attack mkdir /proc/$!/cwd/.claude'
	assert_status 10
	refute_file .claude
}

@test "a current directory that was moved is known by where it is" {
	PROFILES=moderate
	run cordon run -q -- ./attack from-moved ../.claude
	assert_status 10
	refute_file .claude
}

@test "a directory made elsewhere and moved into place" {
	PROFILES=moderate
	run cordon run -q -- sh -c 'mkdir -p build/.claude && echo x >build/.claude/settings.json &&
		mv build/.claude .claude'
	[ "$status" -ne 0 ] || fail "moved" "$(outcome)"
	refute_file .claude
	assert_file build/.claude/settings.json
}

@test "a path at the edge of a page, and one that is nowhere" {
	refused .claude edge .claude
	inside unmapped
}

@test "H30 names of any bytes go through; a too long one is refused as by the kernel" {
	PROFILES=moderate
	# shellcheck disable=SC2016
	run cordon run -q -- bash -c 'mkdir $'"'"'a\nb'"'"' $'"'"'\xff\xfe'"'"' $'"'"'c\rd'"'"' &&
		long=$(printf "%0255d" 0) && mkdir "$long" && ! mkdir "${long}1" 2>/dev/null'
	assert_success
	assert_file $'a\nb'
	assert_file $'\xff\xfe'
	run --separate-stderr cordon run -q -- python3 -c '
import errno, os
try:
    os.mkdir("a/" * 2100 + ".claude")
except OSError as e:
    print(errno.errorcode[e.errno])'
	assert_output ENAMETOOLONG
}

@test "H30 a path that is as long as one may be and leads to a protected name" {
	local dots back
	mkdir sub
	printf -v dots './%.0s' {1..1896}
	printf -v back 'sub/../%.0s' {1..543}
	for path in "$dots.claude" "$back.claude"; do
		[ ${#path} -gt 3790 ] && [ ${#path} -lt 4096 ]
		refused .claude mkdir "$path"
		refused .claude write-created "$path"
		refused .claude symlink nowhere "$path"
	done
	# Of the greatest length that the kernel takes.
	printf -v dots './%.0s' {1..2044}
	path=$dots.claude
	assert_equal ${#path} 4095
	refused .claude mkdir "$path"
}

@test "H82 an archive with a protected name: the rest is there, and it says which" {
	PROFILES=moderate
	mkdir -p src/.claude src/code
	echo x >src/.claude/settings.json
	echo y >src/code/main.c
	tar -C src -cf a.tar .
	rm -r src
	run --separate-stderr cordon run -q --json -- tar -xf a.tar
	assert_json '.exit_code != 0'
	assert_json '.violations | any(.object | endswith("/.claude"))'
	assert_json '.violations | all(.source == "guard" and .op == "write")'
	assert_file code/main.c
	refute_file .claude
}

@test "H82 git with a protected name in a commit: checking it out says which" {
	PROFILES=moderate
	local git=(git -c user.name=T -c user.email=t@example.com -c init.defaultBranch=main)
	"${git[@]}" init -q origin
	cd origin
	"${git[@]}" commit -q --allow-empty -m first
	"${git[@]}" checkout -qb settings
	mkdir .claude
	echo '{}' >.claude/settings.json
	git add .
	"${git[@]}" commit -qm settings
	git checkout -q main
	run --separate-stderr cordon run -q --json -- git checkout settings
	assert_json '.violations | any(.source == "guard" and .op == "write" and
		(.object | endswith("/origin/.claude") or endswith("/origin/.claude/settings.json")))'
	refute_file .claude
	# Elsewhere it is no name of this workdir's, and works.
	run --separate-stderr cordon run -q --json -- git worktree add -q tree settings
	assert_json '.exit_code == 0 and .violations == []'
	assert_file tree/.claude/settings.json
}

@test "what is allowed stays allowed: a repository, a link, a socket, a move" {
	run cordon run -q -- sh -ec 'mkdir -p a/b/c; mv a z; ln -s z l; echo 1 >l/f; ln l/f g
		mkfifo p; mv g z/b; touch .hidden; mkdir z/.claude'
	assert_success
	[ $BACKEND = landlock ] || run -0 cordon run -q -- ./attack bind-name z/s
	assert_file z/b/g
	assert_file z/.claude
}

@test "making what exists says so, and is no violation" {
	PROFILES=moderate
	mkdir .claude
	run --separate-stderr cordon run -q --json -- sh -c 'mkdir -p .claude && ! mkdir .claude'
	assert_json '.exit_code == 0'
	assert_json '.violations == []'
}

@test "H52 signals: each call happens once, none is interrupted, none hangs" {
	for which in alarm child urgent ''; do
		run timeout -k 5 100 "$CORDON" run -q -- ./attack storm 300 $which
		assert_status 10
		assert_contains "signals: some"
	done
}

@test "H53 the listener is handed over under its own filter: every strength starts, and none waits" {
	for backend in native landlock; do
		for protect in guard exact off; do
			for report in none output writes all; do
				run -0 timeout 60 "$CORDON" run -q --backend $backend --fallback degrade \
					--protect $protect --report $report -- true
			done
		done
		run -0 timeout 60 "$CORDON" run -q --backend $backend --fallback degrade \
			--on-violation kill -- true
	done
}

@test "20,000 refusals, half of them of one name: the run lives, the report stays bounded" {
	flooded -p moderate
	flooded -p moderate --report all
}

# raced KIND [NAME [OLD]]: whoever wins, nothing of that name is there afterwards, and what
# was made is in quarantine, whole. $BEFORE and $AFTER run inside, $RESTORE names a directory
# that is open again in the end.
raced() {
	local name=${2:-.claude}
	run --separate-stderr timeout -k 5 200 "$CORDON" run -q --json "${FLAGS[@]}" -- sh -c \
		"${BEFORE:-:}"'; ./attack race "$@"; status=$?; '"${AFTER:-:}"'; exit $status' sh \
		"$1" 20000 "$(dirname "$name")/harmless" "$name" ${3:+"$3"}
	if [ -n "${RESTORE:-}" ]; then
		chmod u+rwx "$RESTORE"
	fi
	refute_file "$name"
	assert_json '.exit_code == 0 or .exit_code == 10'
	if jq -e '.exit_code == 0' <<<"$output" >/dev/null; then
		assert_json '.quarantined | length >= 1 and all(.kept != null)'
		assert_json '.violations | any(.source == "guard" and (.object | endswith("/'"$name"'")))'
		assert_file "$(jq -r '.quarantined[0].kept' <<<"$output")"
	fi
	run compgen -G "$(dirname "$name")/.cordon-*"
	assert_output ""
}

@test "H48 a thread that changes the path: the name is gone when cordon returns" {
	raced mkdir
	raced file
	raced symlink
}

@test "H48 a race that is won eighty times leaves nothing behind, and all is counted" {
	local won
	# Nearly each of the eighty is won; where none is, it is tried until one is.
	run --separate-stderr timeout -k 5 200 "$CORDON" run -q --json -- sh -c '
		won=0 tried=0
		while [ $tried -lt 80 ] || { [ $won -eq 0 ] && [ $tried -lt 800 ]; }; do
			./attack race file 20000 harmless .mcp.json >&2 && won=$((won + 1))
			tried=$((tried + 1))
			while [ -e .mcp.json ]; do sleep 0.01; done
		done
		echo $won'
	assert_status 0
	won=$(jq -r .stdout <<<"$output")
	[ "$won" -gt 0 ] || fail "never won" "$(outcome)"
	refute_file .mcp.json
	assert_equal "$(find . -name '.cordon-taken-*')" ""
	local kept
	kept=$(find "$HOME" -path '*/quarantine/*' -name '*[0-9]' ! -type d | wc -l)
	assert_json '((.quarantined // []) | length) + (.quarantined_more // 0) == '"$kept"
	[ "$kept" -ge "$won" ] || fail "won $won times, kept $kept" "$(outcome)"
	assert_json '.quarantined_left == null'
}

@test "H48 the same without namespaces" {
	FLAGS=(--backend landlock --fallback degrade)
	needs_enforced guard "no guard without namespaces" "${FLAGS[@]}"
	raced mkdir
	raced file
}

@test "H48 what is older than the run and is moved or linked there" {
	echo old >old
	raced link .mcp.json old
	assert_equal "$(cat old)" old
	raced rename .mcp.json old
}

@test "H48 a file or a link where a directory leads to a protected name" {
	raced file .git
	raced symlink .git
}

@test "H48 a directory that was closed afterwards holds and hides nothing" {
	local mode
	for mode in 0555 0000; do
		BEFORE='mkdir -p .git' AFTER="chmod $mode .git" RESTORE=.git \
			raced file .git/config.worktree
	done
}

@test "H48 the same where the quarantine is on another file system" {
	CORDON_HOME=$(mktemp -d /dev/shm/cordon-bats.XXXXXX)
	export CORDON_HOME
	raced mkdir
	raced file
	rm -rf "$CORDON_HOME"
	unset CORDON_HOME
}

@test "H48 a quarantine that cannot be made keeps no name in its place" {
	CORDON_HOME=$SCRATCH/closed
	export CORDON_HOME
	mkdir -p "$CORDON_HOME"
	: >"$CORDON_HOME/quarantine"
	run --separate-stderr timeout -k 5 200 "$CORDON" run -q --json -- \
		./attack race file 20000 harmless .mcp.json
	assert_json '.exit_code == 0 or .exit_code == 10'
	refute_file .mcp.json
	if jq -e '.exit_code == 0' <<<"$output" >/dev/null; then
		assert_json '.quarantined | length >= 1 and all(.kept | contains("/.cordon-taken-"))'
		assert_file "$(jq -r '.quarantined[0].kept' <<<"$output")"
	fi
}

@test "H48 from a directory that was taken away no way leads into cordon's home" {
	cd "$HOME"
	cp "$ATTACK_PATH" attack
	run --separate-stderr timeout -k 5 200 "$CORDON" run -q --workdir "$HOME" -- \
		./attack race-stay 20000 harmless .claude
	if [ "$status" -eq 0 ]; then
		assert_contains "now in $HOME/.cordon-taken-"
	else
		assert_status 10
	fi
	refute_file "$HOME/.claude"
}

@test "what somebody else makes meanwhile is left, and told" {
	mkfifo go up
	background "$CORDON" run -q --result result -- sh -c 'exec 9<>up 8<>go; echo >&9; read -r x <&8'
	read -r _ <up
	mkdir .claude
	echo keep >.claude/mine
	echo >go
	wait "$STARTED"
	assert_equal "$(cat .claude/mine)" keep
	output=$(cat result)
	assert_json '.quarantined == [{"object": "'"$WORKDIR"'/.claude", "kept": null}]'
}

# CAP_SYS_ADMIN, and not in a user namespace.
may_do_everything() {
	grep -q ' 4294967295$' /proc/self/uid_map &&
		(($((0x$(awk '/^CapEff/ { print $2 }' /proc/self/status))) >> 21 & 1))
}

@test "as root, also what somebody else makes beside a command that never pauses" {
	is_root || skip "only root is told who makes a name"
	PROFILES=moderate
	may_do_everything || lacking fanotify "the kernel does not tell this root who makes a name"
	mkfifo up
	background "$CORDON" run -q --result result -- sh -c 'exec 9<>up; echo >&9
		while [ ! -e stop ]; do : >x; mkdir y; rmdir y; done'
	read -r _ <up
	local tries=0
	until grep -qs "^fanotify ino" "/proc/$STARTED/fdinfo/"*; do
		((++tries < 500)) || fail "nobody asks the kernel"
		sleep 0.01
	done
	echo keep >.mcp.json
	sleep 0.1
	echo more >>.mcp.json
	: >stop
	wait "$STARTED"
	assert_equal "$(cat .mcp.json)" keep$'\n'more
	output=$(cat result)
	assert_json '.quarantined == [{"object": "'"$WORKDIR"'/.mcp.json", "kept": null}]'
}

# make_until_taken TEXT: by the host, and given up where it is left each time.
make_until_taken() {
	local tries waits
	for ((tries = 0; tries < 100; tries++)); do
		echo "$1" >.mcp.json
		for ((waits = 0; waits < 50; waits++)); do
			[ -e .mcp.json ] || return 0
			sleep 0.01
		done
		rm -f .mcp.json
	done
	fail "it was never taken"
}

@test "a plain user's file that was taken for the command's is told, and comes back whole" {
	local id text="keep $RANDOM"
	! is_root || skip "for a plain user: root is told who makes a name"
	mkfifo up
	# shellcheck disable=SC2016 # for the shells inside
	background sh -c 'exec "$0" run --result result -- sh -c "$1" 2>told' "$CORDON" '
		for i in 1 2; do while [ ! -e stop ]; do : >x$i; done & done
		echo >up; wait'
	read -r _ <up
	make_until_taken "$text"
	: >stop
	wait "$STARTED"
	refute_file .mcp.json
	output=$(cat result)
	# Beside those that were left.
	assert_json '.exit_code == 0 and ([.quarantined[] | select(.kept)] | length == 1) and
		all(.quarantined[]; .object == "'"$WORKDIR"'/.mcp.json")'
	assert_equal "$(cat "$(jq -r '.quarantined[] | .kept // empty' result)")" "$text"
	output=$(cat told)
	assert_contains "$WORKDIR/.mcp.json"
	run -0 --separate-stderr cordon quarantine list --json
	id=$(jq -r '.quarantine[] | select(.from == "'"$WORKDIR"'/.mcp.json") | .id' <<<"$output")
	output=$(cat told)
	assert_contains "cordon quarantine restore $id"
	run -0 cordon quarantine restore "$id"
	assert_equal "$(cat .mcp.json)" "$text"
}

# changed [FLAG ...]: a thread wins the race for what somebody else made meanwhile, and writes to it
# later. It goes by the time, or is told who opened it; either way it does not stay.
changed() {
	local kept
	mkfifo go up
	: >plain
	background "$CORDON" run -q --result result "$@" -- sh -c 'exec 9<>up 8<>go; '"${BUSY:-:}"'
		echo >&9; read -r x <&8; ./attack race-write 20000 plain .mcp.json'
	read -r _ <up
	sleep 0.1
	echo keep >.mcp.json
	# Others look first, or the racing thread does.
	sleep "${AFTER:-0}"
	echo >go
	wait "$STARTED" || :
	output=$(cat result)
	rm -f go up
	kept=$(jq -r '.quarantined[0].kept // empty' result)
	case $(jq .exit_code result) in
	0)
		refute_file .mcp.json
		assert_json '.quarantined | length == 1 and .[0].kept != null'
		assert_equal "$(cat "$kept")" evil
		;;
	10 | 20) # the race was not won, or there was nothing left to race for
		if [ -n "$kept" ]; then
			# Taken for the busy command's, as happens where nobody tells who made it.
			[ -n "${BUSY:-}" ] || fail "taken although the command was idle"
			if may_do_everything; then fail "root is told who made it"; fi
			refute_file .mcp.json
		fi
		assert_equal "$(cat "${kept:-.mcp.json}")" keep
		;;
	*) assert_equal "$output" "an exit code of race-write" ;;
	esac
	rm -f .mcp.json
}

@test "H48 what somebody else makes meanwhile and a racing thread changes does not stay" {
	changed
	AFTER=0.2 changed
	BUSY='(while [ ! -e .mcp.json ]; do : >x; done) & :' changed
	changed --backend landlock --fallback degrade
}

@test "below what somebody else makes meanwhile nothing is written either" {
	PROFILES=moderate
	mkfifo go up
	background "$CORDON" run -q --result result -- sh -c 'exec 9<>up 8<>go; echo >&9; read -r x <&8
		echo x >.claude/settings.json; mkdir .claude/hooks; echo x >"$PWD/.claude/mine"
		echo x >>.claude/mine; python3 -c "open(\".claude/mine\", \"r+\").write(\"x\")"
		mv .claude/mine .claude/other; ln -s .claude/mine link; echo x >link; echo x >plain'
	read -r _ <up
	mkdir .claude
	echo keep >.claude/mine
	echo >go
	wait "$STARTED"
	assert_equal "$(ls .claude)" mine
	assert_equal "$(cat .claude/mine)" keep
	assert_equal "$(cat plain)" x
	output=$(cat result)
	for name in settings.json hooks mine; do
		assert_json '.violations | any(.source == "guard" and (.object | endswith("/.claude/'$name'")))'
	done
}

@test "a directory is not made to fold its names" {
	set_flags() {
		"$@" python3 -c 'import errno, fcntl, os, struct, sys
fd = os.open(".", os.O_RDONLY)
try:
    fcntl.ioctl(fd, 0x40086602, struct.pack("q", 0))
except OSError as e:
    print(errno.errorcode[e.errno])'
	}
	run -0 set_flags env
	[ -z "$output" ] || lacking fsflags "the file system here has no flags"
	run -0 --separate-stderr set_flags "$CORDON" run -q --
	assert_output ENOTSUP
}

@test "what was there before is never taken" {
	ln -s elsewhere .claude
	echo '{}' >.mcp.json
	run --separate-stderr cordon run -q --json -- sh -c 'echo x >.mcp.json; mkdir .claude; rm -f .mcp.json
		mkdir a; echo b >c'
	assert_json '.quarantined == null'
	assert_equal "$(cat .mcp.json)" '{}'
	assert_equal "$(readlink .claude)" elsewhere
}

@test "H54 with the supervisor nothing of the run is left" {
	PROFILES=moderate
	mkfifo alive
	background "$CORDON" run -q -- sh -c 'exec 9>alive; echo up >&9; while :; do mkdir .claude; done'
	exec 8<alive
	read -r line <&8
	assert_equal "$line" up
	kill -KILL "$STARTED"
	# The end of the pipe: nobody of the run holds it any more.
	run timeout 30 cat <&8
	assert_success
	refute_file .claude
}
