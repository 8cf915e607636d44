package dwarf2sym

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// checkModule returns an error for the first rule of the format, or of this package, that m
// breaks.
func checkModule(m *symfmt.Module) error {
	files, origins := make(map[symfmt.FileID]bool), make(map[symfmt.OriginID]bool)
	for _, f := range m.Files {
		if f.Name == "" || files[f.ID] {
			return fmt.Errorf("FILE %d %q", f.ID, f.Name)
		}
		files[f.ID] = true
	}
	for _, o := range m.Origins {
		if o.Name == "" || origins[o.ID] {
			return fmt.Errorf("INLINE_ORIGIN %d %q", o.ID, o.Name)
		}
		origins[o.ID] = true
	}
	end := symfmt.RVA(0)
	starts := make(map[symfmt.RVA]bool)
	for i := range m.Funcs {
		f := &m.Funcs[i]
		if f.Size == 0 || f.RVA < end || f.Name == "" {
			return fmt.Errorf("FUNC %x %x %q after %x", f.RVA, f.Size, f.Name, end)
		}
		end = f.RVA + symfmt.RVA(f.Size)
		starts[f.RVA] = true
		if err := checkLines(f, files); err != nil {
			return fmt.Errorf("FUNC %x: %w", f.RVA, err)
		}
		if err := checkInlines(f, files, origins); err != nil {
			return fmt.Errorf("FUNC %x: %w", f.RVA, err)
		}
	}
	for i, p := range m.Publics {
		if p.Name == "" || starts[p.RVA] || i > 0 && p.RVA <= m.Publics[i-1].RVA {
			return fmt.Errorf("PUBLIC %x %q", p.RVA, p.Name)
		}
	}
	return nil
}

// checkLines checks that lines are in order, disjoint and inside f, and that no two should have
// been joined.
func checkLines(f *symfmt.Func, files map[symfmt.FileID]bool) error {
	at, last := f.RVA, symfmt.Line{}
	for l := range f.Lines() {
		if l.Size == 0 || l.RVA < at || l.RVA+symfmt.RVA(l.Size) > f.RVA+symfmt.RVA(f.Size) || !files[l.File] {
			return fmt.Errorf("line %+v after %x", l, at)
		}
		if last.Size > 0 && l.RVA == at && l.Num == last.Num && l.File == last.File {
			return fmt.Errorf("lines %+v and %+v are one", last, l)
		}
		at, last = l.RVA+symfmt.RVA(l.Size), l
	}
	return nil
}

// checkInlines checks that each INLINE is inside the one that it is nested in, and disjoint from
// the others of its depth.
func checkInlines(f *symfmt.Func, files map[symfmt.FileID]bool, origins map[symfmt.OriginID]bool) error {
	var open [][]symfmt.Range // by depth
	around := []symfmt.Range{{RVA: f.RVA, Size: f.Size}}
	all := make(map[uint32][]symfmt.Range)
	for in := range f.Inlines() {
		if int(in.Depth) > len(open) || len(in.Ranges) == 0 || !files[in.CallFile] || !origins[in.Origin] {
			return fmt.Errorf("INLINE %+v at depth %d", in, len(open))
		}
		parent := around
		if in.Depth > 0 {
			parent = open[in.Depth-1]
		}
		for _, r := range in.Ranges {
			if r.Size == 0 || !within(r, parent) {
				return fmt.Errorf("INLINE %+v: %x is not in %x", in, r, parent)
			}
		}
		open = append(open[:in.Depth], append([]symfmt.Range(nil), in.Ranges...))
		all[in.Depth] = append(all[in.Depth], in.Ranges...)
	}
	for depth, ranges := range all {
		if r, ok := overlap(ranges); ok {
			return fmt.Errorf("INLINEs of depth %d overlap at %x", depth, r)
		}
	}
	return nil
}

// overlap returns where two of the ranges overlap.
func overlap(ranges []symfmt.Range) (symfmt.RVA, bool) {
	slices.SortFunc(ranges, func(a, b symfmt.Range) int { return cmp.Compare(a.RVA, b.RVA) })
	for i := 1; i < len(ranges); i++ {
		if p := ranges[i-1]; p.RVA+symfmt.RVA(p.Size) > ranges[i].RVA {
			return ranges[i].RVA, true
		}
	}
	return 0, false
}

func within(r symfmt.Range, out []symfmt.Range) bool {
	for _, o := range out {
		if r.RVA >= o.RVA && r.RVA+symfmt.RVA(r.Size) <= o.RVA+symfmt.RVA(o.Size) {
			return true
		}
	}
	return false
}

// strictText writes m, reads the result strictly, and checks that writing it again gives the same
// text.
func strictText(m *symfmt.Module) ([]byte, error) {
	var b bytes.Buffer
	if err := symfmt.Write(&b, m, symfmt.WriteOptions{}); err != nil {
		return nil, err
	}
	result, err := symfmt.Read(context.Background(), bytes.NewReader(b.Bytes()), symfmt.ReadOptions{File: "written"})
	if err != nil {
		return b.Bytes(), err
	}
	again := result.Module
	var second bytes.Buffer
	if err := symfmt.Write(&second, again, symfmt.WriteOptions{}); err != nil {
		return nil, err
	}
	if !bytes.Equal(b.Bytes(), second.Bytes()) {
		return b.Bytes(), fmt.Errorf("the text that was written is read as a different module")
	}
	return b.Bytes(), nil
}

// fixtures returns the paths of all small binaries.
func fixtures(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(testenv.Root(t), "golden", "input", "*.elf"))
	if err != nil || len(paths) < 50 {
		t.Fatalf("%d fixtures: %v", len(paths), err)
	}
	return paths
}

// Every fixture gives a module that keeps the rules, and is the same for any number of workers.
func TestFixtures(t *testing.T) {
	for _, path := range fixtures(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			f := symtest.Open(t, path)
			var want []byte
			for _, jobs := range []int{1, 2, 3, 8} {
				rep, err := Read(context.Background(), f, Options{Jobs: jobs, Demangle: true})
				if err != nil {
					t.Fatal(err)
				}
				m := rep.Module
				if err := checkModule(m); err != nil {
					t.Fatal(err)
				}
				text, err := strictText(m)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range rep.Problems {
					text = append(text, p.String()...)
				}
				if want == nil {
					want = text
				}
				if !bytes.Equal(text, want) {
					t.Errorf("%d workers: other bytes", jobs)
				}
			}
		})
	}
}

// The same for files of thousands of functions.
func TestLargeFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("reads large files")
	}
	for name, path := range largeFiles(t) {
		t.Run(name, func(t *testing.T) {
			f := symtest.Open(t, path)
			var want []byte
			for _, jobs := range []int{1, 2, 3, 8} {
				rep, err := Read(context.Background(), f, Options{Jobs: jobs, Demangle: jobs == 1})
				if err != nil {
					t.Fatal(err)
				}
				m := rep.Module
				if len(m.Funcs) < 200 {
					t.Errorf("%d functions", len(m.Funcs))
				}
				if jobs == 1 {
					if err := checkModule(m); err != nil {
						t.Fatal(err)
					}
					if _, err := strictText(m); err != nil {
						t.Fatal(err)
					}
					for _, p := range rep.Problems {
						t.Log(p)
					}
					continue
				}
				var b bytes.Buffer
				if err := symfmt.Write(&b, m, symfmt.WriteOptions{}); err != nil {
					t.Fatal(err)
				}
				if want == nil {
					want = b.Bytes()
				}
				if !bytes.Equal(b.Bytes(), want) {
					t.Errorf("%d workers: other bytes", jobs)
				}
			}
		})
	}
}
