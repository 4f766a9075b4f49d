#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# cordon config: show, check, path; and what a project file can and cannot do.
load helper

user_config() {
	mkdir -p "$HOME/.cordon"
	cat >"$HOME/.cordon/config.toml"
}

# The values of a configuration, without its comments.
values() {
	sed -E 's/[[:space:]]+# .*//; /^#/d; /^\t# /d; /^$/d'
}

# round_trips OPTIONS...: what show prints checks, and loaded alone shows the same.
round_trips() {
	cordon config show -q "$@" >first.toml || fail "config show $*"
	run -0 cordon config check - <first.toml
	assert_output ok
	cordon config show -q --file first.toml >second.toml || fail "config show --file ($*)"
	diff -u <(values <first.toml) <(values <second.toml) || fail "differs for: $*"
	# And as the user's own file, with nothing said on the command line.
	mkdir -p "$HOME/.cordon"
	[ ! -e "$HOME/.cordon/config.toml" ] || mv "$HOME/.cordon/config.toml" kept.toml
	cp first.toml "$HOME/.cordon/config.toml"
	cordon config show -q >third.toml || fail "config show with the file in place ($*)"
	rm "$HOME/.cordon/config.toml"
	[ ! -e kept.toml ] || mv kept.toml "$HOME/.cordon/config.toml"
	diff -u <(values <first.toml) <(values <third.toml) || fail "differs in place: $*"
}

@test "config show | config check -" {
	run -0 bash -c '"$1" config show | "$1" config check -' - "$CORDON"
	assert_output ok
}

@test "show round-trips for every profile" {
	local profile
	for profile in strict moderate permissive shell agent custom; do
		round_trips --profile "$profile"
	done
}

@test "show round-trips for settings of every kind" {
	round_trips --timeout 90s --memory 1536M --procs 77 --cpu none --share-pid --no-ptrace \
		--hidden-writes git --protect exact --report all --tmp shared --keyring \
		--env CI=1 --env 'QUOTE="\x' --unset-env '*_KEY' --caches go,npm --allow-bind 80,8080 \
		--fallback degrade --backend bwrap
	round_trips --allow-network=a.example,*.b.example:443,192.0.2.0/24,[2001:db8::1]:80
	round_trips --allow-network
	round_trips --env LANG
	round_trips --deny '**/.env' --protect exact
	round_trips --no-sandbox
}

@test "show round-trips for names that are no ordinary text" {
	local name
	for name in 'a b' '*star*' 'q?' '[x]' 'back\slash' '{workdir}' '@secrets' '=same' '~' \
		'"quote"' '#hash' $'new\nline' $'tab\t' $'caf\xe9' $'\xff\xfe' 'ünïcode' '$HOME' \
		'\x41'; do
		mkdir -p -- "./$name"
		round_trips -C "./$name"
	done
}

@test "a value says where it came from" {
	user_config <<-'EOT'
	[sandbox]
	read = ["/opt"]
	limits = { timeout = "5m" }
	EOT
	run -0 cordon config show --deny /srv
	assert_contains "\"/opt\",  # $HOME/.cordon/config.toml:2"
	assert_contains "limits.timeout = \"5m\"  # $HOME/.cordon/config.toml:3"
	assert_contains '"/srv",  # --deny'
	assert_contains 'network = "off"  # profile moderate:'
}

@test "the values of the user's file survive" {
	mkdir out
	user_config <<-'EOT'
	[sandbox]
	default_profile = "mine"
	[sandbox.profiles.mine]
	extends = "strict"
	write = ["{workdir}/out"]
	env = { pass = ["LANG"], set = { A = "b" }, unset = ["C"] }
	unix = ["/run/x.sock"]
	EOT
	round_trips
	run -0 cordon config show --json
	assert_json '.profile == "mine" and .settings.protect.value == "exact"'
	assert_json '[.rules[] | select(.right == "write" and (.path | endswith("/out")))] | length == 1'
}

@test "show --json" {
	run -0 cordon config show --json --allow-network=a.example
	assert_json '.network == "list" and .hosts == ["a.example"] and .confined == true'
	assert_json '.settings.tmp == {"value": "private", "from": .settings.tmp.from}'
	assert_json '.rules | map(.right) | unique == ["deny", "exec", "read", "write"]'
}

@test "a project file narrows and is named" {
	cat >.cordon.toml <<-'EOT'
	[sandbox]
	deny = ["private"]
	limits = { timeout = "3s" }
	EOT
	run -0 cordon config show
	assert_contains "\"$WORKDIR/private\",  # $WORKDIR/.cordon.toml:2"
	assert_contains "limits.timeout = \"3s\"  # $WORKDIR/.cordon.toml:3"
	round_trips
}

@test "every project file from the workdir up narrows, and show lists each" {
	mkdir -p in/ner/own in/private
	printf '[sandbox]\ndeny = ["in/private"]\nlimits.timeout = "3s"\n' >.cordon.toml
	printf '[sandbox]\ndeny = ["ner/own"]\nwrite = ["private"]\nlimits.timeout = "9s"\n' \
		>in/.cordon.toml
	run -0 cordon config show -C in/ner
	assert_contains "\"$WORKDIR/in/private\",  # $WORKDIR/.cordon.toml:2"
	assert_contains "\"$WORKDIR/in/ner/own\",  # $WORKDIR/in/.cordon.toml:2"
	assert_contains "limits.timeout = \"3s\"  # $WORKDIR/.cordon.toml:3"
	assert_contains "# The project file $WORKDIR/in/.cordon.toml, which"
	assert_contains "# The project file $WORKDIR/.cordon.toml, which"
	assert_contains "in/.cordon.toml:4: limits.timeout = \"9s\"  no effect"
	run -0 cordon explain --json -C in/ner --read "$WORKDIR/in/private/x"
	assert_json '.objects[0].verdicts[0].allowed == false'
	run -0 cordon config path --json -C in/ner
	assert_json '[.files[] | select(.kind == "project").path] ==
		["'"$WORKDIR"'/in/.cordon.toml", "'"$WORKDIR"'/.cordon.toml"]'
	echo 'sandbox.enabled = false' >.cordon.toml
	run -125 cordon run -C in/ner true
	assert_contains "$WORKDIR/.cordon.toml:1"
}

@test "what would widen has no effect, and show says so" {
	cat >.cordon.toml <<-'EOT'
	[sandbox]
	read = ["~/.ssh"]
	write = ["/etc"]
	exec = ["/srv"]
	network = "on"
	tmp = "shared"
	limits = { output = "1G" }
	EOT
	mkdir "$HOME/.ssh"
	run -0 cordon config show
	assert_contains ".cordon.toml:2: read ~/.ssh  no effect: it would widen"
	assert_contains ".cordon.toml:3: write /etc  no effect: it would widen"
	assert_contains ".cordon.toml:4: exec /srv  no effect"
	assert_contains ".cordon.toml:5: network = \"on\"  no effect: it would widen"
	assert_contains ".cordon.toml:6: tmp = \"shared\"  no effect"
	assert_contains ".cordon.toml:7: limits.output = \"1G\"  no effect"
	assert_contains 'network = "off"'
	assert_contains "\"$HOME/.ssh\",  # profile moderate"
	round_trips
	run -0 cordon explain --json --write /etc/x
	assert_json '.objects[0].verdicts[0].allowed == false'
}

@test "a key that a project file may not set is an error with its line" {
	local key
	for key in 'enabled = false' 'fallback_on_unavailable = "passthrough"' 'backend = "bwrap"' \
		'mode = "rwx"' 'unix = ["/x"]' 'bind = [80]' 'env.set.A = "b"' 'env.pass = ["A"]' \
		'default_profile = "permissive"' 'report = "none"' 'caches = []'; do
		printf '[sandbox]\n# comment\n%s\n' "$key" >.cordon.toml
		run -125 --separate-stderr cordon run touch ran
		[[ $stderr == *"$WORKDIR/.cordon.toml:3:"[0-9]* ]] || fail "no place: $key" "$(outcome)"
		refute_file ran
	done
}

@test "config path" {
	run -0 cordon config path
	assert_contains "system  /etc/cordon/config.toml"
	assert_contains "user    $HOME/.cordon/config.toml (absent)"
	assert_contains "project .cordon.toml (absent)"
	user_config <<<''
	touch .cordon.toml
	run -0 cordon config path --json
	assert_json ".files[1] | .kind == \"user\" and .present and .path == \"$HOME/.cordon/config.toml\""
	assert_json ".files[2] | .present and .path == \"$WORKDIR/.cordon.toml\""
}

@test "config check names what a project file says in vain" {
	printf '[sandbox]\nwrite = ["/opt"]\nnetwork = "on"\ndeny = ["private"]\n' >p.toml
	run -0 --separate-stderr cordon config check --as project p.toml
	assert_output ok
	[[ $stderr == *"p.toml:2: write /opt  no effect: it would widen"*"p.toml:3: network"*"no effect"* ]] ||
		fail "not said" "$(outcome)"
	[[ $stderr != *private* ]] || fail "said of what narrows" "$(outcome)"
	run -0 --separate-stderr cordon config check --as user p.toml
	assert_equal "$stderr" ""
	# That name has no other meaning.
	cp p.toml .cordon.toml
	run -0 --separate-stderr cordon config check .cordon.toml
	[[ $stderr == *".cordon.toml:2: write /opt  no effect: it would widen"* ]] ||
		fail "not said" "$(outcome)"
	run -0 --separate-stderr cordon run true
	[[ $stderr == *"warning: a project file asks for more than there is, without effect"* ]] ||
		fail "not said" "$(outcome)"
	run -0 --separate-stderr cordon run -q true
	assert_equal "$stderr" ""
	printf '[sandbox]\ndeny = ["private"]\n' >.cordon.toml
	mkdir private
	run -0 --separate-stderr cordon run true
	[[ $stderr != *"a project file"* ]] || fail "said of what narrows" "$(outcome)"
	rm .cordon.toml
	# What the user's own file gives, a project file may give, too.
	mkdir -p -m 700 "$HOME/.cordon"
	printf '[sandbox]\nnetwork = "on"\n' >"$HOME/.cordon/config.toml"
	run -0 --separate-stderr cordon config check --as project p.toml
	[[ $stderr == *"write /opt"* && $stderr != *network* ]] || fail "of another policy" "$(outcome)"
}

@test "a file that is not there has no line" {
	run cordon config check "$SCRATCH/none"
	assert_status 125
	assert_output "cordon: config: '$SCRATCH/none': No such file or directory"
}

@test "config check knows the kinds of files" {
	echo 'sandbox.enabled = false' >f
	run -0 cordon config check f
	assert_output ok
	run -0 cordon config check --as system f
	run -125 cordon config check --as project f
	assert_contains "f:1:"
	echo 'sandbox.locked.network = "off"' >f
	run -0 cordon config check --as system f
	run -125 cordon config check f
	run -0 cordon config check --json - <<<''
	assert_json '.ok'
}

@test "config check looks at paths and parents too" {
	printf '[sandbox.profiles.x]\nextends = "nosuch"\n' >f
	run -125 cordon config check f
	assert_contains "f:2:"
	printf '[sandbox]\n\ndeny = ["a/{wrkdir}"]\n' >f
	run -125 cordon config check f
	assert_contains "f:3:"
}
