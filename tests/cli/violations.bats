#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What is said of a refused action: the sentence at the end, the JSON, the exit status.
# shellcheck disable=SC2088 # the tilde is for the shell inside
load helper

setup() {
	CORDON_TEST_TMP=$(ground) cordon_setup
	mkdir "$HOME/.ssh"
	echo key >"$HOME/.ssh/id_rsa"
	echo rc >"$HOME/.bashrc"
	cordon run -q true 2>/dev/null || must_or_skip "no backend works here"
}

# inside PROFILE COMMAND: captured, the object in $output, the remarks in $stderr.
inside() {
	run --separate-stderr cordon run -p "$1" --json -- sh -c "$2"
	valid
}

# sentence TEXT: exactly one remark holds it.
sentence() {
	[ "$(grep -cF -- "$1" <<<"$stderr")" = 1 ] || fail "wanted one sentence with: $1" "$(outcome)"
}

# about OBJECT EXPRESSION: there is one violation of it, and that is true of it.
about() {
	jq -e --arg object "$1" "[.violations[] | select(.object == \$object)] |
		length == 1 and (.[0] | $2)" <<<"$output" >/dev/null ||
		fail "not true of the violation of $1: $2" "$(outcome)"
}

quiet_about() {
	if grep -qF -- "$1" <<<"$stderr"; then fail "not wanted: $1" "$(outcome)"; fi
}

@test "a secret that is read: one sentence, the rule, what would open it" {
	for profile in moderate shell; do
		inside $profile 'cat ~/.ssh/id_rsa'
		assert_status 1
		sentence "refused: reading $HOME/.ssh/id_rsa"
		sentence "deny ~/.ssh (@secrets), a secret [profile $profile:"
		sentence "to allow it: --allow-read $HOME/.ssh/id_rsa (warning: that gives a secret away)"
		about "$HOME/.ssh/id_rsa" '.op == "read" and .fix.opens_secret and .count >= 1'
	done
}

# A program that opens the file by openat2, which the guard takes apart by itself.
OPENAT2='import ctypes, os, struct, sys
below = os.open(sys.argv[2], os.O_PATH) if sys.argv[2:] else -100
resolve = int(sys.argv[3], 16) if sys.argv[3:] else 0
how = struct.pack("QQQ", os.O_RDONLY | os.O_CLOEXEC, 0, resolve)
ctypes.CDLL(None).syscall(437, below, sys.argv[1].encode(), how, len(how))'

@test "--report all: a read is seen, by whatever call and through links, and told once" {
	ln -s "$HOME/.ssh/id_rsa" link
	for reads in "cat ~/.ssh/id_rsa" "cat link" "cd ~ && cat .ssh/id_rsa" \
		"cat ~/.ssh/../.ssh/id_rsa" "python3 -c '$OPENAT2' \"\$HOME/.ssh/id_rsa\"" \
		"for i in 1 2 3 4; do cat link ~/.profile; done"; do
		run --separate-stderr cordon run --report all --json -- sh -c "($reads) >/dev/null 2>&1"
		valid
		about "$HOME/.ssh/id_rsa" '.op == "read" and .source == "notify"'
	done
	# RESOLVE_BENEATH, RESOLVE_IN_ROOT, RESOLVE_NO_SYMLINKS
	for reads in .ssh/id_rsa:08 .ssh/id_rsa:10 /.ssh/id_rsa:10 "$HOME/.ssh/id_rsa:04"; do
		run --separate-stderr cordon run --report all --json -- \
			python3 -c "$OPENAT2" "${reads%:*}" "$HOME" "${reads#*:}"
		valid
		about "$HOME/.ssh/id_rsa" '.op == "read" and .source == "notify"'
	done
	# These would have failed anyway.
	for reads in "$HOME/.ssh/id_rsa:08" ../.ssh/id_rsa:08 "$WORKDIR/link:04"; do
		run --separate-stderr cordon run --report all --json -- \
			python3 -c "$OPENAT2" "${reads%:*}" "$HOME/.ssh" "${reads#*:}"
		valid
		jq -e '.violations == []' <<<"$output" || fail "$reads is none" "$(outcome)"
	done
	run --separate-stderr cordon run --report writes --json -- sh -c "python3 -c '$OPENAT2' ~/.ssh/id_rsa"
	valid
	jq -e '.violations == []' <<<"$output" || fail "reads are not asked for" "$(outcome)"
}

@test "histories that are not kept: one short line, all of them in the result" {
	inside moderate 'for f in .bash_history .python_history .lesshst .viminfo; do echo x >>~/$f; done; true'
	sentence "and 3 more: what is typed inside is not kept outside"
	sentence "refused: "
	assert_json '[.violations[] | select(.op == "write")] | length == 4'
	inside moderate 'for f in .lesshsQ .viminfo.tmp .bash_history-4711.tmp; do echo x >>~/$f; done; true'
	sentence "and 2 more: what is typed inside is not kept outside"
	inside moderate 'echo x >>~/.bash_history; echo x >>~/elsewhere; true'
	sentence "refused: writing $HOME/.bash_history: what is typed inside is not kept outside"
	sentence "refused: writing $HOME/elsewhere (sh, "
}

@test "a write to the run's own output is not reported, one beside it is" {
	echo >"$HOME/beside"
	cordon run --on-violation fail sh -c 'echo out >/dev/stdout; echo err >/dev/stderr' \
		>"$HOME/out" 2>"$HOME/err"
	assert_equal "$(cat "$HOME/out" "$HOME/err")" out$'\n'err
	# The same file by its name, and another through a link of /proc.
	run -125 --separate-stderr bash -c '"$0" run --on-violation fail --result r sh -c \
		"echo no >>~/out; (echo no >/proc/self/fd/5) 5<~/beside; :" >~/out' "$CORDON"
	run -0 jq -e '[.violations[].object | sub(".*/"; "")] == ["out", "beside"]' r
	# What cordon says does not overwrite what was written through another descriptor.
	cordon run sh -c 'echo no >>~/beside; echo a long line of the command >/dev/stdout' \
		>"$HOME/out" 2>&1
	assert_equal "$(grep -c 'a long line of the command$' "$HOME/out")" 1
	grep -q 'cordon: refused: writing' "$HOME/out"
}

@test "a program that is merely called go is told of like any other" {
	cp /bin/mkdir go
	inside moderate './go -p ~/.config/go/env; true'
	sentence "refused: writing $HOME/.config (go, "
}

@test "a history that its own program cannot keep: nothing is said when it ends well" {
	command -v python3 >/dev/null || must_or_skip "no python3"
	local keep='import os; os.open(os.path.expanduser("~/.python_history"), os.O_WRONLY | os.O_CREAT)'
	keep="try: exec('$keep')
except OSError: pass"
	run -0 --separate-stderr cordon run --json -- python3 -c "$keep"
	valid
	quiet_about refused
	about "$HOME/.python_history" '.advisory and (.program | startswith("python"))'
	refute_file "$HOME/.python_history"
	run -3 --separate-stderr cordon run -- python3 -c "$keep"$'\nraise SystemExit(3)'
	sentence "refused: writing $HOME/.python_history: what is typed inside is not kept outside"
	run --separate-stderr cordon run --on-violation fail -- python3 -c "$keep"
	assert_status 125
	# By somebody else it is told.
	run -0 --separate-stderr cordon run -- sh -c 'echo x >>~/.python_history; true'
	sentence "refused: writing $HOME/.python_history"
}

@test "less, of which everybody is a user, tries to keep no history" {
	command -v less >/dev/null || must_or_skip "less is not installed"
	for profile in moderate strict shell; do
		inside "$profile" 'echo x | less; echo "=$LESSHISTFILE"'
		assert_json '.stdout | contains("=-")'
		quiet_about refused
	done
	run cordon run --env LESSHISTFILE=mine -- sh -c 'echo "=$LESSHISTFILE"'
	assert_contains =mine
}

@test "a shared /tmp does without a place for caches, which is said" {
	rm -rf "$HOME/.cordon/cache/project"
	mkdir -p "$HOME/.cordon/cache"
	echo "no directory" >"$HOME/.cordon/cache/project"
	run -0 --separate-stderr cordon run --share-tmp one -- sh -c 'echo kept >/tmp/x'
	sentence "not enforced by native: caches"
	run -0 cordon run -q --share-tmp one -- cat /tmp/x
	assert_output kept
}

@test "a full /tmp is told with the limit that bounds it" {
	inside moderate 'head -c 1M /dev/zero >/tmp/x'
	assert_success
	run -1 --separate-stderr cordon run --json --tmp-size 64K -- sh -c 'head -c 1M /dev/zero >/tmp/x'
	sentence "hint: /tmp inside lies in memory, and --tmp-size bounds it"
}

@test "what nothing allows says why, and warns of nothing" {
	printf '[sandbox]\ndeny = ["private"]\n' >.cordon.toml
	touch private
	inside moderate 'echo x >private'
	sentence "a project file refuses it; only"
	quiet_about warning:
}

@test "a start file or a secret that does not exist yet: its rule, and what makes it first" {
	local fix
	rm "$HOME/.bashrc"
	inside moderate 'echo x >>~/.bashrc; mkdir ~/.aws; echo x >~/.config/gh/new'
	sentence "read ~/.bashrc (@shell-files) [profile moderate:6]; to allow it: touch $HOME/.bashrc, then --allow-write $HOME/.bashrc (warning: what runs later"
	sentence "to allow it: mkdir -p $HOME/.aws, then --allow-write $HOME/.aws (warning: that gives a secret away)"
	about "$HOME/.bashrc" '.fix.first != null and .fix.opens_control'
	fix=$(jq -r --arg o "$HOME/.bashrc" '.violations[] | select(.object == $o) | .fix.first' <<<"$output")
	bash -c "$fix"
	run -0 cordon run -q --allow-write "$HOME/.bashrc" -- sh -c 'echo x >>~/.bashrc'
	assert_equal "$(cat "$HOME/.bashrc")" x
	run -0 cordon explain --write "$HOME/.zshrc"
	assert_contains "to allow it, first, outside: touch $HOME/.zshrc"
	assert_contains "then: --allow-write $HOME/.zshrc"
}

@test "what does not exist yet in the home: it alone is opened, once it is made" {
	local fix
	run -1 --separate-stderr cordon run --json -- mkdir "$HOME/wt"
	sentence "to allow it: mkdir -p $HOME/wt, then --allow-write $HOME/wt"
	quiet_about "whole home"
	about "$HOME/wt" '.fix.flags == "--allow-write " + .object and (.fix | has("warning") | not)'
	fix=$(jq -r '.violations[0].fix.first' <<<"$output")
	bash -c "$fix"
	run -0 --separate-stderr cordon run --allow-write "$HOME/wt" -- mkdir "$HOME/wt/in"
	quiet_about refused
	inside moderate 'echo x >~/fresh'
	sentence "to allow it: touch $HOME/fresh, then --allow-write $HOME/fresh"
	quiet_about "whole home"
	# A name that has to be free is of no use once it is taken.
	inside moderate 'set -C; echo x >~/lock'
	sentence "--allow-write $HOME (all of that directory"
	quiet_about "touch "
}

@test "agent without ~/.claude: a run says that it has to be made first, and it counts" {
	for protect in guard exact; do
		run --separate-stderr cordon run -p agent --protect $protect --json -- mkdir "$HOME/.claude"
		valid
		sentence "refused: writing $HOME/.claude"
		sentence "write ~/.claude [profile agent:5]; it has to be there before the run: mkdir -p $HOME/.claude"
	done
	run -125 cordon run -q -p agent --on-violation fail -- mkdir "$HOME/.claude"
	run -0 cordon explain -p agent --write "$HOME/.claude/x"
	assert_contains "it has to be there before the run: mkdir -p $HOME/.claude"
	mkdir -p "$HOME/.claude"
	run -0 --separate-stderr cordon run -p agent -- sh -c 'echo x >~/.claude/x'
	quiet_about refused
}

# A shell's own look at the file is not seen; that it is executed is.
@test "a program that is not shown: executing it is told, by its link, and the fix suffices" {
	local fix
	mkdir -p "$HOME/.local/bin" "$HOME/lib"
	cp "$(type -P true)" "$HOME/lib/tool"
	cp "$HOME/lib/tool" "$HOME/.ssh/tool"
	ln -s "$HOME/lib/tool" "$HOME/.local/bin/tool"
	for profile in strict shell; do
		inside $profile '~/.local/bin/tool; ~/.ssh/tool; true'
		about "$HOME/.local/bin/tool" '.op == "exec" and .source == "notify"'
		about "$HOME/.ssh/tool" '.op == "exec" and .fix.opens_secret'
		fix=$(jq -r '.violations[0].fix.flags' <<<"$output")
		run -0 bash -c "\"\$0\" run -q -p $profile $fix -- sh -c '~/.local/bin/tool'" "$CORDON"
	done
	inside moderate '~/.ssh/tool 2>/dev/null; true'
	assert_json '.violations == []'
	run -125 --separate-stderr cordon run --on-violation fail -- sh -c '~/.ssh/tool'
	sentence "refused: executing $HOME/.ssh/tool"
}

@test "what a shell does not find although it is there: named with what shows it" {
	local fix flags
	mkdir -p "$HOME/bin" "$HOME/lib"
	cp "$(type -P true)" "$HOME/lib/tool"
	ln -s "$HOME/lib/tool" "$HOME/bin/tool"
	export PATH=$HOME/bin:$PATH
	flags="--allow-read $HOME/bin/tool --allow-exec $HOME/bin/tool"
	inside strict 'echo first; tool --version; true'
	sentence "probably refused: executing $HOME/bin/tool (inferred from the output)"
	about "$HOME/bin/tool" '.fix.flags == "'"$flags"'"'
	run -127 --separate-stderr cordon run -p strict -- sh -c 'true; tool'
	sentence "hint: $HOME/bin/tool is not shown inside; to allow it: $flags"
	# shellcheck disable=SC2086 # words
	run -0 cordon run -q -p strict $flags -- sh -c 'true; tool'
	run -127 --separate-stderr cordon run -p strict -- sh -c 'no-such-tool'
	quiet_about hint
}

@test "a command that succeeds all the same: three lines, the rest counted, all on record" {
	inside moderate 'for i in 1 2; do echo x >~/n$i; done 2>/dev/null; mkdir .vscode .claude .idea; true'
	assert_success
	[ "$(grep -c '^cordon: refused' <<<"$stderr")" = 3 ] || fail "lines" "$(outcome)"
	sentence "more like these, and the command succeeded all the same; 'cordon explain --last' has them"
	assert_json '.violations | length == 5'
	run -0 cordon explain --last
	assert_contains .idea
	run -1 --separate-stderr cordon run -- sh -c 'echo x >~/n; mkdir .vscode .claude .idea; exit 1'
	[ "$(grep -c '^cordon: refused' <<<"$stderr")" = 4 ] || fail "lines" "$(outcome)"
}

@test "the fix that is named works" {
	inside moderate 'cat ~/.ssh/id_rsa'
	run --separate-stderr bash -c "\"\$0\" run -q $(jq -r '.violations[] | select(.op == "read") | .fix.flags' <<<"$output") -- cat \"\$1\"" \
		"$CORDON" "$HOME/.ssh/id_rsa"
	assert_status 0
	assert_output key
}

# The file .git of the workdir says where that is, and a file is not to open anything.
@test "a commit where the workdir is a submodule: the fix works, hooks stay closed" {
	export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
	local fix
	git init -q "$SCRATCH/library"
	git -C "$SCRATCH/library" commit -q --allow-empty -m first
	git init -q .
	git -c protocol.file.allow=always submodule --quiet add "$SCRATCH/library" lib
	cd lib
	inside moderate 'git commit -q --allow-empty -m second'
	assert_status 128
	fix=$(jq -r '.violations[] | select(.op == "write").fix.flags' <<<"$output" | sort -u)
	assert_equal "$fix" "--allow-write $WORKDIR/.git/modules/lib"
	# shellcheck disable=SC2086 # two words
	run -0 cordon run -q $fix -- git commit -q --allow-empty -m second
	# shellcheck disable=SC2086
	run cordon run -q $fix -- sh -c 'echo x >../.git/modules/lib/hooks/post-commit'
	refute_file ../.git/modules/lib/hooks/post-commit
}

@test "a unix socket of the host: the connect is told, and the flag that is named works" {
	serve "$WORKDIR/s"
	local connect="python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"$WORKDIR/s\")'"
	inside moderate "$connect"
	assert_status 1
	sentence "refused: connecting to $WORKDIR/s (python3, seen at the system call): unix sockets of the host are out of reach; to allow it: --allow-unix $WORKDIR/s (warning: that leads out of the sandbox: a program outside does there what it is asked to)"
	run -0 cordon run --allow-unix "$WORKDIR/s" -- sh -c "$connect"
	run cordon run --allow-unix "$WORKDIR/none" -- true
	assert_status 125
	assert_contains "start what listens there first"
	run cordon run --allow-unix "$HOME/.bashrc" -- true
	assert_status 125
	assert_contains "for files there are --allow-read and --allow-write"
}

@test "a unix socket of the host that a private /tmp hides: the connect is told with its flag" {
	local dir profile
	for dir in /tmp "$(mktemp -d /tmp/cordon-bats.XXXXXX)"; do
		local socket=$dir/cordon-$$-$BATS_TEST_NUMBER.sock
		serve "$socket"
		local connect="/usr/bin/python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"$socket\")'"
		for profile in moderate strict; do
			inside "$profile" "$connect"
			assert_status 1
			sentence "refused: connecting to $socket (python3, seen at the system call): unix sockets of the host are out of reach; to allow it: --allow-unix $socket (warning: that leads out of the sandbox: a program outside does there what it is asked to)"
			run -0 cordon run -p "$profile" --allow-unix "$socket" -- sh -c "$connect"
		done
		# What is the sandbox's own, and what is nowhere, is nothing refused.
		inside moderate "/usr/bin/python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"$socket.none\")'"
		assert_status 1
		assert_equal "$(jq -r '.violations | length' <<<"$output")" 0
		rm "$socket"
	done
	rmdir "$dir"
}

# leads NAME TEXT: the flag for a socket of that name is named with that warning.
leads() {
	serve "$WORKDIR/$1"
	inside moderate "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"$WORKDIR/$1\")'"
	assert_status 1
	about "$WORKDIR/$1" ".fix.flags == \"--allow-unix $WORKDIR/$1\" and .fix.opens_control and
		(.fix.warning | startswith(\"that leads out of the sandbox: $2\"))"
	run -0 cordon explain "$WORKDIR/$1"
	assert_contains "warning: that leads out of the sandbox: $2"
}

@test "a unix socket of the host: what a known one leads to is told with its flag" {
	mkdir .X11-unix
	leads docker.sock "a container engine"
	leads bus "services there run programs outside"
	leads agent.1234 "the agent there uses your keys"
	leads S.gpg-agent.extra "the agent there uses your keys"
	leads .X11-unix/X1 "who reaches it reads and types"
	export SSH_AUTH_SOCK=$WORKDIR/of-my-own
	leads of-my-own "the agent there uses your keys"
	run -0 --separate-stderr cordon run --allow-unix "$WORKDIR/agent.1234" true
	[[ $stderr == *"warning: --allow-unix: unix $WORKDIR/agent.1234 leads out of the sandbox: the agent"* ]] ||
		fail "no warning" "$(outcome)"
}

# git copies the objects that it may not link, and says nothing of it.
@test "git clone and git submodule update of a repository of this machine are no refusal" {
	local protect backend act flags
	export GIT_AUTHOR_NAME=Tester GIT_AUTHOR_EMAIL=t@example.com
	export GIT_COMMITTER_NAME=Tester GIT_COMMITTER_EMAIL=t@example.com
	git init -q "$SCRATCH/library"
	echo text >"$SCRATCH/library/file"
	git -C "$SCRATCH/library" add file
	git -C "$SCRATCH/library" commit -qm first
	git init -q "$SCRATCH/project"
	git -C "$SCRATCH/project" -c protocol.file.allow=always submodule --quiet add "$SCRATCH/library" lib
	git -C "$SCRATCH/project" commit -qm lib
	for protect in guard exact; do
		for backend in native landlock; do
			flags=(--backend $backend --fallback degrade --protect $protect)
			git clone -q "$SCRATCH/project" "$SCRATCH/$protect-$backend"
			cd "$SCRATCH/$protect-$backend"
			run -0 --separate-stderr cordon run --json "${flags[@]}" -- \
				git -c protocol.file.allow=always submodule --quiet update --init
			valid
			quiet_about refused
			assert_json '[.violations[] | select(.advisory | not)] == []'
			assert_file lib/file
			for act in fail kill; do
				run -0 cordon run -q --on-violation $act "${flags[@]}" -- \
					git clone -q "$SCRATCH/library" $act
				assert_file $act/file
			done
		done
	done
	# Of anybody else it is one, and of git when that is all it can do.
	run -1 --separate-stderr cordon run --protect exact --backend native -- ln "$SCRATCH/library/file" name
	sentence "refused: writing $SCRATCH/library/file (ln, seen by the broker)"
	# An object is read-only, which ordinary permissions hold against a user.
	is_root || return 0
	run -128 --separate-stderr cordon run --protect exact --backend native -- \
		git clone -q --local "$SCRATCH/library" linked
	sentence "refused: writing $SCRATCH/library/.git/objects/"
}

# closed_to PROTECT BACKEND PROGRAM...: what it makes where the policy lets it is refused, with a reason,
# when it cannot be looked at.
closed_to() {
	local protect=$1 backend=$2
	shift 2
	run --separate-stderr "${AS[@]}" "$SCRATCH/cordon" run --json --backend "$backend" \
		--fallback degrade --protect "$protect" -- "$@" new
	assert_status 1
	valid
	refute_file new
	assert_json ".violations | length == 1 and (.[0] | .op == \"call\" and .object == \"mkdir\" and
		(.source | IN(\"guard\", \"broker\")) and .fix == null and
		(.rule | startswith(\"what it names cannot be seen\")) and
		(.reason | startswith(\"run a copy of it that you may read\")))"
	sentence "refused: calling mkdir "
	run -125 "${AS[@]}" "$SCRATCH/cordon" run -q --backend "$backend" --fallback degrade \
		--protect "$protect" --on-violation fail -- sh -c '"$@"; :' sh "$@" new
	refute_file new
	run -0 "${AS[@]}" "$SCRATCH/cordon" run -q --backend "$backend" --fallback degrade \
		--protect off -- "$@" new
	rmdir new
}

@test "a process that cannot be looked at makes nothing, and this is said" {
	local closes='import ctypes, os, sys; ctypes.CDLL(None).prctl(4, 0); os.mkdir(sys.argv[1])'
	local protect backend AS=()
	cp "$CORDON" "$SCRATCH/cordon"
	# Without namespaces nobody has rights over it, but for root outside.
	if ! is_root; then
		install -m 111 "$(type -P mkdir)" closed
		closed_to guard landlock ./closed
		closed_to exact landlock ./closed
		closed_to guard landlock python3 -c "$closes"
	fi
	closed_to exact landlock python3 -c "$closes"
	is_root || return 0
	# A program that is root's is out of reach in any namespace of a user's.
	chown -R 65534:65534 "$SCRATCH"
	AS=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	install -m 711 "$(type -P mkdir)" closed
	for protect in guard exact; do
		for backend in native landlock; do
			closed_to $protect $backend ./closed
		done
	done
}

@test "--watch on a terminal in raw mode goes back to the first column" {
	run -0 script -qec "'$CORDON' run --watch -- sh -c 'echo x >>~/.bashrc; :'" /dev/null </dev/null
	assert_matches "refused: writing $HOME/.bashrc "[^$'\n']*$'\r(\n|$)'
}

@test "a write to a shell's start file" {
	inside moderate 'echo x >> ~/.bashrc'
	assert_equal "$(cat "$HOME/.bashrc")" rc
	sentence "refused: writing $HOME/.bashrc"
	sentence "[profile moderate:"
	sentence "to allow it: --allow-write $HOME/.bashrc"
	about "$HOME/.bashrc" '.op == "write" and .fix.opens_secret == false'
}

@test "a hook that does not exist yet" {
	mkdir -p .git/hooks
	inside moderate 'echo > .git/hooks/pre-commit'
	refute_file .git/hooks/pre-commit
	sentence "refused: writing $WORKDIR/.git/hooks/pre-commit"
	about "$WORKDIR/.git/hooks/pre-commit" '.op == "write"'
}

@test "a control directory that does not exist yet is refused by the guard" {
	run --separate-stderr cordon run -- mkdir .claude
	assert_status 1
	refute_file .claude
	sentence "refused: writing $WORKDIR/.claude (mkdir, seen by the guard): read .claude (@control) [profile moderate:"
	sentence "to allow it: --allow-write $WORKDIR/.claude"
}

@test "a host is named although the network is off" {
	command -v getent >/dev/null || must_or_skip "no getent"
	run --separate-stderr cordon run -- getent hosts wanted.example.com
	assert_status 2
	sentence "refused: looking up wanted.example.com (seen by the name server"
	sentence "network off [profile moderate:"
}

@test "a place outside the workdir" {
	mkdir "$SCRATCH/elsewhere"
	inside moderate "touch $SCRATCH/elsewhere/x"
	sentence "refused: writing $SCRATCH/elsewhere/x"
	about "$SCRATCH/elsewhere/x" '.fix.flags | startswith("--allow-write ")'
	refute_file "$SCRATCH/elsewhere/x"
}

@test "a host, by the name that was wanted" {
	inside moderate 'echo "curl: (6) Could not resolve host: example.com" >&2; exit 6'
	assert_status 6
	sentence "probably refused: looking up example.com (inferred from the output): network off"
	about example.com '.op == "resolve" and .source == "inferred" and .fix.flags != null'
}

@test "what is not there, or not refused, is no violation" {
	inside moderate 'cat /nonexistent ./none ~/.ssh/none; cat /etc/passwd >/dev/null; mkdir -p made; ls made'
	quiet_about refused
	assert_json '.violations == []'
}

@test "a failed command whose output is not seen: that reads were not observed is said" {
	run --separate-stderr cordon run -- cat "$HOME/.ssh/id_rsa" $'x\ncordon: y'
	assert_equal "$(grep -c ^cordon: <<<"$stderr")" 1
	sentence "hint: $HOME/.ssh/id_rsa may not be read, and reads were not observed: --report all does"
	cd /
	run --separate-stderr cordon run --workdir "$WORKDIR" -- cat ../home/.ssh/id_rsa
	cd "$WORKDIR"
	sentence "hint: $HOME/.ssh/id_rsa may not be read"
	# Also in what a shell is to do.
	for words in 'cat ~/.ssh/id_rsa' 'cat "$HOME/.ssh/id_rsa" | grep -q y' \
		"x=1;cat <$HOME/.ssh/id_rsa" 'cat ../home/.ssh/id_rsa'; do
		run --separate-stderr cordon run -- sh -c "$words"
		sentence "hint: $HOME/.ssh/id_rsa may not be read"
	done
	run --separate-stderr cordon run -- sh -c 'cat ~/.ssh/none ~/.bashrc $HOME/'
	quiet_about "not observed"
	for words in "cat /nowhere $HOME/.bashrc" 'false' "ls -d $HOME" "sh -c 'echo x >>~/.bashrc' $HOME/.ssh"; do
		eval "run --separate-stderr cordon run -- $words"
		quiet_about "not observed"
	done
	run --separate-stderr cordon run --json -- cat "$HOME/.ssh/id_rsa"
	quiet_about "not observed"
}

@test "strict: who only looks whether a file is there is told of it, by the command's words" {
	echo x >"$HOME/page"
	for words in 'cp ~/page .' "ls $HOME/page" 'test -e ~/page'; do
		run --separate-stderr cordon run -p strict -- sh -c "$words"
		sentence "hint: $HOME/page may not be read, and whoever only looks whether it is there"
	done
	run --separate-stderr cordon run -p strict -- sh -c 'cat ~/page; false'
	quiet_about "only looks"
	for words in 'cd / && false' "cd '$WORKDIR' && cd .. && false" 'cp ~/none .' "ls $HOME/page; true"; do
		run --separate-stderr cordon run -p strict -- sh -c "$words"
		quiet_about "only looks"
	done
	# What is seen of the output says it by itself.
	git init -q "$HOME/up"
	for words in 'cp ~/page .' 'git clone -q ~/up here'; do
		inside strict "$words"
		quiet_about "only looks"
		sentence "probably refused: reading $HOME/"
	done
}

@test "no advice where ordinary permissions decide" {
	is_root && skip "root is refused nothing"
	inside moderate 'cat /etc/shadow; touch /usr/x'
	quiet_about "to allow it"
	assert_json '[.violations[] | select(.fix != null)] == []'
}

@test "--quiet says nothing, --report none looks for nothing" {
	run --separate-stderr cordon run -q --json -- sh -c 'cat ~/.ssh/id_rsa'
	quiet_about refused
	about "$HOME/.ssh/id_rsa" '.op == "read"'
	run --separate-stderr cordon run --report none --json -- sh -c 'cat ~/.ssh/id_rsa'
	quiet_about refused
	assert_json '.violations == []'
}

@test "many refusals: at most ten lines" {
	mkdir "$HOME/tree"
	for i in $(seq 60); do echo x >"$HOME/tree/f$i"; done
	run --separate-stderr cordon run --json -- sh -c 'for f in ~/tree/*; do echo x >>"$f"; done'
	sentence " more under $HOME/tree"
	[ "$(grep -c refused <<<"$stderr")" -le 10 ] || fail "too many lines" "$(outcome)"
	assert_json '.violations | length >= 60'
}

@test "names from inside cannot act on the terminal" {
	inside moderate "printf 'cat: %s/.ssh/id_rsa: Permission denied\\n' \"\$HOME\" >&2; printf 'curl: (6) Could not resolve host: \\033[31mx.example\\n' >&2"
	if grep -q $'\033' <<<"$stderr"; then fail "an escape got through" "$(outcome)"; fi
}

@test "--on-violation fail and kill, and what is printed decides nothing" {
	run --separate-stderr cordon run --on-violation fail --json -- sh -c 'echo x >>~/.bashrc; exit 0'
	assert_status 125
	valid
	assert_json '.cause == "policy" and .exit_code == 0'
	[[ $stderr == *"the run failed because an action was refused"* ]] || fail "not said" "$(outcome)"
	run --separate-stderr cordon run --on-violation fail -- sh -c 'echo x >inside; exit 3'
	assert_status 3
	run --separate-stderr cordon run --on-violation fail --json -- sh -c 'echo "cat: $HOME/.ssh/id_rsa: Permission denied"'
	assert_status 0
	assert_json '.violations[0].source == "inferred"'
	run --separate-stderr cordon run --on-violation kill --json -- sh -c 'echo x >>~/.bashrc; sleep 300; echo >late'
	assert_status 125
	valid
	assert_json '.cause == "policy" and .exit_code == null and .signal != null and .duration_ms < 200000'
	refute_file late
	[[ $stderr == *"the run was ended because an action was refused"* ]] || fail "not said" "$(outcome)"
	assert_equal "$(cat "$HOME/.bashrc")" rc
}

# ends_at_first FLAGS: who ignores SIGTERM does nothing more, either.
ends_at_first() {
	for _ in 1 2 3; do
		run --separate-stderr cordon run "$@" --on-violation kill --json -- sh -c 'trap "" TERM
			for i in 1 2 3 4 5; do echo x >>~/.bashrc; mkdir ~/made$i; echo >late; done'
		assert_status 125
		assert_json '.cause == "policy" and .signal == 9 and (.violations | length) == 1'
		assert_json '.violations[0].count == 1'
		refute_file late
	done
}

@test "--on-violation kill: nothing is done after the first refusal" {
	ends_at_first -p moderate
	ends_at_first -p strict
	cordon run -q --backend landlock --protect exact --fallback degrade true || must_or_skip "no landlock"
	ends_at_first --backend landlock --protect exact --fallback degrade
}

# refused_by COMMAND: it is refused, and seen to be: both ways of acting on it act.
refused_by() {
	run --separate-stderr cordon run --on-violation fail --json -- sh -c "$1; true"
	assert_status 125
	assert_json '.cause == "policy" and .exit_code == 0 and (.violations | length) > 0'
	run --separate-stderr cordon run --on-violation kill --json -- sh -c "$1; echo >late; sleep 300"
	assert_status 125
	assert_json '.cause == "policy" and .exit_code == null'
	refute_file late
}

@test "--on-violation sees every change that is refused, by a path, below a directory, by a descriptor" {
	mkdir -p "$HOME/beside/deep" inside
	touch "$HOME/beside/deep/file" "$HOME/beside/other" inside/{1..20}
	# The numbers of descriptors are those of a tree that may be removed, as with rm.
	refused_by 'rm -rf inside ~/beside'
	refused_by 'rmdir ~/beside/deep'
	refused_by 'mv ~/beside/other inside'
	refused_by 'chmod -R g-r ~/beside'
	refused_by 'touch -h -d 2000-01-01 ~/beside/other'
	for call in 'fchmod(fd, 0o600)' 'fchown(fd, -1, -1)' 'utime(fd)' 'setxattr(fd, "user.x", b"y")' \
		'removexattr(fd, "user.x")' 'chmod("other", 0o600, dir_fd=dir)'; do
		refused_by "python3 -c '
import os
dir = os.open(os.environ[\"HOME\"] + \"/beside\", os.O_RDONLY)
fd = os.open(\"other\", os.O_RDONLY, dir_fd=dir)
os.$call'"
	done
	assert_file "$HOME/beside/deep/file"
}

@test "--on-violation: changes that are allowed end nothing, by whatever call" {
	mkdir -p tree/deep
	touch tree/deep/file
	run --separate-stderr cordon run --on-violation kill -- python3 -c '
import os, shutil
fd = os.open("tree/deep/file", os.O_RDONLY)
os.fchmod(fd, 0o600); os.utime(fd); os.fchown(fd, -1, -1); os.chmod("tree/deep", 0o700)
os.rename("tree/deep/file", "tree/file"); os.fchmod(fd, 0o644)
os.remove("tree/file"); os.fchmod(fd, 0o600)
reader, writer = os.pipe()
os.fchmod(writer, 0o600)
os.fchmod(os.memfd_create("x"), 0o600)
shutil.rmtree("tree")'
	assert_status 0
	cordon run --on-violation kill python3 -c 'import os; os.utime(1)' >"$HOME/out"
}

@test "a removal that is refused is told, and the flag that is named lets it happen" {
	mkdir -p "$HOME/beside/deep"
	touch "$HOME"/beside/deep/{a,b}
	inside moderate 'rm -rf ~/beside; rm ~/.bashrc'
	sentence "refused: removing $HOME/beside/deep/a ("
	about "$HOME/beside/deep/a" ".fix.flags == \"--allow-write $HOME/beside/deep\""
	about "$HOME/.bashrc" ".fix.flags | startswith(\"--allow-write $HOME\")"
	run --separate-stderr cordon run --allow-write "$HOME/beside/deep" -- rm "$HOME/beside/deep/a"
	assert_status 0
	refute_file "$HOME/beside/deep/a"
	# What replaces a file changes its directory, too.
	inside moderate 'echo new >new; mv new ~/beside/deep/b'
	about "$HOME/beside/deep/b" ".fix.flags == \"--allow-write $HOME/beside/deep\""
}

@test "--watch says it when it happens, and not again at the end" {
	run --separate-stderr cordon run --watch --json -- sh -c 'cat ~/.ssh/id_rsa'
	sentence "refused: reading $HOME/.ssh/id_rsa"
}

# Two hundred names of four thousand bytes that have to be escaped: 20 MB.
@test "explain --last: a record that would be too long is cut, and says so" {
	inside moderate 'echo x >~/.bashrc'
	cat >deep.py <<-'END'
		import os, sys
		make = len(sys.argv) > 1
		os.chdir(os.environ["HOME"])
		for i in range(14):
		    if make: os.mkdir(b"\xff" * 250)
		    os.chdir(b"\xff" * 250)
		for i in range(0 if make else 200):
		    try: os.mkdir(b"%03d-" % i + b"\xff" * 200)
		    except OSError: pass
	END
	python3 deep.py make
	run -0 --separate-stderr cordon run -q --result result -- python3 deep.py
	output=$(cat result)
	assert_json '.violations | length == 200'
	run -0 --separate-stderr cordon explain --last --json
	assert_json '.violations | length > 10 and length < 200'
	assert_json '.violations_dropped + (.violations | length) == 200'
	run -0 --separate-stderr cordon explain --last
	assert_contains "more that were not kept"
}

@test "a record that cannot be written: one line says so" {
	inside moderate 'echo x >~/.bashrc'
	assert_file "$HOME/.cordon/last-run.json"
	rm "$HOME/.cordon/last-run.json"
	mkdir "$HOME/.cordon/last-run.json"
	inside moderate 'echo x >~/.bashrc'
	sentence "the refused actions are not on record for 'cordon explain --last': "
}

@test "explain --last: the violations of the last run that had any" {
	run -0 --separate-stderr cordon explain --last
	assert_output "no run with a refused action is on record"
	run -0 --separate-stderr cordon explain --last --json
	assert_json '.violations == []'
	inside moderate 'cat ~/.ssh/id_rsa; true sekrit-argument'
	run -0 --separate-stderr cordon explain --last
	assert_matches "the last run that was refused something: sh, ended 2[0-9-]+T[0-9:]+Z in $WORKDIR, profile moderate"
	assert_contains "$HOME/.ssh/id_rsa"
	assert_contains "to allow it: --allow-read $HOME/.ssh/id_rsa"
	assert_contains "warning: that gives a secret away"
	run -0 --separate-stderr cordon explain --last --json
	assert_json '.violations[0].op == "read" and .program == "sh"'
	assert_equal "$(stat -c %a "$HOME/.cordon/last-run.json")" 600
	if grep -q sekrit "$HOME/.cordon/last-run.json"; then fail "an argument was kept"; fi
	[ "$(find "$HOME/.cordon" -name '.last-run*')" = "" ] || fail "debris"
	# A run in which nothing is refused leaves the record alone.
	cordon run -q true
	run -0 --separate-stderr cordon explain --last
	assert_contains "$HOME/.ssh/id_rsa"
	run -125 --separate-stderr cordon explain --last "$HOME"
}

@test "a record that cannot be written is no concern of the run" {
	is_root && skip "root can write everywhere"
	mkdir -p "$HOME/.cordon"
	chmod 500 "$HOME/.cordon"
	inside moderate 'cat ~/.ssh/id_rsa; exit 7'
	assert_status 7
	refute_file "$HOME/.cordon/last-run.json"
}

@test "a broken record is an error with its place" {
	mkdir -p "$HOME/.cordon"
	echo '{"violations": [' >"$HOME/.cordon/last-run.json"
	run -125 --separate-stderr cordon explain --last
	[[ $stderr == *last-run.json:* ]] || fail "no place" "$(outcome)"
}

@test "a command that may not be executed is in the list, with what would allow it" {
	printf '#!/bin/sh\necho ran\n' >tool
	chmod +x tool
	inside_tool() { run --separate-stderr cordon run -p shell --json "$@" -- ./tool; }
	inside_tool
	assert_status 125
	valid
	assert_json '.cause == "policy" and .error.code == "blocked"'
	about "$WORKDIR/tool" '.op == "exec" and .source == "start"'
	quiet_about "refused: executing"
	run --separate-stderr bash -c "\"\$0\" run -q -p shell $(jq -r '.violations[0].fix.flags' <<<"$output") -- ./tool" "$CORDON"
	assert_status 0
	assert_output ran
}

@test "SIGSYS has a reason" {
	inside moderate 'kill -SYS $$'
	assert_status 159
	assert_json '.cause == "signal" and .signal == 31'
	assert_json '.violations[0] | .source == "kernel" and .op == "exec" and .fix == null'
	sentence "SIGSYS ended it: programs of another architecture"
}

@test "a program that has more rights elsewhere: a hint, and no violation" {
	run --separate-stderr cordon run -- su -c true nobody </dev/null
	[ "$status" -ne 0 ] || fail "it worked" "$(outcome)"
	sentence "hint: $(command -v su) has no more rights than the command: inside, setuid bits"
	run --separate-stderr cordon run -- su --version
	assert_status 0
	quiet_about hint
	inside moderate 'echo "sudo: The \"no new privileges\" flag is set, which prevents sudo from running as root." >&2; exit 1'
	sentence "hint: a program like sudo or ping has no more rights"
	assert_json '.violations == []'
}

@test "a name with newlines forges no line, whatever is said of it" {
	is_root || skip "a fix for a name in / is tried for root only"
	run --separate-stderr cordon run -- /usr/bin/python3 -c '
try: open("/x\ncordon: nothing was refused", "w")
except OSError: pass'
	assert_equal "${#stderr_lines[@]}" 1
	[[ $stderr == "cordon: refused: writing /x\\ncordon: nothing"* ]] || fail "what" "$(outcome)"
}

@test "a file where rules need a directory: that is the reason, and explain says it, too" {
	local program
	echo hi >f
	for program in 'mv f .git' 'echo x >.git' 'ln -s f .git'; do
		inside moderate "$program"
		sentence "only a directory may be made there"
		sentence "point git elsewhere"
		[[ $stderr != *"write {workdir}"* ]] || fail "a rule that allows it" "$(outcome)"
	done
	run -0 cordon explain --write .git
	assert_contains "only a directory may be made there"
	run -0 cordon explain --write other
	refute_contains "only a directory"
	run -0 cordon run -q -- mkdir .git
	run -0 cordon explain --write .git
	refute_contains "only a directory"
}
