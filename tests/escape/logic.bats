#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Attacks on the logic: what one run leaves in the workdir must not widen the next, and
# no rule may show more than it says.
load helper

@test "a .git file made by hand opens nothing" {
	mkdir -p g/worktrees/x
	echo "gitdir: $PWD/g/worktrees/x" >.git
	echo "$PWD/.git" >g/worktrees/x/gitdir
	echo "$HOME" >g/worktrees/x/commondir
	fails_inside cordon run -q -- sh -c 'echo x >"$HOME/planted"'
	refute_file "$HOME/planted"
}

@test "a link named .git opens nothing" {
	mkdir -p "$HOME/other" && git init -q "$HOME/other"
	ln -s "$HOME/other/.git" .git
	fails_inside cordon run -q -- sh -c 'echo x >"$HOME/other/.git/HEAD"'
	fails_inside cordon run -q -- sh -c 'echo x >"$HOME/other/.git/description"'
}

@test "a control file that is a link shows nothing that was closed" {
	ln -s "$HOME" .claude
	fails_inside cordon run -q -p strict -- cat "$HOME/notes/plain"
	mkdir "$HOME/private" && echo p >"$HOME/private/f"
	ln -s "$HOME/private/f" .mcp.json
	fails_inside cordon run -q --deny "$HOME/private" -- cat "$HOME/private/f"
}

@test "a project file does not bring the host's own directories back" {
	local marker=/tmp/cordon-logic.$$.$BATS_TEST_NUMBER before after
	echo host >"$marker"
	before=$(cordon run -q -- sh -c 'ls /proc | grep -c "^[0-9]"')
	printf '[sandbox]\nread = ["/", "/tmp", "/run", "/proc", "/dev"]\nwrite = ["{workdir}"]\n' >.cordon.toml
	after=$(cordon run -q -- sh -c 'ls /proc | grep -c "^[0-9]"') || after=0
	run cordon run -q -- cat "$marker"
	rm "$marker"
	[ "$status" -ne 0 ]
	[ "$after" -le $((before + 1)) ]
}

@test "cordon's home exists before a command could make it" {
	fails_inside cordon run -q -p permissive -- sh -c 'mkdir -p "$HOME/.cordon" && echo "[sandbox]" >"$HOME/.cordon/config.toml"'
	refute_file "$HOME/.cordon/config.toml"
	[ -d "$HOME/.cordon" ]
}

@test "an exec rule does not show the host's files in a private directory" {
	local tool=/tmp/cordon-tool.$$.$BATS_TEST_NUMBER
	mkdir "$tool" && echo mark >"$tool/data"
	run cordon run -q --allow-exec "$tool" -- sh -c 'cat "$0/data"; echo over >"$0/data"' "$tool"
	local kept
	kept=$(cat "$tool/data")
	rm -r "$tool"
	[[ $output != *mark* ]]
	[ "$kept" = mark ]
}

@test "an equals sign is for files" {
	mkdir -p "$HOME/d/s" && echo f >"$HOME/d/s/f"
	run -125 cordon run -q --allow-write "=$HOME/d" -- cat "$HOME/d/s/f"
	assert_contains "is a directory"
}

@test "a grant does not follow a link out of the workdir" {
	ln -s "$HOME" build
	run -125 cordon run -q --allow-write build -- touch "$HOME/planted"
	assert_contains "leads out of it"
	refute_file "$HOME/planted"
}

@test "a writable root leaves secrets closed" {
	mkdir -p "$HOME/.ssh" && echo KEY >"$HOME/.ssh/id"
	run cordon run -q --allow-write / -- sh -c 'cat "/..$HOME/.ssh/id"; cat "$HOME/.ssh/id"; echo ok >"$HOME/written"'
	[[ $output != *KEY* ]]
	[ -e "$HOME/written" ]
}

@test "a socket that is denied cannot be named open" {
	mkdir "$HOME/s"
	python3 - "$HOME/s/x" <<'P'
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
P
	run -125 cordon run -q --deny "$HOME/s" --allow-unix "$HOME/s/x" -- true
	assert_contains "denied by a rule"
	printf '[sandbox]\ndeny = ["%s"]\n' "$HOME/s" >.cordon.toml
	run -125 cordon run -q --allow-unix "$HOME/s/x" -- true
}

@test "relative rules of a project file start where it lies" {
	mkdir -p sub secret && echo s >secret/f
	printf '[sandbox]\ndeny = ["secret"]\n' >.cordon.toml
	cd sub
	fails_inside cordon run -q -- cat ../secret/f
}

@test "a deny by pattern is refused where nothing can hold it" {
	echo SECRET >.env
	run -125 cordon run -q --backend landlock --protect exact --deny '**/.env' -- cat .env
	[[ $output != *SECRET* ]]
}

@test "naming a link to home does not make home the workdir" {
	ln -s "$HOME" sub
	run -125 cordon run -q -C sub -- touch "$HOME/planted"
	assert_contains "your home directory"
	refute_file "$HOME/planted"
}

@test "a bwrap that a command could have written is not used" {
	mkdir "$HOME/tools"
	printf '#!/bin/sh\ntouch "%s/ran-outside"\n' "$HOME" >"$HOME/tools/bwrap"
	chmod +x "$HOME/tools/bwrap"
	PATH=$HOME/tools:$PATH run -125 cordon run -q -p permissive --backend bwrap -- true
	refute_file "$HOME/ran-outside"
}
