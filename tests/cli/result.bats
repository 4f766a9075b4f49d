#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# --result, --json and --capture: the object, its schema, and the file it is in.
load helper

setup() {
	cordon_setup
	cordon run -q true 2>/dev/null || must_or_skip "no backend works here"
}

# holds FILE EXPRESSION
holds() {
	jq -e "$2" "$1" >/dev/null || fail "not true: $2" "$(cat "$1")"
}

@test "the schema refuses what is not a result" {
	unset CORDON_RESULTS
	echo '{}' >bad
	run valid bad
	assert_status 1
	cordon run -q --result good true
	jq '.more = 1' good >bad
	run valid bad
	assert_status 1
	jq '.cause = "luck"' good >bad
	run valid bad
	assert_status 1
	jq 'del(.backend)' good >bad
	run valid bad
	assert_status 1
}

@test "every cause gives a valid object" {
	run cordon run -q --result r sh -c 'exit 3'
	valid r
	holds r '.cause == "exited" and .exit_code == 3 and .signal == null and .profile == "moderate"'
	run cordon run -q --result r sh -c 'kill -KILL $$'
	valid r
	run cordon run -q --result r --timeout 100ms sleep 30
	valid r
	holds r '.cause == "timeout" and .exit_code == null and .signal != null'
	run cordon run -q --result r --json --output 1K sh -c 'yes | head -c 100000'
	assert_status 137
	valid r
	holds r '.cause == "output"'
	run -127 cordon run -q --result r no-such-program
	valid r
	holds r '.cause == "setup" and .error.code == "not_found" and .error.kind == "sandbox"'
	run cordon run -q --result r -p nosuch true
	assert_status 125
	valid r
	holds r '.cause == "setup" and .error.code == "config"'
	run cordon run -q --no-sandbox --result r true
	valid r
	holds r '.confined == false and .backend == "passthrough"'
}

@test "--json prints the object instead of the output, status unchanged" {
	run --separate-stderr cordon run -q --json sh -c 'echo out; echo err >&2; exit 7'
	assert_status 7
	assert_json '.stdout == "out\n" and .stderr == "err\n" and .exit_code == 7'
	[ -z "$stderr" ] || fail "stderr should be empty" "$(outcome)"
	printf '%s' "$output" >r
	valid r
}

@test "--json with a command that cannot start is still one valid object" {
	run -127 --separate-stderr cordon run -q --json no-such-program
	assert_json '.cause == "setup" and .error.code == "not_found"'
	printf '%s' "$output" >r
	valid r
	[ -z "$stderr" ] || fail "stderr should be empty" "$(outcome)"
}

@test "limits that only make calls fail are named by what the command printed" {
	command -v python3 >/dev/null || must_or_skip "no python3"
	run -1 cordon run -q --json --files 32 -- python3 -c 'f = [open("/dev/null") for i in range(99)]'
	assert_json '.stderr | contains("Too many open files")'
	valid
	assert_json '.cause == "exited" and .limits_met == ["limits.files"]'
	run cordon run -q --json --file-size 1K -- \
		python3 -c 'f = open("f", "w"); f.write("x" * 5000); f.close()'
	assert_json '.limits_met == ["limits.file_size"]'
	run -0 cordon run -q --json -- echo Too many open files
	assert_json 'has("limits_met") | not'
	run -1 --separate-stderr cordon run --json --files 32 -- \
		python3 -c 'f = [open("/dev/null") for i in range(99)]'
	[[ $stderr == *"seems to have met limits.files"* ]] || fail "$(outcome)"
}

@test "--capture keeps the output for the result" {
	run -0 cordon run -q --capture --result r echo hello
	assert_output ""
	holds r '.stdout == "hello\n"'
	run -0 cordon run -q --result r echo hello
	assert_output hello
	holds r 'has("stdout") | not'
}

@test "output that is not UTF-8 is escaped and says so" {
	cordon run -q --capture --result r printf 'a\351\000b'
	valid r
	holds r '.escaped == true and .stdout == "a\\xe9\\x00b"'
}

@test "descriptors" {
	run -0 bash -c '"$1" run -q --result fd:3 true 3>r' - "$CORDON"
	valid r
	run -0 bash -c '"$1" run -q --result fd:1 true >r' - "$CORDON"
	valid r
	run -0 bash -c '"$1" run -q --result fd:2 true 2>r' - "$CORDON"
	valid r
	run -125 bash -c '"$1" run -q --result fd:9 touch ran 9>&-' - "$CORDON"
	run -125 bash -c '"$1" run -q --result fd:9 touch ran 9</dev/null' - "$CORDON"
	assert_contains "not open for writing"
	run -125 cordon run -q --result fd:x touch ran
	run -125 cordon run -q --result fd: touch ran
	run -125 cordon run -q --result fd:-1 touch ran
	run -125 cordon run -q --result fd:99999999999 touch ran
	refute_file ran
}

@test "the descriptor is not handed to the command" {
	run -0 bash -c '"$1" run -q --result fd:7 sh -c "ls /proc/self/fd | tr \"\n\" \" \"" 7>r' - "$CORDON"
	[[ " $output " != *" 7 "* ]] || fail "the command has it" "$(outcome)"
}

@test "a file that cannot be written stops the run before it starts" {
	local bad
	mkdir dir
	ln -s nowhere/at/all dangling
	for bad in absent/r dir . / dangling dir/ ''; do
		run -125 cordon run -q --result "$bad" touch ran
		refute_file ran
	done
	if ! is_root; then
		chmod 555 dir
		run -125 cordon run -q --result dir/r touch ran
		refute_file ran
	fi
}

@test "the file appears complete, or keeps what it had" {
	echo old >r
	ln r other
	# Seen from inside while the command runs: still the old one.
	run -0 cordon run -q --result r cat r
	assert_output old
	valid r
	run -0 cat other
	assert_output old
}

@test "no debris is left, whatever happens" {
	cordon run -q --result r true
	run -127 cordon run -q --result r no-such-program
	run -125 cordon run -q --result r --tmeout true
	rm r
	run -0 find . -mindepth 1
	assert_output ""
	# Killed while the command runs, which says so by opening the fifo.
	mkfifo go
	"$CORDON" run -q --result r sh -c 'echo started >go; sleep 60' &
	local pid=$!
	read -r _ <go
	kill -KILL $pid
	wait $pid || true
	rm go
	run -0 find . -mindepth 1
	assert_output ""
}

@test "a link is followed, a device written to, never replaced" {
	echo old >real
	ln -s real link
	cordon run -q --result link true
	[ -L link ] || fail "the link was replaced"
	valid real
	cordon run -q --result /dev/null true
	[ -c /dev/null ] || fail "/dev/null was replaced"
	if [ -w /dev/full ]; then
		run -125 cordon run -q --result /dev/full true
	fi
}

@test "a link that an earlier run left does not lead the result out of the workdir" {
	echo mine >../victim
	cordon run -q -- ln -s ../victim result.json
	run -125 cordon run -q --capture --result result.json echo text
	assert_contains "leads out of it"
	assert_equal "$(cat ../victim)" mine
	mkdir ../elsewhere
	cordon run -q -- ln -s ../elsewhere out
	run -125 cordon run -q --result out/r.json true
	refute_file ../elsewhere/r.json
	mkdir deep
	(cd deep && run -125 cordon run -q -C .. --result ../result.json true)
	# What lies elsewhere is the caller's own.
	ln -s victim ../own
	cordon run -q --result ../own true
	valid ../victim
}

@test "the command cannot make the result land elsewhere" {
	mkdir sub ../outside
	run cordon run -q --result sub/r sh -c 'mv sub moved; ln -s ../outside sub'
	refute_file ../outside/r
	valid moved/r
	echo old >../outside/victim
	run cordon run -q --result r2 ln -s ../outside/victim r2
	run -0 cat ../outside/victim
	assert_output old
	valid r2
}

@test "a relative file is the caller's, not the workdir's" {
	mkdir sub
	cordon run -q -C sub --result r true
	valid r
	refute_file sub/r
}

@test "confined is false without a boundary, however that came about" {
	local way
	for way in --no-sandbox --backend=passthrough; do
		cordon run -q --result r "$way" true
		valid r
		holds r '.confined == false and .backend == "passthrough"'
	done
	cordon run -q --result r true || must_or_skip "no backend works here"
	holds r '.confined == true'
}

@test "without unnamed files the command finds nothing to forge, and nothing is left" {
	local testing
	testing=$(dirname "$CORDON")/cordon-testing
	[ -x "$testing" ] || fail "no cordon-testing at $testing; run make"
	CORDON_NO_TMPFILE=1 run -0 "$testing" run -q --result out.json -- sh -c \
		'ls -A; for f in .cordon-result*; do echo forged >"$f"; done; ls -A'
	assert_contains '.cordon-result*'
	assert_equal "$(ls -A)" $'.cordon-result*\nout.json'
	run -0 cat out.json
	assert_json '.cause == "exited" and .exit_code == 0'
	mkdir closed
	chmod 500 closed
	is_root || CORDON_NO_TMPFILE=1 run -125 "$testing" run -q --result closed/out -- touch ran
	refute_file ran
}
