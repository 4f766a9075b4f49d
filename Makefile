# SPDX-License-Identifier: Apache-2.0
#
# A short front for meson; `make help` lists the targets.

BUILD        ?= build
PREFIX       ?= /usr/local
DESTDIR      ?=
FUZZ_SECONDS ?= 30
MESON_FLAGS  ?=
JOBS         ?=

SANITIZE = -Db_sanitize=address,undefined -Db_lundef=false \
	   -Dc_args=-fno-sanitize-recover=all -Dstatic=false
NINJA    = ninja $(if $(JOBS),-j$(JOBS))

.PHONY: all help run test asan tsan fuzz bench soak cross oldkernel check install clean need-clang

all: $(BUILD)/build.ninja	## build/cordon, fully static
	@$(NINJA) -C $(BUILD)

help:	## this list
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 18

run:	## install what is missing, build, and show what cordon does
	@tools/deps build
	@$(MAKE) --no-print-directory $(BUILD)/build.ninja
	@$(NINJA) -C $(BUILD) cordon cordon-relay \
		$$(ninja -C $(BUILD) -t targets all | sed -n 's#^\(man/cordon[^:]*\):.*#\1#p')
	@tools/demo $(BUILD)/cordon

test:	## install what is missing, build, and run every test
	@tools/deps test
	@$(MAKE) --no-print-directory all
	@tools/run-tests $(BUILD)

asan: build-asan/build.ninja	## the tests under ASan and UBSan; leaks fail
	@$(NINJA) -C build-asan
	@tools/run-tests --no-user build-asan

tsan: all build-tsan/build.ninja	## libcordon in a host of many threads, under TSan
	@$(NINJA) -C build-tsan tests/lib/lib-host
	@tests/lib/tsan $(BUILD) build-tsan

fuzz: build-fuzz/build.ninja	## every fuzz harness for FUZZ_SECONDS (30)
	@$(NINJA) -C build-fuzz fuzzers
	@tools/run-fuzz build-fuzz $(FUZZ_SECONDS)

bench: all	## measure against a bare spawn and bubblewrap
	@bench/run $(BUILD)/cordon

soak: all	## the long tests, never part of CI
	@test -x tests/soak/run || { echo "make: tests/soak/run does not exist" >&2; exit 1; }
	@tests/soak/run $(BUILD)/cordon

cross: all	## build for macOS and Linux on aarch64 (tried in qemu), with zig from PyPI; some minutes
	@tools/deps cross
	@tools/cross $(BUILD)/cordon-testing

oldkernel: all	## the boundary on Debian's Linux 6.1, in qemu; a minute or two
	@tools/deps oldkernel
	@tests/oldkernel/run $(BUILD)

check: all	## formatting, shell scripts, layers, docs
	@tools/check-format
	@tools/check-shell
	@tools/check-layers
	@tools/check-docs --cordon $(BUILD)/cordon

install: all	## install below PREFIX (/usr/local), staged in DESTDIR
	@place="$(if $(DESTDIR),$(abspath $(DESTDIR)))$(abspath $(PREFIX))"; \
	while [ ! -e "$$place" ]; do place=$$(dirname "$$place"); done; \
	[ -w "$$place" ] || { echo "make: $$place cannot be written: take sudo make install, or" \
		"make install PREFIX=$$HOME/.local" >&2; exit 1; }
	@meson configure $(BUILD) -Dprefix=$(abspath $(PREFIX))
	@DESTDIR=$(if $(DESTDIR),$(abspath $(DESTDIR))) meson install -C $(BUILD)

clean:	## remove every build directory
	@rm -rf build build-asan build-tsan build-fuzz build-clang build-cross

# meson writes build.ninja last, so an interrupted setup is begun again.
$(BUILD)/build.ninja:
	@tools/deps --check build
	@meson setup $(BUILD) $(MESON_FLAGS)

# clang, because gcc's UBSan ignores log_path beside ASan: a report would go
# unnoticed in a test that expects its command to fail.
build-asan/build.ninja: | need-clang
	@tools/deps --check test
	@CC=clang meson setup build-asan $(SANITIZE) $(MESON_FLAGS)

# See tests/lib/tsan.
build-tsan/build.ninja:
	@tools/deps --check test
	@meson setup build-tsan -Db_sanitize=thread -Db_lundef=false -Dstatic=false \
		-Dc_args='-Dclone=__clone -Dsigaction=__sigaction' $(MESON_FLAGS)

build-fuzz/build.ninja: | need-clang
	@CC=clang meson setup build-fuzz -Dfuzz=true $(MESON_FLAGS)

need-clang:
	@command -v clang >/dev/null || { echo "make: no clang; run tools/deps test" >&2; exit 1; }
