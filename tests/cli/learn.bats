#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# cordon learn: a profile from what a command was refused, and a run under it.
# shellcheck disable=SC2088 # the tilde is for the shell inside
load helper

setup() {
	CORDON_TEST_TMP=$(ground) cordon_setup
	CONFIG=$HOME/.cordon/config.toml
	mkdir "$HOME/.ssh" "$HOME/data"
	echo key >"$HOME/.ssh/id_rsa"
	echo rc >"$HOME/.bashrc"
	cordon run -q --report all true 2>/dev/null || must_or_skip "no backend works here"
}

# profile LINE...: the answer holds each as a line of its own.
profile() {
	local line
	for line in "$@"; do
		grep -qxF -- "$line" <<<"$output" || fail "wanted in the profile: $line" "$(outcome)"
	done
}

@test "what was given as a flag and the profile lacks is said, and nothing else" {
	run -0 --separate-stderr cordon learn --allow-write "$HOME" --hidden-writes allow -- true
	[[ $stderr == *"run with --hidden-writes, too"* ]] || fail "not said" "$(outcome)"
	profile "	\"$HOME\", # given as a flag"
	run -0 --separate-stderr cordon learn -- true
	[[ $stderr != *"given as flags"* ]] || fail "said" "$(outcome)"
	# What the rounds have learned was not given.
	echo x >"$HOME/page"
	run -0 --separate-stderr cordon learn -p strict --rounds 3 -- cat "$HOME/page"
	profile '	"~/page", # cat'
	[[ $stderr != *"given as flags"* ]] || fail "said of what was learned" "$(outcome)"
}

# learned_once FLAGS... -- SCRIPT: learned in a few rounds, and then run under what was
# learned: it succeeds and nothing is refused.
learned_once() {
	local flags=()
	while [ "$1" != -- ]; do
		flags+=("$1")
		shift
	done
	run -0 --separate-stderr cordon learn "${flags[@]}" --rounds 9 --json --merge "$CONFIG" -- \
		sh -c "$2"
	assert_json '.complete and .cause == "exited" and .exit_code == 0 and (.rules | length > 0)'
	cp "$CONFIG" "$SCRATCH/learned.toml"
	run -0 --separate-stderr cordon run "${flags[@]}" -p learned --report all --json -- sh -c "$2"
	assert_json '.violations == [] and .exit_code == 0'
	cmp "$CONFIG" "$SCRATCH/learned.toml" || fail "a run changed the configuration"
}

@test "what was refused becomes a profile, on standard output alone" {
	run -0 --separate-stderr cordon learn -- sh -c 'echo hello; echo x >~/data/new; cat /etc/passwd >/dev/null'
	profile '[sandbox.profiles.learned]' 'extends = "moderate"' $'\t"~/data", # sh'
	refute_contains hello
	refute_contains passwd
	[[ $stderr == *hello*"granted now: learn again"* ]] || fail "$(outcome)"
	refute_file "$HOME/data/new"
	printf '%s\n' "$output" >p.toml
	run -0 cordon config check p.toml
}

@test "where nothing is refused the profile below is enough" {
	run -0 --separate-stderr cordon learn -- sh -c 'echo x >file; mkdir dir; echo y >dir/file'
	[[ $stderr == *"nothing was refused: the profile moderate is enough"* ]] || fail "$(outcome)"
	assert_matches '# Granted already: [0-9]+ reads, [3-9] writes \([3-9] below the workdir\)'
	refute_contains 'write ='
}

@test "secrets and files that run later are left out, and said" {
	run -0 --separate-stderr cordon learn -- \
		sh -c 'cat ~/.ssh/id_rsa; echo x >>~/.bashrc; echo x >~/data/x; echo x >.cordon.toml'
	profile $'\t"~/data", # sh'
	assert_contains "# Left out: read $HOME/.ssh/id_rsa (cat): it may hold secrets"
	assert_contains "# Left out: write $HOME/.bashrc (sh): it decides what runs later"
	assert_contains "# Left out: write $WORKDIR/.cordon.toml (sh): "
	[[ $stderr == *"left out: read $HOME/.ssh/id_rsa"* ]] || fail "$(outcome)"
	assert_equal "$(grep -c '^	' <<<"$output")" 1
	assert_equal "$(cat "$HOME/.bashrc")" rc
}

@test "what is left out names the flag, and reading decides nothing of what runs later" {
	local flags
	run --separate-stderr cordon learn -p strict --json -- cat "$HOME/.bashrc"
	assert_json '.left_out[0].reason == "the profile closes it by its name; if it is meant: --allow-read '"$HOME"'/.bashrc"'
	flags=$(jq -r '.left_out[0].reason | split("if it is meant: ")[1]' <<<"$output")
	run -0 --separate-stderr bash -c "\"\$0\" learn -p strict $flags -- cat ~/.bashrc" "$CORDON"
	profile $'\t"'"$HOME"$'/.bashrc", # given as a flag'
	run --separate-stderr cordon learn -q --json -- sh -c 'echo x >>~/.bashrc; cat ~/.ssh/id_rsa'
	assert_json '[.left_out[].reason] == [
		"it decides what runs later, outside; if it is meant: --allow-write '"$HOME"'/.bashrc",
		"it may hold secrets; if it is meant: --allow-read '"$HOME"'/.ssh/id_rsa"]'
}

@test "what a flag asks for is in the profile" {
	run -0 --separate-stderr cordon learn --allow-read '~/.ssh/id_rsa' -- sh -c 'cat ~/.ssh/id_rsa'
	profile $'\t"~/.ssh/id_rsa", # given as a flag'
	[[ $stderr == *key* ]] || fail "not granted" "$(outcome)"
}

@test "strict: no rule opens a secret or a control file along with something else" {
	mkdir "$HOME/.cargo" "$HOME/.cargo/bin"
	echo x >"$HOME/.cargo/config.toml"
	run -0 --separate-stderr cordon learn -p strict -q --json -- \
		sh -c 'echo x >~/.cargo/new; cat ~/.cargo/config.toml; cat ~/data; cat ~/.ssh/id_rsa; ls ~'
	assert_json '[.left_out[] | select(.key == "write") | .object] == ["'"$HOME"'/.cargo/new"]'
	assert_json '[.left_out[] | select(.object | endswith("id_rsa"))] | length == 1'
	assert_json '[.rules[] | .key + " " + .value] == ["read ~/.cargo/config.toml", "read ~/data"]'
}

@test "strict: a hidden name is left out with the flag that lets it be written" {
	git init -q .
	run -0 --separate-stderr cordon learn -p strict -q --json -- \
		sh -c 'echo x >.hidden; git add .; true'
	assert_json '.left_out | map(select(.object == "'"$WORKDIR"'/.hidden")) | length == 1 and
		(.[0].reason == "hidden_writes refuses it; if it is meant: --allow-write '"$WORKDIR"'/.hidden")'
	assert_json '.left_out | map(select(.object | endswith("/.git/index.lock"))) | length >= 1 and
		all(.reason == "hidden_writes refuses it; if it is meant: --hidden-writes git")'
}

@test "a system call that is refused is left out" {
	command -v unshare >/dev/null || must_or_skip "no unshare"
	run -0 --separate-stderr cordon learn -q --json -- unshare -m true
	assert_json '(.complete | not) and .rules == []'
	assert_json '.left_out[0] | .key == "call" and (.object | test("unshare|mount"))'
}

@test "what would need a rule for the whole home is left out" {
	run -0 --separate-stderr cordon learn -q -- sh -c 'mkdir ~/new; echo x >~/file'
	assert_contains "# Left out: write $HOME/new (mkdir): the rule would have to open everything"
	assert_contains "# Left out: write $HOME/file (sh)"
	refute_contains '~'
}

@test "rounds go on until nothing new is refused" {
	echo x >"$HOME/data/in"
	mkdir "$HOME/out"
	run -0 --separate-stderr cordon learn -p strict -q --rounds 9 --json -- \
		sh -c 'cat ~/data/in >/dev/null && echo x >~/out/file'
	assert_json '.rounds >= 3 and .rounds < 9 and .complete and .extends == "strict"'
	assert_json '[.rules[] | .key + " " + .value] == ["read ~/data/in", "write ~/out"]'
	assert_file "$HOME/out/file"
	run -0 --separate-stderr cordon learn -p strict -q --json -- sh -c 'cat ~/data/in'
	assert_json '.rounds == 1 and (.complete | not) and .exit_code == 1'
}

@test "hosts that were asked for become a list" {
	command -v getent >/dev/null || must_or_skip "no getent"
	cordon run -q --allow-network=a.example true || must_or_skip "no list of hosts here"
	run -0 --separate-stderr cordon learn -q --rounds 3 --json --merge "$CONFIG" -- \
		sh -c 'getent hosts a.example && getent hosts b.example'
	assert_json '[.rules[] | .key + " " + .value] == ["network a.example", "network b.example"]'
	assert_json '.complete and .exit_code == 0'
	run -0 --separate-stderr cordon run -p learned --report all --json -- getent hosts b.example
	assert_json '.violations == [] and (.stdout | test("b.example"))'
	run --separate-stderr cordon run -p learned --json -- getent hosts c.example
	assert_json '[.violations[].object] == ["c.example"]'
}

@test "names in one directory become the directory" {
	local i
	for i in 1 2 3 4 5; do echo "$i" >"$HOME/data/$i"; done
	run -0 --separate-stderr cordon learn -q -- sh -c 'for i in 1 2 3; do echo x >~/data/$i; done'
	profile $'\t"~/data/1", # sh' $'\t"~/data/2", # sh' $'\t"~/data/3", # sh'
	run -0 --separate-stderr cordon learn -q -- sh -c 'for i in 1 2 3 4; do echo x >~/data/$i; done'
	profile $'\t"~/data", # sh, 4 refused'
}

@test "what is removed or moved is learned with its directory, without which that would fail" {
	local backend
	for backend in native landlock; do
		for command in 'rm -f ~/data/x; echo 1 >~/data/x' 'echo 2 >~/data/new; mv ~/data/new ~/data/x' \
			'test ! -e ~/data/x || mv ~/data/x ~/data/y'; do
			rm -f "$CONFIG"
			echo 0 >"$HOME/data/x"
			learned_once --backend $backend --fallback degrade -- "$command"
			grep -q '"~/data", # ' "$CONFIG" || fail "$backend: $command" "$(cat "$CONFIG")"
		done
	done
}

@test "git, make and python run under what was learned from them" {
	command -v git make python3 >/dev/null || must_or_skip "git, make or python3 is missing"
	mkdir "$HOME/clones" "$HOME/prefix" "$HOME/numbers"
	git init -q "$HOME/up"
	git -C "$HOME/up" -c user.name=n -c user.email=e@x commit -q --allow-empty -m first
	learned_once -- 'rm -rf ~/clones/one && git clone -q ~/up ~/clones/one && git -C ~/clones/one log -1 >/dev/null'
	rm "$CONFIG"
	printf 'all: prog\nprog:\n\techo built >prog\ninstall: prog\n\tmkdir -p $(HOME)/prefix/bin\n\tcp prog $(HOME)/prefix/bin/\n' >Makefile
	learned_once -- 'make -s install && test -f ~/prefix/bin/prog'
	rm "$CONFIG"
	learned_once -- 'python3 -c "
import json, os
for i in range(8):
    with open(os.path.expanduser(\"~/numbers/%d\" % i), \"w\") as f: json.dump(i, f)
"'
	assert_equal "$(cat "$HOME/numbers/7")" 7
}

@test "a database, a tree of packages and an archive run under what was learned from them" {
	command -v node sqlite3 >/dev/null || must_or_skip "node or sqlite3 is missing"
	mkdir "$HOME/site" "$HOME/out"
	learned_once -- 'rm -f ~/data/x.db; for mode in delete wal; do
		echo "pragma journal_mode=$mode; create table if not exists t(i); insert into t values(1);" |
			sqlite3 ~/data/x.db >/dev/null; done; echo "select count(*) from t" | sqlite3 ~/data/x.db'
	assert_equal "$(sqlite3 "$HOME/data/x.db" 'select count(*) from t')" 2
	rm "$CONFIG"
	cat >packages.js <<-'EOF'
		const fs = require("fs"), top = process.env.HOME + "/site/node_modules";
		fs.rmSync(top, { recursive: true, force: true });
		for (let i = 0; i < 60; i++) {
			const staged = `${top}/.staging/p${i}-${process.pid}`;
			fs.mkdirSync(staged + "/lib", { recursive: true });
			fs.writeFileSync(staged + "/package.json", JSON.stringify({ name: "p" + i, main: "lib/index.js" }));
			fs.writeFileSync(staged + "/lib/index.js", "module.exports = " + i);
			fs.renameSync(staged, `${top}/p${i}`);
		}
		fs.mkdirSync(top + "/.bin");
		fs.symlinkSync("../p1/lib/index.js", top + "/.bin/p1");
		fs.rmSync(top + "/.staging", { recursive: true });
		if (require(top + "/p59") !== 59) process.exit(1);
	EOF
	learned_once -- 'node packages.js'
	assert_file "$HOME/site/node_modules/p59/lib/index.js"
	rm "$CONFIG"
	learned_once -- 'tar -C ~/site -cf ~/out/a.tar . && mkdir -p ~/out/x && tar -C ~/out/x -xf ~/out/a.tar'
}

@test "--merge keeps what the file says, comments and all" {
	printf '# mine\n[sandbox]\nreport = "writes" # enough\n\n[sandbox.profiles.learned]\nextends = "moderate"\nwrite = [\n\t"/opt", # keep\n]\n' >"$CONFIG"
	chmod 640 "$CONFIG"
	run -0 --separate-stderr cordon learn --merge "$CONFIG" -- sh -c 'echo x >~/data/x'
	assert_output ""
	[[ $stderr == *"$CONFIG: the profile learned has what was learned"* ]] || fail "$(outcome)"
	assert_equal "$(cat "$CONFIG")" '# mine
[sandbox]
report = "writes" # enough

[sandbox.profiles.learned]
extends = "moderate"
write = [
	"~/data", # sh
	"/opt", # keep
]'
	assert_equal "$(stat -c %a "$CONFIG")" 640
	assert_equal "$(ls "$HOME/.cordon"/config*)" "$CONFIG"
	run cordon learn -p learned -- touch ran
	assert_status 125
	assert_contains "--merge adds to it"
	refute_file ran
	# Again, under it: nothing is refused, and nothing changes.
	cp "$CONFIG" before
	run -0 --separate-stderr cordon learn -p learned --merge "$CONFIG" -- sh -c 'echo x >~/data/x'
	cmp "$CONFIG" before || fail "changed"
	assert_file "$HOME/data/x"
}

@test "--merge refuses what it could not do without harm, and leaves the file" {
	local text
	for text in '[sandbox' '[sandbox.profiles]
learned = { extends = "moderate" }' '[sandbox.profiles.learned]
extends = "strict"'; do
		printf '%s\n' "$text" >there.toml
		run --separate-stderr cordon learn -q --merge there.toml -- sh -c 'echo x >~/data/x'
		assert_status 125
		[[ $stderr == *there.toml:* ]] || fail "no place" "$(outcome)"
		assert_equal "$(cat there.toml)" "$text"
	done
	echo '# empty' >target.toml
	ln -s target.toml link.toml
	run cordon learn -q --merge link.toml -- sh -c 'echo x >~/data/x'
	assert_status 125
	assert_contains "is a symbolic link"
	assert_equal "$(cat target.toml)" '# empty'
	assert_equal "$(ls -A)" $'link.toml\ntarget.toml\nthere.toml'
}

@test "what does not make sense is refused before anything runs" {
	run cordon learn
	assert_status 125
	assert_contains "no command to learn from was given"
	run cordon learn --rounds 0 -- touch ran
	assert_status 125
	run cordon learn --name strict -- touch ran
	assert_status 125
	assert_contains "is a built-in profile"
	run cordon learn --backend bwrap --fallback degrade -- touch ran
	assert_status 125
	assert_contains "nothing can be learned"
	run cordon learn --no-sandbox -- touch ran
	assert_status 125
	refute_file ran
	run -127 cordon learn -- no-such-program
}

@test "a project file is not merged into, and nothing is run" {
	printf '[sandbox]\nnetwork = "off"\n' >.cordon.toml
	cp .cordon.toml before
	run -125 cordon learn --merge .cordon.toml -- touch ran
	assert_contains 'a project file may not define profiles'
	cmp .cordon.toml before
	refute_file ran
	run -0 cordon run -q -- true
}

@test "a command that fails is not told that its profile is enough" {
	run cordon learn -- false
	assert_contains 'no refusal was seen'
	refute_contains 'is enough'
}
