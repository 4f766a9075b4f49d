#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What people do all day, under moderate, in a fresh home that the command cannot write,
# without a network. A tool that is not installed skips its test.
load helper

setup() {
	if [ -n "${CORDON_ESCAPE_TMP:-}" ]; then
		CORDON_TEST_TMP=$CORDON_ESCAPE_TMP
	elif is_root; then
		CORDON_TEST_TMP=/home
	else
		CORDON_TEST_TMP=$HOME
	fi
	cordon_setup
	unset GOCACHE GOPATH GOFLAGS npm_config_cache CARGO_HOME PIP_CACHE_DIR PIP_FIND_LINKS \
		MAVEN_OPTS TMPDIR
	printf '[user]\nname = Tester\nemail = t@example.com\n[init]\ndefaultBranch = main\n' \
		>"$HOME/.gitconfig"
	# What rustup puts on PATH finds its toolchains in the home of whoever installed it, and
	# pip asks for rustc.
	RUSTUP_HOME=${RUSTUP_HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)/.rustup}
	export RUSTUP_HOME
	cordon run -q true 2>/dev/null || must_or_skip "no backend works here"
}

needs() {
	local tool
	for tool; do
		command -v "$tool" >/dev/null || must_or_skip "$tool is not installed"
	done
}

# inside SCRIPT: a shell script under moderate that has to succeed, be refused nothing and
# change nothing in the home.
inside() {
	find "$HOME" -path "$HOME/.cordon" -prune -o -printf '%p %T@\n' | sort >"$SCRATCH/before"
	run cordon run -- bash -euc "$1"
	assert_success
	refute_contains "cordon: "
	find "$HOME" -path "$HOME/.cordon" -prune -o -printf '%p %T@\n' | sort >"$SCRATCH/after"
	cmp "$SCRATCH/before" "$SCRATCH/after" || fail "the home changed" "$(outcome)"
}

repository() {
	git init -q
	printf 'one\n' >file
	git add file
	git commit -qm first
}

@test "git: status, commit, branch, rebase, stash, tag, gc" {
	needs git
	repository
	inside 'git status; echo two >>file; git commit -qam second
		git checkout -qb topic HEAD~; echo new >other; git add other; git commit -qm third
		git rebase -q main; git log --oneline | wc -l
		echo dirty >>file; git stash -q; git stash pop -q; git checkout -q file
		git tag v1; git gc -q; git fsck'
	assert_contains 3
	assert_equal "$(git log --format=%s -1 topic)" third
}

@test "git: clone of a repository beside the workdir, and a pull" {
	needs git
	git init -q "$SCRATCH/origin"
	git -C "$SCRATCH/origin" commit -q --allow-empty -m first
	inside "git clone -q '$SCRATCH/origin' copy; cd copy; git log --oneline"
	assert_contains first
	git -C "$SCRATCH/origin" commit -q --allow-empty -m second
	git clone -q "$SCRATCH/origin" tree
	cd tree
	git -C "$SCRATCH/origin" commit -q --allow-empty -m third
	inside 'git pull -q; git log --oneline'
	assert_contains third
}

@test "git: a worktree is made and worked in" {
	needs git
	repository
	inside 'git worktree add -q tree; cd tree; echo x >new; git add new; git commit -qm there
		git -C .. log --oneline --all'
	assert_contains there
	inside 'git worktree list; git worktree add -q other; git worktree remove other'
	refute_file other
}

@test "git: work in a worktree whose repository is elsewhere" {
	needs git
	git init -q "$SCRATCH/main"
	git -C "$SCRATCH/main" commit -q --allow-empty -m first
	git -C "$SCRATCH/main" worktree add -q "$WORKDIR/tree"
	cd tree
	inside 'echo x >new; git add new; git commit -qm there; git log --oneline'
	assert_contains there
}

@test "git: work in a submodule, and its new commit in the repository" {
	needs git
	git init -q "$SCRATCH/library"
	git -C "$SCRATCH/library" commit -q --allow-empty -m first
	repository
	git -c protocol.file.allow=always submodule --quiet add "$SCRATCH/library" library
	git commit -qm library
	git -C "$SCRATCH/library" commit -q --allow-empty -m second
	inside 'git -C library fetch -q; git -C library checkout -q origin/HEAD
		git add library; git commit -qm moved; git submodule status'
	inside 'git checkout -q HEAD~; git -C library checkout -q "$(git rev-parse HEAD:library)"
		git -C library log --oneline; git status --porcelain'
	refute_contains second
}

@test "make -j and a C program" {
	needs make gcc
	printf 'all: a.o b.o\n\t$(CC) -o all a.o b.o\n' >Makefile
	echo 'int b(void); int main(void) { return b(); }' >a.c
	echo 'int b(void) { return 0; }' >b.c
	inside 'make -s -j4; ./all'
}

@test "ccache" {
	needs ccache gcc
	echo 'int main(void) { return 0; }' >a.c
	inside 'ccache gcc -c a.c; ccache gcc -c a.c; ccache -s'
	inside 'rm a.o; ccache gcc -c a.c; test -s a.o'
}

@test "python: a venv, and pip of a local wheel into it" {
	needs /usr/bin/python3
	/usr/bin/python3 -c 'import ensurepip, venv' ||
		must_or_skip "python3 has no ensurepip"
	mkdir -p package/thing-1.0.dist-info
	(
		cd package
		echo 'print("imported")' >thing.py
		printf 'Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n' >thing-1.0.dist-info/METADATA
		printf 'Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n' \
			>thing-1.0.dist-info/WHEEL
		printf 'thing.py,,\nthing-1.0.dist-info/METADATA,,\nthing-1.0.dist-info/WHEEL,,\nthing-1.0.dist-info/RECORD,,\n' \
			>thing-1.0.dist-info/RECORD
		/usr/bin/python3 -m zipfile -c ../thing-1.0-py3-none-any.whl ./*
	)
	inside '/usr/bin/python3 -m venv venv; . venv/bin/activate
		pip install -q --no-index ./thing-1.0-py3-none-any.whl; python -c "import thing"'
	assert_contains imported
}

@test "npm: install of a local package" {
	needs npm node
	mkdir dep
	echo '{"name": "dep", "version": "1.0.0", "main": "i.js"}' >dep/package.json
	echo 'module.exports = "from dep"' >dep/i.js
	echo '{"name": "app", "version": "1.0.0"}' >package.json
	inside 'cd dep; npm pack --silent --no-update-notifier; cd ..
		npm install --no-audit --no-fund --no-update-notifier ./dep/dep-1.0.0.tgz
		node -e "console.log(require(\"dep\"))"'
	assert_contains "from dep"
	# Nothing among the variables of the caches is strange to npm.
	refute_contains warn
}

@test "cargo: build and run" {
	# rustup installs for one user, as a rule.
	command -v cargo >/dev/null || lacking cargo "cargo is not this user's"
	cargo --version >/dev/null 2>&1 || lacking cargo "no toolchain of this user's"
	rm -rf "$HOME/.cargo"
	mkdir src
	printf '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n' >Cargo.toml
	echo 'fn main() { println!("built"); }' >src/main.rs
	inside 'cargo run -q --offline'
	assert_contains built
	# A home as rustup leaves it: cargo builds without the locks that it may not take.
	rm -rf target
	mkdir -p "$HOME/.cargo/bin" "$HOME/.cargo/registry"
	touch "$HOME/.cargo/env"
	inside 'cargo run -q --offline'
	assert_contains built
}

@test "go: build, test and vet" {
	needs go
	printf 'module example.com/app\n\ngo 1.18\n' >go.mod
	printf 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println("built") }\n' >main.go
	printf 'package main\n\nimport "testing"\n\nfunc TestX(t *testing.T) { main() }\n' >main_test.go
	inside 'export GOTOOLCHAIN=local; go build -o app; ./app; go vet ./...; go test ./...'
	assert_contains built
	refute_file "$HOME/go"
	# Where it counts how it is used is private, whether there is such a place or not.
	mkdir -p "$HOME/.config/go/telemetry"
	inside 'go vet ./...'
	[ -z "$(ls "$HOME/.config/go/telemetry")" ] || fail "written"
}

# What it records of downloads lies beside the modules: all of it has to be writable.
@test "go: a module of a local proxy, with and without a GOPATH of the caller" {
	needs go zip
	local proxy=$SCRATCH/proxy/example.com/lib/@v module=example.com/lib@v1.0.0
	mkdir -p "$proxy" "$module"
	echo v1.0.0 >"$proxy/list"
	echo '{"Version": "v1.0.0"}' >"$proxy/v1.0.0.info"
	printf 'module example.com/lib\n\ngo 1.18\n' | tee "$module/go.mod" >"$proxy/v1.0.0.mod"
	printf 'package lib\n\nfunc Seven() int { return 7 }\n' >"$module/lib.go"
	zip -qr "$proxy/v1.0.0.zip" "$module"
	rm -r example.com
	printf 'module example.com/app\n\ngo 1.18\n\nrequire example.com/lib v1.0.0\n' >go.mod
	printf 'package main\n\nimport "example.com/lib"\n\nfunc main() { println(lib.Seven()) }\n' >main.go
	local script="export GOTOOLCHAIN=local GOFLAGS=-mod=mod GONOSUMDB='*' GONOSUMCHECK=1 GOSUMDB=off
		export GOPROXY=file://$SCRATCH/proxy; go build -o app; ./app 2>&1
		mkdir -p \"\$(go env GOPATH)/pkg/sumdb\""
	inside "$script"
	assert_contains 7
	refute_file "$HOME/go"
	mkdir -p "$HOME/go/pkg"
	inside "$script"
	assert_contains 7
	[ -z "$(ls "$HOME/go/pkg")" ] || fail "changed: $(ls "$HOME/go/pkg")"
}

# Debian's packages as the repository, so that everything that a build from afar does is
# done: plugins are fetched into the local repository, which is private.
@test "maven: a class is compiled and a jar made, and the local repository is private" {
	needs mvn javac
	local from=/usr/share/maven-repo plugins
	plugins=$from/org/apache/maven/plugins
	[ -d "$plugins/maven-jar-plugin" ] && [ -d "$plugins/maven-compiler-plugin" ] ||
		must_or_skip "the plugins of maven are not in $from"
	mkdir -p src/main/java/example
	cat >src/main/java/example/App.java <<-'END'
	package example;
	public class App { public static void main(String[] a) { System.out.println("from jar"); } }
	END
	cat >pom.xml <<-END
	<project xmlns="http://maven.apache.org/POM/4.0.0">
	<modelVersion>4.0.0</modelVersion><groupId>example</groupId>
	<artifactId>app</artifactId><version>1</version>
	<properties><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
	<maven.compiler.source>11</maven.compiler.source>
	<maven.compiler.target>11</maven.compiler.target></properties>
	<repositories><repository><id>central</id><url>file://$from</url></repository></repositories>
	<pluginRepositories><pluginRepository><id>central</id><url>file://$from</url>
	</pluginRepository></pluginRepositories></project>
	END
	inside 'mvn -q -B package; java -cp target/app-1.jar example.App
		test -d "${MAVEN_OPTS#-Dmaven.repo.local=}"/org/apache/maven/plugins/maven-jar-plugin
		echo "$MAVEN_OPTS"'
	assert_contains "from jar"
	assert_contains "-Dmaven.repo.local=$HOME/.cordon/cache/project"
	# What was fetched is there for the next run.
	inside 'rm -r target; mvn -q -o -B package; java -cp target/app-1.jar example.App'
	assert_contains "from jar"
	mkdir -p "$HOME/.m2/repository"
	# Java takes the home from the passwd file and not from HOME: mvn itself would miss it.
	inside 'touch ~/.m2/repository/mine; echo "opts:${MAVEN_OPTS-}"'
	assert_contains "opts:"
	refute_contains maven.repo
	refute_file "$HOME/.m2/repository/mine"
}

@test "sqlite3" {
	needs sqlite3
	inside 'sqlite3 db "pragma journal_mode = wal; create table t (x); insert into t values (7)"
		sqlite3 db "select x from t"'
	assert_contains 7
}

@test "tar and rsync" {
	needs tar gzip
	mkdir -p from/deep
	echo data >from/deep/file
	ln -s deep/file from/link
	inside 'tar czf a.tgz from; mkdir to; tar xzf a.tgz -C to; diff -r from to/from'
	needs rsync
	inside 'rsync -a from/ copy/; diff -r from copy'
}

@test "gdb of one's own child" {
	needs gdb gcc
	echo 'int main(void) { return 42; }' >a.c
	gcc -g -o a a.c
	inside 'gdb -batch -nx -ex "break main" -ex run -ex next -ex continue ./a </dev/null 2>&1'
	assert_contains "Breakpoint 1, main"
	assert_contains "exited with code 052"
}

@test "strace of one's own child" {
	needs strace
	inside 'strace -f -e trace=openat -o log cat /etc/passwd >/dev/null; grep -c passwd log'
	assert_contains 1
}

@test "LeakSanitizer finds a leak" {
	needs gcc
	printf '#include <stdlib.h>\nint main(void) { volatile char *p = malloc(77); p = 0; return p != 0; }\n' >a.c
	gcc -g -fsanitize=address -o a a.c 2>/dev/null ||
		must_or_skip "no AddressSanitizer"
	inside 'env -u ASAN_OPTIONS -u LSAN_OPTIONS ./a 2>&1 || true'
	assert_contains "77 byte(s) leaked"
}

@test "a server and a client inside" {
	needs /usr/bin/python3
	echo content >page
	inside '/usr/bin/python3 - <<"END"
import http.server, threading, urllib.request
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/page").read())
END'
	assert_contains content
}

@test "locale, time zone, certificates and alternatives: moderate and strict" {
	local profile
	for profile in moderate strict; do
		run -0 env TZ=America/New_York LC_ALL=C.UTF-8 "$CORDON" run -q -p "$profile" -- \
			sh -c 'date -d @0 +%H; locale charmap; cat /etc/localtime >/dev/null &&
				ls /etc/ssl/certs >/dev/null && readlink -e /etc/alternatives/awk'
		[ -e /usr/share/zoneinfo/America/New_York ] || must_or_skip "no time zones here"
		assert_equal "${lines[0]}" 19
		assert_equal "${lines[1]}" UTF-8
		assert_contains awk
	done
}

@test "with the network allowed, names are resolved as outside: moderate and strict" {
	local profile
	[ -e /etc/resolv.conf ] || must_or_skip "no /etc/resolv.conf here"
	for profile in moderate strict; do
		run -0 cordon run -q -p "$profile" --allow-network -- \
			sh -c 'cat /etc/resolv.conf; getent hosts localhost >&2'
		assert_contains "$(cat /etc/resolv.conf)"
		assert_contains localhost
	done
}

@test "tools that live in the home are run under moderate" {
	mkdir -p "$HOME/.pyenv/versions/3.9/bin" "$HOME/.nvm/versions/node/v1/bin" \
		"$HOME/.rustup/toolchains/stable/bin" "$HOME/.cargo/bin" "$HOME/.local/bin"
	local tool
	for tool in .pyenv/versions/3.9/bin/python .nvm/versions/node/v1/bin/node \
		.rustup/toolchains/stable/bin/rustc .cargo/bin/cargo .local/bin/mine; do
		printf '#!/bin/sh\necho %s runs\n' "$tool" >"$HOME/$tool"
		chmod +x "$HOME/$tool"
		inside "~/$tool"
		assert_contains "$tool runs"
	done
}
