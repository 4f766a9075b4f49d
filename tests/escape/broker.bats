#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# protect = exact: H12-H15, H17-H21, H26, H48, H49, H52, H54 and their neighbours, where
# neither a mount nor Landlock has a rule: hidden names at any depth, names that do not
# exist yet, patterns. And that whatever is allowed works as without.

load helper

setup() {
	escape_setup
	[ $BACKEND = native ] || configure 'share_pid = true'
	PROFILES=strict
	FLAGS=()
	needs_enforced exact "no broker on this machine" -p strict
	mkdir deep
	echo "$SECRET" >deep/.conf
	chmod 644 deep/.conf
	RACE_MS=${CORDON_RACE_MS:-700}
}

teardown() {
	[ -z "${SHORT:-}" ] || rm -rf "$SHORT"
	escape_teardown
}

# unchanged ATTACK ARGS...: deep/.conf stays what it is.
unchanged() {
	local before after
	before=$(stat -c '%a %u %g %X %Y %h %s' deep/.conf)
	inside "$@"
	after=$(stat -c '%a %u %g %X %Y %h %s' deep/.conf)
	assert_equal "$after" "$before"
}

@test "what is promised is said: result, plan and explain" {
	for profile in strict shell; do
		run --separate-stderr cordon run -q -p $profile --json -- true
		assert_json ".protect == \"exact\" and .cause == \"exited\" and .backend == \"$BACKEND\""
		assert_json '.enforced | index("exact") and index("hidden-names")'
		assert_json '.degraded | any(. == "exact" or . == "hidden-names" or . == "guard") | not'
	done
	run cordon explain -p strict --write deep/.new
	assert_contains denied
}

@test "H20 a hidden name is not made at any depth, whatever makes it" {
	echo x >plain
	mkdir dir
	refused deep/.new mkdir deep/.new
	refused deep/.new mkdirat deep .new
	refused deep/.new write-created deep/.new
	refused deep/.new write-creat deep/.new
	refused deep/.new create-openat2 deep/.new
	refused deep/.new create-at deep .new
	refused deep/.new mkfifo deep/.new
	refused deep/.new symlink plain deep/.new
	# On landlock there are no unix sockets to bind.
	if [ "$BACKEND" = native ]; then
		refused deep/.new bind-name deep/.new
	fi
	refused deep/.new link plain deep/.new
	refused deep/.new tmpfile deep/.new
	inside rename plain deep/.new
	inside rename dir deep/.new
	assert_file plain
	assert_file dir
}

@test "a hidden symlink that is there is neither removed, moved nor replaced" {
	ln -s target .link
	ln -s target deep/.link
	for link in .link deep/.link; do
		run cordon run -q -p strict -- sh -c 'rm -f "$1"; mv "$1" seen; ln -sfn other "$1"; :' sh $link
		assert_status 0
		assert_equal "$(readlink $link)" target
		refute_file seen
	done
}

@test "H12 the same through /proc, /dev/fd and links" {
	ln -s deep hop
	ln -s deep/.new leads
	for dir in hop /proc/self/cwd/deep "/proc/self/root$WORKDIR/deep" "$WORKDIR/hop" \
		/proc/thread-self/cwd/hop; do
		inside mkdir "$dir/.new"
		inside write-created "$dir/.new"
	done
	inside write-created leads
	inside write-creat leads
	run cordon run -q -p strict -- sh -c 'exec 7<deep && ./attack mkdir /dev/fd/7/.new'
	assert_status 10
	run cordon run -q -p strict -- sh -c 'cd deep && ../attack mkdir .new'
	assert_status 10
	refute_file deep/.new
}

@test "H13 a link out of the workdir leads nowhere" {
	ln -s "$OUTSIDE" out
	inside write-created out/new
	refute_file "$OUTSIDE/new"
	bare write-created out/new
}

@test "what is hidden and there: not written, moved, removed, linked, truncated" {
	for how in 'unlink deep/.conf' 'truncate deep/.conf' 'rename deep/.conf seen' \
		'link deep/.conf seen' 'link-fd deep/.conf seen' 'chmod deep/.conf' \
		'chown deep/.conf' 'setxattr deep/.conf' 'utimes deep/.conf'; do
		# shellcheck disable=SC2086
		unchanged $how
	done
	refute_file seen
	echo x >plain
	unchanged rename plain deep/.conf
	unchanged exchange plain deep/.conf
	assert_equal "$(cat deep/.conf)" "$SECRET"
}

# A second name, in a place with other rules, would be the file without its own.
@test "H17 no hard link of what is denied, hidden, protected or read-only, by any way to name it" {
	mkdir -p lib .git/hooks sub
	for file in lib/file .git/config .git/hooks/pre-push denied x.key; do
		echo "$SECRET" >$file
	done
	ln -s "$WORKDIR" self
	FLAGS=(--allow-read lib --deny denied --deny '**/*.key')
	for file in deep/.conf lib/file .git/config .git/hooks/pre-push denied x.key "$HOME/.netrc" "$OUTSIDE/file"; do
		for way in link link-fd; do
			inside $way "$file" sub/stolen
			refute_file sub/stolen
			bare $way "$file" sub/stolen
			rm sub/stolen
		done
		[[ $file == /* ]] || inside link "self/./sub/../$file" sub/stolen
		run cordon run -q -p strict "${FLAGS[@]}" -- /usr/bin/python3 -c 'import ctypes, os, sys
fd = os.open(sys.argv[1], os.O_PATH)
sys.exit(ctypes.CDLL(None).linkat(fd, b"", -100, b"sub/stolen", 0x1000) == 0 and 3)' "$file"
		[ "$status" -ne 3 ] || fail "linked: $file" "$(outcome)"
		refute_file sub/stolen
	done
	# What may be written gets as many names as it likes.
	echo x >plain
	run -0 cordon run -q -p strict "${FLAGS[@]}" -- ./attack link plain sub/second
	assert_equal "$(stat -c %h plain)" 2
}

@test "a descriptor that may only be read changes nothing" {
	for what in mode owner times attribute; do
		unchanged fd-change $what deep/.conf
		bare fd-change $what deep/.conf
		chmod 644 deep/.conf
	done
	# Only ext4 has it.
	if [ "$(stat -f -c %T .)" = ext2/ext3 ]; then
		unchanged fd-change version deep/.conf
		bare fd-change version deep/.conf
	fi
	unchanged fchmod deep/.conf
}

@test "a descriptor that may only be read changes no flags" {
	local what before

	flags() { /usr/bin/python3 -c 'import fcntl, os
fd = os.open("deep/.conf", os.O_RDONLY)
print(fcntl.ioctl(fd, 0x80086601, bytes(8)), fcntl.ioctl(fd, 0x801c581f, bytes(28)))'; }
	before=$(flags) || lacking fsflags "the file system here has no flags"
	for what in flags xflags; do
		unchanged fd-change $what deep/.conf
		assert_equal "$(flags)" "$before"
		bare fd-change $what deep/.conf
		[ "$(flags)" != "$before" ] || fail "nothing changed: $what"
		bare fd-change $what deep/.conf
	done
}

@test "a descriptor that may be written changes its own file, and the number that follows none" {
	run cordon run -q -p strict -- /usr/bin/python3 -c '
import os
fd = os.open("own", os.O_WRONLY | os.O_CREAT)
os.fchmod(fd, 0o640), os.utime(fd, (1, 2))
kept = os.open("deep/.conf", os.O_RDONLY)
os.dup2(kept, fd)
for change in (lambda: os.fchmod(fd, 0o666), lambda: os.utime(fd, (1, 2))):
    try:
        change()
    except OSError:
        continue
    raise SystemExit("changed")'
	assert_status 0
	assert_equal "$(stat -c '%a %X %Y' own)" "640 1 2"
	assert_equal "$(stat -c %a deep/.conf)" 644
}

@test "H19 a descriptor got for reading, or for nothing, is not opened for writing" {
	unchanged reopen path deep/.conf
	unchanged reopen read deep/.conf
	bare reopen path deep/.conf
}

@test "H15 a directory is not moved to where its rules would not follow" {
	mkdir -p deep/.git/hooks
	inside rename deep/.git open
	assert_file deep/.git/hooks
	mkdir -p build/sub
	echo x >build/settings.json
	inside rename build .claude
	refute_file .claude
	assert_file build/settings.json
}

@test "H20 H21 a denied name with its missing parents" {
	FLAGS=(--deny new/secret/file)
	refused new write-created new
	refused new symlink deep new
	refused new mkfifo new
	mkdir -p new/secret elsewhere
	echo x >elsewhere/file
	refused new/secret/file write-created new/secret/file
	inside rename elsewhere new/other/../secret
	run cordon run -q -p strict "${FLAGS[@]}" -- sh -c 'rmdir new/secret && mv elsewhere new/secret'
	[ "$status" -ne 0 ] || fail "moved" "$(outcome)"
	refute_file new/secret/file
}

@test "H26 a pattern hides what is there and what comes, whoever names it" {
	FLAGS=(--deny '**/*.key')
	mkdir -p a/b
	echo "$SECRET" >a/b/x.key
	ln -s a/b/x.key seen
	inside read-file a/b/x.key
	inside read-file seen
	inside read-file /proc/self/cwd/a/b/x.key
	inside link a/b/x.key copy
	inside rename a/b/x.key copy
	inside reopen path a/b/x.key
	refused new.key write-created new.key
	refused new.key mkdir new.key
	echo "$SECRET" >a/late.txt
	inside rename a/late.txt a/late.key
	bare read-file a/b/x.key
	# Landlock has no right for one directory without those in it.
	local listed=/
	[ "$BACKEND" = native ] || listed=a
	run cordon run -q -p strict "${FLAGS[@]}" -- sh -c 'ls "$1" a/b >/dev/null && cat a/late.txt' sh $listed
	assert_output "$SECRET"
}

# A directory that no rule speaks of is the way to what is shown; a file is not.
@test "with a pattern, a file that no rule speaks of is refused by the broker itself" {
	local source=broker
	[ "$BACKEND" = landlock ] || source=notify # it is not there
	run --separate-stderr cordon run -q -p strict --deny '**/*.key' --json -- cat "$OUTSIDE/file"
	assert_json '[.violations[] | [.op, .source]] == [["read", "'$source'"]] and .exit_code != 0'
}

@test "H25 what is hidden has no other case, where the file system takes it for the same" {
	folding_workdir
	mkdir hidden deep
	echo "$SECRET" >hidden/file
	# A directory may hold programs, which could be executed.
	FLAGS=(--deny hidden --deny '**/*.key' --fallback degrade)
	echo "$SECRET" >a.key
	for name in hidden/file HIDDEN/file Hidden/FILE A.key a.KEY; do
		inside read-file "$name"
		bare read-file "$name"
		inside write "$name"
	done
	refused deep/b.KEY write-created deep/b.KEY
	assert_equal "$(cat hidden/file a.key)" "$SECRET"$'\n'"$SECRET"
}

@test "H31 H63 a file of the host handed in is not opened for more" {
	echo x >"$OUTSIDE/in"
	run cordon run -q -p strict -- sh -c 'echo y >/proc/self/fd/0' <"$OUTSIDE/in"
	[ "$status" -ne 0 ] || fail "written" "$(outcome)"
	assert_equal "$(cat "$OUTSIDE/in")" x
	chmod 600 "$OUTSIDE/in"
	# Handed in to be written, too: its mode is still not the command's.
	run cordon run -q -p strict -- /usr/bin/python3 -c 'import os; os.fchmod(0, 0o666)' <>"$OUTSIDE/in"
	assert_contains PermissionError
	assert_status 1
	assert_equal "$(stat -c %a "$OUTSIDE/in")" 600
}

# It has no name inside, and is a violation all the same.
@test "H31 what is refused of a file handed in is told, and --on-violation sees it" {
	local chmod='import os, contextlib
with contextlib.suppress(OSError): os.fchmod(0, 0o666)'
	local name='(a file handed in)'
	[ "$BACKEND" = native ] || name=$OUTSIDE/in # there are no mounts
	echo x >"$OUTSIDE/in"
	for how in fail kill; do
		run --separate-stderr cordon run --json -p strict "${FLAGS[@]}" --on-violation $how -- \
			/usr/bin/python3 -c "$chmod" <>"$OUTSIDE/in"
		assert_status 125
		assert_json '.cause == "policy"'
		assert_equal "$(jq -r '.violations[0].object' <<<"$output")" "$name"
	done
	run --separate-stderr cordon run -p strict "${FLAGS[@]}" -- /usr/bin/python3 -c "$chmod" <>"$OUTSIDE/in"
	assert_success
	[[ $stderr == *"writing $name"* ]] || fail "not told" "$(outcome)"
}

@test "H49 a process that cannot be looked at gets no hidden name either" {
	inside blind deep/.new
	refute_file deep/.new
}

# The broker may look at every process of the sandbox; the command may not.
@test "H49 what a process keeps from others is not opened for them, nor what its links lead to" {
	cat >keeps.py <<-'EOF'
	import ctypes, os, sys
	up, told = os.pipe()
	end = os.pipe()[0]
	keeper = os.fork()
	if not keeper:
	    os.dup2(os.memfd_create("kept"), 99)
	    if sys.argv[1] == "closed":
	        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
	    os.write(told, b"x")
	    os.read(end, 1)
	os.read(up, 1)
	for name in "maps", "mem", "environ", "auxv", "fd/99", "exe", "cwd/keeps.py", "root/etc/passwd":
	    for flags in os.O_RDONLY, os.O_WRONLY:
	        try:
	            os.close(os.open("/proc/%d/%s" % (keeper, name), flags))
	            print(name, flags)
	        except OSError:
	            pass
	os.kill(keeper, 9)
	# It may look at itself all the same, where there is somebody who may help it to.
	if sys.argv[2] == "native":
	    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
	    os.close(os.open("/proc/self/cwd/keeps.py", os.O_RDWR))
	EOF
	local looks=(/usr/bin/python3 keeps.py)
	# With a pattern reading is carried out, too.
	for flags in "" "--deny=**/*.key"; do
		FLAGS=(-q -p permissive --protect exact ${flags:+"$flags"})
		run -0 cordon run "${FLAGS[@]}" -- "${looks[@]}" closed $BACKEND
		assert_output ""
		run -0 cordon run "${FLAGS[@]}" -- "${looks[@]}" open $BACKEND
		assert_contains "fd/99 1"
	done
}

@test "H48 the path changes while it is looked at" {
	for how in mkdir file symlink link rename bind; do
		inside swap-path "$RACE_MS" $how deep/new deep/.new
		refute_file deep/.new
		bare swap-path 20000 $how deep/new deep/.new
		rm -rf deep/.new deep/new source
	done
}

@test "H48 the path changes while it is looked at, of what is there" {
	local how guarded

	FLAGS=(--deny '**/*.key')
	echo key >deep/own.key
	for how in read write unlink truncate chmod setxattr link rename; do
		guarded=deep/.conf
		case $how in read | write) guarded=deep/own.key ;; esac
		cp -p $guarded kept
		inside swap-change "$RACE_MS" $how deep/plain $guarded
		cmp kept $guarded
		assert_equal "$(stat -c %a $guarded)" 644
		bare swap-change 20000 $how deep/plain $guarded
		rm -f $guarded taken deep/plain
		cp -p kept $guarded
		chmod 644 $guarded
	done
}

@test "H48 another process changes the path in memory that both have" {
	for how in mkdir file rename; do
		inside swap-shared "$RACE_MS" $how deep/new deep/.new
		refute_file deep/.new
		bare swap-shared 20000 $how deep/new deep/.new
		rm -rf deep/.new deep/new source
	done
}

@test "H14 a link on the way changes" {
	mkdir -p plain deep/.dir
	inside swap-link "$RACE_MS" plain deep/.dir new
	refute_file deep/.dir/new
	bare swap-link 20000 plain deep/.dir new
}

@test "H14 a directory on the way is moved" {
	FLAGS=(--deny bad)
	inside swap-directory "$RACE_MS" bad
	refute_file bad
	rm -rf aside walk
	bare swap-directory 20000 bad
}

@test "H48 a descriptor's number changes its file, or its directory" {
	FLAGS=(--deny shut/name)
	echo x >plain
	mkdir -p open shut
	chmod 644 plain
	inside swap-fd "$RACE_MS" plain deep/.conf
	assert_equal "$(stat -c %a deep/.conf)" 644
	inside swap-dirfd "$RACE_MS" open shut name
	refute_file shut/name
	bare swap-dirfd 20000 open shut name
	bare swap-fd 20000 plain deep/.conf
}

@test "H52 signals: each call happens once, none is interrupted, none hangs" {
	for which in alarm child urgent ''; do
		run timeout -k 5 200 "$CORDON" run -q -p strict -- ./attack storm 300 $which
		assert_status 10
		assert_contains "signals: some"
	done
}

@test "20,000 refusals, half of them of one name: the run lives, the report stays bounded" {
	flooded -p strict
}

@test "refusals are told, with who, what and the rule" {
	run --separate-stderr cordon run -q -p strict --json -- sh -c 'mkdir deep/.new; echo x >deep/.conf'
	assert_json '.violations | length == 2 and all(.source == "broker" and .op == "write")'
	assert_json '.violations[0].object | endswith("/deep/.new")'
	assert_json '.violations[0].program == "mkdir"'
	assert_json '.violations | all(.fix != null)'
}

@test "what would not have worked anyway, or is there already, is no violation" {
	run --separate-stderr cordon run -q -p strict --json -- \
		sh -c 'mkdir deep; mkdir -p deep/.conf; rm -f deep/.none; rmdir deep; mkdir none/none; true'
	assert_json '.violations == []'
}

@test "report = all: what mounts, Landlock and filters refuse is told, too" {
	run --separate-stderr cordon run -q -p shell --json -- bash -c 'cat "$1/.netrc"; cp /bin/true t; ./t
		: >/dev/tcp/192.0.2.1/80; ./attack unshare; mkdir deep/.new; true' - "$HOME"
	assert_json '.enforced | index("exact")'
	if [ "$BACKEND" = native ]; then
		assert_json '.enforced | index("report")'
		assert_json '[.violations[] | [.op, .source]] | sort == ([["read", "notify"], ["exec", "notify"],
			["exec", "notify"], ["connect", "notify"], ["write", "broker"]] | sort)'
	else
		# No socket can be made, so nobody gets as far as connecting.
		assert_json '[.violations[] | [.op, .source]] | contains([["read", "notify"], ["write", "broker"]])'
	fi
	run --separate-stderr cordon run -q -p strict --json -- ./attack unshare
	assert_json '[.violations[] | [.op, .object]] == [["call", "unshare"]]'
	run --separate-stderr cordon run -q -p strict --report none --json -- ./attack unshare
	assert_json '.violations == []'
}

@test "what is allowed is done as without a broker: the same results, errors and files" {
	cp "$BATS_TEST_DIRNAME/operations.py" .
	SHORT=$(mktemp -d "$(ground)/s.XXXX")
	start_server unix "$SHORT/s"
	# On landlock there are only those that are named, and those only where all connecting is
	# carried out.
	local sockets=("outside=$SHORT/s") named=(--allow-unix "$SHORT/s")
	FLAGS=(-p permissive --fallback degrade --protect exact "${named[@]}")
	claimed unix-sockets "${FLAGS[@]}" || sockets=(no-sockets)
	for protect in off exact; do
		rm -rf here
		mkdir here
		run --separate-stderr timeout -k 5 200 "$CORDON" run -q -p permissive --fallback degrade \
			--hidden-writes allow --protect $protect "${named[@]}" -- \
			python3 operations.py here "${sockets[@]}"
		assert_success
		echo "$output" >"$SCRATCH/$protect"
	done
	run diff "$SCRATCH/off" "$SCRATCH/exact"
	assert_success
	# And as without cordon, but for three things that the sandbox itself refuses.
	rm -rf here
	mkdir here
	run -0 timeout -k 5 200 python3 operations.py here "${sockets[@]}"
	local declared='^FS_IOC_SETFLAGS|^setxattr trusted:|^listxattr:|^chown to another:|^./meta '
	run diff <(grep -Ev "$declared" <<<"$output") <(grep -Ev "$declared" "$SCRATCH/exact")
	assert_success
	run tail -n 1 "$SCRATCH/exact"
	[ "$(sed 's/[^0-9]//g' <<<"$output")" -ge 150 ] || fail "too few operations" "$output"
	# In a network of the sandbox's own connecting is carried out, too.
	[ "$BACKEND" = native ] || return 0
	rm -rf here
	mkdir here
	run -0 --separate-stderr timeout -k 5 200 "$CORDON" run -q -p permissive --hidden-writes allow \
		--allow-network=off --protect exact "${named[@]}" -- \
		python3 operations.py here "${sockets[@]}"
	run diff <(echo "$output") "$SCRATCH/exact"
	assert_success
}

# In the sandbox nothing is made in the root, and on landlock it is not even read. A root without
# its rights over files is what root is there. Who has no terminal hears that before it is told that
# another's time of access is not to be left alone.
@test "every combination of flags opens what it does without a broker, or fails as it does" {
	local declared='^/ [0-2]|^/dev/tty [0-2] 1.{6}:' before=()
	if [ "$BACKEND" = landlock ]; then
		declared+='|^/proc/self/comm [0-2]'
		is_root && before=(setpriv --bounding-set=-all --inh-caps=-all)
	fi
	cp "$BATS_TEST_DIRNAME/opens.py" .
	mkdir bare exact
	"${before[@]}" setsid -w python3 opens.py bare >"$SCRATCH/bare"
	timeout 100 "$CORDON" run -q -p permissive --fallback degrade --hidden-writes allow \
		--protect exact -- setsid -w python3 opens.py exact >"$SCRATCH/exact"
	chmod 700 ./*/blind
	run diff <(grep -Ev "$declared" "$SCRATCH/bare") <(grep -Ev "$declared" "$SCRATCH/exact")
	assert_success
	[ "$(wc -l <"$SCRATCH/exact")" -gt 10000 ] || fail "too few" "$(tail "$SCRATCH/exact")"
}

# The broker's own copy of what it opens must be gone before anybody executes it: whoever wrote it,
# on whichever processor, by whichever call, and whatever of it was just written.
@test "a file that was just written can be executed at once" {
	cp /bin/true plain
	run -0 timeout -k 5 100 "$CORDON" run -q -p permissive --protect exact -- /usr/bin/python3 -c '
import os, subprocess

image = open("plain", "rb").read()
cpus = sorted(os.sched_getaffinity(0))

def write(name, content):
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o755)
    os.write(fd, content)
    os.close(fd)

def child(what):
    pid = os.fork()
    if pid:
        return pid
    try:
        what()
    except OSError as e:
        os._exit(100 + e.errno)
    os._exit(99)

def wait(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

def forked(i):
    write("tool", b"#!/bin/true\n")
    return wait(child(lambda: os.execv("./tool", ["tool"])))

def by_descriptor(i): # execveat
    write("tool", image)
    fd = os.open("tool", os.O_RDONLY)
    pid = child(lambda: os.execve(fd, ["tool"], {}))
    os.close(fd)
    return wait(pid)

def interpreter(i):
    write("interpreter", image)
    return wait(child(lambda: os.execv("./script", ["script"])))

def spawned(i):
    write("tool", image)
    return wait(os.posix_spawn("./tool", ["tool"], {}))

def vforked(i):
    write("tool", image)
    return subprocess.run(["./tool"]).returncode

def inherited(i):
    fd = os.open("tool", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o755)
    hear, tell = os.pipe()
    def go_on(): # once nobody else has it open
        os.close(tell)
        os.read(hear, 1)
        os.write(fd, image)
        os.close(fd)
        os.execv("./tool", ["tool"])
    pid = child(go_on)
    for mine in fd, hear, tell:
        os.close(mine)
    return wait(pid)

def elsewhere(i): # who executes waits for the word on another processor
    hear, tell = os.pipe()
    def listen():
        os.sched_setaffinity(0, {cpus[-1 - i % len(cpus)]})
        os.close(tell)
        os.read(hear, 1)
        os.execv("./tool", ["tool"])
    pid = child(listen)
    write("tool", image)
    os.close(hear)
    os.write(tell, b"x")
    os.close(tell)
    return wait(pid)

write("script", b"#!./interpreter\n")
ways = [forked, by_descriptor, interpreter, spawned, vforked, inherited, elsewhere]
for i in range(1500):
    if i % 50 == 0:
        os.sched_setaffinity(0, {cpus[i // 50 % len(cpus)]} if i % 100 else cpus)
    way = ways[i % len(ways)]
    try:
        got = way(i)
    except OSError as e:
        got = e.strerror
    assert got == 0, (i, way.__name__, got)'
}

# Files that are made in a row are made in the directory that is there, each of them.
@test "H15 H18 directories are not exchanged if what is in either is judged otherwise there" {
	mkdir other
	echo x >other/new
	FLAGS=(--deny deep/new)
	inside exchange other deep
	inside exchange deep other
	assert_file other/new
	refute_file deep/new
}

# Soon enough that it would be, if only the time counted.
@test "a directory that the host moves between two calls is not used again" {
	run -0 timeout 60 /usr/bin/python3 -c '
import os, subprocess, sys
inside = """
import sys
for line in sys.stdin:
    open("a/one" + line.strip(), "w").close()
    print(flush=True)
    sys.stdin.readline()
    open("a/two" + line.strip(), "w").close()
    print(flush=True)
"""
os.mkdir("a")
run = subprocess.Popen(sys.argv[1:] + ["/usr/bin/python3", "-c", inside], stdin=subprocess.PIPE,
                       stdout=subprocess.PIPE, text=True, bufsize=1)
for i in range(100):
    run.stdin.write(f"{i}\n")
    run.stdout.readline()
    os.rename("a", f"b{i}")
    os.mkdir("a")
    run.stdin.write("go\n")
    run.stdout.readline()
    assert os.listdir("a") == [f"two{i}"], os.listdir("a")
    os.unlink(f"a/two{i}")
run.stdin.close()
sys.exit(run.wait())' "$CORDON" run -q -p strict --
}

@test "H31 in a directory that the host moves out of the workdir nothing is changed" {
	local tried='
import os, sys
os.chdir("sub")
here = os.open(".", os.O_RDONLY)
print(flush=True)
sys.stdin.readline()
tries = {}
for n, at in ("", {}), ("2", {"dir_fd": here}):
    both = {"src_dir_fd": here, "dst_dir_fd": here} if at else {}
    tries.update({
        "create" + n: lambda n=n, at=at: os.open("new" + n, os.O_WRONLY | os.O_CREAT, **at),
        "above" + n: lambda n=n, at=at: os.open("../new" + n, os.O_WRONLY | os.O_CREAT, **at),
        "write" + n: lambda n=n, at=at: os.open("file", os.O_WRONLY, **at),
        "mkdir" + n: lambda n=n, at=at: os.mkdir("directory" + n, **at),
        "symlink" + n: lambda n=n, at=at: os.symlink("x", "symlink" + n, **at),
        "chmod" + n: lambda n=n, at=at: os.chmod("file", 0o600, **at),
        "utime" + n: lambda n=n, at=at: os.utime("file", (1, 1), **at),
        "unlink" + n: lambda n=n, at=at: os.unlink("old" + n, **at),
        "rmdir" + n: lambda n=n, at=at: os.rmdir("empty" + n, **at),
        "rename" + n: lambda n=n, both=both: os.rename("moving" + n, "moved" + n, **both),
        "link" + n: lambda n=n, both=both: os.link("file", "second" + n, **both)})
tries["truncate"] = lambda: os.truncate("file", 0)
tries["setxattr"] = lambda: os.setxattr("file", "user.x", b"1")
tries["mode"] = lambda: os.chmod(".", 0o700)
tries["fchmod"] = lambda: os.fchmod(here, 0o711)
for name, attempt in tries.items():
    try:
        attempt()
        print(name)
    except OSError:
        pass
print("tried")'

	tree() { find "$OUTSIDE" -printf '%P %y %m %s %T@ %C@ %n\n' | sort; }
	moved() {
		local moving said before

		mkdir -m 755 sub sub/empty sub/empty2
		echo old | tee sub/file sub/old sub/old2 sub/moving >sub/moving2
		coproc moving { "$@" /usr/bin/python3 -c "$tried"; }
		# Its end takes the variable, and with it what it said last.
		exec 7<&"${moving[0]}" 8>&"${moving[1]}"
		read -r -t 60 said <&7 || return
		mv sub "$OUTSIDE/sub"
		before=$(tree)
		echo >&8
		exec 8>&-
		said=$(timeout 60 cat <&7)
		exec 7<&-
		[ "$(tree)" = "$before" ] || said+=" changed"
		echo "$said"
		rm -rf "$OUTSIDE/sub" "$OUTSIDE"/new* sub
	}
	run -0 moved "$CORDON" run -q -p strict --
	assert_output tried
	run -0 moved
	assert_contains changed
	assert_equal "${#lines[@]}" 27
}

# The name it had is protected, what the kernel calls it by then is not. It comes during the run:
# else it would be a mount.
@test "H19 a file whose protected name the host takes away is not changed by the one it has left" {
	run -0 timeout 60 /usr/bin/python3 -c '
import os, subprocess, sys
inside = """
import errno, os, sys
def meet():
    print(flush=True)
    sys.stdin.readline()
meet()
fd = os.open(".mcp.json", os.O_RDONLY)
meet()
try:
    os.fchmod(fd, 0o666)
    sys.exit("changed")
except OSError as error:
    assert error.errno in (errno.EACCES, errno.EROFS), error
"""
run = subprocess.Popen(sys.argv[2:] + ["/usr/bin/python3", "-c", inside], stdin=subprocess.PIPE,
                       stdout=subprocess.PIPE, text=True, bufsize=1)
run.stdout.readline()
os.close(os.open(".mcp.json", os.O_CREAT | os.O_RDWR, 0o600))
os.link(".mcp.json", sys.argv[1])
run.stdin.write("go\n")
run.stdout.readline()
os.unlink(".mcp.json")
run.stdin.write("go\n")
run.stdin.close()
sys.exit(run.wait())' "$OUTSIDE/left" "$CORDON" run -q -p moderate --protect exact --fallback degrade --
	assert_equal "$(stat -c %a "$OUTSIDE/left")" 600
}

# The same for one that the caller has open; and what it has open is not kept, with its locks.
@test "an open directory that is moved, removed or another by its number is not used again" {
	mkdir -p deep/.dir
	run -0 cordon run -q -p strict -- /usr/bin/python3 -c '
import fcntl, os
def make(path, at):
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, dir_fd=at))
        return 0
    except OSError as error:
        return error.errno
def listed(path):
    return sorted(os.listdir(path))
def opened(path, how=os.O_RDONLY):
    return os.open(path, how | os.O_DIRECTORY)
os.makedirs("a/d"), os.makedirs("b/d"), os.makedirs("x/y"), os.makedirs("q")
for how in (os.O_RDONLY, os.O_PATH):
    for name in ("n", "d/n"):
        at, other = opened("a", how), opened("b", how)
        assert make(f"{name}1{how}", at) == make(f"{name}2{how}", at) == 0
        os.dup2(other, at)
        assert make(f"{name}3{how}", at) == make(f"{name}4{how}", at) == 0
        os.close(at)
        assert make(f"{name}5{how}", at) == 9, "closed"
        os.close(other)
numbers = [f"n{i}{how}" for i in (1, 2, 3, 4) for how in (os.O_RDONLY, os.O_PATH)]
first, second = sorted(numbers[:4]), sorted(numbers[4:])
assert listed("a/d") == first and listed("b/d") == second, (listed("a/d"), listed("b/d"))
assert listed("a") == ["d"] + first and listed("b") == ["d"] + second
at = opened("x")
assert make("y/1", at) == make("1", at) == 0
os.rename("x", "z"), os.makedirs("x/y")
assert make("y/2", at) == make("2", at) == 0
assert listed("z/y") == ["1", "2"] and listed("x/y") == [] and listed("x") == ["y"], "moved"
gone = opened("q")
assert make("1", gone) == 0
os.unlink("1", dir_fd=gone), os.rmdir("q")
assert make("2", gone) == make(".hidden", gone) == 2, "removed"
no_directory = os.open("z/1", os.O_RDONLY)
assert make("1", no_directory) == make("1", no_directory) == 20, "no directory"
assert make("1", at) == 17 and make("3", at) == 0
hidden = opened("deep/.dir")
os.dup2(hidden, at)
assert make("1", at) in (13, 30) and make("3", at) in (13, 30), "one that is hidden"
for name in ("1", "d/1"):
    os.makedirs("locked/d", exist_ok=True)
    at, waiting = opened("locked"), opened("locked")
    fcntl.flock(at, fcntl.LOCK_EX)
    assert make(name, at) == 0
    os.close(at)
    fcntl.flock(waiting, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(waiting)'
	assert_equal "$(ls -A deep/.dir)" ""
}

@test "a directory that is moved, removed, closed or left between two calls is not used again" {
	mkdir -p deep/.dir moving
	run -0 cordon run -q -p strict -- /usr/bin/python3 -c '
import os
def make(path):
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        return 0
    except OSError as error:
        return error.errno
def listed(path):
    return sorted(os.listdir(path))
os.makedirs("a/d"), os.makedirs("b/d"), os.makedirs("x/y"), os.makedirs("p"), os.makedirs("q")
os.chdir("a")
assert make("d/1") == make("d/2") == make("top") == 0
os.chdir("../b")
assert make("d/3") == make("top") == 0
os.chdir("..")
assert listed("a/d") == ["1", "2"] and listed("b/d") == ["3"], "left"
assert make("x/y/1") == make(os.path.abspath("x/y/2")) == 0
os.rename("x", "z"), os.makedirs("x/y")
assert make("x/y/3") == make(os.path.abspath("x/y/4")) == 0
assert listed("z/y") == ["1", "2"] and listed("x/y") == ["3", "4"], "moved"
os.mkdir("tmp")
assert make("tmp/1") == 0
make("/tmp/2")
assert listed("tmp") == ["1"], "the same text from the root on"
assert make("q/1") == 0
os.unlink("q/1"), os.rmdir("q")
assert make("q/2") == 2, "removed"
os.makedirs("w")
here = os.open(".", os.O_PATH)
for i in range(20):  # nothing is kept for long
    os.mkdir("w/v")
    assert make(f"w/v/../{i}") == 0
    os.rmdir("w/v", dir_fd=here)
    assert make("w/v/../new") == 2, "removed on the way"
os.mkdir("w/gone")
os.chdir("w/gone")
os.rmdir("../gone")
assert make("1") == make(".hidden") == 2, "removed where one stands"
os.chdir("../..")
assert make("p/1") == 0
os.rename("p", "p2"), os.symlink("deep/.dir", "p")
assert make("p/2") == 30 or make("p/2") == 13, "a link to what is hidden"
if os.getuid():
    for close in [lambda fd: os.chmod("x", 0), lambda fd: os.fchmod(fd, 0)] * 20:
        os.chmod("x", 0o700)
        fd = os.open("x", os.O_RDONLY)
        assert make(f"x/y/f{fd}") == 0
        close(fd)
        assert make("x/y/new") == 13, "closed"'
	refute_file deep/.dir/2
	# By the host, to where nothing may be made.
	background "$CORDON" run -q -p strict --timeout 30s -- /usr/bin/python3 -c '
import os
for i in range(10**9):
    os.close(os.open(f"moving/{i}", os.O_WRONLY | os.O_CREAT))'
	until [ -e moving/100 ]; do sleep 0.01; done
	local before
	before=$(python3 -c '
import os
os.rename("moving", "deep/.moved")
print(len(os.listdir("deep/.moved")))')
	wait "$STARTED" || true
	# One may have been under way.
	[ "$(find deep/.moved -type f | wc -l)" -le $((before + 1)) ]
}

# For longer: make soak.
@test "a build, git, databases and packages at once come out as without a broker" {
	for tool in cc make git python3; do
		command -v $tool >/dev/null || must_or_skip "no $tool"
	done
	run "$BATS_TEST_DIRNAME/../soak/work" --size 1 "$CORDON" 0
	assert_success
	assert_contains "1 rounds, 0 failed"
}

# The kernel looks for a number first, the broker learns last that there is none.
@test "who has no room for a descriptor empties no file; what it makes is there, and empty" {
	cat >full.py <<-'EOS'
		import errno, os, resource
		for name in "file", "other":
		    with open(name, "w") as out:
		        out.write("kept")
		os.symlink("other", "link")
		at = os.open("other", os.O_RDONLY)
		resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))
		held = []
		def fill():
		    try:
		        while True:
		            held.append(os.dup(0))
		    except OSError as error:
		        assert error.errno == errno.EMFILE
		def refused(path, flags):
		    fill()
		    try:
		        os.open(path, flags)
		        raise SystemExit("there was room")
		    except OSError as error:
		        assert error.errno == errno.EMFILE, error
		def content(path):
		    os.close(held.pop())
		    with open(path) as file:
		        return file.read()
		ways = [("file", flags | more) for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR)
		        for more in (0, os.O_CREAT, os.O_APPEND, os.O_NONBLOCK | os.O_CLOEXEC)]
		ways += [("link", os.O_WRONLY), (f"/proc/self/fd/{at}", os.O_WRONLY)]
		for path, flags in ways:
		    refused(path, flags | os.O_TRUNC)
		    assert content(path) == "kept", (path, flags)
		    os.close(held.pop()), os.close(held.pop())
		    fd = os.open(path, flags | os.O_TRUNC)
		    assert os.fstat(fd).st_size == 0, (path, flags)
		    os.close(fd)
		    fd = os.open(path, os.O_WRONLY)
		    os.write(fd, b"kept"), os.close(fd)
		refused("made", os.O_WRONLY | os.O_CREAT)
		refused("made-anew", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
		print(*(os.stat(name).st_size for name in ("made", "made-anew") if os.path.exists(name)))
	EOS
	run -0 timeout 60 /usr/bin/python3 full.py
	assert_output ""
	rm -f file other link
	run -0 timeout 60 "$CORDON" run -q -p strict -- /usr/bin/python3 full.py
	assert_output "0 0"
}

# While a descriptor is put into its table a caller is kept on one processor.
@test "a command keeps the processors it was given, and those it asks for" {
	cat >cpus.py <<-'EOS'
		import os, sys
		def works():
		    before = os.sched_getaffinity(0)
		    for _ in range(100):
		        open("made", "w").close()
		    if os.sched_getaffinity(0) != before:
		        sys.exit("other processors than before")
		    return before
		given = works()
		os.sched_setaffinity(0, {max(given)})
		works()
		os.sched_setaffinity(0, range(os.sysconf("SC_NPROCESSORS_CONF")))
		print(len(given), len(works()))
	EOS
	run -0 "$CORDON" run -q --protect exact -- python3 cpus.py
	assert_equal "$output" "$(nproc) $(nproc)"
	run -0 taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" \
		"$CORDON" run -q --protect exact -- python3 cpus.py
	assert_equal "${output%% *}" 1
}

@test "a pipe that nobody reads holds up nobody else" {
	mkfifo pipe go
	background timeout 100 "$CORDON" run -q -p strict -- \
		sh -c 'echo through >pipe & mkdir made && echo up >go; wait'
	run timeout 30 head -n 1 go
	assert_output up
	assert_file made
	run timeout 30 cat pipe
	assert_output through
	wait "$STARTED"
}

# What /proc tells of a process stands behind the list of its groups.
@test "a caller that is in a thousand groups has its own /proc/self, and hears signals" {
	is_root || skip "only root has as many groups as it likes"
	cat >groups.py <<-'EOS'
		import os, signal
		os.mkfifo("nobody")
		assert os.popen("echo through >/dev/stdout").read() == "through\n"
		def ring(*_): raise InterruptedError
		signal.signal(signal.SIGALRM, ring)
		signal.alarm(1)
		try:
		    open("nobody", "w")
		except InterruptedError:
		    print("heard")
	EOS
	run -0 timeout 60 python3 -c 'import os, sys
os.setgroups(range(2000000000, 2000001000))
os.execv(sys.argv[1], sys.argv[1:])' "$CORDON" run -q -p strict -- /usr/bin/python3 groups.py
	assert_output heard
}

@test "a terminal: its streams, /dev/tty, pipes, substitutions" {
	command -v script >/dev/null || must_or_skip "no script"
	cat >tty.sh <<-'EOS'
		echo a >/dev/stderr; echo b >/dev/tty; mkfifo p; (sleep 1; cat p)& echo c >p; wait; cat <(echo d)
		echo e >"$(tty)"
	EOS
	for report in writes all; do
		rm -f p
		run timeout -k 5 100 script -qec "$CORDON run -q -p strict --report $report -- bash tty.sh" /dev/null
		assert_equal "$(sed 's/^\^@//' <<<"$output" | tr -d '\r' | tr '\n' ' ')" "a b c d e "
	done
}

# The broker's own would be the caller's, outside.
@test "a terminal that the command makes is the /dev/tty of who has it, and the caller's is not" {
	command -v script >/dev/null || must_or_skip "no script"
	cat >own.py <<-'EOF'
	import os, pty
	pid, fd = pty.fork()
	if not pid:
	    os.write(os.open("/dev/tty", os.O_WRONLY), b"mine")
	    os._exit(0)
	got = b""
	try:
	    while len(got) < 4:
	        got += os.read(fd, 100)
	except OSError:
	    pass
	print("<%s>" % got.decode())
	EOF
	run timeout -k 5 100 script -qec "$CORDON run -q -p strict -- /usr/bin/python3 own.py" /dev/null
	if [ "$BACKEND" = landlock ]; then
		assert_contains "out of pty devices"
		return
	fi
	assert_equal "$(sed 's/^\^@//' <<<"$output" | tr -d '\r')" "<mine>"
}

# The broker of the run with that supervisor. Its other child is init, which has a number
# inside, too; or the command.
broker_of() {
	local child
	for child in $(pgrep -P "$1"); do
		if [ "$BACKEND" = landlock ]; then
			[ "$(cat "/proc/$child/comm")" != cordon ] || echo "$child"
			continue
		fi
		[ "$(awk '/^NSpid:/ { print NF }' "/proc/$child/status")" -gt 2 ] || echo "$child"
	done
}

@test "the broker has a filter of its own, no capability over others, and cannot be looked at" {
	mkfifo up
	background "$CORDON" run -q -p strict -- sh -c 'echo up >up; exec sleep 60'
	run timeout 30 head -n 1 up
	assert_output up
	broker=$(broker_of "$STARTED")
	own=$(awk '/^Seccomp_filters:/ { print $2 }' "/proc/$broker/status")
	supervisor=$(awk '/^Seccomp_filters:/ { print $2 }' "/proc/$STARTED/status")
	assert_equal "$own" $((supervisor + 1))
	# Only CAP_SYS_PTRACE, and what the command keeps of root's rights over files.
	caps=$((0x$(awk '/^CapPrm:/ { print $2 }' "/proc/$broker/status")))
	assert_equal $((caps & ~(1 << 19 | 1 << 0 | 1 << 1 | 1 << 3 | 1 << 4))) 0
	run cat "/proc/$broker/status"
	assert_contains "NoNewPrivs:	1"
	[ "$(id -u)" = 0 ] || {
		run cat "/proc/$broker/environ"
		[ "$status" -ne 0 ]
	}
}

@test "H54 the broker killed: calls fail, the run ends with cause setup" {
	mkfifo up
	background "$CORDON" run -q -p strict --result "$SCRATCH/result" -- \
		sh -c 'echo up >up; while :; do
			mkdir made 2>/dev/null; rmdir made 2>/dev/null; true >deep/.free; done'
	run timeout 30 head -n 1 up
	assert_output up
	kill -KILL "$(broker_of "$STARTED")"
	status=0
	wait "$STARTED" || status=$?
	assert_equal "$status" 125
	output=$(cat "$SCRATCH/result")
	assert_json '.cause == "setup" and (.error.message | contains("broker"))'
	refute_file deep/.free
}

# The kernel takes back a descriptor that it was about to put into place, and has to be asked again.
# An answer in the same call (ADDFD_FLAG_SEND) it does not take back: such an open returns 0.
@test "the broker stopped and continued: no open succeeds without its file" {
	mkfifo up
	background "$CORDON" run -q -p strict -- /usr/bin/python3 -c '
import os
open("up", "w").write("up\n")
for i in range(20000):
    fd = os.open("made", os.O_CREAT | os.O_WRONLY)
    if fd < 3: os._exit(7)
    os.close(fd)'
	run timeout 30 head -n 1 up
	assert_output up
	local broker
	broker=$(broker_of "$STARTED")
	while kill -STOP "$broker" && kill -CONT "$broker"; do :; done 2>/dev/null
	status=0
	wait "$STARTED" || status=$?
	assert_equal "$status" 0
}

@test "H48 a caller that is killed at any moment of its call: nothing more is done for it" {
	is_root || skip "only root traces the broker"
	mkdir midway
	cd midway
	run -0 timeout 120 /usr/bin/python3 "$BATS_TEST_DIRNAME/midway.py" "$CORDON" run -q \
		-p permissive --protect exact --fallback degrade --
	assert_contains "killed "
}

# What is promised and cannot be kept is refused, whoever asked for it.
@test "without a broker exact is refused; less can be asked for, or the loss accepted" {
	command -v bwrap >/dev/null || must_or_skip "no bwrap here"
	for flags in '-p strict' '--protect exact'; do
		# shellcheck disable=SC2086 # flags
		run -125 cordon run -q --backend bwrap --fallback error $flags -- touch made
		assert_contains "cannot promise 'exact'"
		assert_contains '--protect guard'
		refute_file made
	done
	run -0 cordon run -q --backend bwrap -p strict --protect guard -- true
	run -0 --separate-stderr cordon run -q --backend bwrap -p strict --fallback degrade -- true
	[[ $stderr == *'exact (REQUIRED)'* ]] || fail "the loss is not said" "$(outcome)"
}

# Only one listener can be asked about a call.
@test "inside another run there is no broker, which is said; what the outer one holds stays" {
	mkdir "$SCRATCH/bin"
	cp "$CORDON" "$SCRATCH/bin/cordon"
	run cordon run -q --allow-exec "$SCRATCH/bin" -- "$SCRATCH/bin/cordon" run -p strict -- true
	assert_status 125
	# The outer broker would do what the inner Landlock is to hold back.
	mkdir sub
	run cordon run -q -p strict --allow-read "$SCRATCH/bin" -- sh -c 'cd sub && exec "$@"' sh \
		"$SCRATCH/bin/cordon" run -p strict --fallback degrade -- sh -c 'echo x >../made; mkdir ../deep/.new'
	assert_status 125
	refute_file made
	refute_file deep/.new
}

@test "without a broker names are guarded, and the result says that this was the strength" {
	# A shared directory has another name in the policy than on the host.
	FLAGS=(--backend landlock --fallback degrade --share-tmp shared)
	needs_enforced guard "no guard without namespaces" "${FLAGS[@]}"
	run --separate-stderr cordon run -q --protect exact "${FLAGS[@]}" --json -- mkdir .claude
	assert_json '.protect == "guard" and (.degraded | index("exact")) and (.exit_code != 0)'
	refute_file .claude
}

@test "H58 a unix socket that the host makes during the run is not connected to" {
	SHORT=$(mktemp -d "$(ground)/s.XXXX")
	FLAGS=(--allow-read "$SHORT")
	mkfifo entered changed
	background "$CORDON" run -q -p strict "${FLAGS[@]}" --result "$SCRATCH/result" -- sh -c 'echo in >entered
		read -r x <changed; ./attack connect unix "$1"; echo "outcome $?" >outcome' sh "$SHORT/s"
	# Not a plain open, which would wait for ever for a run that did not begin.
	exec 8<>entered 9<>changed
	read -r -t 30 line <&8
	local run=$STARTED
	start_server unix "$SHORT/s"
	echo go >&9
	wait "$run" || true
	assert_equal "$(cat outcome)" "outcome 10"
	assert_equal "$(cat "$SCRATCH/hits")" ""
	output=$(cat "$SCRATCH/result")
	# On landlock there is no socket to connect with.
	if [ "$BACKEND" = native ]; then
		assert_json '[.violations[] | [.op, .source, .object]] == [["connect", "broker", "'"$SHORT"'/s"]]'
	fi
}

@test "H54 with the supervisor everything ends, the broker too" {
	mkfifo alive
	background "$CORDON" run -q -p strict -- sh -c 'exec 9>alive; echo up >&9; while :; do mkdir x; rmdir x; done'
	exec 8<>alive
	read -r -t 30 line <&8
	assert_equal "$line" up
	children=$(pgrep -P "$STARTED")
	kill -KILL "$STARTED"
	for child in $children; do
		timeout 30 tail --pid="$child" -f /dev/null || fail "$child is left"
	done
}

@test "B7 git works; its hooks and configuration stay closed" {
	PROFILES=moderate
	FLAGS=(--protect exact)
	git init -q .
	run --separate-stderr cordon run -q --protect exact -- sh -ec 'git config --global --list >/dev/null 2>&1 || true
		echo 1 >f; git add f; git -c user.name=n -c user.email=e@e commit -qm one
		git checkout -qb b; echo 2 >f; git -c user.name=n -c user.email=e@e commit -qam two
		git checkout -q -; git merge -q b; git gc -q; git log --oneline | wc -l'
	assert_success
	assert_output 2
	inside write-created .git/hooks/post-commit
	refute_file .git/hooks/post-commit
	inside rename .git/hooks .git/hooks2
	inside rename .git other
}
