#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What both libraries show is what the headers declare, nothing more and nothing less:
# tests/lib/symbols.sh BUILDDIR INCLUDEDIR
set -u
build=$1
top=$(mktemp -d) || exit 1
trap 'rm -rf "$top"' EXIT
cat "$2"/cordon/*.h | grep -oE '\bcordon_[a-z_]+\(' | tr -d '(' | sort -u >"$top/declared"
nm -D --defined-only "$build/libcordon.so" | awk 'NF == 3 { print $3 }' | sort >"$top/shared"
nm -g --defined-only "$build/libcordon.a" | awk 'NF == 3 { print $3 }' | sort >"$top/static"
failed=0
[ -s "$top/declared" ] || failed=1
for kind in shared static; do
	# What a sanitizer adds is its own.
	grep -vE '^(__|_init$|_fini$|\.)' "$top/$kind" >"$top/$kind.ours"
	if ! diff "$top/declared" "$top/$kind.ours"; then
		echo "$kind: '<' is declared and not there, '>' is there and not declared"
		failed=1
	fi
done
soname=$(objdump -p "$build/libcordon.so" | awk '$1 == "SONAME" { print $2 }')
case $soname in
libcordon.so.[0-9]*) ;;
*)
	echo "the soname is '$soname'"
	failed=1
	;;
esac
exit $failed
