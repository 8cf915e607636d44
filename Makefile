# `make help` lists the targets.

GO          ?= go
STATICCHECK  = honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME    ?= 30s
HOSTILE_RUNS ?= 300
COUNT       ?= 1
SCALE       ?= 1100
SCALE_DIR   ?=
BENCH_FILE   = $(or $(SYMTOOL_BENCH_FILE),build/symtool)

# Tests run make, which prints the folders it is in if it is told that another make runs it.
UNMADE       = env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS

# What the comparisons with other tools need, by Debian package. A test keeps
# this in step with internal/testenv.
ORACLE_PACKAGES = binutils chromium clang-22 cmake debuginfod diffstat dwz elfutils fish g++ gcc gdb gdb-multiarch generate-ninja jq libc6-arm64-cross libc6-armhf-cross libc6-dbg libc6-dev libc6-i386-cross libclang-rt-22-dev libssl3 libstdc++6-armhf-cross libxml2-utils lld-22 lldb-22 llvm-22 make man-db mandoc meson mingw-w64-common nginx-light ninja-build patch python3 strace tmux xz-utils zsh zstd

# And the long ones: compilers for other CPUs and of other languages, and what changes the layout of programs.
ORACLE_FULL_PACKAGES = bazel-bootstrap bolt-22 buildah busybox-static fp-compiler gcc-aarch64-linux-gnu gcc-arm-linux-gnueabihf gcc-i686-linux-gnu gcc-mips-linux-gnu \
	gcc-mips64-linux-gnuabi64 gcc-mips64el-linux-gnuabi64 gcc-powerpc-linux-gnu gcc-powerpc64-linux-gnu \
	gcc-powerpc64le-linux-gnu gcc-riscv64-linux-gnu gcc-s390x-linux-gnu gdc-12 gfortran-12 gm2-12 gnat-12 gobjc-12 \
	ldc libc6-dev-arm64-cross libc6-dev-armhf-cross libc6-dev-i386-cross libc6-dev-mips-cross \
	libc6-dev-mips64-cross libc6-dev-mips64el-cross libc6-dev-powerpc-cross libc6-dev-ppc64-cross \
	libc6-dev-ppc64el-cross libc6-dev-riscv64-cross libc6-dev-s390x-cross librust-symbolic-common-dev libstb-dev mold nim ocaml-nox pre-commit prometheus qemu-user-static rustc shellcheck

.DEFAULT_GOAL := build
.PHONY: build dist run test shared oracle oracle-full beam bench bench-go scale fuzz hostile golden lint help

build: ## build/symtool
	$(GO) build -o build/symtool ./cmd/symtool

dist: ## build/dist: archives for linux/amd64 and arm64 with checksums and SBOM, the same bytes from any folder
	$(GO) run ./.ci/dist -o build/dist

run: build ## build, and dump a real binary: symtool itself
	build/symtool dump -v -o build/symtool.sym build/symtool
	@echo; echo "build/symtool.sym begins with"; head -n 12 build/symtool.sym | cut -c 1-120
	@echo; echo "and has a function such as"
	@sed -n '/^FUNC .* main\.run$$/,/^FUNC .* main\.[^r]/p' build/symtool.sym | head -n 10
	@echo; ls -l build/symtool build/symtool.sym | awk '{print $$5, $$9}'

test: ## every test that needs nothing but Go
	$(GO) test -timeout 30m ./...

shared: ## the tests that read the shared test data, which SYMTOOL_SHARED names (../shared)
	pattern=$$($(GO) run ./.ci/testsof shared) && $(GO) test -timeout 30m -run "$$pattern" ./...

oracle: ## the tests that compare with other tools' answers; installs those as root
	.ci/packages $(ORACLE_PACKAGES)
	pattern=$$($(GO) run ./.ci/testsof oracle) && $(UNMADE) SYMTOOL_ORACLE=1 $(GO) test -count=1 -timeout 30m -run "$$pattern" ./...

oracle-full: ## the same with every compiler, option, language and CPU, as tables: an hour, 3 GB
	.ci/packages $(ORACLE_PACKAGES) $(ORACLE_FULL_PACKAGES)
	.ci/cpus
	pattern=$$($(GO) run ./.ci/testsof oracle) && $(UNMADE) SYMTOOL_ORACLE=full $(GO) test -count=1 -timeout 120m -v -run "$$pattern" ./...

# A module of its own. Without -trimpath Beam is compiled twice.
beam: ## symtool-beam's tests, 2,000 dumps among them: downloads 130 MB, minutes
	.ci/packages python3
	cd cmd/symtool-beam && CGO_ENABLED=0 SYMTOOL_ORACLE=full $(GO) test -trimpath -count=1 ./...

bench: ## time and memory on large binaries, beside other tools; installs them as root
	.ci/bench

# For benchstat: make bench-go COUNT=10 SYMTOOL_BENCH_FILE=... >new.txt
bench-go: build ## Go's benchmarks of each stage, COUNT times, on SYMTOOL_BENCH_FILE (symtool)
	SYMTOOL_BENCH_FILE='$(abspath $(BENCH_FILE))' $(GO) test -run '^$$' -bench . -benchmem -count $(COUNT) -timeout 1h ./...

# As many megabytes of .debug_info as SCALE says, in a file of over 4 GB in SCALE_DIR.
scale: ## memory and time on a program with 1.1 GB of .debug_info, which it links: minutes
	.ci/packages gcc g++ clang-22 libc6-dev
	SYMTOOL_SCALE=$(SCALE) SYMTOOL_SCALE_DIR='$(SCALE_DIR)' $(GO) test -run '^TestScale$$' -v -count=1 -timeout 60m ./cmd/symtool

fuzz: ## every fuzz target for FUZZTIME (30s)
	@set -e; packages=$$($(GO) list ./...); for package in $$packages; do \
		listed=$$($(GO) test -list '^Fuzz' $$package); \
		for target in $$(echo "$$listed" | grep '^Fuzz' || true); do \
			echo "$$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime=1x $$package; \
		done; \
	done

hostile: ## the program over thousands of damaged files and over inputs made to cost much, each within limits of memory and time
	SYMTOOL_HOSTILE_RUNS=$(HOSTILE_RUNS) $(GO) test -run '^Test(Walk)?Hostile(Kinds)?$$' -v -count=1 -timeout 120m ./cmd/symtool

golden: ## write the golden files and scripts anew; read the difference
	GOLDIE_UPDATE=1 $(GO) test -count=1 ./...

lint: ## gofmt, vet, staticcheck
	@unformatted=$$(gofmt -l .); \
		if [ -n "$$unformatted" ]; then echo "not formatted by gofmt:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' Makefile
