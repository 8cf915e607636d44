package lint

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/lint/internal/follow"
)

// wrongByHand lists hand-written functions whose call frame information is wrong, by their
// names in the symbol table. This test found them, and they were checked by hand.
var wrongByHand = map[string]string{
	"__mpn_addmul_1":           "glibc: pushes rbx and rbp without .cfi_adjust_cfa_offset",
	"__mpn_submul_1":           "glibc: as __mpn_addmul_1",
	"_dl_runtime_profile":      "glibc, arm64: .cfi_adjust_cfa_offset of a wrong sign before br x16",
	"runtime.rt0_go.abi0":      "Go: aligns the stack of the process by hand",
	"runtime.systemstack.abi0": "Go: the assembler counts POPQ in the order of the text, behind a JMP",
	"runtime.asmcgocall.abi0":  "Go: aligns the stack by hand",
	"_ZN11__sanitizer14internal_cloneEPFiPvES0_iS0_PiS0_S3_": "sanitizers: clone in inline assembly",
}

// followedOf checks the dump of a binary. It returns the findings of SYM551 or SYM557, of SYM553, and
// of the rules for saved registers, except those about functions that are known to be wrong.
func followedOf(t *testing.T, path string) (wrong, few, saves []string, stats follow.Stats) {
	t.Helper()
	p := passOfBinary(t, testenv.Dump(t, path), symtest.Open(t, path), Options{File: filepath.Base(path), MaxPerRule: 1 << 20})
	for _, f := range p.Result.Findings {
		name, _, _ := strings.Cut(f.Function, "@")
		switch {
		case wrongByHand[name] != "":
		case f.Rule.ID == "SYM551", f.Rule.ID == "SYM557": // SYM557 if the binary itself has the rule
			wrong = append(wrong, f.String()+" "+f.Function)
		case f.Rule.ID == "SYM553":
			few = append(few, f.String()+" "+f.Function)
		case f.Rule.ID == "SYM554", f.Rule.ID == "SYM555", f.Rule.ID == "SYM556":
			saves = append(saves, f.String()+" "+f.Function)
		case f.Rule.ID == "SYM507", f.Rule.ID == "SYM508", f.Rule.ID == "SYM501", f.Rule.ID == "SYM504":
			t.Error(f.String())
		}
	}
	if p.Followed == nil {
		t.Fatalf("%s: nothing was followed", path)
	}
	return wrong, few, saves, *p.Followed
}

func logFollowed(t *testing.T, name string, s *follow.Stats, wrong, few, saves int) {
	t.Logf("%s: %d blocks, %d followed, %d partly, %d not (%v); %d instructions, %d of them by a rule alone, not compared: %v; wrong %d, at a few instructions %d; %d rules of registers were compared, wrong in %d",
		name, s.Blocks, s.Followed+s.Wrong, s.Partly, s.Abstained, s.AbstainedBy, s.Instructions, s.Anchored,
		s.NotCompared, wrong, few, s.Saves, saves)
}

// The rules that compilers generate are right, except for known mistakes.
func TestFollowReal(t *testing.T) {
	testenv.Oracle(t)
	program := testenv.Symtool(t) // a Go binary
	const lib, cross = "/usr/lib/x86_64-linux-gnu/", "/usr/aarch64-linux-gnu/lib/"
	for _, c := range []struct {
		path, pkg  string
		wrong, few int
		why        string
		saves      int
	}{
		{lib + "libc.so.6", "libc6", 2, 0, "__mpn_addmul_1 and __mpn_submul_1, which have no symbols here", 0},
		{lib + "ld-linux-x86-64.so.2", "libc6", 0, 0, "", 0},
		{lib + "libm.so.6", "libc6", 0, 0, "", 0},
		{lib + "libstdc++.so.6", "libstdc++6", 0, 0, "", 0},
		{"/usr/bin/bash", "bash", 0, 0, "", 0},
		{"/usr/bin/perl", "perl-base", 0, 0, "", 0},
		{cross + "libc.so.6", "libc6-arm64-cross", 0, 0, "", 0},
		{cross + "ld-linux-aarch64.so.1", "libc6-arm64-cross", 0, 1, "_dl_runtime_profile, which has no symbol here", 0},
		{cross + "libm.so.6", "libc6-arm64-cross", 0, 0, "", 0},
		{cross + "libstdc++.so.6", "libstdc++6-arm64-cross", 0, 0, "", 0},
		{lib + "libcrypto.so.3", "libssl3", 0, 3, "Poly1305, and two epilogues of Montgomery multiplication: perlasm", 1},
		{program, "", 0, 0, "", 0},
		{lib + "libasan.so.8.0.0", "libasan8", 0, 0, "", 0},
		{cross + "libasan.so.8.0.0", "libasan8-arm64-cross", 0, 502, "GCC restores x29 before sp, and tells both at sp", 0},
		{lib + "libstd-a5a48102fbd58791.so", "libstd-rust-1.63", 0, 44, "LLVM moves instructions in between the pops of an epilogue", 0},
	} {
		t.Run(strings.TrimPrefix(c.path, "/"), func(t *testing.T) {
			wrong, few, saves, s := followedOf(t, testenv.File(t, c.path, c.pkg))
			logFollowed(t, filepath.Base(c.path), &s, len(wrong), len(few), len(saves))
			if len(wrong) != c.wrong || len(few) != c.few {
				t.Errorf("%s: wrong %d and %d, want %d and %d: %q %q", c.path, len(wrong), len(few), c.wrong, c.few, wrong, few)
			}
			if len(saves) != c.saves || s.Saves < s.Instructions/2 {
				t.Errorf("%s: registers wrong in %d, want %d, %d were compared: %s", c.path, len(saves), c.saves, s.Saves, strings.Join(saves[:min(len(saves), 12)], "\n"))
			}
			if (s.Followed+s.Wrong)*100 < s.Blocks*90 {
				t.Errorf("%s: %d of %d blocks were followed", c.path, s.Followed, s.Blocks)
			}
		})
	}
}

// LLVM's own library: 49,713 functions of C++.
func TestFollowLarge(t *testing.T) {
	testenv.Oracle(t)
	if !testenv.OracleFull() {
		t.Skip("takes a large file: SYMTOOL_ORACLE=full")
	}
	wrong, few, saves, s := followedOf(t, testenv.File(t, "/usr/lib/x86_64-linux-gnu/libclang-22.so.22", "libclang1-22"))
	logFollowed(t, "libclang", &s, len(wrong), len(few), len(saves))
	if len(saves) > 0 {
		t.Errorf("%d: %s", len(saves), strings.Join(saves[:min(len(saves), 20)], "\n"))
	}
	if len(wrong) > 0 || len(few)*1000 > s.Blocks {
		t.Errorf("wrong %q, at a few instructions %d of %d: %q", wrong, len(few), s.Blocks, few)
	}
}

// The same for code of all optimization levels.
func TestFollowCompiled(t *testing.T) {
	testenv.Oracle(t)
	common := []string{"-O0", "-O1", "-O2", "-O3", "-Os", "-O2 -fno-omit-frame-pointer", "-O2 -fstack-clash-protection", "-O2 -static", "-O2 -no-pie"}
	x86 := []string{"-O2 -fcf-protection=full", "-O2 -mno-red-zone", "-O3 -mavx512f"}
	arm := []string{"-O2 -mbranch-protection=standard"}
	for _, c := range []struct {
		compiler string
		flags    []string
	}{
		{"gcc", x86}, {"clang-22", x86}, {"aarch64-linux-gnu-gcc", arm}, {"clang-22 --target=aarch64-linux-gnu", arm},
	} {
		t.Run(c.compiler, func(t *testing.T) {
			var sum follow.Stats
			tool := strings.Fields(c.compiler)
			if strings.Contains(c.compiler, "--target=aarch64") {
				testenv.Tool(t, "aarch64-linux-gnu-gcc") // clang links with its libraries
			}
			for _, flags := range append(common, c.flags...) {
				out := filepath.Join(t.TempDir(), "follow")
				args := append(append(tool[1:len(tool):len(tool)], strings.Fields(flags)...), "-w", "-o", out, filepath.Join("testdata", "follow.c"))
				if text, err := exec.Command(testenv.Tool(t, tool[0]), args...).CombinedOutput(); err != nil {
					t.Fatalf("%s %s: %v: %s", c.compiler, flags, err, text)
				}
				wrong, few, saves, s := followedOf(t, out)
				if len(wrong)+len(few)+len(saves) > 0 {
					t.Errorf("%s %s: %q %q %q", c.compiler, flags, wrong, few, saves)
				}
				sum.Blocks += s.Blocks
				sum.Followed += s.Followed + s.Wrong
				sum.Partly += s.Partly
				sum.Abstained += s.Abstained
				sum.Instructions += s.Instructions
				sum.Anchored += s.Anchored
				sum.Saves += s.Saves
			}
			logFollowed(t, c.compiler, &sum, 0, 0, 0)
		})
	}
}
