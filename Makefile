# The front door. `make run` and `make test` are all that a newcomer needs; `make help` lists the rest.
# Relies on scripts/deps for what the machine lacks and on CMake (CMakePresets.json) for the work.
JOBS ?= 2
FILE ?= examples/tour.kv
ARGS ?=
PREFIX ?= /usr/local
DESTDIR ?=
TIME ?= 60
BENCH ?= tree lang routes tensor
export JOBS
# Ninja where it is installed, for every cmake called below.
ifneq ($(shell command -v ninja 2>/dev/null),)
export CMAKE_GENERATOR := Ninja
endif
.DEFAULT_GOAL := all
.PHONY: all run test bench install tsan fuzz cross lint format clean help deps

all: ## build release into build/ (programs in build/bin, libraries in build/lib)
	@scripts/deps build optional
	@cmake --preset release >/dev/null
	@cmake --build build --parallel $(JOBS)

run: all ## run a program: make run [FILE=examples/tour.kv] [ARGS=…]
	@test -x build/bin/kvlang || { echo "make run: there is no src/cli/kvlang*.c yet, so no kvlang to run"; exit 1; }
	@build/bin/kvlang $(FILE) $(ARGS)

test: ## everything, in a release and a sanitized build; ends with "N passed, M failed"
	@scripts/deps build optional test lint
	@scripts/test

bench: all ## measure beside the peers: make bench [BENCH="tree lang"] [ARGS=--quick]
	@scripts/deps bench
	@cmake --build build --parallel $(JOBS) --target bench
	@for name in $(BENCH); do if [ -x bench/$$name/run ]; then bench/$$name/run $(ARGS) || exit 1; fi; done

install: all ## copy programs, libraries, headers and pkg-config files: make install [PREFIX=/usr/local] [DESTDIR=]
	@cmake --preset release -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
	@DESTDIR=$(DESTDIR) cmake --install build

tsan: ## unit tests under the thread sanitizer, in build-tsan
	@scripts/deps build optional test
	@cmake --preset tsan >/dev/null && cmake --build build-tsan --parallel $(JOBS)
	@ctest --test-dir build-tsan --parallel $(JOBS) --output-on-failure --no-tests=ignore -R '^unit'

fuzz: ## every fuzz target for TIME seconds under libFuzzer: make fuzz [TIME=60]
	@scripts/deps build optional fuzz
	@scripts/fuzz $(TIME)

cross: ## build for aarch64 Linux and macOS with zig cc; run the Linux tests under qemu-user
	@scripts/cross

lint: all ## the floor plan (includes), cppcheck and clang-tidy
	@scripts/deps lint
	@scripts/lint

format: ## clang-format over our own files
	@scripts/deps format
	@find src include tests bench deepx examples -name '*.[ch]' 2>/dev/null | xargs clang-format -i

deps: ## install what is missing for building and testing
	@scripts/deps build optional test lint

clean: ## remove what was built
	@rm -rf build build-debug build-asan build-tsan build-fuzz

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-16s %s\n", $$1, $$2 }'
