#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# status, doctor, profile and policy: what is in force and what could be.
load helper

@test "status shows mode, profile, backend and whether it is on" {
	run -0 cordon status
	assert_contains "mode      sandbox (Sandbox)"
	assert_contains "profile   moderate"
	assert_matches $'\nbackend   [a-z]+\n'
	assert_contains "enabled   yes"
	run -0 cordon status --json
	assert_json '.mode == "sandbox" and .profile == "moderate" and .enabled and .confined'
	assert_json '.enforced | index("files")'
}

@test "status follows mode and configuration" {
	local mode
	for mode in sandbox rx; do
		run -0 cordon status --json --mode $mode
		assert_json ".mode == \"$mode\" and .profile == \"agent\" and .confined"
	done
	run -0 cordon status --json --mode rwx
	assert_json '.mode == "rwx" and .display_name == "Unconfined" and .enabled == false'
	run -0 cordon status --no-sandbox
	assert_contains "enabled   no (--no-sandbox)"
	assert_contains "mode      rwx"
	mkdir "$HOME/.cordon"
	echo 'sandbox.mode = "rx"' >"$HOME/.cordon/config.toml"
	run -0 cordon status --json
	assert_json '.mode == "rx" and .profile == "moderate"'
	# A setting does not lift the boundary, and status does not say that it does.
	echo 'sandbox.mode = "rwx"' >"$HOME/.cordon/config.toml"
	run -0 cordon status --json
	assert_json '.mode == "sandbox" and .display_name == "Sandbox" and .mode_setting == "rwx"'
	assert_json '.profile == "moderate" and .confined and .enabled'
	run -0 cordon status
	refute_contains Unconfined
	assert_contains 'the setting mode = "rwx" is for providers'
	run -0 cordon status --mode rwx
	assert_contains "mode      rwx (Unconfined)"
	refute_contains "for providers"
}

@test "status --prompt" {
	run -0 cordon status --prompt --mode sandbox
	assert_contains "Your workspace is \"$WORKDIR\""
	assert_contains "Read only files inside the workspace"
	run -0 cordon status --prompt --mode rx
	refute_contains "Read only"
	assert_contains "only inside the workspace"
	run -0 cordon status --prompt --mode rwx
	assert_output ""
	run -0 cordon status --prompt --json --mode rx
	assert_json '.mode == "rx" and (.prompt | length > 20)'
}

@test "status --prompt says nothing untrue of another profile" {
	run -125 --separate-stderr cordon status --prompt
	[ -z "$output" ] || fail "a prompt for moderate" "$(outcome)"
	[[ $stderr == *"the profile in force is 'moderate'"*"--mode sandbox"* ]] ||
		fail "no hint" "$(outcome)"
	run -125 cordon status --prompt --profile strict
	run -0 cordon status --prompt --profile agent
	assert_contains "Your workspace is"
	run -0 cordon status --prompt --no-sandbox
	assert_output ""
}

@test "status says when nothing can be enforced" {
	run -0 cordon status --json --backend native
	if [ "$(jq -r .backend <<<"$output")" = null ]; then
		assert_json '.error.code == "unavailable"'
	fi
	run -0 cordon status --json --backend seatbelt
	assert_json '.backend == null and .error.code == "unavailable"'
}

@test "doctor lists what works, what does not, and each profile's prospect" {
	run cordon doctor
	assert_contains "This machine can enforce:"
	refute_contains $'It cannot:\n\n'
	refute_contains $'\n  sandbox-exec '
	assert_matches $'\n  seatbelt +.*: the seatbelt backend needs sandbox-exec'
	assert_matches $'\n  passthrough +.*: available\n'
	assert_matches 'Profile in force: moderate, which can'
	run cordon doctor --json
	assert_json '[.capabilities[].name] | index("landlock") and index("bwrap")'
	assert_json '.profiles | map(.profile) | sort == ["agent", "custom", "moderate", "permissive", "shell", "srt", "strict"]'
	assert_json 'all(.profiles[]; .backend == null or has("degraded"))'
	if [ "$(jq .enforceable <<<"$output")" = true ]; then
		assert_status 0
	else
		assert_status 125
	fi
}

@test "doctor says that confinement is switched off, and where" {
	local on
	on=$(cordon doctor | sed -n '/^Profiles:/,/^$/p')
	mkdir -p "$HOME/.cordon"
	printf '[sandbox]\nenabled = false\n' >"$HOME/.cordon/config.toml"
	run -0 cordon doctor
	assert_contains "Confinement is switched off by $HOME/.cordon/config.toml:2 (enabled = false)"
	refute_contains "can be enforced here"
	assert_equal "$(sed -n '/^Profiles:/,/^$/p' <<<"$output")" "$on"
	run -0 cordon doctor --json
	assert_json '.confined == false'
	printf '[sandbox]\nbackend = "passthrough"\n' >"$HOME/.cordon/config.toml"
	run -0 cordon doctor
	assert_contains "Confinement is switched off by $HOME/.cordon/config.toml:2 (backend = \"passthrough\")"
	assert_contains "'cordon run --backend auto' confines one all the same."
	refute_contains "can be enforced here"
	run -0 cordon doctor --json
	assert_json '.confined == false'
	rm "$HOME/.cordon/config.toml"
	run cordon doctor --json
	assert_json '.confined'
}

@test "profile list, show and check" {
	local name
	run -0 cordon profile list
	for name in strict moderate permissive shell agent custom; do
		assert_matches "(^|"$'\n'")$name "
	done
	refute_contains defaults
	for name in strict moderate permissive shell agent custom; do
		run -0 cordon profile show $name
		assert_contains "[sandbox.profiles.$name]"
		printf '%s\n' "$output" >shown.toml
		run -0 cordon profile check shown.toml
		assert_output ok
	done
	mkdir "$HOME/.cordon"
	printf '[sandbox.profiles.mine]\nextends = "strict"\n' >"$HOME/.cordon/config.toml"
	run -0 cordon profile list
	assert_contains "mine         ($HOME/.cordon/config.toml:1)"
	run -0 cordon profile show mine
	assert_output "# defined in $HOME/.cordon/config.toml:1
[sandbox.profiles.mine]
extends = \"strict\""
	run -0 cordon profile list --json
	assert_json '[.profiles[].name] | index("mine") and index("strict")'
	run -0 cordon profile show strict --json
	assert_json '.name == "strict" and (.toml | contains("[sandbox.profiles.strict]"))'
	echo '[sandbox.profiles.x' >bad
	run -125 cordon profile check bad
	assert_contains "bad:1:"
}

@test "profile show prints what files say, and no more" {
	mkdir "$HOME/.cordon"
	cat >"$HOME/.cordon/config.toml" <<-'EOF'
		[sandbox]
		deny = ["/other"]
		[ sandbox . profiles . "mine" ]
		extends = "moderate"
		write = [
			"{workdir}/a",
		]
		[sandbox.profiles.mine2]
		deny = ["/other2"]
		[sandbox.profiles.mine.limits]
		timeout = "5m"
		[sandbox.profiles.strict]
		deny = ["/secret-place"]
	EOF
	run -0 cordon profile show mine
	assert_equal "${#lines[@]}" 8
	assert_contains $'"{workdir}/a",\n]\n'
	assert_contains 'timeout = "5m"'
	refute_contains /other
	run -0 cordon profile show strict
	assert_contains "[sandbox.profiles.strict]"
	assert_contains "# amended in $HOME/.cordon/config.toml:12"
	assert_contains 'deny = ["/secret-place"]'
	cat >"$HOME/.cordon/config.toml" <<-'EOF'
		sandbox.profiles.mine.extends = "strict"
		sandbox.deny = ["/other"]
		sandbox.profiles.mine.deny = ["/this"]
	EOF
	run -0 cordon profile show mine
	assert_contains '"/this"'
	refute_contains /other
}

@test "doctor says for each backend whether it can be used" {
	run cordon doctor --json
	assert_json '[.backends[].name] == ["native", "bwrap", "landlock", "seatbelt", "passthrough"]'
	assert_json '.backends[] | select(.name == "seatbelt") | .built and .available == false'
	assert_json '.backends[] | select(.name == "passthrough") | .built and .available'
	assert_json '.backends | all(.available or (.built | not) or (.why | length > 10))'
	run -125 cordon run --backend foo true
	assert_contains "'cordon doctor' lists them"
}

@test "policy render in each format" {
	run -0 --separate-stderr cordon policy render
	assert_contains "backend "
	run -0 --separate-stderr cordon policy render --format json
	assert_json '.operations | map(.op) | index("env-clear")'
	run -0 --separate-stderr cordon policy render --backend bwrap --format bwrap
	assert_contains "bwrap \\"
	assert_contains "--unshare-net"
	bash -n <<<"$output" || fail "a shell does not accept it"
	run -0 --separate-stderr cordon policy render --backend bwrap --format bwrap --json
	assert_json '.arguments | map(.argument) | index("--unshare-net")'
}

@test "policy render prints a Seatbelt profile on any system" {
	run -0 --separate-stderr cordon policy render --format sbpl --profile shell
	assert_contains "(version 1)"
	assert_contains "(deny default)"
	assert_contains '(allow file-read* file-write* (subpath (param "WORKDIR")))'
	assert_contains '(subpath (string-append (param "HOME") "/.ssh"))'
	assert_contains "; MISSING: processes"
	refute_contains "$PWD"
	refute_contains "$HOME/"
	[[ $stderr == *"not enforced by Seatbelt: processes"* ]] || fail "losses are not said" "$stderr"
	run -0 --separate-stderr cordon policy render --format sbpl --mode rx
	assert_contains $'(allow default)\n(deny file-write*)\n(allow file-write* '
	run -0 --separate-stderr cordon policy render --format sbpl --json
	assert_json '.backend == "seatbelt" and (.profile | contains("(version 1)"))'
	run -125 cordon policy render --format sbpl --mode rwx
	assert_contains "no profile to print"
	run -125 cordon run --backend seatbelt true
	assert_contains "sandbox-exec"
}

@test "what is rendered for bwrap runs as it is printed" {
	command -v bwrap >/dev/null || must_or_skip "no bwrap here"
	cordon run -q --backend bwrap true || must_or_skip "the bwrap backend does not work here"
	# A file that is hidden. Little else is shown, so that no socket of somebody else's has to
	# be covered, who may have removed it before this runs.
	echo secret >"$HOME/.netrc"
	run -0 --separate-stderr cordon policy render --backend bwrap --format bwrap -p strict --fallback degrade \
		--allow-read "$HOME" --caches none
	assert_contains "</dev/null"
	refute_contains " FD "
	sed "s|COMMAND|sh -c 'echo ran; cat ~/.netrc'|" <<<"$output" >command
	run --separate-stderr bash command
	assert_output ran
	run -0 --separate-stderr cordon policy render --backend bwrap --format bwrap --tmp shared --caches none --json
	assert_json '.empty_descriptors >= 1 and (.arguments | map(.argument) | index("3"))'
	run -0 --separate-stderr cordon --json policy render --format plan
	assert_json '.operations | map(.op) | index("env-clear")'
}

@test "a plan does not show the values of variables" {
	run -0 --separate-stderr env HARMLESS=the-value-of-it "$CORDON" policy render --format json
	refute_contains the-value-of-it
	assert_contains HARMLESS
	run -0 --separate-stderr env HARMLESS=the-value-of-it "$CORDON" policy render
	refute_contains the-value-of-it
}

@test "messages are coloured on a terminal only, and not with NO_COLOR" {
	command -v script >/dev/null || must_or_skip "no script(1)"
	local esc=$'\e'
	run -125 cordon nosuch
	refute_contains "$esc"
	run env TERM=xterm script -qec "'$CORDON' nosuch" /dev/null
	assert_contains "$esc"
	run env TERM=xterm NO_COLOR=1 script -qec "'$CORDON' nosuch" /dev/null
	refute_contains "$esc"
	run env TERM=dumb script -qec "'$CORDON' nosuch" /dev/null
	refute_contains "$esc"
}

@test "doctor names what it could not create a process for" {
	cordon run -q true || must_or_skip "no backend works here"
	# Inside, new namespaces are refused.
	run cordon run -q --allow-read "$(dirname "$CORDON")" -- "$CORDON" doctor
	assert_contains "cannot create a process for user"
	refute_contains "for :"
}

# As container managers do it: parts of /proc are covered, so the kernel gives out no new one.
masked_proc() {
	unshare -r -m -p -f --mount-proc sh -c '
		mount --bind /dev/null /proc/timer_list || mount --bind /dev/null /proc/keys || exit 99
		mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys
		exec "$@"' sh "$@"
}

@test "behind a masked /proc doctor promises no more than run keeps" {
	masked_proc true || must_or_skip "no user namespaces"
	run -125 masked_proc "$CORDON" doctor
	assert_contains "fix: run where /proc is not partly masked by a container manager"
	[[ $output =~ moderate\ +refused ]] || fail "moderate is not refused" "$output"
	run masked_proc "$CORDON" run -- echo ran
	assert_equal "$status" 125
	assert_contains "cannot promise 'processes'"
	assert_contains "--fallback degrade"
	# What the hint says works, and says what is lost.
	run -0 masked_proc "$CORDON" run --fallback degrade -- echo ran
	assert_contains "processes (REQUIRED)"
	assert_contains "ran"
}

@test "doctor says how a setting that forbids user namespaces is lifted, in words to be typed" {
	unshare -Ur true || must_or_skip "no user namespaces"
	run unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && "$0" doctor' "$CORDON"
	[[ $output == *"sysctl -w user.max_user_namespaces="* ]] || fail "$output"
}

# No user namespaces, and the settings that say why as on a machine that has them.
@test "doctor names the setting of AppArmor and of Debian that forbids user namespaces" {
	unshare -Urm true || must_or_skip "no user namespaces"
	local setting
	for setting in apparmor_restrict_unprivileged_userns=1=0 unprivileged_userns_clone=0=1; do
		IFS='=' read -r name is wanted <<<"$setting"
		run -125 unshare -Urm sh -ec '
			echo 15000 >enough
			echo 0 >/proc/sys/user/max_user_namespaces
			mount --bind enough /proc/sys/user/max_user_namespaces
			mount -t tmpfs own /proc/sys/kernel
			echo "$2" >"/proc/sys/kernel/$1"
			exec "$0" doctor' "$CORDON" "$name" "$is"
		assert_contains "to lift that: sysctl -w kernel.$name=$wanted)"
	done
}
