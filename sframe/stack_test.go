package sframe_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/sframe"
)

// stackDump is the output of testdata/stack.c.
type stackDump struct {
	top    sframe.Frame
	frames []sframe.Frame // callers, the nearest first; without FP
	stack  words
}

func readStackDump(t *testing.T, out []byte) (d stackDump) {
	t.Helper()
	d.stack = words{}
	for line := range strings.Lines(string(out)) {
		var kind string
		var a, b, c uint64
		switch n, _ := fmt.Sscanf(line, "%s %x %x %x", &kind, &a, &b, &c); {
		case kind == "regs" && n == 4:
			d.top = sframe.Frame{PC: a, SP: b, FP: c, Interrupted: true}
		case kind == "frame" && n == 3:
			d.frames = append(d.frames, sframe.Frame{PC: a, SP: b})
		case kind == "word" && n == 3:
			d.stack[a] = b
		default:
			t.Fatalf("cannot read %q", line)
		}
	}
	return d
}

// A program's real stack is unwound with the section that as and ld wrote for
// it.
func TestStepProgram(t *testing.T) {
	unwindProgram(t, 0, "")
}

// The same is tested with binutils that write versions 2 and 3.
func TestStepProgramSuites(t *testing.T) {
	testenv.Oracle(t)
	for suite, version := range map[string]uint8{"trixie": 2, "sid": 3} {
		t.Run(suite, func(t *testing.T) {
			unwindProgram(t, version, suiteTools(t, suite))
		})
	}
}

// suiteTools creates a folder with as and ld of another Debian suite, for gcc
// -B.
func suiteTools(t *testing.T, suite string) string {
	t.Helper()
	tool, err := filepath.Abs(testenv.Shared(t, "tools", "suite-tool"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"as", "ld"} {
		script := fmt.Sprintf("#!/bin/sh\nexec '%s' %s %s \"$@\"\n", tool, suite, name)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// unwindProgram compiles and runs testdata/stack.c in several ways, with the
// tools in a folder if there is one. A version of 0 means any.
func unwindProgram(t *testing.T, version uint8, tools string) {
	if runtime.GOARCH != "amd64" || runtime.GOOS != "linux" {
		t.Skip("runs a program for Linux on AMD64")
	}
	gcc := testenv.Tool(t, "gcc")
	builds := []string{"-O0", "-O1", "-O2 -fomit-frame-pointer", "-O2 -fno-omit-frame-pointer", "-Os"}
	if version == 3 {
		builds = append(builds, "-O1 -DREALIGN", "-O2 -DREALIGN")
	}
	for _, flags := range builds {
		t.Run(flags, func(t *testing.T) {
			prog := filepath.Join(t.TempDir(), "stack")
			args := append(strings.Fields(flags), "-no-pie", "-Wa,--gsframe", "-fno-optimize-sibling-calls", "-o", prog, filepath.Join("testdata", "stack.c"))
			if tools != "" {
				args = append(args, "-B", tools)
			}
			if out, err := exec.Command(gcc, args...).CombinedOutput(); strings.Contains(string(out), "gsframe") {
				t.Skip("as has no --gsframe: it needs binutils 2.40")
			} else if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			out, err := exec.Command(prog).Output()
			if err != nil {
				t.Fatal(err)
			}
			sample, ok := elfSample(t, prog)
			if !ok {
				t.Fatal("no .sframe section")
			}
			s := sample.decode(t)
			if got := s.Headers[0].Version; version != 0 && got != version {
				t.Errorf("version %d, want %d", got, version)
			}
			for _, f := range s.Check(sframe.Spec, sample.ctx) {
				if f.Severity == E {
					t.Error(f)
				}
			}
			compareStack(t, s, readStackDump(t, out))
		})
	}
}

func compareStack(t *testing.T, s *sframe.Section, d stackDump) {
	t.Helper()
	if len(d.frames) < 50 {
		t.Errorf("only %d frames", len(d.frames))
	}
	f := d.top
	for i, want := range d.frames {
		next, err := s.Step(f, nil, d.stack.mem)
		if err != nil {
			t.Fatalf("frame %d, %+v: %v", i, f, err)
		}
		f = next
		if next.FP = 0; want.SP == 0 {
			want.SP = next.SP // the program does not report it
		}
		if next != want {
			t.Fatalf("frame %d: %+v, want %+v", i, next, want)
		}
	}
	if f, err := s.Step(f, nil, d.stack.mem); err != sframe.ErrNoFDE {
		t.Errorf("above main is the C library, without SFrame here: %+v, %v", f, err)
	}
	t.Logf("version %d: %d frames", s.Headers[0].Version, len(d.frames))
}
