#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# cordon under valgrind: no wrong access and nothing lost ("still reachable" aside).
# A run goes as far as valgrind knows the system calls, which some versions do only up
# to the start of the command; the sanitizer build sees the rest.
#
#	valgrind.sh VALGRIND CORDON-DYNAMIC
set -u
valgrind=$1 cordon=$(realpath "$2") n=0 failed=0
scratch=$(mktemp -d /var/tmp/cordon-valgrind.XXXXXX) || exit 125
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/home" "$scratch/work"
cd "$scratch/work" || exit 125
printf '[sandbox]\ndeny = ["private"]\n' >.cordon.toml

check() {
	n=$((n + 1))
	env -i HOME="$scratch/home" PATH=/usr/bin:/bin "$valgrind" --log-file="$scratch/log" \
		--error-exitcode=99 --leak-check=full --child-silent-after-fork=yes \
		--errors-for-leak-kinds=definite,indirect,possible "$cordon" "$@" \
		>/dev/null 2>"$scratch/err"
	if [ $? -eq 99 ] || ! grep -q 'ERROR SUMMARY: 0 errors' "$scratch/log"; then
		failed=1
		sed 's/^/# /' "$scratch/log" "$scratch/err" | head -n 60
		echo "not ok $n - $*"
	else
		echo "ok $n - $*"
	fi
}

check run --backend bwrap --json -- /bin/true
check run --backend passthrough --result "$scratch/result" -- /bin/true
check run -p strict --dry-run -- /bin/true
check run -- /nonexistent
check run --no-such-option
check explain --json "$scratch/home/.ssh/id"
check explain -- make test
check config show
check profile show strict
check doctor --json
echo "1..$n"
exit $failed
