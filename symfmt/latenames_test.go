package symfmt

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// lateName makes names in these tests: it drops a suffix after '#', so that several names become one.
func lateName(dst []byte, name string) []byte {
	name, _, _ = strings.Cut(name, "#")
	return append(dst, strings.Repeat(name, 3)...)
}

// madeEarly returns a copy of m with the names that lateName makes, and one origin for each.
func madeEarly(m *Module) *Module {
	out := *m
	out.Funcs, out.Publics, out.Origins = slices.Clone(m.Funcs), slices.Clone(m.Publics), nil
	first, to := make(map[string]OriginID), make(map[OriginID]OriginID)
	origins := slices.Clone(m.Origins)
	slices.SortStableFunc(origins, func(a, b InlineOrigin) int { return int(a.ID) - int(b.ID) })
	for i, o := range origins {
		if i > 0 && origins[i-1].ID == o.ID {
			continue
		}
		name := string(lateName(nil, o.Name))
		if _, ok := first[name]; !ok {
			first[name] = OriginID(len(first))
			out.Origins = append(out.Origins, InlineOrigin{ID: first[name], Name: name})
		}
		to[o.ID] = first[name]
	}
	for i := range out.Funcs {
		f := &out.Funcs[i]
		f.Name = string(lateName(nil, f.Name))
		var ins []Inline
		for in := range f.Inlines() {
			c := *in
			if id, ok := to[c.Origin]; ok {
				c.Origin = id
			}
			c.Ranges = slices.Clone(c.Ranges)
			ins = append(ins, c)
		}
		f.Body = build(f.RVA, ins, slices.Collect(f.Lines()))
	}
	for i := range out.Publics {
		out.Publics[i].Name = string(lateName(nil, out.Publics[i].Name))
	}
	return &out
}

// manyOrigins returns a module whose origins take several pieces of text; two in three have the name of
// another one.
func manyOrigins() *Module {
	m := &Module{Name: "m"}
	var ins []Inline
	for i := range 9000 {
		name := fmt.Sprintf("%s%d#%d", strings.Repeat("name", 20), i*7%3000, i)
		m.Origins = append(m.Origins, InlineOrigin{ID: OriginID(i), Name: name})
		ins = append(ins, Inline{CallLine: 1, Origin: OriginID(i), Ranges: []Range{{0x1000 + RVA(i), 1}}})
	}
	m.Files = []File{{0, "f"}}
	m.Funcs = []Func{{RVA: 0x1000, Size: 9000, Name: "all#", Body: build(0x1000, ins, nil)}}
	return m
}

// Names that are made while a module is written give the same text as names made before: origins with the
// same name become one, for any number of jobs.
func TestWriteLateNames(t *testing.T) {
	odd := everyRecord()
	odd.Origins = []InlineOrigin{{ID: 9, Name: "a\nb"}, {ID: 1, Name: ""}, {ID: 1, Name: "never"}, {ID: 4, Name: strings.Repeat("x", MaxLine)}, {ID: 100_000, Name: "a\nb#"}}
	odd.Publics[0].Name, odd.Funcs[0].Name = " ", "\xff"
	for name, m := range map[string]*Module{"every record": everyRecord(), "odd names": odd, "many": manyOrigins(), "none": {}} {
		var want bytes.Buffer
		early := madeEarly(m)
		if err := Write(&want, early, WriteOptions{Jobs: 1}); err != nil {
			t.Fatal(err)
		}
		for _, jobs := range []int{1, 4} {
			var got bytes.Buffer
			names := &LateNames{Append: lateName}
			if err := Write(&got, m, WriteOptions{Jobs: jobs, Names: names}); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want.Bytes()) {
				t.Errorf("%s, %d jobs: %d bytes, want %d: %.300q, want %.300q", name, jobs, got.Len(), want.Len(), got.Bytes(), want.Bytes())
			}
			if names.Origins != len(early.Origins) {
				t.Errorf("%s, %d jobs: %d origins, want %d", name, jobs, names.Origins, len(early.Origins))
			}
		}
	}
}

// An error while the origins are written ends the writing, and says where it occurred.
func TestWriteLateNamesFails(t *testing.T) {
	m := manyOrigins()
	for _, jobs := range []int{1, 4} {
		full := errors.New("full")
		err := Write(&limited{300_000, full}, m, WriteOptions{Jobs: jobs, Names: &LateNames{Append: lateName}})
		if want := "symbols of m: write after 300000 bytes: full"; !errors.Is(err, full) || err.Error() != want {
			t.Errorf("%d jobs: error %v, want %s", jobs, err, want)
		}
	}
}
