#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What is refused on the command line, and that nothing is run then.
load helper

# refused WANTED WORDS...: exit 125, WANTED in the message, nothing on stdout, and a
# command that would leave a file does not run.
refused() {
	local wanted=$1
	shift
	run --separate-stderr cordon "$@"
	assert_status 125
	[ -z "$output" ] || fail "standard output should be empty" "$(outcome)"
	[[ $stderr == "cordon: "*"$wanted"* ]] || fail "wanted in stderr: $wanted" "$(outcome)"
	refute_file "$WORKDIR/ran"
}

@test "words that are not commands" {
	refused "no command was named"
	refused "unknown command 'rnu'" rnu
	[[ $stderr == *"did you mean 'cordon run'?"* ]] || fail "no near match" "$(outcome)"
	refused "unknown command 'ls'" ls
	refused "unknown command ''" ""
	refused "unknown command 'a\\n\\x1b[2J'" $'a\n\e[2J'
}

@test "a variable set before the command: the options that do it" {
	local word
	for word in FOO=1 'FOO=a b' FOO=/x; do
		run -127 --separate-stderr cordon run -- "$word" true
		[[ $stderr == *"hint: "*"--env FOO=..., or env FOO=... before the command"* ]] ||
			fail "no hint for $word" "$(outcome)"
	done
	run -0 cordon run -q --env FOO=1 -- printenv FOO
	assert_output 1
	run -0 cordon run -q -- env FOO=1 printenv FOO
	assert_output 1
}

@test "too few open files: the limit is named" {
	# shellcheck disable=SC2016 # for the shell
	run -125 --separate-stderr sh -c 'ulimit -n 12; "$1" run -- true' - "$CORDON"
	[[ $stderr == *"Too many open files"*"hint: raise the limit of open files (ulimit -n)"* ]] ||
		fail "no hint" "$(outcome)"
}

@test "options that do not exist, with a near match" {
	local row flag near
	for row in --tmeout=--timeout --allow-raed=--allow-read --profil=--profile --jsn=--json \
		--no-sandbx=--no-sandbox --memry=--memory --allow-writ=--allow-write \
		--dryrun=--dry-run --on-violaton=--on-violation --tmpsize=--tmp-size \
		--network=--allow-network --processes=--procs --allow-socket=--allow-unix \
		--time=--timeout --mem=--memory --out=--output; do
		flag=${row%=*} near=${row#*=}
		refused "unknown option '$flag'" run "$flag" touch ran
		[[ $stderr == *"did you mean $near?"* ]] || fail "no near match for $flag" "$(outcome)"
	done
	refused "unknown option '-x'" run -x touch ran
	refused "unknown option '-qx'" run -qx touch ran
	refused "unknown option '--entirely-different-thing'" run --entirely-different-thing touch ran
}

@test "an option of a command before its name" {
	local flag
	for flag in -p --profile --allow-write --memory --no-share-pid --json-nonsense; do
		refused "unknown option '$flag'" "$flag" x run touch ran
		if [ $flag = --json-nonsense ]; then
			[[ $stderr != *"after the name"* ]] || fail "said of none" "$(outcome)"
		else
			[[ $stderr == *"it goes after the name of a command: cordon run $flag ..."* ]] ||
				fail "not said" "$(outcome)"
		fi
	done
}

@test "an option of another command is unknown" {
	refused "unknown option '--result'" status --result x
	refused "unknown option '--timeout'" doctor --timeout 5s
	refused "unknown option '--prompt'" run --prompt touch ran
	refused "unknown option '--format'" run --format plan touch ran
}

@test "missing, surplus and empty arguments" {
	refused "'--timeout' needs an argument" run --timeout
	refused "'--profile' needs an argument" run -p
	refused "'--timeout' needs an argument" run --timeout --quiet touch ran
	refused "looks like an option" run --allow-write -- touch ran
	refused "'--dry-run' takes no argument" run --dry-run=yes touch ran
	refused "'--json' takes no argument" run --json=1 touch ran
	refused "'--no-sandbox' takes no argument" run --no-sandbox=false touch ran
	refused "'--profile': the argument is empty" run --profile= touch ran
	refused "'--allow-network=' has no value" run --allow-network= touch ran
	refused "'--sandbox-allow-network=' has no value" run --sandbox-allow-network= touch ran
	refused "'example.com' looks like a host" run --allow-network example.com touch ran
	refused "'192.0.2.1' looks like a host" run --allow-network 192.0.2.1 touch ran
	refused "'10.0.0.0/8' looks like a host" run --allow-network 10.0.0.0/8 touch ran
	refused "'2001:db8::1' looks like a host" run --allow-network 2001:db8::1 touch ran
	refused "'https://example.com/' looks like a host" run --allow-network https://example.com/ touch ran
	refused "'localhost:80' looks like a host" run --allow-network localhost:80 touch ran
	refused "--allow-network alone (network = \"on\") opens everything" run '--allow-network=*' touch ran
	refused "--allow-network alone" run '--allow-network=*:443' touch ran
	refused "network = \"off\" leaves no host" run '--deny-host=*' touch ran
	# What follows is another option, whatever is in it.
	run -0 cordon run --dry-run --allow-network --env=U=http://x/ -- true
	refused "--allow-write" run --allow-write= touch ran
}

@test "values that do not parse" {
	local row
	for row in --timeout=soon --timeout=-1 --timeout=5x --timeout=0 --cpu=1.5 --memory=lots \
		--memory=0 --procs=-5 --procs=many --files=1e9 --file-size=1Q --output=- \
		--tmp-size=99999999999999999999 --hidden-writes=some --protect=hard --report=loud \
		--tmp=mine --fallback=maybe --mode=yolo --allow-bind=0 --allow-bind=65536 \
		--allow-bind=http --allow-network=a..b --allow-network=0x7f.1 \
		--allow-network=host:99999 --allow-network=ho_st/x --allow-network=a,,b \
		--env==x --env=A/B=1 --backend='a b' --caches='a;b' --unset-env=; do
		refused "${row%%=*}" run "$row" touch ran
	done
	refused "'--share-pid': 'maybe' is not true or false" run --share-pid=maybe touch ran
	refused "'--no-ptrace': '' is not true or false" run --no-ptrace= touch ran
}

@test "values that parse and name nothing" {
	refused "there is no profile 'moderat'" run -p moderat touch ran
	[[ $stderr == *"did you mean 'moderate'?"* ]] || fail "no near match" "$(outcome)"
	refused "bwrp" run --backend bwrp touch ran
	refused "nowhere" run -C nowhere touch ran
	refused "@secrts" run --deny @secrts touch ran
	refused "{wrkdir}" run --deny '{wrkdir}/x' touch ran
	refused "not one of report|fail|kill" run --on-violation explode touch ran
	refused "did you mean 'kill'?" run --on-violation kil touch ran
}

@test "contradictions" {
	refused "--mode and --profile" run --mode rx --profile strict touch ran
	refused "contradict each other" run --sandbox --no-sandbox touch ran
	refused "--sandbox asks for confinement" run --sandbox --mode rwx touch ran
	refused "--capture" run --capture touch ran
}

@test "run without a command" {
	refused "no command to run" run
	refused "no command to run" run --
	refused "no command to run" run -q --timeout 5s --
}

@test "subcommands and surplus words" {
	refused "'cordon profile' needs more" profile
	refused "unknown word 'lsit' after 'cordon profile'" profile lsit
	[[ $stderr == *"did you mean 'list'?"* ]] || fail "no near match" "$(outcome)"
	refused "'cordon profile show' needs an argument" profile show
	refused "'more' is one word too many" profile show strict more
	refused "there is no profile 'strct'" profile show strct
	refused "'cordon config' needs more" config
	refused "'cordon policy' needs more" policy
	refused "not one of plan|json|bwrap|sbpl" policy render --format yaml
	refused "not one of system|user|project" config check --as root x
	refused "explain what?" explain
	refused "'x' is one word too many" status x
	refused "'x' is one word too many" doctor x
	refused "'x' is one word too many" version x
	refused "unknown command 'nosuch'" help nosuch
	refused "unknown word 'tcsh'" completion tcsh
}

@test "a workdir that is too long is told as that" {
	run cordon run -C "/$(printf 'a%.0s' {1..5000})" -- true
	assert_status 125
	assert_contains "...': longer than 4095 bytes"
}

@test "an empty word is an error where a path is wanted" {
	refused "an empty word names nothing" explain ""
}

@test "a usage error with --json is an object on standard output" {
	run --separate-stderr -125 cordon run --json --tmeout 5s touch ran
	valid_as usage_error "$output"
	assert_json '.error.code == "usage" and .error.kind == "usage"'
	assert_json '.error.message == "unknown option '\''--tmeout'\''"'
	assert_json '.error.hint == "did you mean --timeout?"'
	[ -z "$stderr" ] || fail "stderr should be empty" "$(outcome)"
	refute_file ran
}

@test "every flag of cordon help run is understood" {
	local flag value count=0
	run -0 cordon help run
	local help=$output
	while read -r flag; do
		count=$((count + 1))
		run cordon run "$flag" --no-such-option-at-all
		refute_contains "unknown option '$flag'"
	done < <(grep -oE '(^|[ ,])--[a-z][a-z-]+' <<<"$help" | tr -d ' ,' | sort -u)
	[ "$count" -ge 45 ] || fail "only $count flags found in the help"
}

@test "every setting of the help works with both spellings of its value" {
	local row flag value
	for row in --fallback=error --backend=auto --allow-read=/usr --allow-write=. \
		--allow-exec=/usr --deny=nothing-here --allow-unix= --allow-bind=8080 \
		--hidden-writes=git --protect=off --report=none --tmp=private --caches=go,npm \
		--env=A=b --unset-env='*_X' --timeout=10s --cpu=10s --memory=1G --procs=100 \
		--files=100 --file-size=1G --output=1M --tmp-size=64M --data-dir=. \
		--profile=moderate --workdir=. --sandbox-profile=moderate --sandbox-allow-write=.; do
		flag=${row%%=*} value=${row#*=}
		[ -n "$value" ] || continue
		run -0 cordon run --dry-run "$flag=$value" true
		run -0 cordon run --dry-run "$flag" "$value" true
	done
	for flag in --share-pid --new-session --no-ptrace --ptrace --keyring --no-share-pid \
		--no-new-session --no-keyring --share-pid=true --share-pid=false --no-ptrace=false \
		--allow-network --sandbox-allow-network --allow-network=off --sandbox -q; do
		# Not every backend can promise all of these: only that they are understood.
		run -0 cordon run --dry-run --fallback degrade "$flag" true
	done
}

@test "the last of repeated scalars counts, lists add up" {
	run -0 cordon config show --json --timeout 5s --timeout 7s --unset-env A --unset-env B
	assert_json '.settings["limits.timeout"].value == 7000'
	assert_json '[.lists["env.unset"][].value] == ["A", "B"]'
}

@test "a bool can be said four ways" {
	run -0 cordon config show --json --share-pid --no-ptrace --keyring=true --new-session=false
	assert_json '.settings.share_pid.value == true and .settings.ptrace.value == false'
	assert_json '.settings.keyring.value == true and .settings.new_session.value == false'
	run -0 cordon config show --json --no-share-pid --ptrace --no-keyring=false --no-new-session=false
	assert_json '.settings.share_pid.value == false and .settings.ptrace.value == true'
	assert_json '.settings.keyring.value == true and .settings.new_session.value == true'
}

@test "options end at the command" {
	run -0 --separate-stderr cordon run echo --json -p --no-such-thing
	assert_output "--json -p --no-such-thing"
	run -0 --separate-stderr cordon run -- echo -- --json
	assert_output "-- --json"
}

@test "options for every command may come first" {
	run -0 cordon --json version
	assert_json '.name == "cordon"'
	run -0 cordon -q status
	assert_contains "mode"
}

@test "an empty CORDON_HOME is none, and hints name the way on" {
	run -0 --separate-stderr env CORDON_HOME= "$CORDON" config path
	assert_contains "$HOME/.cordon/config.toml"
	run -125 --separate-stderr cordon run -C "$SCRATCH/absent" true
	[[ $stderr == *"hint: make it first, or name another with -C"* ]] || fail "no hint" "$(outcome)"
	run -125 --separate-stderr cordon version x
	assert_equal "${stderr##*hint: }" "wanted: cordon version"
	run -125 --separate-stderr cordon run --result - true
	[[ $stderr == *"--result fd:1"* ]] || fail "no hint" "$(outcome)"
	refute_file ./-
}

@test "a HOME that cannot be entered: the hint says what to set" {
	is_root && skip "root enters everything"
	mkdir -m 0 "$SCRATCH/closed"
	run -125 --separate-stderr env HOME="$SCRATCH/closed" "$CORDON" run -- true
	[[ $stderr == *"hint: is HOME yours? set it to a directory of your own"* ]] || fail "no hint" "$(outcome)"
	run -125 --separate-stderr env CORDON_HOME="$SCRATCH/closed/x" "$CORDON" run -- true
	[[ $stderr == *"hint: point CORDON_HOME to"* ]] || fail "no hint" "$(outcome)"
}

@test "the opposite of a flag is never suggested" {
	run -125 cordon run --no-allow-network -- true
	assert_contains 'did you mean --allow-network=off?'
	run -125 cordon run --no-allow-write -- true
	refute_contains 'did you mean --allow-write'
}
