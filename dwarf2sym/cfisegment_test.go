package dwarf2sym

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	elfobj "github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// ptARMExidx is PT_ARM_EXIDX.
const ptARMExidx = elf.PT_LOPROC + 1

// withoutSections clears the fields about section headers in the ELF header.
func withoutSections(f *elfobj.File, image []byte) []byte {
	image = slices.Clone(image)
	shoff, tail := image[32:36], image[46:52] // e_shentsize, e_shnum, e_shstrndx
	if f.Class == elf.ELFCLASS64 {
		shoff, tail = image[40:48], image[58:64]
	}
	clear(shoff)
	clear(tail)
	return image
}

func openImage(t testing.TB, image []byte) *elfobj.File {
	t.Helper()
	f, err := elfobj.NewFile(bytes.NewReader(image), int64(len(image)), "x", object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// cfiTextOf returns the CFI of a file as text, and the problems.
func cfiTextOf(t testing.TB, f *object.File) (text string, problems []string) {
	t.Helper()
	report, err := Read(context.Background(), f, Options{CFIOnly: true, CFI: CFIDWARF, Name: "x", ID: "0"})
	if err != nil {
		t.Fatal(err)
	}
	m := report.Module
	m.Infos = nil
	var b strings.Builder
	if err := symfmt.Write(&b, m, symfmt.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Problems {
		problems = append(problems, p.String())
	}
	return b.String(), problems
}

// A file has the same STACK CFI without its section headers if it has what unwinders
// need: an index of its FDEs, or ARM's index.
func TestCFIWithoutSections(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testenv.Input(t), "*.elf"))
	if err != nil {
		t.Fatal(err)
	}
	compared := map[elf.Machine]int{}
	for _, path := range files {
		image, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f := openImage(t, image)
		if len(f.SegmentsOf(elf.PT_GNU_EH_FRAME)) == 0 && (f.Machine != elf.EM_ARM || len(f.SegmentsOf(ptARMExidx)) == 0) || f.Section(".debug_frame") != nil {
			continue
		}
		want, _ := cfiTextOf(t, f.Object())
		got, problems := cfiTextOf(t, openImage(t, withoutSections(f, image)).Object())
		if got != want {
			t.Errorf("%s:\n%s\nwant\n%s%q", filepath.Base(path), got, want, problems)
		}
		if strings.Contains(want, "STACK CFI ") {
			compared[f.Machine]++
		}
	}
	if compared[elf.EM_X86_64] < 20 || compared[elf.EM_ARM] < 3 || len(compared) < 6 {
		t.Errorf("compared %v only", compared)
	}
}

// Damage to .eh_frame_hdr is reported. A truncated table costs nothing if a terminator
// ends .eh_frame.
func TestEHFrameHeaderDamage(t *testing.T) {
	image := testenv.ReadInput(t, "gcc-dwarf5.elf")
	whole := openImage(t, image)
	bare := withoutSections(whole, image)
	header := whole.SegmentsOf(elf.PT_GNU_EH_FRAME)[0]
	le := binary.LittleEndian
	want, _ := cfiTextOf(t, openImage(t, bare).Object())
	for _, c := range []struct {
		name   string
		change func(image, hdr []byte)
		want   string // the problem
		same   bool   // no CFI is lost
	}{
		{"version", func(_, h []byte) { h[0] = 2 }, "x: .eh_frame_hdr+0x4: version 2 with a pointer of encoding 0x1b, want 1 with 0x1b or 0x1c (lost: .eh_frame)", false},
		{"encoding", func(_, h []byte) { h[1] = 0x10 }, "x: .eh_frame_hdr+0x4: version 1 with a pointer of encoding 0x10, want 1 with 0x1b or 0x1c (lost: .eh_frame)", false},
		{"pointer", func(_, h []byte) { le.PutUint32(h[4:], 1<<30) }, "x: .eh_frame_hdr+0x4: no segment has bytes at 0x4000", false},
		{"no table", func(_, h []byte) { h[2], h[3] = 0xff, 0xff }, "", true},
		{"number of FDEs", func(_, h []byte) { le.PutUint32(h[8:], 1<<31) }, fmt.Sprintf("x: .eh_frame_hdr+%#x: need 4 bytes, 0 left (lost: the end of .eh_frame)", header.FileSize), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			bad := slices.Clone(bare)
			c.change(bad, bad[header.Offset:])
			got, problems := cfiTextOf(t, openImage(t, bad).Object())
			if got := strings.Join(problems, "\n"); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
				t.Errorf("problems %s, want %s", got, c.want)
			}
			if (got == want) != c.same {
				t.Errorf("the CFI is the same: %v, want %v:\n%s", got == want, c.same, got)
			}
		})
	}
}

// Whatever the bytes of the program headers, of .eh_frame_hdr and of ARM's index are, the
// reader does not crash.
func TestSegmentsHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	for _, name := range []string{"gcc-dwarf5.elf", "exidx-cxx.elf"} {
		image := testenv.ReadInput(t, name)
		whole := openImage(t, image)
		bare := withoutSections(whole, image)
		places := []elfobj.Segment{{Offset: 32, FileSize: uint64(64 + 56*len(whole.Segments))}}
		places = append(places, whole.SegmentsOf(elf.PT_GNU_EH_FRAME)...)
		places = append(places, whole.SegmentsOf(ptARMExidx)...)
		lost := 0
		want, _ := cfiTextOf(t, openImage(t, bare).Object())
		for _, p := range places {
			for at := p.Offset; at < p.Offset+p.FileSize; at++ {
				for _, with := range []byte{0, 0x7f, 0xff} {
					bad := slices.Clone(bare)
					bad[at] = with
					f, err := elfobj.NewFile(bytes.NewReader(bad), int64(len(bad)), "x", object.DefaultLimits())
					if err != nil {
						continue
					}
					got, problems := cfiTextOf(t, f.Object())
					if strings.Contains(strings.Join(problems, ""), "panic") || strings.Contains(strings.Join(problems, ""), "internal error") {
						t.Errorf("%s: byte %#x is %#x: %q", name, at, with, problems)
					}
					lost += oneIf(got != want)
				}
			}
		}
		if lost < 20 {
			t.Errorf("%s: %d changes lost something", name, lost)
		}
	}
}

// The same for the libraries of cross compilers, without section headers.
func TestOracleCFIWithoutSections(t *testing.T) {
	testenv.Oracle(t)
	strip := testenv.Tool(t, "llvm-strip-22")
	var files []string
	for _, pattern := range []string{"/usr/*-linux-gnu*/lib/lib[cm].so.6", "/usr/*-linux-gnu*/lib/libstdc++.so.6", "/usr/*-linux-gnu*/lib/ld*.so.?", "/lib/x86_64-linux-gnu/libc.so.6"} {
		some, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, some...)
	}
	if len(files) < 10 {
		t.Skipf("%d libraries of cross compilers", len(files))
	}
	for _, path := range files {
		t.Run(strings.ReplaceAll(path, "/", "_"), func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "bare")
			if text, err := exec.Command(strip, "--strip-sections", path, "-o", out).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			image, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			bare := openImage(t, image)
			if image, err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
			want, wantProblems := cfiTextOf(t, openImage(t, image).Object())
			got, problems := cfiTextOf(t, bare.Object())
			if bare.HasSections() || got != want || !slices.Equal(problems, wantProblems) {
				t.Errorf("section headers: %v; %d lines, want %d; problems %q, want %q", bare.HasSections(), strings.Count(got, "\n"), strings.Count(want, "\n"), problems, wantProblems)
			}
			t.Logf("%d lines are the same", strings.Count(got, "\n"))
		})
	}
}
