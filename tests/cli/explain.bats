#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
load helper

# verdict OP FIELD: from the JSON of the first object.
verdict() {
	jq -r ".objects[0].verdicts[] | select(.op == \"$1\") | .$2" <<<"$output"
}

# paste FLAGS WORDS...: cordon WORDS with the flags as a shell would read them.
paste_flags() {
	local flags=$1
	shift
	run -0 --separate-stderr bash -c "\"\$0\" $* $flags" "$CORDON"
}

@test "a secret: denied, by which rule, held by what, and how to open it" {
	mkdir "$HOME/.ssh"
	echo key >"$HOME/.ssh/id"
	run -0 --separate-stderr cordon explain "$HOME/.ssh/id"
	assert_contains "read    denied   deny ~/.ssh (@secrets), a secret [profile moderate:"
	assert_contains "enforced by hide-dir $HOME/.ssh"
	assert_contains "to allow it: --allow-read $HOME/.ssh/id"
	assert_contains "read = [\"$HOME/.ssh/id\"]"
	assert_contains "warning: that gives a secret away"
}

@test "the workdir is writable, the rest is not" {
	run -0 --separate-stderr cordon explain --json .
	assert_equal "$(verdict read allowed) $(verdict write allowed) $(verdict exec allowed)" "true true true"
	assert_equal "$(verdict write enforced_by)" "bind-rw $WORKDIR"
	run -0 --separate-stderr cordon explain --json /usr
	assert_equal "$(verdict read allowed) $(verdict write allowed)" "true false"
	assert_equal "$(verdict write fix.opens_secret)" false
}

@test "control files in the workdir" {
	mkdir -p .git/hooks
	run -0 --separate-stderr cordon explain --json .git/hooks/pre-commit
	assert_equal "$(verdict read allowed) $(verdict write allowed)" "true false"
	assert_equal "$(verdict write enforced_by)" "bind-ro $WORKDIR/.git/hooks"
}

@test "a fix that lets it change what runs later has a warning" {
	local file
	mkdir -p .git/hooks .vscode
	for file in .git/hooks/pre-commit .vscode/tasks.json .claude; do
		run -0 --separate-stderr cordon explain --json --write "$file"
		assert_equal "$(verdict write fix.opens_control)" true
		assert_equal "$(verdict write fix.warning)" "what runs later, outside, can be changed with it"
	done
	# Not a control file, and run by whoever enters the directory.
	run -0 --separate-stderr cordon explain -p strict --json --write .envrc
	assert_equal "$(verdict write fix.opens_control)" true
	run -0 --separate-stderr cordon explain -p strict --json --write .plain
	assert_equal "$(verdict write fix.opens_control)" false
	run -0 --separate-stderr cordon explain --json --write /srv
	assert_equal "$(verdict write fix.opens_control)" false
}

@test "a fix that lets installed programs be changed has a warning" {
	local place warning="what runs later, outside, can be changed with it"
	mkdir -p "$HOME/.rustup/toolchains/stable/bin" "$HOME/tools" "$HOME/onpath/sub" "$HOME/plain"
	install -m 755 /dev/null "$HOME/.rustup/toolchains/stable/bin/rustc"
	install -m 755 /dev/null "$HOME/tools/tool"
	install -m 644 /dev/null "$HOME/tools/notes"
	ln -s onpath "$HOME/link"
	export PATH=$HOME/link:$PATH
	for place in .rustup/toolchains/stable/bin/rustc .rustup .pyenv/versions/3/bin .nvm .asdf .deno/bin \
		.deno .bun/bin miniconda3/bin .local/pipx .local/share/mise .linuxbrew .oh-my-zsh \
		.local/lib/python3.11/site-packages tools/tool onpath onpath/sub; do
		[ -e "$HOME/$place" ] || mkdir -p "$HOME/$place"
		run -0 --separate-stderr cordon explain --json --write "$HOME/$place"
		assert_equal "$place $(verdict write fix.warning)" "$place $warning"
		assert_equal "$(verdict write fix.opens_control)" true
	done
	mkdir "$HOME/plain/.rustup"
	for place in tools/notes plain plain/.rustup; do
		run -0 --separate-stderr cordon explain --json --write "$HOME/$place"
		assert_equal "$place $(verdict write fix.opens_control)" "$place false"
	done
}

@test "permissive lets a toolchain be written unless it is said otherwise" {
	mkdir -p "$HOME/.rustup"
	run -0 --separate-stderr cordon explain -p permissive --json --write "$HOME/.rustup"
	assert_equal "$(verdict write allowed)" true
	run -0 --separate-stderr cordon explain -p permissive --allow-read @toolchains --json --write "$HOME/.rustup"
	assert_equal "$(verdict write allowed)" false
}

@test "strict: git's own data is opened by the smallest word for it" {
	git init -q .
	run -0 --separate-stderr cordon explain -p strict --json --write .git/index.lock
	assert_equal "$(verdict write fix.flags)" "--hidden-writes git"
}

@test "a fix that is followed works" {
	mkdir "$HOME/.aws" "$HOME/it's \"odd\" *"
	local target op
	for target in "$HOME/.aws" "$HOME/it's \"odd\" *" /usr/lib; do
		for op in read write exec; do
			run -0 --separate-stderr cordon explain --json --$op "$target"
			[ "$(verdict $op allowed)" = false ] || continue
			TARGET=$target paste_flags "$(verdict $op fix.flags)" explain -q --json --$op '"$TARGET"'
			[ "$(verdict $op allowed)" = true ] || fail "$op $target" "$(outcome)"
		done
	done
}

@test "a fix in TOML works too" {
	mkdir "$HOME/.aws" "$HOME/.cordon"
	run -0 --separate-stderr cordon explain --json --read "$HOME/.aws"
	{
		echo '[sandbox]'
		verdict read fix.toml
	} >"$HOME/.cordon/config.toml"
	run -0 --separate-stderr cordon explain --json --read "$HOME/.aws"
	assert_equal "$(verdict read allowed)" true
}

@test "a fix for a program starts it, by flags and in TOML" {
	cordon run -q true 2>/dev/null || must_or_skip "no backend works here"
	run -0 --separate-stderr cordon explain --json -p custom --exec /usr/bin/true
	local flags toml
	flags=$(verdict exec fix.flags)
	toml=$(verdict exec fix.toml)
	assert_equal "$flags" "--allow-read @runtime --allow-exec @system-exec"
	run -0 --separate-stderr bash -c "\"\$0\" run -q -p custom $flags --allow-write . -- /usr/bin/true" "$CORDON"
	mkdir "$HOME/.cordon"
	printf '[sandbox]\n%s\nwrite = ["."]\n' "$toml" >"$HOME/.cordon/config.toml"
	run -0 --separate-stderr cordon run -q -p custom -- /usr/bin/true
	rm "$HOME/.cordon/config.toml"
	run -0 --separate-stderr cordon explain -p custom --exec /opt/x/tool
	assert_contains 'exec = ["@system-exec", "/opt/x/tool"]'
}

@test "a fix that lets files of the system be changed says so, one to read them does not" {
	local file all="what everybody on this machine runs or relies on, outside, can be changed with it"
	for file in /etc/hosts /usr/local/bin /usr/local/absent /usr /bin/sh; do
		run -0 --separate-stderr cordon explain --json --write "$file"
		assert_equal "$(verdict write fix.warning)" "$all"
		assert_equal "$(verdict write fix.opens_control)" true
	done
	run -0 --separate-stderr cordon explain --json -p custom --read /usr/local/bin
	assert_equal "$(verdict read fix.opens_control) $(verdict read fix.warning)" "false null"
}

@test "a fix that opens a great deal says so" {
	# The profile shows nothing, so that the home of the tests is no private place.
	local nothing=(-p custom --tmp shared)
	run -0 --separate-stderr cordon explain --json "${nothing[@]}" --write "$HOME/absent" /etc/absent ..
	assert_json '.objects[0].verdicts[0].fix.warning == "that opens your whole home directory"'
	assert_json '.objects[1].verdicts[0].fix.warning | contains("whole machine")'
	assert_json '.objects[2].verdicts[0].fix.warning | contains("above the workdir")'
	run -0 --separate-stderr cordon explain "${nothing[@]}" --write "$HOME/absent"
	assert_contains "warning: that opens your whole home directory"
	mkdir "$HOME/part"
	run -0 --separate-stderr cordon explain --json "${nothing[@]}" --write "$HOME/part"
	assert_json '.objects[0].verdicts[0].fix | has("flags") and (has("warning") | not)'
}

@test "what nothing opens says why" {
	mkdir "$HOME/.cordon"
	run -0 --separate-stderr cordon explain --json --read "$HOME/.cordon/x"
	assert_equal "$(verdict read fix)" null
	assert_equal "$(verdict read reason)" "nothing opens cordon's own home"
	echo 'sandbox.deny = ["private"]' >.cordon.toml
	run -0 --separate-stderr cordon explain --json --read private
	assert_equal "$(verdict read layer) $(verdict read fix)" "project null"
	[[ $(verdict read from) == *".cordon.toml:1" ]] || fail "no place" "$(outcome)"
}

@test "what the mechanism does not hold is said" {
	run -0 --separate-stderr cordon explain --backend bwrap --hidden-writes deny --write sub/.hidden
	assert_contains "denied   hidden_writes = \"deny\""
	assert_contains "not enforced here: the bwrap backend cannot promise 'hidden-names'"
	run -0 --separate-stderr cordon explain --no-sandbox /etc
	assert_contains "not enforced here: --no-sandbox"
}

@test "what does not exist yet: what holds it when it appears" {
	run -0 --separate-stderr cordon explain --backend native --read "$HOME/.aws"
	assert_contains "enforced by landlock, when it appears; it does not exist"
	run -0 --separate-stderr cordon explain --backend bwrap --fallback degrade --read "$HOME/.aws"
	assert_contains "not enforced here: it does not exist; what appears there during a run is not covered"
}

@test "links are followed" {
	mkdir "$HOME/.ssh"
	ln -s "$HOME/.ssh" innocent
	run -0 --separate-stderr cordon explain --read innocent/id
	assert_contains "$WORKDIR/innocent/id -> $HOME/.ssh/id"
	assert_contains denied
}

@test "hosts" {
	run -0 --separate-stderr cordon explain example.com:443
	assert_contains "connect denied   network off [profile moderate:"
	assert_contains "enforced by unshare-net"
	assert_contains "to allow it: --allow-network=example.com:443"
	assert_contains "below [sandbox]: network = [\"example.com:443\"]"
	# Where no list can be enforced, accepting its loss leaves no network at all.
	run -0 --separate-stderr cordon explain --backend bwrap --fallback degrade example.com:443
	assert_contains "to allow it: --allow-network=on"
	assert_contains "a list of hosts cannot be enforced here; --allow-network opens all of it"
	run -0 --separate-stderr cordon explain --json -p permissive example.com
	assert_equal "$(verdict connect allowed)" true
	run -0 --separate-stderr cordon explain --json --allow-network='*.example.com' \
		a.example.com example.com
	assert_json '[.objects[].verdicts[0].allowed] == [true, false]'
	assert_json '.objects[0].verdicts[0].rule == "network *.example.com"'
	run -0 --separate-stderr cordon explain --json ./example.com
	assert_json '.objects[0] | has("path")'
	touch example.com
	run -0 --separate-stderr cordon explain --json example.com
	assert_json '.objects[0] | has("path")'
}

@test "the fix for a host is not refused" {
	run -0 --separate-stderr cordon explain --json example.com:443
	assert_equal "$(verdict connect fix.flags)" --allow-network=example.com:443
	paste_flags "$(verdict connect fix.flags)" explain -q --json example.com:443
	assert_equal "$(verdict connect allowed)" true
	assert_equal "$(verdict connect not_enforced)" null
}

@test "a URL is taken as its host, and this is said" {
	run -0 --separate-stderr cordon explain --json http://example.com/a/b
	assert_json '.objects[0].host == "example.com:80"'
	[[ $stderr == *"'http://example.com/a/b' is a URL"* ]] || fail "not said" "$(outcome)"
	run -0 --separate-stderr cordon explain --json 'https://me:a@b@Example.com?x=/y' \
		'ssh://example.com:2222/x'
	assert_json '[.objects[].host] == ["example.com:443", "example.com:2222"]'
	run -125 cordon explain 'http:///x'
}

@test "a bare word is a path" {
	run -0 --separate-stderr cordon explain --json nofile
	assert_json ".objects[0].path == \"$WORKDIR/nofile\""
	run -0 --separate-stderr cordon explain --json localhost example.com
	assert_json '.objects | all(has("host"))'
	run -0 --separate-stderr cordon explain --json '~/x'
	assert_json ".objects[0].path == \"$HOME/x\""
}

@test "a name of no file is taken for a host, and this is said" {
	run -0 --separate-stderr cordon explain package.json
	assert_contains "taken for a host, as there is no such file; the path is ./package.json"
	run -0 --separate-stderr cordon explain ./package.json
	refute_contains "taken for a host"
	run -0 --separate-stderr cordon explain 192.0.2.1 localhost example.com:443
	refute_contains "taken for a host"
}

@test "of a command only what names a file is explained" {
	run -0 --separate-stderr cordon explain --json -- sh -c '/bin/ls /etc; cat ~/x'
	assert_json '.objects | length == 1'
	run -0 --separate-stderr cordon explain --json -- \
		cat ./absent ../absent /absent a/b s/x/y/ https://example.com/ -n
	assert_json '[.objects[1:][].path | split("/")[-1]] == ["absent", "absent", "absent"]'
}

@test "commands" {
	echo x >input
	run -0 --separate-stderr cordon explain --json -- cat input --flag
	assert_json '.objects | length == 2'
	assert_json '.objects[0].path | endswith("/cat")'
	assert_json ".objects[1].path == \"$WORKDIR/input\""
	run -127 cordon explain -- no-such-program
}

@test "names are escaped" {
	run -0 --separate-stderr cordon explain --read $'/caf\xe9\e[2J'
	assert_contains '/caf\xe9\x1b[2J'
	run -0 --separate-stderr cordon explain --json --read $'/caf\xe9'
	assert_json '.objects[0] | .escaped and .path == "/caf\\xe9"'
	# In the flag that would help too.
	touch $'a\e7\nforged'
	run -0 --separate-stderr cordon explain -p custom --tmp shared --read $'a\e7\nforged'
	assert_contains "--allow-read \$'$WORKDIR/a\x1b7\nforged'"
	[[ $output != *$'\e'* && $output != *$'\nforged'* ]] || fail "raw bytes" "$(outcome)"
}

@test "a port alone is one of this machine's, unless a file is called so" {
	run -0 --separate-stderr cordon explain :18770
	assert_contains "localhost:18770"
	assert_contains "connect denied"
	touch :18770
	run -0 --separate-stderr cordon explain --json :18770
	assert_json '.objects[0].path != null'
}

@test "--last takes no policy: the run had its own" {
	local flags
	for flags in "-p strict" "--allow-write x" "--read" "-C /"; do
		run -125 --separate-stderr cordon explain --last $flags
		[[ $stderr == *"explains a run as it was: --"*"has no place beside it"* ]] ||
			fail "$flags was taken" "$stderr"
	done
	run -0 cordon explain --last
}

# A pattern cannot be held when the kernel reads the program: it runs, and this is said.
@test "what only a pattern denies is executed, and neither explain nor the result says otherwise" {
	local backend
	cp "$(type -P true)" prog.bin
	for backend in native landlock; do
		run -0 cordon explain --json -p strict --backend $backend --fallback degrade \
			--deny '**/*.bin' prog.bin
		assert_json '[.objects[0].verdicts[] | select(.op == "exec").enforced_by] == [null]'
		assert_json '[.objects[0].verdicts[] | select(.op == "read").enforced_by |
			startswith("hide-glob")] == [true]'
		run -0 cordon explain -p strict --backend $backend --fallback degrade --deny '**/*.bin' \
			--exec prog.bin
		assert_contains "not enforced here: the $backend backend cannot promise 'exec-patterns' (noexec-glob"
		run -0 --separate-stderr cordon run --json -p strict --backend $backend --fallback degrade \
			--deny '**/*.bin' -- sh -c ./prog.bin
		assert_json '(.degraded | index("exec-patterns")) and .violations == []'
		[[ $stderr == *"not enforced by $backend: "*exec-patterns* ]] || fail "not said" "$(outcome)"
	done
	# Where it is held by something else, nothing is lost.
	run --separate-stderr cordon run --json -p shell --backend native --deny '**/*.bin' -- sh -c ./prog.bin
	assert_status 126
	assert_json '(.enforced + .degraded) | index("exec-patterns") == null'
	run -0 cordon explain -p shell --backend native --deny '**/*.bin' --exec prog.bin
	assert_contains "enforced by noexec $WORKDIR"
	run --separate-stderr cordon run -q -p strict --backend native --deny '**/*.bin' --deny prog.bin -- \
		sh -c ./prog.bin
	assert_status 126
}
