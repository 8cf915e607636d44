package dwarf2sym

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	elfobj "github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// hostileFiles are damaged in every way. They cover both classes and byte orders, all
// versions of DWARF, compression, C++ and Rust.
var hostileFiles = []string{
	"gcc-dwarf5.elf", "gcc-dwarf2.elf", "clang-dwarf5.elf", "cpu-i686.elf", "cpu-mips.elf", "cpu-s390x.elf",
	"compressed-zlib.elf", "compressed-zstd.elf", "rust-v0.elf", "scopes-gcc5.elf", "scopes-gcc4.elf", "lto-gcc.elf",
	"exidx.elf", "exidx-cxx.elf",
}

// hostileVariants returns how many damaged copies of a file are read; SYMTOOL_HOSTILE
// multiplies it.
func hostileVariants(t *testing.T) int {
	n := 300
	if testing.Short() {
		n = 50
	}
	if v := os.Getenv("SYMTOOL_HOSTILE"); v != "" {
		times, err := strconv.Atoi(v)
		if err != nil {
			t.Fatalf("SYMTOOL_HOSTILE: %v", err)
		}
		n *= times
	}
	return n
}

// Files that end early, at every 1 % of their length.
func TestTruncated(t *testing.T) {
	for _, name := range hostileFiles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := readFile(t, testenv.Input(t, name))
			for percent := range 100 {
				readDamaged(t, data[:len(data)*percent/100], "%d%%", percent)
			}
		})
	}
}

// Files with one to eight wrong bytes: anywhere, or in one debug section.
func TestFlippedBytes(t *testing.T) {
	for k, name := range hostileFiles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := testenv.Input(t, name)
			whole := readFile(t, path)
			places := debugPlaces(t, path)
			rng := newRand(uint64(1000 + k))
			for i := range hostileVariants(t) {
				data := bytes.Clone(whole)
				place := places[rng(len(places))]
				if i%4 == 0 {
					place = [2]int{0, len(data)}
				}
				for range 1 + rng(8) {
					data[place[0]+rng(place[1]-place[0])] = byte(damage(rng))
				}
				readDamaged(t, data, "variant %d", i)
			}
		})
	}
}

// damage returns an extreme byte.
func damage(rng func(int) int) int {
	if rng(2) == 0 {
		return rng(256)
	}
	return []int{0, 0xff, 0x7f, 0x80, 1, 0xfe}[rng(6)]
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// debugPlaces returns where in the file the sections are that are read.
func debugPlaces(t *testing.T, path string) (places [][2]int) {
	for _, s := range elfobj.Of(symtest.Open(t, path)).Sections {
		if s.HasData() && (strings.HasPrefix(s.Name, ".debug_") || strings.HasPrefix(s.Name, ".ARM.ex") || s.Name == ".eh_frame" || s.Name == ".symtab") {
			places = append(places, [2]int{int(s.Offset), int(s.Offset + s.FileSize)})
		}
	}
	return places
}

// damagedBytes is the most that reading a damaged file of some KB may allocate. The tests
// run in parallel, so it covers several files.
const damagedBytes = 512 << 20

// readDamaged opens, reads and writes a damaged file: the result must be an error or a
// text that can be read again, fast and without a panic.
func readDamaged(t *testing.T, data []byte, what string, arg int) {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		kept := filepath.Join(t.ArtifactDir(), strings.ReplaceAll(filepath.Base(t.Name()), "/", "-")+"-"+strconv.Itoa(arg))
		os.WriteFile(kept, data, 0o666)
		t.Errorf(what+" (%s): "+format, append([]any{arg, kept}, args...)...)
	}
	defer func() {
		if p := recover(); p != nil {
			fail("panic: %v\n%s", p, stack())
		}
	}()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	watch := testenv.StartWatch()
	if m, rep := openDamaged(fail, data); m != nil {
		if err := checkModule(m); err != nil {
			fail("%v", err)
		}
		if _, err := strictText(m); err != nil {
			fail("%v", err)
		}
		for _, p := range rep.Problems {
			if text := p.String(); strings.Contains(text, "internal error") || strings.Contains(text, "panic") {
				fail("%s", text)
			}
		}
	}
	if took := watch.Took(); took > 20*time.Second {
		fail("took %v", took)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > damagedBytes {
		fail("allocated %d bytes", n)
	}
}

func openDamaged(fail func(string, ...any), data []byte) (*symfmt.Module, *Result) {
	f, err := elfobj.NewFile(bytes.NewReader(data), int64(len(data)), "damaged", object.DefaultLimits())
	if err != nil {
		checkError(fail, err)
		return nil, nil
	}
	defer f.Close()
	rep, err := Read(context.Background(), f.Object(), Options{Jobs: 2, Demangle: true})
	if err != nil {
		checkError(fail, err)
		return nil, nil
	}
	m := rep.Module
	for _, p := range rep.Problems {
		checkError(fail, p.Err)
	}
	return m, rep
}

// checkError checks that an error names the file and the fault.
func checkError(fail func(string, ...any), err error) {
	var e *bin.Error
	if !errors.As(err, &e) || e.File == "" || e.Msg == "" && e.Err == nil {
		fail("error without a place: %#v", err)
	}
}

func stack() string {
	b := make([]byte, 4096)
	return string(b[:runtime.Stack(b, false)])
}
