#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What `make install` puts in place: tests/install.sh BUILDDIR
set -u -o pipefail
top=$(mktemp -d) || exit 1
trap 'rm -rf "$top"' EXIT
meson install -C "$1" --no-rebuild --quiet --destdir "$top/stage" || exit 1
prefix=$top/stage$(meson introspect "$1" --buildoptions |
	python3 -c 'import json, sys
print(*(o["value"] for o in json.load(sys.stdin) if o["name"] == "prefix"))')
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
holds share/bash-completion/completions/cordon bash -n
holds share/zsh/site-functions/_cordon grep -q '^#compdef cordon'
holds share/fish/vendor_completions.d/cordon.fish grep -q '^complete -c cordon'
holds share/doc/cordon/result.schema.json python3 -m json.tool
if command -v scdoc >/dev/null; then
	holds share/man/man1/cordon-run.1 grep -q 'run a command'
	holds share/man/man5/cordon.toml.5 grep -q 'NAMED SETS'
fi
exit $failed
