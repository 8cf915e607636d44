package symfmt

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// records are the records packed into a body.
type records struct {
	inlines []Inline
	lines   []Line
}

// body adds the records in the given mix: true takes the next inline.
func (r *records) body(b *BodyBuilder, a *Arena, rva RVA, inlineNext func() bool) Body {
	b.Reset(rva)
	ins, lines := r.inlines, r.lines
	for len(ins)+len(lines) > 0 {
		if len(lines) == 0 || len(ins) > 0 && inlineNext() {
			b.AddInline(&ins[0])
			ins = ins[1:]
		} else {
			b.AddLine(lines[0])
			lines = lines[1:]
		}
	}
	return b.Finish(a)
}

// check compares f with the records.
func (r *records) check(t *testing.T, f *Func) {
	t.Helper()
	if ni, nl := f.Body.Counts(); ni != len(r.inlines) || nl != len(r.lines) {
		t.Fatalf("counts %d, %d, want %d, %d", ni, nl, len(r.inlines), len(r.lines))
	}
	i := 0
	for in := range f.Inlines() {
		if !in.equal(&r.inlines[i]) {
			t.Fatalf("inline %d is %+v, want %+v", i, *in, r.inlines[i])
		}
		i++
	}
	if got := slices.Collect(f.Lines()); i != len(r.inlines) || !slices.Equal(got, r.lines) {
		t.Fatalf("%d inlines, lines\n%v\nwant %d and\n%v", i, got, len(r.inlines), r.lines)
	}
}

// refs returns the files and origins in order of first use, inlines before lines.
func (r *records) refs() (files []FileID, origins []OriginID) {
	for _, in := range r.inlines {
		if !in.NoFile && !slices.Contains(files, in.CallFile) {
			files = append(files, in.CallFile)
		}
		if !slices.Contains(origins, in.Origin) {
			origins = append(origins, in.Origin)
		}
	}
	for _, l := range r.lines {
		if !slices.Contains(files, l.File) {
			files = append(files, l.File)
		}
	}
	return files, origins
}

func (r *records) checkRefs(t *testing.T, b Body) {
	t.Helper()
	var files []FileID
	var origins []OriginID
	b.Refs(func(id FileID) { files = append(files, id) }, func(id OriginID) { origins = append(origins, id) })
	if wf, wo := r.refs(); !slices.Equal(files, wf) || !slices.Equal(origins, wo) {
		t.Fatalf("refs %v, %v, want %v, %v", files, origins, wf, wo)
	}
}

func randomRecords(rnd *rand.Rand, files int) *records {
	any64 := func() uint64 { return rnd.Uint64() >> rnd.IntN(64) }
	any32 := func() uint32 { return rnd.Uint32() >> rnd.IntN(32) }
	var r records
	for range rnd.IntN(30) {
		in := Inline{Depth: any32(), CallLine: any32(), Origin: OriginID(rnd.IntN(files)), NoFile: rnd.IntN(3) == 0}
		if !in.NoFile {
			in.CallFile = FileID(1<<32 - 1 - rnd.IntN(files))
		}
		for range 1 + rnd.IntN(4) {
			in.Ranges = append(in.Ranges, Range{RVA(any64()), any64()})
		}
		r.inlines = append(r.inlines, in)
	}
	var end RVA
	for range rnd.IntN(60) {
		l := Line{RVA(any64()), any64(), any32(), FileID(1<<32 - 1 - rnd.IntN(files))}
		if rnd.IntN(2) == 0 {
			l.RVA = end
		}
		end = l.RVA + RVA(l.Size)
		r.lines = append(r.lines, l)
	}
	return &r
}

// TestBodyRoundTrip packs one body after another with one builder: bodies
// with few and with many files, their records mixed or not.
func TestBodyRoundTrip(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	var b BodyBuilder
	var a Arena
	for round := range 3000 {
		r := randomRecords(rnd, []int{1, 3, scanIDs, scanIDs + 1, 200}[round%5])
		f := Func{RVA: RVA(rnd.Uint64() >> rnd.IntN(64))}
		f.Body = r.body(&b, &a, f.RVA, func() bool { return round%2 == 0 || rnd.IntN(2) == 0 })
		r.check(t, &f)
		r.checkRefs(t, f.Body)
	}
}

func TestBodyLimits(t *testing.T) {
	const last = 1<<64 - 1
	sizes := []uint64{0, 1, 31, 32, 1<<62 - 2, 1<<62 - 1, 1 << 62, 1<<62 + 1, 1<<63 - 1, 1 << 63, last - 1, last}
	var r records
	for _, size := range sizes {
		for _, rva := range []RVA{0, 1, 1 << 63, last} {
			for _, num := range []uint32{0, 63, 64, 127, 1 << 31, 1<<32 - 1} {
				r.lines = append(r.lines, Line{rva, size, num, FileID(num)})
			}
			r.inlines = append(r.inlines, Inline{Depth: 1<<32 - 1, CallLine: 1<<32 - 1, CallFile: 1<<32 - 1, Origin: 1<<32 - 1, Ranges: []Range{{rva, size}, {last - rva, last - size}}})
		}
	}
	var b BodyBuilder
	var a Arena
	for _, start := range []RVA{0, 1 << 63, last} {
		f := Func{RVA: start}
		f.Body = r.body(&b, &a, start, func() bool { return true })
		r.check(t, &f)
	}
}

func TestBodyEmpty(t *testing.T) {
	var b BodyBuilder
	var a Arena
	b.Reset(5)
	b.AddInline(&Inline{Origin: 3}) // no ranges: not added
	f := Func{RVA: 5, Body: b.Finish(&a)}
	new(records).check(t, &f)
	new(records).checkRefs(t, f.Body)
	f.Body.Renumber(func(FileID) FileID { panic("file") }, func(OriginID) OriginID { panic("origin") })
}

func TestRenumber(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	var b BodyBuilder
	var a Arena
	for range 200 {
		r := randomRecords(rnd, 40)
		f := Func{Body: r.body(&b, &a, 0, func() bool { return rnd.IntN(2) == 0 })}
		file := func(id FileID) FileID { return id*7 + 3 }
		origin := func(id OriginID) OriginID { return 1<<32 - 1 - id }
		f.Body.Renumber(file, origin)
		for i := range r.inlines {
			in := &r.inlines[i]
			in.CallFile, in.Origin = file(in.CallFile), origin(in.Origin)
		}
		for i := range r.lines {
			r.lines[i].File = file(r.lines[i].File)
		}
		r.check(t, &f)
	}
}

// TestReadersCanBeCopied checks that a copy continues from the same record. The writer
// needs this to cut a huge FUNC.
func TestReadersCanBeCopied(t *testing.T) {
	r := randomRecords(rand.New(rand.NewPCG(9, 9)), 5)
	var b BodyBuilder
	var a Arena
	f := Func{Body: r.body(&b, &a, 0, func() bool { return true })}
	lines := f.LineReader()
	for i := range r.lines {
		rest := lines
		for j := i; rest.Next(); j++ {
			if rest.Line != r.lines[j] {
				t.Fatalf("copy at %d: line %d is %v, want %v", i, j, rest.Line, r.lines[j])
			}
		}
		lines.Next()
	}
	ins := f.InlineReader()
	for i := range r.inlines {
		rest := ins
		rest.Inline.Ranges = nil
		for j := i; rest.Next(); j++ {
			if !rest.Inline.equal(&r.inlines[j]) {
				t.Fatalf("copy at %d: inline %d is %v, want %v", i, j, rest.Inline, r.inlines[j])
			}
		}
		ins.Next()
	}
}

// TestBodiesDoNotShare pins that bodies in one arena do not overwrite each other.
func TestBodiesDoNotShare(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	var b BodyBuilder
	var a Arena
	var funcs []Func
	var kept []*records
	for range 500 {
		r := randomRecords(rnd, 3)
		f := Func{Body: r.body(&b, &a, 0, func() bool { return true })}
		funcs, kept = append(funcs, f), append(kept, r)
	}
	large := make([]byte, arenaChunk)
	if got := a.keep(large); !bytes.Equal(got, large) {
		t.Error("a large piece is not kept")
	}
	for i := range funcs {
		kept[i].check(t, &funcs[i])
	}
}

// Ids are numbered in order of first use, few or many, whatever the previous body
// held.
func TestIDTable(t *testing.T) {
	var table idTable
	for _, n := range []uint32{1, scanIDs - 1, scanIDs, scanIDs + 1, scanIDs + 2, 5000, 1, scanIDs + 1, 3 * scanIDs} {
		table.reset()
		for range 2 {
			for i := range n {
				if got := table.index(n - i); got != i {
					t.Fatalf("id %d of %d is number %d, want %d", n-i, n, got, i)
				}
			}
		}
		if len(table.ids) != int(n) {
			t.Fatalf("%d numbers of %d ids", len(table.ids), n)
		}
	}
}

// TestRecordSizes pins the sizes in the comments: a module has millions of these.
func TestRecordSizes(t *testing.T) {
	for _, tt := range []struct {
		name      string
		got, want uintptr
	}{
		{"Line", unsafe.Sizeof(Line{}), 24}, {"Inline", unsafe.Sizeof(Inline{}), 48}, {"Range", unsafe.Sizeof(Range{}), 16},
		{"Func", unsafe.Sizeof(Func{}), 72}, {"Public", unsafe.Sizeof(Public{}), 40}, {"File", unsafe.Sizeof(File{}), 24},
		{"InlineOrigin", unsafe.Sizeof(InlineOrigin{}), 32}, {"CFIBlock", unsafe.Sizeof(CFIBlock{}), 32}, {"CFIRow", unsafe.Sizeof(CFIRow{}), 16},
	} {
		if tt.got != tt.want {
			t.Errorf("%s has %d bytes, want %d", tt.name, tt.got, tt.want)
		}
	}
}

// TestBodySize checks the purpose of packing: a line record costs a few bytes.
func TestBodySize(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	m := mustRead(t, mediumText())
	packed, lines := 0, 0
	for i := range m.Funcs {
		ni, nl := m.Funcs[i].Body.Counts()
		packed += len(m.Funcs[i].Body.data) - 16*ni
		lines += nl
	}
	if perLine := float64(packed) / float64(lines); perLine > 4 {
		t.Errorf("%.1f bytes a line record, want 4 or less", perLine)
	}
}
