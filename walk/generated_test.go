package walk_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/internal/walktest"
	"github.com/symtool/symtool/walk/jit"
)

// generatedFrames walks the crash of a program that writes code, whose functions do not set up frame pointers, and
// returns the frames up to main.
func generatedFrames(t *testing.T, files ...string) (frames []string, res *walk.Result) {
	t.Helper()
	sources := &walk.SymbolSet{Binaries: walktest.Binaries(t, testenv.Input(t, "crashes", "jitcode.elf"))}
	t.Cleanup(func() { sources.Close() })
	d := walktest.Opened(t, testenv.Unpacked(t, testenv.Input(t, "crashes", "jitcode.core.gz")))
	res, err := walk.NewWalker(sources, walk.Config{JIT: &jit.Finder{Files: files}}).Walk(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	for i := range res.Stacks[0].Frames {
		f := &res.Stacks[0].Frames[i]
		line := ""
		if len(f.Names) > 0 && f.Names[0].Line > 0 {
			line = fmt.Sprintf(" %s:%d", f.Names[0].File, f.Names[0].Line)
		}
		frames = append(frames, fmt.Sprintf("%s%s %v", f.Function(), line, f.By))
		if f.Function() == "main" {
			break
		}
	}
	return frames, res
}

// Generated code has the names, lines and rules of a jitdump file.
func TestJITDump(t *testing.T) {
	path := testenv.Input(t, "crashes", "jitcode.jitdump")
	frames, res := generatedFrames(t, path)
	want := []string{
		" context", "inner prog.lang:33 return", "back /src/jitcode.c:82 symbols", "middle prog.lang:22 eh_frame",
		"outer prog.lang:12 symbols", "main /src/jitcode.c:114 symbols",
	}
	if !slices.Equal(frames, want) {
		t.Errorf("%q, want %q", frames, want)
	}
	all := res.Stacks[0].Frames
	if a, b := res.NamedBy(&all[1]), res.NamedBy(&all[2]); a != path || b != "" {
		t.Errorf("%q, %q", a, b)
	}
	if len(res.Dump.Problems) > 0 {
		t.Errorf("problems %v", res.Dump.Problems)
	}
}

// A perf map has names only: of several functions at an address, that of the last.
func TestPerfMap(t *testing.T) {
	frames, _ := generatedFrames(t, testenv.Input(t, "crashes", "jitcode.map"))
	for _, want := range []string{"inner return", "middle eh_frame"} {
		if !slices.Contains(frames, want) {
			t.Errorf("no %q in %q", want, frames)
		}
	}
	if slices.Contains(frames, "stale eh_frame") {
		t.Errorf("stale code in %q", frames)
	}
}

// A file that is missing is a problem of the dump.
func TestNoJITFile(t *testing.T) {
	if frames, res := generatedFrames(t, "/nonexistent/perf-1.map"); len(res.Dump.Problems) != 1 || slices.Contains(frames, "inner return") {
		t.Errorf("%q, problems %v", frames, res.Dump.Problems)
	}
}
