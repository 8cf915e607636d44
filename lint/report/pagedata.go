package report

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint"
)

// pageLimits bound what the page shows of a file, so that the page stays small whatever the file
// is.
type pageLimits struct {
	columns int // of the picture
	rows    int // of tables about the map
	data    int // bytes of data for the script
}

// maxPageData bounds the data of all files of a page, minFileData is what a file may
// have in any case.
const (
	maxPageData = 9 << 18
	minFileData = 24 << 10
)

// limitsFor are the limits of each of so many files.
func limitsFor(files int) pageLimits {
	l := pageLimits{columns: 1024, rows: 200, data: max(maxPageData/max(files, 1), minFileData)}
	if files > 8 {
		l.columns, l.rows = 256, 40
	}
	return l
}

// chartData are parts for the script, each compressed by gzip and written in base64
// of the alphabet for URLs, which is text wherever it stands. Numbers are unsigned
// LEB128. A place on the axis is in bytes from its beginning.
type chartData struct {
	// Runs: the number of pieces of the axis, their addresses, their sizes; the
	// number of runs, their sizes, and a byte for each with what it has.
	Runs string
	// Functions: the number of functions and public symbols by address; for each how
	// far it begins behind the end of the one before (zigzag); the sizes, 0 of a
	// public symbol; how far the line in the file is behind that of the one before
	// (zigzag).
	Functions string
	// Names: a line for each function.
	Names string

	LeastRun  uint64 // runs under this many bytes are a part of the one before; 0 without such
	LeastFunc uint64 // functions under this many bytes are left out; 0 without such
	LongName  int    // names are cut to this many characters
}

// newChartData fits the data into a limit: runs and functions may each have a
// third, names what is left. Trials are compressed fast, which takes more room.
func newChartData(a *axis, m *lint.Map, runs []run, limit int) *chartData {
	d := &chartData{}
	raw := encodeRuns(a, runs)
	for least := uint64(8); least < 1<<62 && packedSize(raw) > limit/3; least *= 2 {
		d.LeastRun, runs = least, coarser(runs, least)
		raw = encodeRuns(a, runs)
	}
	d.Runs = packed(raw)
	funcs := mappedSymbols(a, m)
	raw = encodeFunctions(a, funcs)
	for least := uint64(16); least < 1<<62 && packedSize(raw) > limit/3; least += least / 2 {
		d.LeastFunc = least
		funcs = slices.DeleteFunc(funcs, func(f *lint.MappedFunc) bool { return f.Size() < least })
		raw = encodeFunctions(a, funcs)
	}
	d.Functions = packed(raw)
	left := limit - len(d.Runs) - len(d.Functions)
	for _, long := range []int{200, 100, 60, 40, 24, 12, 0} {
		d.LongName, raw = long, encodeNames(m, funcs, long)
		if packedSize(raw) <= left {
			break
		}
	}
	d.Names = packed(raw)
	return d
}

// mappedSymbols are the functions, and the public symbols outside them, by address.
// Those for which the axis has no place are left out.
func mappedSymbols(a *axis, m *lint.Map) []*lint.MappedFunc {
	list := make([]*lint.MappedFunc, 0, len(m.Functions)+len(m.Publics))
	for i := range m.Functions {
		list = append(list, &m.Functions[i])
	}
	end := 0
	for i := range m.Publics {
		p := &m.Publics[i]
		for end < len(a.pieces) && a.pieces[end].End <= p.RVA {
			end++
		}
		if end < len(a.pieces) && a.pieces[end].RVA <= p.RVA && functionAt(m, p.RVA) == p {
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b *lint.MappedFunc) int { return cmp.Compare(a.RVA, b.RVA) })
	return list
}

func encodeRuns(a *axis, runs []run) []byte {
	var b []byte
	b = binary.AppendUvarint(b, uint64(len(a.pieces)))
	for _, p := range a.pieces {
		b = binary.AppendUvarint(b, uint64(p.RVA))
	}
	for _, p := range a.pieces {
		b = binary.AppendUvarint(b, p.Size())
	}
	b = binary.AppendUvarint(b, uint64(len(runs)))
	for _, r := range runs {
		b = binary.AppendUvarint(b, r.Size())
	}
	for _, r := range runs {
		b = append(b, r.has)
	}
	return b
}

func encodeFunctions(a *axis, funcs []*lint.MappedFunc) []byte {
	b := binary.AppendUvarint(nil, uint64(len(funcs)))
	var end uint64
	for _, f := range funcs {
		at := a.at(uint64(f.RVA))
		b = binary.AppendVarint(b, int64(at-end))
		end = at + f.Size()
	}
	for _, f := range funcs {
		b = binary.AppendUvarint(b, f.Size())
	}
	line := int64(0)
	for _, f := range funcs {
		b = binary.AppendVarint(b, int64(f.Line)-line)
		line = int64(f.Line)
	}
	return b
}

func encodeNames(m *lint.Map, funcs []*lint.MappedFunc, long int) []byte {
	var b []byte
	for i, f := range funcs {
		if i > 0 {
			b = append(b, '\n')
		}
		if long > 0 {
			b = append(b, cutText(text.Printable(m.Name(f)), long)...)
		}
	}
	return b
}

// cutText is a text of at most so many characters.
func cutText(s string, most int) string {
	if len(s) <= most || utf8.RuneCountInString(s) <= most {
		return s
	}
	n := 0
	for i := range s {
		if n++; n == most {
			return s[:i] + "\u2026"
		}
	}
	return s
}

func packed(data []byte) string {
	return base64.RawURLEncoding.EncodeToString(compressed(data, gzip.BestCompression))
}

func packedSize(data []byte) int {
	return base64.RawURLEncoding.EncodedLen(len(compressed(data, gzip.BestSpeed)))
}

func compressed(data []byte, level int) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, level) // levels are known
	_, _ = z.Write(data)                   // a Buffer takes all
	_ = z.Close()
	return b.Bytes()
}
