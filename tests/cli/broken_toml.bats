#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Files that are wrong: each one gives a place and exit 125, and nothing runs.
load helper

# broken PLACE [MESSAGE]: the file `bad` on standard input, checked and used. PLACE is
# LINE:COLUMN, as a regular expression.
broken() {
	local place=$1 message=${2:-}
	cat >bad
	run -125 --separate-stderr cordon config check bad
	[[ $stderr =~ ^cordon:\ [a-z]+:\ bad:$place:\  ]] || fail "wanted bad:$place:" "$(outcome)" "$(head -c 300 bad)"
	[[ $stderr == *"$message"* ]] || fail "wanted: $message" "$(outcome)"
	mkdir -p "$HOME/.cordon"
	cp bad "$HOME/.cordon/config.toml"
	run -125 --separate-stderr cordon run touch ran
	[[ $stderr =~ /config.toml:$place:\  ]] || fail "wanted config.toml:$place:" "$(outcome)"
	refute_file ran
}

@test "the place is where the fault is" {
	broken 1:1 <<<'= 1'
	broken 1:9 <<<'[sandbox'
	broken 2:8 <<<$'[sandbox]\nread = \n'
	broken 2:13 <<<$'[sandbox]\nread = ["a" "b"]'
	broken 3:7 <<<$'[sandbox]\n# ü\ntmp = nothing'
}

@test "syntax errors have a place" {
	local text
	for text in '[sandbox' 'x' 'x =' 'x = ]' '[a]]' '[[a]' 'a = 1 b = 2' 'a = "x' "a = 'x" \
		'a = """x' 'a = "\q"' 'a = 01' 'a = 1__0' 'a = 0x' 'a = +' 'a = tru' 'a = {b=1' \
		'a = [1,,2]' 'a = 2020-13-01' '"a' 'a.b. = 1' '[a.]' 'a = {b=1,}' $'a = "\x01"' \
		$'a\x7f = 1' $'\xff = 1' $'a = "caf\xe9"'; do
		printf '%s\n' "$text" >bad
		run -125 --separate-stderr cordon config check bad
		[[ $stderr =~ bad:[0-9]+:[0-9]+:\  ]] || fail "no place for: $text" "$(outcome)"
	done
}

@test "a NUL is refused" {
	printf 'sandbox.tmp = "pri\0vate"\n' >bad
	run -125 --separate-stderr cordon config check bad
	[[ $stderr =~ bad:1:[0-9]+:\  ]] || fail "no place" "$(outcome)"
}

@test "keys that do not exist, with a near match" {
	broken 2:1 "did you mean 'write'?" <<<$'[sandbox]\nwrit = []'
	broken 2:1 "did you mean 'read'?" <<<$'[sandbox]\nraed = []'
	broken 3:1 "did you mean 'limits.timeout'?" <<<$'[sandbox]\n[sandbox.limits]\ntimout = "5s"'
	broken 1:2 "did you mean 'sandbox'?" <<<'[sandbx]'
	broken 2:1 "unknown key" <<<$'[sandbox]\n"limits.timeout" = "5s"'
	broken 1:1 "unknown key" <<<'colour = "red"'
	broken 2:1 <<<$'[sandbox.profiles.x]\nnetwrk = "on"'
}

@test "keys said twice" {
	broken 3:1 <<<$'[sandbox]\ntmp = "private"\ntmp = "shared"'
	broken 3:2 <<<$'[sandbox]\ntmp = "private"\n[sandbox]'
	broken "2:[19]" <<<$'sandbox.tmp = "private"\nsandbox.tmp = "private"'
}

@test "values of a wrong type" {
	local row
	for row in 'enabled = "yes"' 'enabled = 1' 'default_profile = 3' 'default_profile = ["a"]' \
		'mode = true' 'read = "/usr"' 'read = [1]' 'read = { a = 1 }' 'write = true' \
		'deny = [["/a"]]' 'network = 5' 'network = "sometimes"' 'network = [443]' \
		'unix = "/x"' 'bind = ["80"]' 'bind = 80' 'hidden_writes = false' 'protect = 1' \
		'report = "loud"' 'tmp = "none"' 'share_pid = "no"' 'ptrace = 0' 'caches = "go"' \
		'env = "A"' 'env = { pass = "A" }' 'env = { set = ["A=b"] }' \
		'env = { set = { A = 1 } }' 'env = { set = { "A B" = "c" } }' 'limits = 5' \
		'limits = { timeout = true }' 'limits = { timeout = "soon" }' \
		'limits = { timeout = -5 }' 'limits = { memory = 1.5 }' 'limits = { procs = "0" }' \
		'timeout = 2020-01-01' 'memory_limit_mb = "x"' 'profiles = 1' \
		'profiles = { a = 1 }' 'extends = "strict"' 'locked = { network = "off" }' \
		'profiles = { "" = {} }' 'profiles = { a = { enabled = true } }'; do
		broken "2:[0-9]+" <<<$'[sandbox]\n'"$row"
	done
}

@test "hosts, paths and sets that mean nothing" {
	local row
	for row in 'network = ["a..b"]' 'network = ["exa mple.com"]' 'network = ["host:0"]' \
		'network = ["*"]' 'network = ["127.1"]' 'network = [""]' 'read = [""]' \
		'deny = ["@nosuch"]' 'deny = ["{nosuch}/x"]' 'deny = ["{workdir"]' \
		'deny = ["a/[b"]' 'deny = ["a/**b"]' 'deny = ["=a*"]' 'bind = [0]' \
		'bind = [70000]' 'read = ["a\u0000b"]'; do
		broken "2:[0-9]+" <<<$'[sandbox]\n'"$row"
	done
}

@test "huge and deep" {
	python3 -c 'print("sandbox" + ".a" * 100000 + " = 1")' | broken "1:[0-9]+"
	python3 -c 'print("[sandbox]\nread = " + "[" * 100000)' | broken "2:[0-9]+"
	python3 -c 'print("[sandbox]\nread = [" + "\"/a\"," * 20000 + "]")' | broken "2:[0-9]+"
	python3 -c 'print("# " + "x" * (2 << 20))' >bad
	run -125 --separate-stderr cordon config check bad
	[[ $stderr == *"bad:1:1: "* ]] || fail "no place" "$(outcome)"
}

@test "what is not a file" {
	local what
	mkdir "$HOME/.cordon"
	mkdir directory
	mkfifo fifo
	ln -s loop loop
	for what in directory fifo loop /dev/zero /dev/null/x; do
		run -125 --separate-stderr timeout 10 "$CORDON" config check "$what"
		[[ $stderr == *"$what:1:1: "* ]] || fail "no place: $what" "$(outcome)"
	done
	rm loop
	ln -s config.toml loop
	for what in directory fifo loop; do
		mv "$what" "$HOME/.cordon/config.toml"
		run -125 --separate-stderr timeout 10 "$CORDON" run touch ran
		[[ $stderr == *config.toml:1:1:* ]] || fail "no place: $what" "$(outcome)"
		refute_file ran
		mv "$HOME/.cordon/config.toml" "$what"
	done
}

@test "unreadable" {
	is_root && skip "root reads everything"
	mkdir "$HOME/.cordon"
	touch "$HOME/.cordon/config.toml"
	chmod 000 "$HOME/.cordon/config.toml"
	run -125 --separate-stderr cordon run touch ran
	[[ $stderr == *config.toml:1:1:*"Permission denied"* ]] || fail "not named" "$(outcome)"
	refute_file ran
}

@test "an empty allow-list allows nothing" {
	mkdir "$HOME/.cordon"
	printf '[sandbox.profiles.x]\nextends = "permissive"\nnetwork = []\n' >"$HOME/.cordon/config.toml"
	run -0 cordon explain --json -p x example.com:443
	assert_json '.objects[0].verdicts[0].allowed == false'
	run -0 cordon policy render -p x
	assert_contains unshare-net
}
