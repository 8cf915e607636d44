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

// pageLimits limits what the page shows of a file, so that the page stays small whatever the file
// contains.
type pageLimits struct {
	columns int // columns of the picture
	rows    int // rows of tables about the map
	data    int // bytes of data for the script
}

// maxPageData limits the data of all files on a page; minFileData is what any file may use.
const (
	maxPageData = 9 << 18
	minFileData = 24 << 10
)

// limitsFor returns the limits of each file, given the number of files.
func limitsFor(files int) pageLimits {
	l := pageLimits{columns: 1024, rows: 200, data: max(maxPageData/max(files, 1), minFileData)}
	if files > 8 {
		l.columns, l.rows = 256, 40
	}
	return l
}

// chartData is the script's data, compressed with gzip and encoded in URL-safe base64, which needs
// no escaping anywhere. Numbers are unsigned LEB128. A position on the axis is in bytes from its
// start.
type chartData struct {
	// Runs: the number of pieces of the axis, their addresses, their sizes; the number of runs,
	// their sizes, and a byte with the properties of each.
	Runs string
	// Functions: the number of functions and public symbols, by address; for each,
	// the distance of its start from the previous end (zigzag); the sizes, 0 for a
	// public symbol; and the distance of its line in the file from the previous one
	// (zigzag).
	Functions string
	// Names: a line for each function.
	Names string

	LeastRun  uint64 // runs below this many bytes are joined to the previous one; 0 if there are none
	LeastFunc uint64 // functions below this many bytes are left out; 0 if there are none
	LongName  int    // length in characters at which names are cut
}

// newChartData fits the data into a limit: runs and functions may each use a third of it, and names
// use the rest. Trials use fast compression, whose results are larger.
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

// mappedSymbols returns the functions, and the public symbols outside them, by address. It leaves
// out those whose address is not on the axis.
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

// cutText cuts a text to the given number of characters.
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
	z, _ := gzip.NewWriterLevel(&b, level) // the levels are valid
	_, _ = z.Write(data)                   // writing to a Buffer does not fail
	_ = z.Close()
	return b.Bytes()
}
