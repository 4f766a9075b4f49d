#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Settings files of srt: --settings, and profile import srt.
load helper

settings() {
	cat >"$SCRATCH/settings.json"
}

# files DENYREAD ALLOWREAD ALLOWWRITE DENYWRITE, each the inside of a list
files() {
	settings <<-END
		{
		  "network": { "allowedDomains": [], "deniedDomains": [] },
		  "filesystem": { "denyRead": [$1], "allowRead": [$2], "allowWrite": [$3], "denyWrite": [$4] }
		}
	END
}

under() {
	cordon run -q --settings "$SCRATCH/settings.json" -- "$@"
}

@test "nothing is written but what allowWrite names" {
	mkdir out
	files '' '' '"out"' ''
	run ! under sh -c 'echo x >here'
	[ ! -e here ]
	run -0 under sh -c 'echo x >out/there'
	[ -e out/there ]
	under sh -c 'echo x >"$HOME/there"' || true
	[ ! -e "$HOME/there" ]
}

@test "denyRead closes, allowRead opens again, denyWrite holds below allowWrite" {
	mkdir -p private/notes gen/deep
	echo secret >private/key
	echo open >private/notes/a
	files '"private"' '"private/notes"' '".", "gen/deep"' '"gen"'
	run ! under cat private/key
	refute_contains secret
	run -0 under cat private/notes/a
	assert_output open
	run ! under sh -c 'echo x >gen/deep/a'
	[ ! -e gen/deep/a ]
	run -0 under sh -c 'echo x >private/notes/b && echo x >a'
	[ -e private/notes/b ]
}

@test "the recipe of srt's own documentation: the home closed, the workdir open again" {
	echo mine >"$HOME/other"
	files '"~", "'"$SCRATCH"'"' '"."' '"."' ''
	run -0 under sh -c 'echo x >a && cat a'
	assert_output x
	run ! under cat "$HOME/other"
}

@test "a secret stays closed and a denyWrite does not open it" {
	mkdir "$HOME/.ssh"
	echo key >"$HOME/.ssh/id"
	files '' '' '"."' '"~/.ssh"'
	run ! under cat "$HOME/.ssh/id"
	refute_contains key
	files '' '"~/.ssh/id"' '"."' ''
	run -0 --separate-stderr cordon run --settings "$SCRATCH/settings.json" -- cat "$HOME/.ssh/id"
	assert_output key
	[[ $stderr == *"opens a secret"* ]]
}

@test "what decides on later runs is not written, nor the file itself" {
	git init -q .
	files '' '' '".", ".git/hooks", "'"$SCRATCH"'"' ''
	run ! under sh -c 'echo x >.git/hooks/pre-commit'
	run ! under sh -c 'echo x >.bashrc'
	[ ! -e .bashrc ]
	run ! under sh -c 'echo x >"$SCRATCH/settings.json"'
	run -0 under git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x
}

@test "no host is reached that is not named" {
	files '' '' '' ''
	run -0 --separate-stderr cordon explain --settings "$SCRATCH/settings.json" example.com:443
	assert_contains denied
	settings <<-'END'
		{ "network": { "allowedDomains": ["example.com", "*.example.org:443"],
		    "deniedDomains": ["bad.example.org"] },
		  "filesystem": { "denyRead": [], "allowWrite": [], "denyWrite": [] } }
	END
	run -0 --separate-stderr cordon policy render --settings "$SCRATCH/settings.json"
	assert_contains example.com
	for host in example.org:443 bad.example.org:443 a.example.org:80; do
		run -0 --separate-stderr cordon explain --settings "$SCRATCH/settings.json" $host
		assert_contains "denied"
	done
}

@test "what cannot be kept is an error with its place, what is left out a warning" {
	settings <<-'END'
		{ "network": { "allowedDomains": [], "deniedDomains": [],
		    "httpProxyPort": 8080 },
		  "filesystem": { "denyRead": [], "allowWrite": [], "denyWrite": [] } }
	END
	run -125 cordon run --settings "$SCRATCH/settings.json" -- true
	assert_contains "settings.json:2:5: network.httpProxyPort cannot be kept"
	settings <<-'END'
		{ "network": { "allowedDomains": [], "deniedDomains": [],
		    "parentProxy": { "http": "http://proxy.test:3128" } },
		  "filesystem": { "denyRead": [], "allowWrite": [], "denyWrite": [] } }
	END
	run -125 cordon run --settings "$SCRATCH/settings.json" -- true
	assert_contains "settings.json:2:5: network.parentProxy cannot be kept: name that proxy in HTTPS_PROXY"
	settings <<-'END'
		{ "network": { "allowedDomains": [], "deniedDomains": [] },
		  "filesystem": { "denyRead": [], "allowWrite": [], "denyWrite": [] },
		  "ignoreViolations": { "*": ["/usr"] }, "allowAppleEvents": false }
	END
	run -0 cordon run --settings "$SCRATCH/settings.json" -- true
	assert_contains "settings.json:3: ignoreViolations is ignored"
	refute_contains allowAppleEvents
	settings <<<'{ "filesystm": {} }'
	run -125 cordon run --settings "$SCRATCH/settings.json" -- true
	assert_contains "settings.json:1:3: unknown key 'filesystm'"
	: >"$SCRATCH/settings.json"
	run -125 cordon run --settings "$SCRATCH/settings.json" -- true
	run -125 cordon run --settings "$SCRATCH/nowhere.json" -- true
	assert_contains nowhere.json
}

@test "settings go with no profile and no lesson" {
	files '' '' '' ''
	for flag in -pstrict --mode=sandbox; do
		run -125 cordon run "$flag" --settings "$SCRATCH/settings.json" -- true
		assert_contains "--settings brings a whole policy"
	done
	run -125 cordon learn --settings "$SCRATCH/settings.json" -- true
	assert_contains "profile import srt"
}

@test "flags go above the settings, a project file below" {
	mkdir gen sub
	files '' '' '"."' '"gen"'
	run -0 cordon run -q --settings "$SCRATCH/settings.json" --allow-write gen -- touch gen/a
	printf '[sandbox]\nread = ["sub"]\n' >.cordon.toml
	run ! under touch sub/a
	run -0 under touch a
}

@test "profile import srt: a profile that means the same" {
	mkdir -p private gen "$HOME/.ssh" "$HOME/.cordon"
	echo key >"$HOME/.ssh/id"
	echo secret >private/key
	settings <<-'END'
		{ "network": { "allowedDomains": ["example.com"], "deniedDomains": [] },
		  "filesystem": { "denyRead": ["private", "**/*.pem"], "allowRead": [],
		    "allowWrite": [".", "gen/x"], "denyWrite": ["gen", "~/.ssh", "private/key"] },
		  "credentials": { "envVars": [{ "name": "TOKEN", "mode": "deny" }] } }
	END
	run -0 --separate-stderr cordon profile import srt "$SCRATCH/settings.json" --name mine
	assert_contains "#   filesystem.denyWrite -> read"
	echo "$output" >"$HOME/.cordon/config.toml"
	run -0 cordon profile check "$HOME/.cordon/config.toml"
	objects=(a gen/x gen private/key private "$HOME/.ssh/id" "$HOME/a" /etc/passwd x.pem
		.git/hooks/x .bashrc example.com:443 example.org)
	cordon explain -q -p mine "${objects[@]}" | grep -E '(allowed|denied)' | awk '{print $1, $2}' >one
	cordon explain -q --settings "$SCRATCH/settings.json" "${objects[@]}" |
		grep -E '(allowed|denied)' | awk '{print $1, $2}' >two
	diff -u one two
	[ "$(wc -l <one)" -ge 30 ]
	# As it is it can follow what is in a file already.
	{ printf '[sandbox]\nreport = "none"\n' && cat "$HOME/.cordon/config.toml"; } >more.toml
	run -0 cordon config check more.toml
	run -125 cordon profile import tool "$SCRATCH/settings.json"
}

@test "config show with settings parses back to itself" {
	mkdir gen "$HOME/.ssh"
	echo key >"$HOME/.ssh/id"
	files '"private"' '' '"."' '"gen", "~/.ssh"'
	cordon config show -q --settings "$SCRATCH/settings.json" >shown.toml
	run -0 cordon config check - <shown.toml
	mkdir -p "$HOME/.cordon"
	cp shown.toml "$HOME/.cordon/config.toml"
	fails_inside cordon run -q -- cat "$HOME/.ssh/id"
	fails_inside cordon run -q -- touch gen/a
}

@test "imported files are as they were reviewed" {
	for file in "$BATS_TEST_DIRNAME"/../golden/srt/*.json; do
		cordon profile import srt "$file" -q | sed 1d >imported.toml
		diff -u "${file%.json}.toml" imported.toml
		run -0 cordon config check - <imported.toml
	done
}

@test "a file that is missing is named, with no option that was not given" {
	run -125 --separate-stderr cordon profile import srt "$HOME/.srt-settings.json"
	[[ $stderr == *"srt's settings, $HOME/.srt-settings.json: No such file"*"hint: "* ]] ||
		fail "not said" "$stderr"
	[[ $stderr != *--settings* ]] || fail "an option is blamed" "$stderr"
}

@test "the example of srt's own documentation runs as it is" {
	cat >s.json <<-'EOF'
	{ "network": { "allowedDomains": ["github.com", "*.github.com", "lfs.github.com"],
	    "deniedDomains": ["malicious.com"], "allowLocalBinding": false,
	    "allowUnixSockets": ["/nonexistent/docker.sock"] },
	  "filesystem": { "denyRead": ["~/.ssh"], "allowWrite": [".", "src/", "test/", "/tmp"],
	    "denyWrite": [".env", "config/production.json"] },
	  "ignoreViolations": { "*": ["/usr/bin"], "npm": ["/private/tmp"] },
	  "enableWeakerNestedSandbox": false }
	EOF
	run -0 --separate-stderr cordon run --settings s.json -- touch made
	[ -e made ]
	[[ $stderr == *"s.json:3: network.allowUnixSockets: '/nonexistent/docker.sock' does not exist and stays closed"* ]] ||
		fail "not said" "$stderr"
	[[ $stderr == *"ignoreViolations is ignored"* ]] || fail "not said" "$stderr"
}

@test "what is refused of a path has file, line and column" {
	cat >s.json <<-'EOF'
	{ "network": { "allowedDomains": [], "deniedDomains": [] },
	  "filesystem": { "denyRead": [], "denyWrite": [],
	    "allowWrite": ["/nonexistent/out"] } }
	EOF
	run -125 --separate-stderr cordon run --settings s.json -- true
	[[ $stderr == *"s.json:3:20: '/nonexistent/out' does not exist"* ]] || fail "no place" "$stderr"
}

@test "a fix names the flag and no line of a configuration, which the file would go before" {
	mkdir gen
	files '' '' '"."' '"gen"'
	run --separate-stderr cordon run --json --settings "$SCRATCH/settings.json" -- sh -c 'echo x >gen/a'
	valid
	assert_json '.violations[0].fix | (.flags | startswith("--allow-write ")) and (has("toml") | not)'
	for how in --last "--settings $SCRATCH/settings.json --write gen/a"; do
		# shellcheck disable=SC2086 # words
		run -0 cordon explain $how
		assert_contains "to allow it: --allow-write $WORKDIR/gen"
		refute_contains config.toml
	done
	run -0 cordon run -q --settings "$SCRATCH/settings.json" --allow-write gen -- sh -c 'echo x >gen/a'
}
