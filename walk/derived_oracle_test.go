package walk_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/elfcore"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// derivedPrograms are built from testdata/derived. Each crashes at ten places.
var derivedPrograms = []struct {
	source string
	build  []string
	always bool // in short runs, too
}{
	{"frames.c", []string{"gcc", "-O2"}, true},
	{"frames.c", []string{"gcc", "-O0"}, false},
	{"frames.c", []string{"gcc", "-O1", "-fno-plt", "-Wl,-z,now"}, false},
	{"frames.c", []string{"gcc", "-O3", "-static-pie"}, false},
	{"frames.c", []string{"gcc", "-Os"}, false},
	{"frames.c", []string{"gcc", "-O2", "-fno-omit-frame-pointer", "-mno-red-zone"}, false},
	{"frames.c", []string{"gcc", "-O2", "-fstack-protector-all", "-fcf-protection=full", "-fstack-clash-protection"}, false},
	{"frames.c", []string{"clang-22", "-O0", "-Wl,--build-id"}, false},
	{"frames.c", []string{"clang-22", "-O2", "-Wl,--build-id"}, true},
	{"frames.c", []string{"clang-22", "-O3", "-march=x86-64-v3", "-fuse-ld=lld-22", "-Wl,--build-id"}, false},
	{"frames.c", []string{"clang-22", "-Os", "-mretpoline", "-Wl,--build-id"}, false},
	{"callbacks.c", []string{"gcc", "-O2"}, false},
	{"callbacks.c", []string{"gcc", "-O0", "-static"}, false},
	{"callbacks.c", []string{"gcc", "-O2", "-static-pie"}, true},
	{"callbacks.c", []string{"clang-22", "-O2", "-Wl,--build-id"}, false},
	{"objects.cc", []string{"g++", "-O2", "-std=c++17"}, true},
	{"objects.cc", []string{"g++", "-O0", "-std=c++17", "-static"}, false},
	{"objects.cc", []string{"clang++-22", "-O1", "-std=c++17", "-Wl,--build-id"}, false},
	{"assembly.c", []string{"gcc", "-O2", "assembly.S"}, true},
	{"assembly.c", []string{"clang-22", "-O1", "assembly.S", "-Wl,--build-id"}, false},
}

// Crashes of programs without call frame information, in libraries without it, have the stacks that the same dumps
// have with it. At least 99 % of the frames are found, and none that is not there.
func TestOracleDerivedCrashes(t *testing.T) {
	testenv.Oracle(t)
	c := derivedCrashes{bare: t.TempDir()}
	for _, p := range derivedPrograms {
		if p.always || testenv.OracleFull() {
			was := c
			t.Run(p.source+" "+strings.Join(p.build, " "), func(t *testing.T) { c.program(t, p.source, p.build) })
			t.Logf("%s %s: %d crashes, %d frames: %d equal, %d missing, %d that are not there", p.source, strings.Join(p.build, " "),
				c.crashes-was.crashes, c.frames-was.frames, c.equal-was.equal, c.frames-c.equal-was.frames+was.equal, c.bogus-was.bogus)
		}
	}
	t.Logf("%d crashes, %d frames: %d equal, %d missing, %d that are not there; %d by rules from instructions",
		c.crashes, c.frames, c.equal, c.frames-c.equal, c.bogus, c.derived)
	t.Logf("without binaries, %d frames: %d by rules from instructions in the dump, %d otherwise", c.inDump.frames, c.inDump.derived, c.inDump.others)
	if c.bogus > 0 || c.equal*100 < c.frames*99 || c.derived*2 < c.frames {
		t.Error("want 99 % equal, and none that is not there")
	}
}

// derivedCrashes counts frames.
type derivedCrashes struct {
	bare string // the folder of binaries without call frame information

	crashes, frames, equal, bogus, derived int

	inDump struct{ frames, derived, others, bogus int } // found without binaries
}

// program compares the crashes of a program.
func (c *derivedCrashes) program(t *testing.T, source string, build []string) {
	program := walktest.CrashProgram(t, build[0], source, append(slices.Clone(build[1:]), "-pthread", "-lm")...)
	var with, without *walk.Walker
	for place := range 10 {
		core := walktest.CrashCore(t, program, fmt.Sprint(place))
		file, err := dumpfile.Open(t.Context(), core, dumpfile.Options{Core: elfcore.Options{Binaries: []string{program}}})
		if err != nil {
			t.Fatal(err)
		}
		if with == nil {
			with, without = c.walkers(t, file.Dump)
		}
		c.crash(t, fmt.Sprintf("place %d", place), file.Dump, with, without)
		file.Close()
		c.alone(t, fmt.Sprintf("place %d", place), core, file.Dump, with)
		os.Remove(core)
	}
}

// walkers returns Walkers with the binaries of a dump, and with those without call frame information.
func (c *derivedCrashes) walkers(t testing.TB, d *dump.Dump) (with, without *walk.Walker) {
	t.Helper()
	paths, bare := c.binaries(t, d)
	return binaryWalker(t, paths), binaryWalker(t, bare)
}

// binaries returns the binaries of a dump, and those without call frame information.
func (c *derivedCrashes) binaries(t testing.TB, d *dump.Dump) (paths, bare []string) {
	t.Helper()
	for i := range d.Modules {
		if path := d.Modules[i].Path; strings.HasPrefix(path, "/") {
			paths, bare = append(paths, path), append(bare, c.withoutTables(t, path))
		}
	}
	return paths, bare
}

func binaryWalker(t testing.TB, paths []string) *walk.Walker {
	t.Helper()
	w, done := closedWalker(t, paths)
	t.Cleanup(done)
	return w
}

// closedWalker is like binaryWalker for callers that close the binaries themselves.
func closedWalker(t testing.TB, paths []string) (w *walk.Walker, done func()) {
	t.Helper()
	binaries, err := supplier.NewBinaries(paths, supplier.BinaryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := walk.NewSymbolSet(nil, binaries)
	return walk.NewWalker(s, walk.Config{}), func() { s.Close() }
}

// withoutTables returns a copy of a binary without call frame information.
func (c *derivedCrashes) withoutTables(t testing.TB, path string) string {
	t.Helper()
	bare := filepath.Join(c.bare, path)
	if _, err := os.Stat(bare); err == nil {
		return bare
	}
	if err := os.MkdirAll(filepath.Dir(bare), 0o777); err != nil {
		t.Fatal(err)
	}
	remove := exec.Command(testenv.Tool(t, "objcopy"), "--remove-section=.eh_frame", "--remove-section=.eh_frame_hdr", "--remove-section=.debug_frame", path, bare)
	if out, err := remove.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bare
}

// crash compares the stacks of a crash.
func (c *derivedCrashes) crash(t *testing.T, what string, d *dump.Dump, with, without *walk.Walker) {
	t.Helper()
	want, err := with.Walk(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	got, err := without.Walk(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	c.crashes++
	for i := range want.Stacks {
		c.compare(t, fmt.Sprintf("%s, thread %d", what, i), &want.Stacks[i], &got.Stacks[i])
	}
}

// alone compares the stacks of a crash that are found by the code in the dump alone.
func (c *derivedCrashes) alone(t *testing.T, what, core string, d *dump.Dump, with *walk.Walker) {
	t.Helper()
	var binaries []string
	for i := range d.Modules {
		binaries = append(binaries, d.Modules[i].Path)
	}
	file, err := dumpfile.Open(t.Context(), core, dumpfile.Options{Core: elfcore.Options{Binaries: binaries}})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	want, err := with.Walk(t.Context(), file.Dump)
	if err != nil {
		t.Fatal(err)
	}
	got, err := walk.NewWalker(walk.NewSymbolSet(nil, nil), walk.Config{}).Walk(t.Context(), file.Dump)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.Stacks {
		there := placesOf(&want.Stacks[i])
		c.inDump.frames += len(want.Stacks[i].Frames)
		was := true
		for k := range got.Stacks[i].Frames {
			f := &got.Stacks[i].Frames[k]
			is := there[place{f.PC, f.SP}]
			switch {
			case f.By != walk.ByCode && is:
				c.inDump.others++
			case f.By != walk.ByCode:
			case is:
				c.inDump.derived++
			case was:
				c.inDump.bogus++
				t.Errorf("%s, thread %d: frame %d, %#x, is not there", what, i, k, f.PC)
			}
			was = is
		}
	}
}

// place is where a frame is.
type place struct{ pc, sp uint64 }

func placesOf(s *walk.Stack) map[place]bool {
	there := map[place]bool{}
	for i := range s.Frames {
		there[place{s.Frames[i].PC, s.Frames[i].SP}] = true
	}
	return there
}

// compare compares a stack with that by call frame information.
func (c *derivedCrashes) compare(t *testing.T, what string, want, got *walk.Stack) {
	if !want.End.Clean() {
		t.Errorf("%s: with call frame information, it ends by %v: %s", what, want.End, want.Why)
	}
	there := placesOf(want)
	c.frames += len(want.Frames)
	equal, bogus := 0, 0
	var list []string
	for i := range got.Frames {
		f := &got.Frames[i]
		if f.By == walk.ByCode {
			c.derived++
		}
		if f.By == walk.ByEHFrame {
			t.Errorf("%s: %#x is by %v", what, f.PC, f.By)
		}
		if there[place{f.PC, f.SP}] {
			equal++
		} else {
			bogus++
		}
		list = append(list, fmt.Sprintf("%#x %#x %v %s", f.PC, f.SP, f.By, f.Function()))
	}
	c.equal, c.bogus = c.equal+equal, c.bogus+bogus
	if bogus > 0 || equal < len(want.Frames) {
		t.Logf("%s: %d of %d frames, and %d that are not there:\n%s\nwant", what, equal, len(want.Frames), bogus, strings.Join(list, "\n"))
		for i := range want.Frames {
			f := &want.Frames[i]
			t.Logf("%#x %#x %v %s", f.PC, f.SP, f.By, f.Function())
		}
	}
}

// BenchmarkOracleDerived walks crashes by rules from instructions: cold, as a program that walks one dump, which opens the
// binaries and derives the rules of each that a frame is in, and warm.
func BenchmarkOracleDerived(b *testing.B) {
	testenv.Oracle(b)
	for _, p := range []struct{ name, compiler, source, place string }{
		{"musl", "musl-gcc", "callbacks.c", "0"},
		{"libc", "gcc", "callbacks.c", "0"},
		{"libstdc++", "g++", "objects.cc", "0"},
	} {
		program := walktest.CrashProgram(b, p.compiler, p.source, "-O2", "-g0", "-pthread")
		core := walktest.CrashCore(b, program, p.place)
		file, err := dumpfile.Open(b.Context(), core, dumpfile.Options{Core: elfcore.Options{Binaries: []string{program}}})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { file.Close() })
		c := derivedCrashes{bare: b.TempDir()}
		_, bare := c.binaries(b, file.Dump)
		b.Run(p.name+"/cold", func(b *testing.B) {
			frames := 0
			for b.Loop() {
				w, done := closedWalker(b, bare)
				frames += derivedFrames(b, w, file.Dump)
				done()
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(frames), "us/frame")
		})
		b.Run(p.name+"/warm", func(b *testing.B) {
			w, frames := binaryWalker(b, bare), 0
			derivedFrames(b, w, file.Dump)
			for b.Loop() {
				frames += derivedFrames(b, w, file.Dump)
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(frames), "us/frame")
		})
	}
}

// derivedFrames walks a dump and returns the number of its frames; some are by rules from instructions.
func derivedFrames(b *testing.B, w *walk.Walker, d *dump.Dump) (frames int) {
	b.Helper()
	r, err := w.Walk(b.Context(), d)
	if err != nil {
		b.Fatal(err)
	}
	derived := 0
	for i := range r.Stacks {
		frames += len(r.Stacks[i].Frames)
		for k := range r.Stacks[i].Frames {
			if r.Stacks[i].Frames[k].By == walk.ByCode {
				derived++
			}
		}
	}
	if derived == 0 {
		b.Fatal("no frame is by rules from instructions")
	}
	return frames
}
