# `make help` lists the targets.

GO          ?= go
STATICCHECK  = honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME    ?= 30s
HOSTILE_RUNS ?= 300
COUNT       ?= 1
SCALE       ?= 1100
SCALE_DIR   ?=
PREFIX      ?= /usr/local
DESTDIR     ?=
BENCH_FILE   = $(or $(SYMTOOL_BENCH_FILE),build/symtool)

INSTALLED    = bin share/man/man1 share/bash-completion/completions share/zsh/site-functions share/fish/vendor_completions.d

# Tests run make, which prints the folders it enters if another make runs it.
UNMADE       = env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS

# What the comparisons with other tools need, by Debian package. A test keeps
# this in step with internal/testenv.
ORACLE_PACKAGES = binutils clang-22 debuginfod diffstat dwz elfutils g++ gcc gdb gdb-multiarch jq libc6-arm64-cross libc6-armhf-cross libc6-dbg libc6-dev \
	libc6-i386-cross libclang-rt-22-dev libssl3 libstdc++6-armhf-cross libxml2-utils lld-22 llvm-22 make mingw-w64-common ninja-build patch python3 strace \
	xz-utils zstd

# And the long ones: compilers for other CPUs and of other languages, and what changes the layout of programs.
ORACLE_FULL_PACKAGES = bazel-bootstrap bolt-22 buildah busybox-static chromium cmake fish fp-compiler gcc-aarch64-linux-gnu gcc-arm-linux-gnueabihf gcc-i686-linux-gnu \
	gcc-mips-linux-gnu gcc-mips64-linux-gnuabi64 gcc-mips64el-linux-gnuabi64 gcc-powerpc-linux-gnu gcc-powerpc64-linux-gnu gcc-powerpc64le-linux-gnu \
	gcc-riscv64-linux-gnu gcc-s390x-linux-gnu gdc-12 generate-ninja gfortran-12 gm2-12 gnat-12 gobjc-12 ldc libc6-dev-arm64-cross libc6-dev-armhf-cross \
	libc6-dev-i386-cross libc6-dev-mips-cross libc6-dev-mips64-cross libc6-dev-mips64el-cross libc6-dev-powerpc-cross libc6-dev-ppc64-cross \
	libc6-dev-ppc64el-cross libc6-dev-riscv64-cross libc6-dev-s390x-cross librust-symbolic-common-dev libstb-dev lldb-22 man-db mandoc meson mold \
	nginx-light nim ocaml-nox pre-commit prometheus qemu-user-static rustc shellcheck tmux zsh

.DEFAULT_GOAL := build
.PHONY: build install dist run test race shared oracle oracle-full nightly beam bench bench-go scale fuzz hostile golden lint help

# All targets but race use one set of the compiler's results.
export CGO_ENABLED ?= 0

build: ## build/symtool
	$(GO) build -o build/symtool ./cmd/symtool

install: build ## the program, its manual pages and completions, below PREFIX (/usr/local), which DESTDIR may precede
	install -d $(INSTALLED:%='$(DESTDIR)$(PREFIX)/%')
	install -m 755 build/symtool '$(DESTDIR)$(PREFIX)/bin'
	install -m 644 docs/man/*.1 '$(DESTDIR)$(PREFIX)/share/man/man1'
	build/symtool completion bash >'$(DESTDIR)$(PREFIX)/share/bash-completion/completions/symtool'
	build/symtool completion zsh >'$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_symtool'
	build/symtool completion fish >'$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/symtool.fish'

dist: ## build/dist: archives for linux/amd64 and arm64 with checksums and SBOM, the same bytes from any folder
	$(GO) run ./.ci/dist -o build/dist

run: build ## build, and dump a real binary: symtool itself
	build/symtool dump -v -o build/symtool.sym build/symtool
	@echo; echo "build/symtool.sym begins with"; head -n 12 build/symtool.sym | cut -c 1-120
	@echo; echo "and has a function such as"
	@sed -n '/^FUNC .* main\.run$$/,/^FUNC .* main\.[^r]/p' build/symtool.sym | head -n 10
	@echo; ls -l build/symtool build/symtool.sym | awk '{print $$5, $$9}'

# The tests of go vet run in lint.
test: ## every test that needs nothing but Go
	$(GO) test -vet=off -timeout 30m ./...

# The detector needs a C compiler, and makes tests ten times slower: the long ones are
# left out, and so are packages that share nothing between goroutines but what they make
# once, and elfobj, which the tests of its users share. A program with the detector
# sleeps for a second before it ends, if GORACE does not say less: the scripts start hundreds.
race: ## the short tests of packages that share something between goroutines, under the race detector
	.ci/packages gcc libc6-dev
	packages=$$($(GO) list -f '{{range .GoFiles}}{{$$.Dir}}/{{.}}{{"\n"}}{{end}}' ./... | \
		xargs grep -lE 'internal/par"|"sync/atomic"|go func|sync\.(Mutex|RWMutex|WaitGroup)' | \
		grep -v /internal/object/elfobj/ | xargs -n 1 dirname | sort -u) && \
		GORACE=atexit_sleep_ms=10 CGO_ENABLED=1 $(GO) test -race -short -vet=off -timeout 30m $$packages

shared: ## the tests that read the shared test data, which SYMTOOL_SHARED names (../shared)
	tests=$$($(GO) run ./.ci/testsof shared) && $(GO) test -vet=off -timeout 30m $$tests

oracle: ## the tests that compare with other tools' answers; installs those as root
	.ci/packages $(ORACLE_PACKAGES)
	tests=$$($(GO) run ./.ci/testsof oracle) && $(UNMADE) SYMTOOL_ORACLE=1 $(GO) test -vet=off -count=1 -timeout 30m $$tests

oracle-full: ## the same with every compiler, option, language and CPU, as tables: an hour, 3 GB
	.ci/packages $(ORACLE_PACKAGES) $(ORACLE_FULL_PACKAGES)
	.ci/cpus
	tests=$$($(GO) run ./.ci/testsof oracle) && $(UNMADE) SYMTOOL_ORACLE=full $(GO) test -vet=off -count=1 -timeout 120m -v $$tests

nightly: oracle-full hostile beam fuzz ## what takes hours: the comparisons in full, hostile inputs, Beam, every fuzz target

# A module of its own. Without -trimpath Beam is compiled twice.
beam: ## symtool-beam's tests, 2,000 dumps among them: downloads 130 MB, minutes
	.ci/packages python3
	cd cmd/symtool-beam && SYMTOOL_ORACLE=full $(GO) test -trimpath -count=1 ./...

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

hostile: ## every command over thousands of damaged files, and the program over inputs made to cost much, each within limits of memory and time
	SYMTOOL_HOSTILE_RUNS=$(HOSTILE_RUNS) $(GO) test -run '^Test(Walk)?Hostile(Kinds|Growth)?$$' -v -count=1 -timeout 120m ./cmd/symtool ./symfmt/symdiff/report

golden: ## rewrite the golden files and scripts; review the difference
	GOLDIE_UPDATE=1 $(GO) test -count=1 ./...

lint: ## gofmt, vet, staticcheck
	@unformatted=$$(gofmt -l .); \
		if [ -n "$$unformatted" ]; then echo "not formatted by gofmt:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' Makefile
