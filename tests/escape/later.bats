#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What would run later, outside: git's own ways to execute something (H24), writes that
# seem to succeed and are lost (H29), and the report of files that others execute (H81).

load helper

setup() {
	escape_setup
	PROFILES=moderate
	git init -q .
	git config user.name t
	git config user.email t@example.com
}

# Without cordon git does it; inside the configuration stays as it was.
config_stays() {
	local before
	before=$(cat .git/config)
	run cordon run -q -- git config "$@"
	[ "$status" -ne 0 ] || fail "git config $* worked" "$(outcome)"
	assert_equal "$(cat .git/config)" "$before"
	cp .git/config saved
	git config "$@"
	if cmp -s .git/config saved; then fail "git config $* does nothing anyway"; fi
	cp saved .git/config
}

@test "H24 every key of the configuration that executes something" {
	config_stays core.hooksPath hooks
	config_stays core.fsmonitor ./evil
	config_stays core.sshCommand ./evil
	config_stays core.editor ./evil
	config_stays core.pager ./evil
	config_stays diff.external ./evil
	config_stays diff.x.textconv ./evil
	config_stays filter.x.clean ./evil
	config_stays credential.helper ./evil
	config_stays alias.st '!./evil'
	config_stays include.path "$WORKDIR/evil"
}

@test "H24 attributes that name a filter find none" {
	run -0 cordon run -q -- sh -c 'echo "* filter=x diff=x" >.gitattributes; echo a >a; git add a
		! git config filter.x.clean "touch ran" && ! echo "[filter \"x\"] clean = touch ran" >>.git/config'
	git add -A
	refute_file ran
}

@test "H24 a directory of hooks that does not exist yet" {
	git config core.hooksPath tools/hooks
	mkdir tools
	run cordon run -q -- sh -c 'mkdir tools/hooks && echo evil >tools/hooks/pre-commit'
	refute_file tools/hooks
	run cordon run -q -- sh -c 'mkdir made && echo evil >made/pre-commit && mv made tools/hooks'
	refute_file tools/hooks
	run cordon run -q -- sh -c 'ln -s ../made tools/hooks'
	refute_file tools/hooks
	run cordon run -q -- sh -c 'mv tools away && mkdir -p tools/hooks'
	refute_file tools/hooks
}

# A write below what is denied fails at once, and neither a file nor a directory is left.
@test "H29 nothing is written into a place that vanishes" {
	local profile path
	for profile in moderate strict shell; do
		for path in .ssh/new .gnupg/new .config/gh/new .aws .netrc notes/new; do
			run cordon run -q -p $profile -- sh -c 'echo x >"$1"' - "$HOME/$path"
			[ "$status" -ne 0 ] || fail "$profile: writing $path seems to work" "$(outcome)"
		done
		run cordon run -q -p $profile -- mkdir "$HOME/.kube"
		[ "$status" -ne 0 ] || fail "$profile: mkdir seems to work" "$(outcome)"
	done
	for path in .ssh/new .gnupg .config/gh/new .aws .kube notes/new; do
		refute_file "$HOME/$path"
	done
	assert_equal "$(cat "$HOME/.netrc")" "$SECRET"
}

@test "H81 what others execute later is marked in the report of changes" {
	local name
	run -0 --separate-stderr cordon run -q --changes --json -- sh -ec 'mkdir -p venv/bin sub lib
		for f in Makefile package.json sub/conftest.py lib/x.pth venv/bin/activate setup.py plain
		do echo x >"$f"; done'
	for name in Makefile package.json sub/conftest.py lib/x.pth venv/bin/activate setup.py; do
		assert_json ".changes.created | any(.path == \"$WORKDIR/$name\" and .later != null)"
	done
	assert_json ".changes.created | any(.path == \"$WORKDIR/plain\" and .later == null)"
}

@test "H81 what is executed by merely entering or opening the directory is not made" {
	local name
	for name in .vscode .envrc .claude .mcp.json; do
		run --separate-stderr cordon run -q --json -- sh -c 'mkdir "$1" || echo x >"$1"' - "$name"
		[ -e "$name" ] || continue
		# What is not protected is at least told.
		rm -rf "$name"
		run --separate-stderr cordon run -q --json --changes -- sh -c 'echo x >"$1"' - "$name"
		assert_json ".changes.created | any(.path == \"$WORKDIR/$name\" and .later != null)"
	done
}
