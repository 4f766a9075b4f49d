#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What `make install` puts in place: tests/install.sh BUILDDIR
set -u -o pipefail
top=$(mktemp -d) || exit 1
trap 'rm -rf "$top"' EXIT
meson install -C "$1" --no-rebuild --quiet --destdir "$top/stage" || exit 1
final=$(meson introspect "$1" --buildoptions |
	python3 -c 'import json, sys
print(*(o["value"] for o in json.load(sys.stdin) if o["name"] == "prefix"))')
prefix=$top/stage$final
docs=$(dirname "$(realpath "$0")")/../docs
examples=$docs/examples
failed=0

# holds FILE COMMAND ...: the file is there and the command succeeds on it.
holds() {
	local file=$prefix/$1
	shift
	if [ -s "$file" ] && "$@" "$file" >/dev/null; then
		return
	fi
	echo "wrong or missing: $file"
	failed=1
}

holds bin/cordon test -x
holds libexec/cordon/cordon-relay test -x
# compiles PROGRAM FLAG...: a program finds header and library by pkg-config alone. The
# stage is not the prefix, which only pkg-config has to be told.
compiles() {
	local program=$1
	shift
	if ! PKG_CONFIG_SYSROOT_DIR=$top/stage PKG_CONFIG_PATH=$(dirname "$pc") bash -c '
		flags=$(pkg-config --cflags --libs "${@:3}" libcordon) &&
		{ cat "$2" 2>/dev/null || printf "%s\n" "#include <cordon/cordon.h>" \
			"#include <stdio.h>" \
			"int main(void) { return puts(cordon_version()) < 0; }"; } >"$1.c" &&
		cc -Wall -Wextra -Werror -o "$1" "$1.c" $flags' - "$top/$program" "$examples/$program.c" "$@"; then
		echo "does not compile against what is installed: $program"
		failed=1
	fi
}
# said TEXT COMMAND ...: what it prints, on either stream, has the text in it.
said() {
	local text=$1
	shift
	"$@" >"$top/said" 2>&1
	if grep -qF -- "$text" "$top/said"; then
		return
	fi
	echo "without '$text': $*"
	cat "$top/said"
	failed=1
}
if [ "$(uname)" = Linux ]; then
	export HOME=$top
	mkdir "$top/work" && cd "$top/work" || exit 1
	# A policy closes the bin of a prefix and may leave the rest open: what lies there is not
	# executed unless the program was built for it.
	said "cordon-relay" "$prefix/bin/cordon" doctor
	if grep -qF "($prefix/libexec" "$top/said"; then
		echo "a relay that a command may have put there is taken"
		failed=1
	fi
	libdir=$(dirname "$(find "$prefix" -name libcordon.so)")
	pc=$libdir/pkgconfig/libcordon.pc
	holds "${libdir#"$prefix"/}/libcordon.so.0" test -f
	holds "${libdir#"$prefix"/}/libcordon.a" test -f
	holds include/cordon/cordon.h grep -q cordon_execute
	holds include/cordon/error.h grep -q 'struct cordon_error'
	holds include/cordon/errors.def grep -q CORDON_ERROR
	holds include/cordon/causes.def grep -q RUN_CAUSE
	holds "${pc#"$prefix"/}" grep -q '^Name: libcordon'
	# One that is sanitized needs more than pkg-config says.
	nm -D "$libdir/libcordon.so" >"$top/symbols"
	if ! grep -q __asan_init "$top/symbols"; then
		compiles shared
		LD_LIBRARY_PATH=$libdir "$top/shared" | grep -q '^[0-9]' || failed=1
		compiles run_shell
		LD_LIBRARY_PATH=$libdir said "staged" "$top/run_shell" "echo staged"
		rm "$prefix/bin/cordon"
		# With one in the prefix that it was built for it has its program, as it should.
		[ -e "$final/bin/cordon" ] ||
			LD_LIBRARY_PATH=$libdir said "PREFIX" "$top/run_shell" "echo staged"
		rm "$libdir"/libcordon.so*
		compiles static --static
		"$top/static" | grep -q '^[0-9]' || failed=1
	fi
fi
holds share/bash-completion/completions/cordon bash -n
holds share/zsh/site-functions/_cordon grep -q '^#compdef cordon'
holds share/fish/vendor_completions.d/cordon.fish grep -q '^complete -c cordon'
holds share/doc/cordon/result.schema.json python3 -m json.tool
for file in "$docs"/*.md "$examples"/*; do
	holds "share/doc/cordon/${file#"$docs"/}" cmp "$file"
done
if command -v scdoc >/dev/null; then
	holds share/man/man1/cordon-run.1 grep -q 'run a command'
	holds share/man/man3/cordon.3 grep -q cordon_execute
	holds share/man/man5/cordon.toml.5 grep -q 'NAMED SETS'
fi
exit $failed
