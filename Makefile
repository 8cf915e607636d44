# `make help` lists the targets.

GO          ?= go
STATICCHECK  = honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME    ?= 30s
SOAK        ?= 30m
HOSTILE_RUNS ?= 300
COUNT       ?= 1
SCALE       ?= 1100
SCALE_DIR   ?=
PREFIX      ?= /usr/local
DESTDIR     ?=

# Who releases, in the packages of make dist: NAME <ADDRESS>, and a URL.
MAINTAINER  ?=
HOMEPAGE    ?=
BENCH_FILE   = $(or $(SYMTOOL_BENCH_FILE),build/symtool)

INSTALLED    = bin share/man/man1 share/bash-completion/completions share/zsh/site-functions share/fish/vendor_completions.d

# Tests run make, which would print the folders that it enters if it knew of this make.
UNMADE       = env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS

# The Debian packages that the comparisons with other tools need. A test keeps this list in
# step with internal/testenv.
ORACLE_PACKAGES = binutils clang-22 debuginfod diffstat dwz elfutils g++ gcc gdb gdb-multiarch jq libc6-arm64-cross libc6-armhf-cross libc6-dbg libc6-dev \
	libc6-i386-cross libclang-rt-22-dev libssl3 libstb-dev libstdc++6-armhf-cross libxml2-utils lld-22 llvm-22 lz4 make mingw-w64-common nginx-light ninja-build patch python3 strace \
	xz-utils zstd

# The long comparisons also need compilers for other CPUs and languages, and tools that change the layout of programs.
ORACLE_FULL_PACKAGES = bazel-bootstrap bolt-22 buildah busybox-static chromium cmake default-jdk-headless fish fp-compiler gcc-aarch64-linux-gnu \
	gcc-arm-linux-gnueabihf gcc-i686-linux-gnu gcc-mips-linux-gnu gcc-mips64-linux-gnuabi64 gcc-mips64el-linux-gnuabi64 gcc-powerpc-linux-gnu \
	gcc-powerpc64-linux-gnu gcc-powerpc64le-linux-gnu gcc-riscv64-linux-gnu gcc-s390x-linux-gnu gdc-12 generate-ninja gfortran-12 gm2-12 gnat-12 gobjc-12 \
	ldc libavcodec59 libboost-context-dev libc6-dev-arm64-cross libc6-dev-armhf-cross libc6-dev-i386-cross libc6-dev-mips-cross libc6-dev-mips64-cross \
	libc6-dev-mips64el-cross libc6-dev-powerpc-cross libc6-dev-ppc64-cross libc6-dev-ppc64el-cross libc6-dev-riscv64-cross libc6-dev-s390x-cross \
	librust-symbolic-common-dev liburing-dev lintian lldb-22 man-db mandoc meson mold musl-tools nim nodejs ocaml-nox pre-commit prometheus \
	qemu-user-static rpm rustc shellcheck tmux zsh

.DEFAULT_GOAL := build
.PHONY: build install dist run test race shared oracle oracle-full nightly soak beam bench bench-go profile scale fuzz hostile golden lint help

# All targets except race share the compiler's results. Programs are optimized by
# cmd/symtool/default.pgo; tests are not, as all packages would be compiled twice.
export CGO_ENABLED ?= 0
UNPROFILED   = GOFLAGS="$$($(GO) env GOFLAGS) -pgo=off"

# What the targets of .ci/run run: with GOGC=100 collections take a third to a half of the time of tests, whose heaps are
# small, and of staticcheck. Without DWARF, a test's program is linked in half of the time; only go test is told, as
# tests build programs, too.
CHECKED      = GOGC=$${GOGC-400} $(UNPROFILED)
GOTEST       = $(GO) test -vet=off -ldflags=-w -timeout 30m

build: ## build the program, build/symtool
	$(GO) build -o build/symtool ./cmd/symtool

install: build ## install the program, manual pages and completions below PREFIX (/usr/local), with DESTDIR in front
	install -d $(INSTALLED:%='$(DESTDIR)$(PREFIX)/%')
	install -m 755 build/symtool '$(DESTDIR)$(PREFIX)/bin'
	install -m 644 docs/man/*.1 '$(DESTDIR)$(PREFIX)/share/man/man1'
	build/symtool completion bash >'$(DESTDIR)$(PREFIX)/share/bash-completion/completions/symtool'
	build/symtool completion zsh >'$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_symtool'
	build/symtool completion fish >'$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/symtool.fish'

dist: ## make archives, Debian packages, container images and SBOMs for linux/amd64 and arm64 in build/dist, the same bytes from any folder
	$(GO) run ./.ci/dist -o build/dist $(if $(MAINTAINER),-maintainer '$(MAINTAINER)') $(if $(HOMEPAGE),-homepage '$(HOMEPAGE)')

run: build ## build symtool, and dump a real binary: symtool itself
	build/symtool dump -v -o build/symtool.sym build/symtool
	@echo; echo "build/symtool.sym begins with"; head -n 12 build/symtool.sym | cut -c 1-120
	@echo; echo "and has a function such as"
	@sed -n '/^FUNC .* main\.main$$/,/^FUNC .* main\.[^m]/p' build/symtool.sym | head -n 10
	@echo; ls -l build/symtool build/symtool.sym | awk '{print $$5, $$9}'

# go vet's checks run in lint.
test: ## run every test that needs nothing but Go
	$(CHECKED) $(GOTEST) ./...

# The detector needs a C compiler, and makes tests ten times slower. Long tests and the shared data are left out,
# and so are packages that share nothing between goroutines except values that are made once,
# and elfobj, which is covered by the tests of the packages that use it. Of the commands, dump and cli share
# something of their own; the others have no test that does, and each links every library.
# A program with the detector sleeps for a second before it ends, unless GORACE sets less: scripts start hundreds.
race: ## run the short tests of packages that share something between goroutines, with the race detector
	.ci/packages gcc libc6-dev
	packages=$$($(GO) list -f '{{range .GoFiles}}{{$$.Dir}}/{{.}}{{"\n"}}{{end}}' ./... | \
		xargs grep -lE 'internal/par"|"sync/atomic"|go func|sync\.(Mutex|RWMutex|WaitGroup)' | \
		grep -v -e /internal/object/elfobj/ -e /cmd/symtool/internal/ | xargs -n 1 dirname | sort -u) && \
		$(CHECKED) GORACE=atexit_sleep_ms=10 CGO_ENABLED=1 SYMTOOL_SHARED=/nonexistent \
		$(GOTEST) -race -short ./cmd/symtool/internal/cli ./cmd/symtool/internal/dump $$packages

shared: ## run the tests that read the shared test data in SYMTOOL_SHARED (../shared)
	tests=$$($(GO) run ./.ci/testsof shared) && $(CHECKED) $(GOTEST) $$tests

# .ci/run adds the tests of make shared, which do the same under SYMTOOL_ORACLE: each package is linked once. Tests wait
# for other programs a fifth of their time: one package more is tested at a time than there are processors.
oracle: KINDS = oracle
oracle: ## run the tests that compare with other tools' answers; installs the tools as root
	.ci/packages $(ORACLE_PACKAGES)
	tests=$$($(GO) run ./.ci/testsof $(KINDS)) && $(UNMADE) $(CHECKED) SYMTOOL_ORACLE=1 $(GOTEST) -p $$(($$(nproc) + 1)) -count=1 $$tests

oracle-full: ## run the same with every compiler, option, language and CPU, and print tables: an hour, 3 GB
	.ci/packages $(ORACLE_PACKAGES) $(ORACLE_FULL_PACKAGES)
	.ci/cpus
	tests=$$($(GO) run ./.ci/testsof full) && $(UNMADE) $(UNPROFILED) SYMTOOL_ORACLE=full $(GO) test -vet=off -count=1 -timeout 120m -v $$tests

nightly: oracle-full hostile beam fuzz soak ## run what takes hours: the comparisons in full, hostile inputs, Beam, every fuzz target

soak: ## send mixed traffic to symtool serve for SOAK (30m), and end and kill it meanwhile
	$(UNPROFILED) SYMTOOL_SOAK=$(SOAK) $(GO) test -vet=off -count=1 -timeout 0 -v -run '^TestServeSoak$$' ./cmd/symtool/internal/serve

# symtool-beam is a separate module. Without -trimpath Beam is compiled twice.
beam: ## run symtool-beam's tests, with 2,000 dumps: downloads 130 MB, minutes
	.ci/packages python3
	cd cmd/symtool-beam && SYMTOOL_ORACLE=full $(GO) test -trimpath -count=1 ./...

bench: ## measure time and memory on large binaries, beside other tools; installs them as root
	.ci/bench

# For benchstat: make bench-go COUNT=10 SYMTOOL_BENCH_FILE=... >new.txt
bench-go: build ## run Go's benchmarks of each stage, COUNT times, on SYMTOOL_BENCH_FILE (symtool)
	SYMTOOL_BENCH_FILE='$(abspath $(BENCH_FILE))' $(GO) test -run '^$$' -bench . -benchmem -count $(COUNT) -timeout 1h ./...

# Run this after large changes to dump, and commit the result.
profile: ## write cmd/symtool/default.pgo, by which go build optimizes the program, from the inputs of make bench
	.ci/profile

# SCALE is the size of .debug_info in megabytes. The file, of over 4 GB, is in SCALE_DIR.
scale: ## link a program with 1.1 GB of .debug_info, and measure memory and time on it: minutes
	.ci/packages gcc g++ clang-22 libc6-dev
	SYMTOOL_SCALE=$(SCALE) SYMTOOL_SCALE_DIR='$(SCALE_DIR)' $(GO) test -run '^TestScale$$' -v -count=1 -timeout 60m ./cmd/symtool/internal/dump

fuzz: ## run every fuzz target for FUZZTIME (30s)
	@set -e; packages=$$($(GO) list ./...); for package in $$packages; do \
		listed=$$($(UNPROFILED) $(GO) test -list '^Fuzz' $$package); \
		for target in $$(echo "$$listed" | grep '^Fuzz' || true); do \
			echo "$$package $$target"; \
			$(UNPROFILED) $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime=1x $$package; \
		done; \
	done

hostile: ## run every command on thousands of damaged files, and on inputs meant to be costly, within limits of memory and time
	$(UNPROFILED) SYMTOOL_HOSTILE_RUNS=$(HOSTILE_RUNS) $(GO) test -run '^Test(Walk)?Hostile(Kinds|Growth)?$$' -v -count=1 -timeout 120m ./cmd/symtool/internal/hostile ./symfmt/symdiff/report

golden: ## write the golden files and scripts again; review the difference
	$(UNPROFILED) GOLDIE_UPDATE=1 $(GO) test -count=1 ./...

lint: ## run gofmt, go vet and staticcheck
	@unformatted=$$(gofmt -l .); \
		if [ -n "$$unformatted" ]; then echo "not formatted by gofmt:"; echo "$$unformatted"; exit 1; fi
	$(CHECKED) $(GO) vet ./...
	$(CHECKED) $(GO) run $(STATICCHECK) ./...

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' Makefile
