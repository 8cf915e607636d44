package dwarf2sym

import (
	"bytes"
	"context"
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/codemap"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// openSpilling opens a file whose sections are put into temporary files if they inflate to more
// than over bytes.
func openSpilling(t *testing.T, image []byte, over int64) *object.File {
	t.Helper()
	limits := object.DefaultLimits()
	limits.SpillOver, limits.TempDir = over, t.TempDir()
	f, err := objfile.New(bytes.NewReader(image), int64(len(image)), "program", limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// textOf reads a file. It returns its text and what was lost.
func textOf(t *testing.T, f *object.File, jobs int) (text string, lost []string) {
	t.Helper()
	result, err := Read(context.Background(), f, Options{Jobs: jobs})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range result.Problems {
		lost = append(lost, p.Lost+": "+p.Err.Error())
	}
	var out bytes.Buffer
	if err := symfmt.Write(&out, result.Module, symfmt.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return out.String(), lost
}

// TestGradually checks that units found while .debug_info is inflated, and the cost of damage, are
// the same as in a section that is inflated first, for any number of workers.
func TestGradually(t *testing.T) {
	path, err := GoProgram()
	if err != nil {
		t.Skip(err)
	}
	image, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := gradualData(t, openSpilling(t, image, 1<<16)); !d.Gradual || len(d.Units) != 0 {
		t.Errorf("gradual: %t, with %d units before", d.Gradual, len(d.Units))
	}
	whole, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		t.Fatal(err)
	}
	info := whole.Section(".debug_info")
	damaged := slices.Clone(image)
	clear(damaged[info.Offset+info.FileSize*3/4:][:64])
	wrongSum := slices.Clone(image)
	wrongSum[info.Offset+info.FileSize-1]++
	workers := []int{1, 2, 5}
	if testing.Short() {
		workers = workers[2:]
	}
	for name, image := range map[string][]byte{"good": image, "damaged": damaged, "checksum": wrongSum} {
		atOnce := openSpilling(t, image, 1<<30)
		if _, err := atOnce.Section(".debug_info").Data(); (err == nil) != (name == "good") {
			t.Fatal(name, err)
		}
		want, lost := textOf(t, atOnce, 1)
		if name != "good" && (len(lost) != 1 || !strings.HasPrefix(lost[0], "all functions: ")) {
			t.Errorf("%s: lost %q", name, lost)
		}
		for _, jobs := range workers {
			for where, over := range map[string]int64{"file": 1 << 16, "memory": 1 << 30} {
				got, now := textOf(t, openSpilling(t, image, over), jobs)
				if got != want || !slices.Equal(now, lost) {
					t.Errorf("%s, jobs %d, in %s: other text, or lost %q, want %q", name, jobs, where, now, lost)
				}
			}
		}
	}
}

// gradualData opens the debug information of a file as Read does.
func gradualData(t *testing.T, f *object.File) *units.Data {
	t.Helper()
	r := &reader{opts: &Options{}, file: f, jobs: 1, code: codemap.Of(f), files: filesOf(f)}
	d := r.openDebugData()
	if d == nil {
		t.Fatal(r.problems)
	}
	r.readGradually(d)
	return d
}

// TestGraduallyOnlyOneHalf checks that all units are found first if units may be split, or if
// everything is already inflated.
func TestGraduallyOnlyOneHalf(t *testing.T) {
	for _, name := range []string{"split-clang5.elf", "split-gcc4.elf", "compressed-zlib.elf"} {
		path := filepath.Join(testenv.Root(t), "golden", "input", name)
		f, err := objfile.Open(path, object.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		d := gradualData(t, f)
		if d.Gradual {
			t.Errorf("%s: is read gradually", name)
		}
		src := gradualSource{d.Info}
		d.Info = src
		r := &reader{opts: &Options{}, file: f, jobs: 1}
		if r.readGradually(d); d.Gradual == strings.HasPrefix(name, "split") {
			t.Errorf("%s, inflated as it is read: gradual is %t", name, d.Gradual)
		}
	}
}

// gradualSource reports that nothing is inflated yet.
type gradualSource struct{ object.Source }

func (gradualSource) Ready() int64 { return 0 }
