#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The completion scripts in the shells they are for: what a line becomes.
load helper

# For what never comes; zsh reads all its completion functions first, which takes a while.
WAIT_SECONDS=120

# One zsh in a terminal of its own, another one that types: each line, then a key that
# completes it, says what it became and clears it. Words go through a pipe held open at
# both ends, so that no answer is lost between two.
write_zsh() {
	cat >"$SCRATCH/.zshrc" <<-'EOF'
		fpath=($SCRATCH $fpath)
		autoload -Uz compinit && compinit -u -D
		unsetopt automenu listbeep
		PS1=
		answer() { zle complete-word; print -r -- "$BUFFER" >$SCRATCH/answers; BUFFER= }
		zle -N answer
		bindkey '^X' answer
		zle-line-init() { print ready >$SCRATCH/answers }
		zle -N zle-line-init
	EOF
	cat >"$SCRATCH/type" <<-'EOF'
		zmodload zsh/zpty || exit
		exec {answers}<>$SCRATCH/answers
		zpty shell zsh -d -i
		read -r -u $answers line
		for words; do
			zpty -w -n shell "$words"$'\C-x'
			IFS= read -r -u $answers line
			print -r -- "$line|"
		done
		zpty -w shell exit
		# Gone is who is reaped, not who has closed the terminal.
		while zpty -t shell; do zpty -r shell line; done
		exit 0
	EOF
	mkfifo "$SCRATCH/answers"
}

@test "zsh completes commands, words, flags and values" {
	command -v zsh >/dev/null || must_or_skip "no zsh"
	cordon completion zsh >"$SCRATCH/_cordon"
	write_zsh
	run -0 env SCRATCH="$SCRATCH" ZDOTDIR="$SCRATCH" TERM=dumb timeout "$WAIT_SECONDS" \
		zsh -f "$SCRATCH/type" "cordon exp" "cordon config sh" "cordon profile show mod" \
		"cordon run --allow-r" "cordon run -p str" "cordon run --profile=perm" \
		"cordon run --on-violation k" "cordon profile --allow-r" "cordon nosuch"
	assert_output "cordon explain |
cordon config show |
cordon profile show moderate |
cordon run --allow-read=|
cordon run -p strict |
cordon run --profile=permissive |
cordon run --on-violation kill |
cordon profile --allow-r|
cordon nosuch|"
}

# fish_completes LINE WANTED...: exactly these, without their descriptions.
fish_completes() {
	local line=$1
	shift
	run -0 --separate-stderr env LINE="$line" timeout "$WAIT_SECONDS" fish --no-config -c \
		'source $HOME/cordon.fish; complete -C $LINE'
	assert_equal "$line: ${lines[*]%%$'\t'*}" "$line: $*"
	assert_equal "$stderr" ""
}

@test "fish completes commands, words, flags and values" {
	command -v fish >/dev/null || must_or_skip "no fish"
	cordon completion fish >"$HOME/cordon.fish"
	fish_completes "cordon exp" explain
	fish_completes "cordon config " check path show
	fish_completes "cordon profile show mod" moderate
	fish_completes "cordon run --allow-r" --allow-read
	fish_completes "cordon run -p str" strict
	fish_completes "cordon run --profile=perm" --profile=permissive
	fish_completes "cordon run --on-violation k" kill
	fish_completes "cordon profile --allow-r"
	fish_completes "cordon nosuch"
}

# bash_completes WORD... is WANTED...: the last word before "is" is the one under the cursor.
bash_completes() {
	COMP_WORDS=()
	while [ "$1" != is ]; do
		COMP_WORDS+=("$1")
		shift
	done
	shift
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	_cordon
	assert_equal "${COMP_WORDS[*]}: ${COMPREPLY[*]}" "${COMP_WORDS[*]}: $*"
}

@test "bash completes commands, words, flags and values" {
	eval "$(cordon completion bash)"
	bash_completes cordon exp is explain
	bash_completes cordon help qu is quarantine
	bash_completes cordon policy re is render
	bash_completes cordon policy bw is
	bash_completes cordon policy render --format '' is plan json bwrap sbpl
	bash_completes cordon run --report '' is none output writes all
	bash_completes cordon run --report = wr is writes
	bash_completes cordon run --report = is none output writes all
	bash_completes cordon run --backend la is landlock
	bash_completes cordon run --mode rw is rwx
	bash_completes cordon config check --as pro is project
	bash_completes cordon run -p str is strict
	# Nothing of cordon's own: readline offers files then.
	bash_completes cordon run --allow-write '' is
	bash_completes cordon config check --file '' is
}

@test "bash completes the command to be run" {
	eval "$(cordon completion bash)"
	mkdir "$SCRATCH/bin"
	printf '#!/bin/sh\n' >"$SCRATCH/bin/tool-of-this-test"
	chmod +x "$SCRATCH/bin/tool-of-this-test"
	PATH=$SCRATCH/bin:$PATH
	bash_completes cordon run tool-of-this is tool-of-this-test
	bash_completes cordon run -p strict --report = all -- tool-of-this is tool-of-this-test
	bash_completes cordon explain -- tool-of-this is tool-of-this-test
	# Its arguments are files, and its flags its own.
	bash_completes cordon run tool-of-this-test --allow-r is
	bash_completes cordon run -- tool-of-this-test --allow-r is
	bash_completes cordon explain tool-of-this is
}
