#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What the supervisor sees of calls that the kernel refuses, and what it leaves out.

load helper

setup() {
	escape_setup
	git init -q .
	mkdir "$HOME/dir"
}

# seen ARGS...: the result in $output, without what was deduced from the text.
seen() {
	run --separate-stderr cordon run -q --json "$@"
	output=$(jq '.violations |= map(select(.source != "inferred"))' <<<"$output")
}

@test "a refused write names the object and where it was seen" {
	seen -- sh -c 'echo y >>~/.bashrc'
	assert_json '.violations | length == 1'
	assert_json ".violations[0] | .object == \"$HOME/.bashrc\" and .op == \"write\" and
		.source == \"notify\" and .program == \"sh\""
}

@test "relative paths, dots, links and covered places" {
	ln -s "$HOME/.bashrc" link
	mkdir sub
	seen -- sh -c 'cd sub; echo y >../link; echo y >../.git/hooks/pre-commit; echo y >~/.ssh/key'
	assert_json "[.violations[].object] == [\"$HOME/.bashrc\",
		\"$WORKDIR/.git/hooks/pre-commit\", \"$HOME/.ssh/key\"]"
}

@test "a directory that is entered later counts, and so do links on the way" {
	seen -- sh -c 'echo x >here; cd ~; echo y >moved'
	assert_json "[.violations[].object] == [\"$HOME/moved\"]"
	seen -- sh -c 'ln -s ~ to; mkdir to/made; echo x >to/file; ln -s ~/aimed at; echo x >at'
	assert_json "[.violations[].object] == [\"$HOME/made\", \"$HOME/file\", \"$HOME/aimed\"]"
	seen -- sh -c 'echo x >f; echo x >f; rm f; ln -s ~/swapped f; echo x >f'
	assert_json "[.violations[].object] == [\"$HOME/swapped\"]"
	seen -- python3 -c 'import os
os.mkdir("a"); d = os.open("a", os.O_RDONLY); os.mkdir("x", dir_fd=d)
os.chdir(os.path.expanduser("~")); os.fchdir(d); os.mkdir("y")
try: os.fchdir(os.open(os.path.expanduser("~"), os.O_RDONLY)); os.mkdir("z")
except OSError: pass'
	assert_json "[.violations[].object] == [\"$HOME/z\"]"
}

@test "making and moving" {
	echo x >file
	seen -- sh -c 'mkdir ~/new; ln -s x ~/link; mv file ~/moved; mv ~/dir here; mkfifo ~/fifo'
	assert_json "[.violations[].object | ltrimstr(\"$HOME/\")] | contains([\"new\", \"link\",
		\"moved\", \"dir\", \"fifo\"])"
}

@test "what would have failed anyway is not reported" {
	mkdir there
	seen -- sh -c 'mkdir -p ~/dir there; mkdir ~/dir; mkdir ~/none/x; echo x >~/none/x
		echo x >~/dir; cat ~/nothing; mv nothing ~/x'
	assert_json '[.violations[].object] - ["'"$HOME"'/x"] == []'
}

@test "what is allowed is not reported" {
	seen -- sh -c 'mkdir -p a/b; echo x >a/b/c; mv a z; echo x >/tmp/t; echo x >/dev/null
		ln z/b/c l; git add -A; git status >/dev/null'
	assert_json '.exit_code == 0 and .violations == []'
}

@test "a plain user's own permissions are not cordon's to explain" {
	is_root && skip "for a plain user"
	seen -- sh -c 'echo x >/etc/cordon-none; echo x >>/etc/passwd'
	assert_json '.violations == []'
}

@test "report = none and output: nothing is observed, the guard still says what it refused" {
	for level in none output; do
		seen --report $level -- sh -c 'echo y >>~/.bashrc; mkdir .claude'
		assert_json '[.violations[] | select(.source == "notify")] == []'
	done
}

@test "without anything to guard writes are observed all the same" {
	seen --protect off -- sh -c 'echo y >>~/.bashrc; mkdir .claude'
	assert_json '[.violations[].object | endswith("/.bashrc")] == [true]'
	assert_file .claude
}

@test "removing, whatever call removes" {
	seen -- sh -c 'rm -f ~/.bashrc; rmdir ~/dir; python3 -c "import os; os.truncate(os.environ[\"HOME\"] + \"/notes/plain\", 0)"'
	assert_json "[.violations[].object | ltrimstr(\"$HOME/\")] == [\".bashrc\", \"dir\", \"notes/plain\"]"
	assert_json '.violations | all(.source == "notify" and .op == "write")'
	assert_json '.degraded | index("report") | not'
}

@test "a connection names the address, loopback is nobody's concern" {
	seen -- python3 -c 'import socket
for family, address in ((socket.AF_INET, ("192.0.2.7", 443)), (socket.AF_INET, ("127.0.0.1", 9)),
                        (socket.AF_INET6, ("2001:db8::7", 80)), (socket.AF_INET6, ("::1", 9)),
                        (socket.AF_INET6, ("::ffff:192.0.2.8", 22))):
    try:
        socket.socket(family, socket.SOCK_STREAM).connect(address)
    except OSError:
        pass'
	assert_json '.exit_code == 0'
	assert_json '[.violations[] | [.op, .object, .source]] == [["connect", "192.0.2.7:443", "notify"],
		["connect", "[2001:db8::7]:80", "notify"], ["connect", "192.0.2.8:22", "notify"]]'
	assert_json '.violations | all(.fix.flags != null)'
}

@test "with the network on no connection is refused" {
	seen --allow-network -- python3 -c 'import socket
try:
    s = socket.socket()
    s.settimeout(0.01)
    s.connect(("192.0.2.7", 443))
except OSError:
    pass'
	assert_json '[.violations[] | select(.op == "connect")] == []'
}

@test "a program that may not be executed" {
	cp /bin/true prog
	seen -p shell -- sh -c './prog; exec ./prog'
	assert_json '.exit_code == 126'
	assert_json "[.violations[] | [.op, .object, .source]] == [[\"exec\", \"$WORKDIR/prog\", \"notify\"]]"
	assert_json '.violations[0].count == 2 and .violations[0].fix.flags != null'
}

@test "reading is seen with report = all, and not with less" {
	seen --report all -- sh -c 'cat ~/.ssh/id; cat ~/.netrc; ls ~/.ssh; cat ~/none ~/.ssh/none'
	assert_json "[.violations[] | [.op, (.object | ltrimstr(\"$HOME/\"))]] ==
		[[\"read\", \".ssh/id\"], [\"read\", \".netrc\"], [\"read\", \".ssh\"]]"
	assert_json '.violations | all(.source == "notify" and .fix.opens_secret)'
	seen --report writes -- sh -c 'cat ~/.ssh/id'
	assert_json '.violations == []'
}

@test "a secret that is read under shell ends in one sentence" {
	run --separate-stderr cordon run -p shell -- cat "$HOME/.ssh/id"
	assert_status 1
	output=$(grep -c "reading $HOME/.ssh/id (cat, seen at the system call): deny" <<<"$stderr")
	assert_output 1
}

@test "mode, owner, times and attributes are seen with report = all" {
	seen --report all -- python3 -c 'import os
path = os.path.expanduser("~/.bashrc")
for act in (lambda: os.chmod(path, 0o600), lambda: os.utime(path), lambda: os.setxattr(path, "user.x", b"y"),
            lambda: os.chown(path, -1, -1), lambda: os.removexattr(path, "user.x")):
    try:
        act()
    except OSError:
        pass
os.chmod("attack", 0o700)
os.utime("attack")'
	assert_json "[.violations[] | [.op, .object, .count]] == [[\"write\", \"$HOME/.bashrc\", 5]]"
}

@test "report = all: what works is not reported, in a view of its own either" {
	local profile
	echo 'int main(void) { return 0; }' >a.c
	for profile in moderate strict; do
		seen -p $profile --report all -- sh -ec 'ls / /usr >/dev/null; ls .. >/dev/null 2>&1 || :
			python3 -c "import json, os; os.listdir(\".\")"; bash -c true; find . >/dev/null
			test -e /etc/passwd; cat a.c >/dev/null; mkdir -p x/y; echo 1 >x/y/z; rm -r x'
		assert_json '.exit_code == 0'
		assert_json '[.violations[] | select(.op != "read" or (.object | startswith("/etc") | not))] == []'
	done
}

@test "landlock: removing and reading are seen, connecting is declared" {
	seen --backend landlock --fallback degrade --report all -- sh -c 'rm -f ~/.bashrc; cat ~/.ssh/id'
	assert_json "[.violations[] | [.op, (.object | ltrimstr(\"$HOME/\"))]] ==
		[[\"write\", \".bashrc\"], [\"read\", \".ssh/id\"]]"
	assert_json '.degraded | index("report")'
	seen --backend landlock --fallback degrade --allow-network -- true
	assert_json '.degraded | index("report") | not'
}
