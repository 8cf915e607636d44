# `make help` lists the targets.

GO          ?= go
STATICCHECK  = honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME    ?= 30s
HOSTILE_RUNS ?= 300
COUNT       ?= 1
BENCH_FILE   = $(or $(SYMTOOL_BENCH_FILE),build/symtool)

# What the comparisons with other tools need, by Debian package. A test keeps
# this in step with internal/testenv.
ORACLE_PACKAGES = binutils clang-22 debuginfod dwz elfutils g++ gcc libc6-armhf-cross libc6-dbg libc6-dev libstdc++6-armhf-cross lld-22 llvm-22 xz-utils zstd

.DEFAULT_GOAL := build
.PHONY: build run test oracle oracle-full bench bench-go fuzz hostile golden lint help

build: ## build/symtool
	CGO_ENABLED=0 $(GO) build -trimpath -o build/symtool ./cmd/symtool

run: build ## build, and dump a real binary: symtool itself
	build/symtool dump -v -o build/symtool.sym build/symtool
	@echo; echo "build/symtool.sym begins with"; head -n 12 build/symtool.sym | cut -c 1-120
	@echo; echo "and has a function such as"
	@sed -n '/^FUNC .* main\.run$$/,/^FUNC .* main\.[^r]/p' build/symtool.sym | head -n 10
	@echo; ls -l build/symtool build/symtool.sym | awk '{print $$5, $$9}'

test: ## every test that needs nothing but Go
	$(GO) test ./...

oracle: ## every test, with other tools' answers to compare with; installs them as root
	.ci/packages $(ORACLE_PACKAGES)
	SYMTOOL_ORACLE=1 $(GO) test -count=1 -timeout 15m ./...

oracle-full: ## lines, functions and inlines of every compiler and option beside llvm's, as a table: 10 minutes
	.ci/packages $(ORACLE_PACKAGES)
	SYMTOOL_ORACLE=full $(GO) test -count=1 -timeout 40m -v -run '^TestOracle(Lines|NameRules|FindsDamage|Supplement)$$' ./dwarf2sym

bench: ## time and memory on large binaries, beside other tools; installs them as root
	.ci/bench

# For benchstat: make bench-go COUNT=10 SYMTOOL_BENCH_FILE=... >new.txt
bench-go: build ## Go's benchmarks of each stage, COUNT times, on SYMTOOL_BENCH_FILE (symtool)
	SYMTOOL_BENCH_FILE='$(abspath $(BENCH_FILE))' $(GO) test -run '^$$' -bench . -benchmem -count $(COUNT) -timeout 1h ./...

fuzz: ## every fuzz target for FUZZTIME (30s)
	@set -e; packages=$$($(GO) list ./...); for package in $$packages; do \
		listed=$$($(GO) test -list '^Fuzz' $$package); \
		for target in $$(echo "$$listed" | grep '^Fuzz' || true); do \
			echo "$$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime=1x $$package; \
		done; \
	done

hostile: ## the program over thousands of damaged files, each within limits of memory and time
	SYMTOOL_HOSTILE_RUNS=$(HOSTILE_RUNS) $(GO) test -run '^TestHostile$$' -v -count=1 -timeout 60m ./cmd/symtool

golden: ## write the golden files and scripts anew; read the difference
	GOLDIE_UPDATE=1 $(GO) test -count=1 ./...

lint: ## gofmt, vet, staticcheck
	@unformatted=$$(gofmt -l .); \
		if [ -n "$$unformatted" ]; then echo "not formatted by gofmt:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' Makefile
