#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# cordon in a real terminal emulator: what is shown, what the keys do, and that the terminal
# is afterwards as it was.
load helper

# Every wait ends with an event on the screen; the ceiling is for what never comes.
WAIT_SECONDS=30

setup() {
	cordon_setup
	command -v tmux >/dev/null || must_or_skip "no tmux"
	export TMUX_TMPDIR=$SCRATCH
	unset TMUX
	export LC_ALL=C.UTF-8 CORDON
	printf 'PS1="out> "\n' >"$SCRATCH/rc"
	printf 'PS1="in> "\n' >"$WORKDIR/rc"
	tmux -f /dev/null new-session -d -x 80 -y 24 -s test "bash --rcfile $SCRATCH/rc -i"
	seen '^out> ?$'
	say 'stty -a | head -n 99 > before; echo rea""dy'
	seen '^ready$'
}

teardown() {
	local shell='' end=$((SECONDS + WAIT_SECONDS))

	if [ -n "${TMUX_TMPDIR:-}" ]; then
		shell=$(tmux list-panes -t test -F '#{pane_pid}' 2>/dev/null) || true
		tmux kill-server 2>/dev/null || true
	fi
	# It writes its history into the home when it is hung up.
	while [ -n "$shell" ] && kill -0 "$shell" 2>/dev/null && [ $SECONDS -lt $end ]; do
		sleep 0.05
	done
	cordon_teardown
}

screen() {
	tmux capture-pane -p -t test
}

keys() {
	tmux send-keys -t test "$@"
}

# Types a line.
say() {
	keys -l "$1"
	keys Enter
}

# Waits for a line that matches an extended regular expression.
seen() {
	local end=$((SECONDS + WAIT_SECONDS))

	until screen | grep -Eq "$1"; do
		[ $SECONDS -lt $end ] || fail "not seen: $1" "$(screen)"
		sleep 0.05
	done
}

# The same, for the last line with something on it.
last() {
	local end=$((SECONDS + WAIT_SECONDS))

	until screen | grep -v '^$' | tail -n 1 | grep -Eq "$1"; do
		[ $SECONDS -lt $end ] || fail "not last: $1" "$(screen)"
		sleep 0.05
	done
}

same_terminal() {
	keys C-u
	say 'clear; stty -a | head -n 99 > after; cmp before after && echo sa""me'
	seen '^same$'
}

works() {
	cordon run -q --backend "$1" --fallback degrade true </dev/null ||
		must_or_skip "$1 does not work here"
}

inside() {
	say "\$CORDON run -q --backend $1 --fallback degrade $2"
}

@test "a shell inside has a terminal with a name, a size and colours" {
	works native
	inside native '-- bash --rcfile rc -i'
	last 'in> ?$'
	say 'tty; stty size; tput colors; test -t 0 -a -t 1 -a -t 2 && echo ter""minals'
	seen '^/dev/pts/0$'
	seen '^24 80$'
	seen '^terminals$'
	keys C-d
	last 'out> ?$'
	same_terminal
}

@test "job control in a shell inside" {
	works native
	inside native '-- bash --rcfile rc -i'
	last 'in> ?$'
	say "sleep 1000.$$"
	running "sleep 1000.$$"
	keys C-z
	seen "Stopped +sleep 1000.$$"
	say 'bg'
	seen "1\\]\\+ sleep 1000.$$ &"
	say 'jobs'
	seen "Running +sleep 1000.$$ &"
	say 'fg'
	in_front "sleep 1000.$$"
	keys C-c
	last 'in> ?$'
	say 'exit 7'
	last 'out> ?$'
	say 'echo status $?'
	seen '^status 7$'
	same_terminal
}

# A key that is pressed before the program runs is for the shell.
running() {
	local end=$((SECONDS + WAIT_SECONDS))

	until pgrep -f "^$1\$" >/dev/null; do
		[ $SECONDS -lt $end ] || fail "does not run: $1"
		sleep 0.05
	done
}

# A shell names the job of fg before it gives it the terminal; a key between is the shell's.
in_front() {
	local end=$((SECONDS + WAIT_SECONDS))

	until ps -o stat= -p "$(pgrep -f "^$1\$")" | grep -q '^[^T].*+'; do
		[ $SECONDS -lt $end ] || fail "not in front: $1" "$(screen)"
		sleep 0.05
	done
}

# Ctrl-C ends a command, Ctrl-Z stops it and fg goes on. What is waited for is what only the
# command says: the terminal repeats what is typed before anybody has read it.
keys_on() {
	works "$1"
	inside "$1" '-- sed -u s/^/=/'
	say hello
	seen '^=hello$'
	keys C-z
	seen 'Stopped'
	last 'out> ?$'
	same_terminal
	say 'fg'
	seen 'sed -u s/\^/=/$'
	say again
	seen '^=again$'
	keys C-c
	last 'out> ?$'
	say 'echo status $?'
	seen '^status 130$'
	same_terminal
}

@test "Ctrl-C, Ctrl-Z and fg, native" {
	keys_on native
}

@test "Ctrl-C, Ctrl-Z and fg, landlock" {
	keys_on landlock
}

@test "Ctrl-C, Ctrl-Z and fg, bubblewrap" {
	keys_on bwrap
}

# The command is in the process group of the user's job, which the terminal stops.
keys_in_one_group() {
	works "$1"
	inside "$1" "--no-new-session -- sleep 1000.$$"
	running "sleep 1000.$$"
	keys C-z
	seen 'Stopped'
	last 'out> ?$'
	becomes "sleep 1000.$$" T
	say fg
	becomes "sleep 1000.$$" S
	keys C-c
	last 'out> ?$'
	same_terminal
}

@test "Ctrl-Z, fg and Ctrl-C without a session of its own, native" {
	keys_in_one_group native
}

@test "Ctrl-Z, fg and Ctrl-C without a session of its own, landlock" {
	keys_in_one_group landlock
}

# The state of the one process that runs this.
state_of() {
	ps -o stat= -p "$(pgrep -f "^$1\$")" | cut -c1
}

becomes() {
	local end=$((SECONDS + WAIT_SECONDS))

	until [[ $(state_of "$1") == $2 ]]; do
		[ $SECONDS -lt $end ] || fail "$1 is $(state_of "$1"), not $2" "$(screen)"
		sleep 0.05
	done
}

# A command that stops itself stops cordon; what it left in the background must not go on
# without anybody who holds it to its limits.
stops_with_all() {
	works "$1"
	printf '%s\n' 'setsid sleep 1000.'$$' & until pgrep -f "^sleep 1000.'$$'" >/dev/null; do :; done' \
		'kill -STOP $$; echo went on; read x; echo over' >script
	inside "$1" '-- sh script'
	seen 'Stopped'
	last 'out> ?$'
	becomes "sleep 1000.$$" T
	say fg
	seen '^went on$'
	becomes "sleep 1000.$$" S
	keys Enter
	seen '^over$'
	last 'out> ?$'
	same_terminal
}

@test "a command that stops itself takes its background along, native" {
	stops_with_all native
}

@test "a command that stops itself takes its background along, landlock" {
	stops_with_all landlock
}

@test "an editor" {
	works native
	command -v vim >/dev/null || must_or_skip "no vim"
	inside native '-- vim -u NONE -N file'
	seen '^~$'
	keys -l 'ihello from inside'
	keys Escape
	seen 'hello from inside'
	keys C-z
	seen 'Stopped'
	same_terminal
	say 'fg'
	seen '^~$'
	keys -l ':wq'
	keys Enter
	last 'out> ?$'
	same_terminal
	assert_equal "$(cat file)" "hello from inside"
}

@test "a full-screen program, and its terminal changes size" {
	works native
	seq 500 >numbers
	inside native '-- less numbers'
	seen '^23$'
	tmux resize-window -t test -x 100 -y 40
	seen '^39$'
	keys -l q
	last 'out> ?$'
	inside native '-- bash --rcfile rc -i'
	last 'in> ?$'
	tmux resize-window -t test -x 90 -y 30
	say 'until [ "$(stty size)" = "30 90" ]; do sleep 0.05; done; echo res""ized'
	seen '^resized$'
	keys C-d
	last 'out> ?$'
	tmux resize-window -t test -x 80 -y 24
	say 'until [ "$(stty size)" = "24 80" ]; do sleep 0.05; done; echo ba""ck'
	seen '^back$'
	same_terminal
}

@test "cordon shell marks its prompt" {
	works native
	say 'SHELL=/bin/bash $CORDON shell'
	seen "this shell is inside the boundary; 'exit' leaves it"
	last '^\(cordon\) '
	say 'echo $((6 * 7)); test -t 0 && echo ter""minal'
	seen '^42$'
	seen '^terminal$'
	say 'exit 5'
	last 'out> ?$'
	say 'echo status $?'
	seen '^status 5$'
	same_terminal
}

# With a blank after each name, since a line of the terminal may end anywhere else.
@test "cordon shell tells what was refused before the next prompt, and over no program" {
	works native
	say 'SHELL=/bin/bash $CORDON shell'
	last '^\(cordon\) '
	say 'touch .idea'
	seen 'refused: writing .*/[.]idea '
	last '^\(cordon\) '
	# A builtin, and what is only read from the output.
	say 'echo x >.vscode'
	seen 'refused: writing .*/[.]vscode '
	last '^\(cordon\) '
	say "sh -c 'touch .claude 2>/dev/null; echo fr\"\"ont; read x'"
	seen '^front$'
	! screen | grep '/[.]claude ' || fail "told while a program was in front"
	keys Enter
	seen 'refused: writing .*/[.]claude '
	last '^\(cordon\) '
	say 'exit'
	last 'out> ?$'
	assert_equal "$(screen | grep -c 'refused: writing .*/work/[.]')" 3
	same_terminal
}

@test "cordon shell marks the prompt of fish" {
	works native
	command -v fish >/dev/null || must_or_skip "no fish"
	say 'SHELL=$(command -v fish) $CORDON shell'
	last '^\(cordon\) '
	say 'echo his""tory=(count $history) $fish_history=='
	seen '^history=0 ==$'
	say 'exit 5'
	last 'out> ?$'
	say 'echo status $?'
	seen '^status 5$'
}

@test "cordon shell marks the prompt of zsh, whose start files are read as ever" {
	works native
	command -v zsh >/dev/null || must_or_skip "no zsh"
	mkdir "$HOME/z"
	printf 'precmd() { PS1="mine> "; }\nRC=read\n' | tee "$HOME/.zshrc" >"$HOME/z/.zshrc"
	echo 'ENVED=yes' | tee "$HOME/.zshenv" >"$HOME/z/.zshenv"
	# Where the sandbox shows it, which the tests' own copy need not be.
	mkdir "$HOME/prog"
	cp -R "$CORDON" "$(dirname "$CORDON")/zsh" "$HOME/prog/"
	local where
	for where in '' "ZDOTDIR=$HOME/z"; do
		say "clear; $where SHELL=\$(command -v zsh) ~/prog/cordon shell --allow-read $HOME"
		last '^\(cordon\) mine> ?$'
		say 'echo "=$RC$ENVED$ZDOTDIR="'
		seen "^=readyes${where#ZDOTDIR=}=\$"
		last '^\(cordon\) mine> ?$'
		say 'exit 5'
		last 'out> ?$'
	done
}

@test "cordon shell --watch tells at once" {
	works native
	say 'SHELL=/bin/bash $CORDON shell --watch'
	last '^\(cordon\) '
	say "sh -c 'touch .claude 2>/dev/null; echo fr\"\"ont; read x'"
	seen '^front$'
	seen 'refused: writing '
	keys Enter
	last '^\(cordon\) '
	say 'exit'
	last 'out> ?$'
	assert_equal "$(screen | grep -c 'refused: writing ')" 1
}

# COMMAND: it leaves its terminal in another state, or ends badly.
leaves_no_trace() {
	say "$1"
	seen "$2"
	same_terminal
}

@test "the terminal is as it was, however the command ends" {
	works native
	leaves_no_trace '$CORDON run -q -- stty raw -echo; echo e""nd1' end1
	leaves_no_trace '$CORDON run -q -- sh -c "stty raw -echo; kill -KILL \$\$"; echo e""nd2' end2
	leaves_no_trace '$CORDON run -q --timeout 1s -- sh -c "stty -ixon raw; sleep 1000"; echo e""nd3' end3
	leaves_no_trace '$CORDON run -q --json -- sh -c "stty raw -echo <&0"; echo e""nd4' end4
	leaves_no_trace '$CORDON run -q -- /none; echo e""nd5' end5
	leaves_no_trace '$CORDON run -q -- stty raw -echo | cat; echo e""nd6' end6
	leaves_no_trace '$CORDON run -q --backend landlock --fallback degrade -- stty raw -echo; echo e""nd7' end7
	leaves_no_trace '$CORDON run -q --backend bwrap -- stty raw -echo; echo e""nd8' end8
}

# dash sets no terminal right by itself, as bash does.
@test "the terminal is as it was, even when cordon is killed" {
	say 'exec dash'
	last '^[$#] ?$'
	say '"$CORDON" run -q -- sh -c "stty raw; echo go; exec sleep 60" & echo pid""of $!; fg'
	seen '^go'
	kill -KILL "$(screen | sed -n 's/^pidof //p' | tail -n 1)"
	say 'echo'
	say 'stty -a >after; echo do""ne'
	seen '^done$'
	diff before after
}

@test "a stopped terminal does not stop the clock" {
	works native
	say '$CORDON run -q --timeout 2s -- python3 -c "import termios; termios.tcflow(0, termios.TCOOFF); print(1, flush=True)"; echo e""nd'
	seen '^end$'
	same_terminal
}

@test "pipes stay pipes beside a terminal" {
	works native
	say 'seq 3 | $CORDON run -q -- sort -r | head -n 1; echo e""nd1'
	seen '^3$'
	seen '^end1$'
	say '$CORDON run -q -- sh -c "test -t 0 && ! test -t 1 && echo mi""xed" | cat; echo e""nd2'
	seen '^mixed$'
	say '$CORDON run -q -- yes | head -n 2 | tail -n 1; echo e""nd3'
	seen '^y$'
	seen '^end3$'
	same_terminal
}

@test "Ctrl-C ends the loop around cordon, too" {
	works native
	say 'for i in 1 2 3; do echo round $i; $CORDON run -q -- sh -c "echo inside; exec sleep 1000"; done'
	seen '^inside$'
	keys C-c
	last 'out> ?$'
	say 'echo status $?'
	seen '^status 130$'
	run screen
	refute_contains "round 2"
	same_terminal
}

@test "keys are for the pager, unless the command asks" {
	works native
	say '$CORDON run -q -- sh -c "seq 100; sleep 1000" | less'
	seen '^23$'
	keys -l ' '
	seen '^46$'
	keys -l q
	keys C-c
	last 'out> ?$'
	say '$CORDON run -q -- sh -c "echo na""me; read x; echo hel""lo \$x" | cat; echo e""nd'
	seen '^name$'
	say tester
	seen '^hello tester$'
	seen '^end$'
	same_terminal
}
