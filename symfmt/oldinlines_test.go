package symfmt

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestOldInlines(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		lost             int
	}{
		{
			name: "the file of an origin is that of the calls in it, or of its lines",
			text: "FILE 0 a.c\nFILE 1 b.h\nFILE 2 c.h\nINLINE_ORIGIN 0 x\nINLINE_ORIGIN 1 y\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 1000 8\nINLINE 1 6 1 1 1004 4\n1000 4 7 1\n1004 4 8 2\n1008 8 9 0\n",
			want: "FILE 0 b.h\nFILE 1 c.h\nFILE 2 a.c\nINLINE_ORIGIN 0 0 x\nINLINE_ORIGIN 1 1 y\nFUNC 1000 10 0 f\nINLINE 0 5 0 1000 8\nINLINE 1 6 1 1004 4\n1000 4 7 0\n1004 4 8 1\n1008 8 9 2\n",
			lost: 1, // the call in f
		},
		{
			name: "an origin in two files becomes two",
			text: "FILE 0 a.c\nFILE 1 b.h\nINLINE_ORIGIN 0 x\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 1000 4\nINLINE 0 6 0 0 1004 4\nINLINE 0 6 0 0 1008 4\n1000 4 7 0\n1004 4 8 1\n",
			want: "FILE 0 a.c\nFILE 1 b.h\nINLINE_ORIGIN 0 0 x\nINLINE_ORIGIN 1 1 x\nINLINE_ORIGIN 2 -1 x\nFUNC 1000 10 0 f\nINLINE 0 5 0 1000 4\nINLINE 0 6 1 1004 4\nINLINE 0 6 2 1008 4\n1000 4 7 0\n1004 4 8 1\n",
			lost: 3,
		},
		{
			name: "calls of one origin from different files",
			text: "FILE 0 a.c\nFILE 1 b.h\nINLINE_ORIGIN 0 x\nINLINE_ORIGIN 1 y\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 1000 8\nINLINE 1 6 0 1 1000 4\nINLINE 1 7 1 1 1004 4\n",
			want: "FILE 0 a.c\nINLINE_ORIGIN 0 0 x\nINLINE_ORIGIN 1 -1 y\nFUNC 1000 10 0 f\nINLINE 0 5 0 1000 8\nINLINE 1 6 1 1000 4\nINLINE 1 7 1 1004 4\n",
			lost: 2,
		},
		{
			name: "the old form stays",
			text: "FILE 0 a.c\nINLINE_ORIGIN 0 0 x\nINLINE_ORIGIN 1 -1 y\nFUNC 1000 10 0 f\nINLINE 0 5 0 1000 8\nINLINE 1 6 1 1000 4\n",
			want: "FILE 0 a.c\nINLINE_ORIGIN 0 0 x\nINLINE_ORIGIN 1 -1 y\nFUNC 1000 10 0 f\nINLINE 0 5 0 1000 8\nINLINE 1 6 1 1000 4\n",
		},
		{
			name: "levels without a caller, origins and files that are not declared",
			text: "INLINE_ORIGIN 0 x\nFUNC 1000 10 0 f\nINLINE 4294967295 5 9 0 1000 8\nINLINE 3 6 9 8 1000 4\n",
			want: "FILE 0 " + NoFile + "\nINLINE_ORIGIN 0 0 x\nINLINE_ORIGIN 1 -1 " + NoName + "\nFUNC 1000 10 0 f\nINLINE 4294967295 5 0 1000 8\nINLINE 3 6 1 1000 4\n",
			lost: 1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, _ := tolerant(t, mergeHead+c.text)
			if lost := m.OldInlines(); lost != c.lost {
				t.Errorf("%d lost, want %d", lost, c.lost)
			}
			m.Canonicalize()
			if got := textOf(t, m); got != mergeHead+c.want {
				t.Errorf("got\n%s\nwant\n%s", got, mergeHead+c.want)
			}
			if lost := m.OldInlines(); lost != 0 {
				t.Errorf("%d lost the second time", lost)
			}
		})
	}
}

// frame is a frame in the answer of Breakpad's resolver.
type frame struct {
	name, file string
	line       uint64
}

// resolver2021 is Breakpad's BasicSourceLineResolver as of 2021 (revision a58cdbd),
// as far as inlined frames go: lines are split at spaces, and an INLINE_ORIGIN has a
// file. An inlined frame has the file of its origin. Its line is the line of the call in
// it or, for the innermost frame, of the line record.
type resolver2021 struct {
	files   map[string]string
	origins map[string]frame
	funcs   []*func2021
}

type func2021 struct {
	inlines []inline2021
	lines   [][4]uint64 // address, size, line, file
}

type inline2021 struct {
	depth, call uint64
	origin      string
	ranges      []uint64
}

func (in *inline2021) covers(at uint64) bool {
	for i := 0; i+1 < len(in.ranges); i += 2 {
		if at-in.ranges[i] < in.ranges[i+1] {
			return true
		}
	}
	return false
}

func number(t testing.TB, s string, base int) uint64 {
	v, err := strconv.ParseUint(s, base, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// load2021 reads a symbol file; lines may end in CR LF.
func load2021(t testing.TB, text string) *resolver2021 {
	r := &resolver2021{files: map[string]string{}, origins: map[string]frame{}}
	for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
		line := strings.TrimRight(s.Text(), "\r")
		word := strings.Split(line, " ")
		switch word[0] {
		case "MODULE", "INFO", "PUBLIC", "STACK":
		case "FILE":
			r.files[word[1]] = strings.SplitN(line, " ", 3)[2]
		case "INLINE_ORIGIN":
			r.origins[word[1]] = frame{name: strings.SplitN(line, " ", 4)[3], file: word[2]}
		case "FUNC":
			r.funcs = append(r.funcs, &func2021{})
		case "INLINE":
			in := inline2021{depth: number(t, word[1], 10), call: number(t, word[2], 10), origin: word[3]}
			for _, w := range word[4:] {
				in.ranges = append(in.ranges, number(t, w, 16))
			}
			f := r.funcs[len(r.funcs)-1]
			f.inlines = append(f.inlines, in)
		default:
			f := r.funcs[len(r.funcs)-1]
			f.lines = append(f.lines, [4]uint64{number(t, word[0], 16), number(t, word[1], 16), number(t, word[2], 10), number(t, word[3], 10)})
		}
	}
	return r
}

// frames returns the inlined frames at the start of a line record, outermost first.
func (r *resolver2021) frames(f *func2021, line [4]uint64) (all []frame) {
	file := r.files[fmt.Sprint(line[3])]
	for depth := uint64(0); ; depth++ {
		found := false
		for _, in := range f.inlines {
			if in.depth != depth || !in.covers(line[0]) {
				continue
			}
			if depth > 0 {
				all[depth-1].line = in.call
			}
			o := r.origins[in.origin]
			if name, ok := r.files[o.file]; ok {
				file = name
			}
			all = append(all, frame{o.name, file, line[2]})
			found = true
			break
		}
		if !found {
			return all
		}
	}
}

// framesOf returns the same frames from the records of the new form.
func framesOf(m *Module, f *Func, l Line) (all []frame) {
	files, origins := m.FileNames(), m.OriginNames()
	for depth := uint32(0); ; depth++ {
		found := false
		for in := range f.Inlines() {
			covers := func() bool {
				for _, r := range in.Ranges {
					if uint64(l.RVA-r.RVA) < r.Size {
						return true
					}
				}
				return false
			}
			if in.Depth != depth || !covers() {
				continue
			}
			if depth > 0 {
				all[depth-1].line = uint64(in.CallLine)
				all[depth-1].file, _ = files.Name(in.CallFile)
			}
			name, _ := origins.Name(in.Origin)
			file, _ := files.Name(l.File)
			all = append(all, frame{name, file, uint64(l.Num)})
			found = true
			break
		}
		if !found {
			return all
		}
	}
}

// Breakpad's resolver of 2021 gives answers for the old form that agree with the new form:
// the names and lines of all inlined frames, and their files, except for origins one of
// whose INLINEs has code in more than one file.
func TestOldInlinesAreReadByOldBreakpad(t *testing.T) {
	names, err := filepath.Glob("../golden/dwarf2sym/*.sym")
	if err != nil || len(names) < 50 {
		t.Fatalf("%d symbol files, %v", len(names), err)
	}
	frames, otherFiles := 0, 0
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		before, _ := tolerant(t, string(data))
		before.Canonicalize()
		after, _ := tolerant(t, string(data))
		if after.OldInlines(); len(after.Origins) == 0 {
			continue
		}
		after.Canonicalize()
		old := load2021(t, strings.ReplaceAll(textOf(t, after), "\n", "\r\n"))
		for i := range before.Funcs {
			f := &before.Funcs[i]
			k := 0
			for l := range f.Lines() {
				got, want := old.frames(old.funcs[i], old.funcs[i].lines[k]), framesOf(before, f, l)
				k++
				if len(got) != len(want) {
					t.Fatalf("%s: at %x: %v, want %v", name, l.RVA, got, want)
				}
				for j := range got {
					frames++
					if got[j].file != want[j].file {
						otherFiles++
						got[j].file = want[j].file
					}
					if got[j] != want[j] {
						t.Fatalf("%s: at %x: %v, want %v", name, l.RVA, got, want)
					}
				}
			}
		}
	}
	t.Logf("%d inlined frames, %d of them with a different file", frames, otherFiles)
	if frames < 1000 || otherFiles*100 > frames {
		t.Errorf("%d inlined frames, %d of them with a different file: want at least 1000, and less than 1%%", frames, otherFiles)
	}
}
