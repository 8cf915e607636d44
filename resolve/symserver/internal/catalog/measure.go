package catalog

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"sync"

	"github.com/symtool/symtool/internal/coderange"
	"github.com/symtool/symtool/resolve/store"
	"github.com/symtool/symtool/symfmt"
)

// Measure is what a symbol file contains.
type Measure struct {
	OS, Arch                                string
	CodeID, Generator                       string // of INFO records; "" if there are none
	Funcs, Lines, Inlines, Publics, Unwinds int
	Code, Unwound                           uint64 // bytes of code in FUNCs; of these, in STACK CFI INIT or STACK WIN
	Problems                                int    // records that cannot be read
}

// CFI returns the share of the code in FUNCs that has unwind rules, and whether there is such code.
func (m *Measure) CFI() (share float64, known bool) {
	if m.Code == 0 {
		return 0, false
	}
	return float64(m.Unwound) / float64(m.Code), true
}

// MeasureFile reads a symbol file, which may be compressed.
func MeasureFile(in io.Reader) (*Measure, error) {
	text, _, err := symfmt.Decompress(in)
	if err != nil {
		return nil, err
	}
	rd := symfmt.NewReader(text, symfmt.ReadOptions{Tolerant: true, MaxProblems: 1, Grouped: true})
	m := &Measure{}
	var code, unwound []symfmt.Range
	for {
		rec, err := rd.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		switch rec.Kind {
		case symfmt.KindFunc:
			code = append(code, symfmt.Range{RVA: rec.RVA, Size: rec.Size})
		case symfmt.KindCFIInit:
			unwound = append(unwound, symfmt.Range{RVA: rec.RVA, Size: rec.Size})
		case symfmt.KindStackWin:
			unwound = append(unwound, symfmt.Range{RVA: rec.Win.RVA, Size: rec.Win.CodeSize})
		}
		m.count(rec)
	}
	report := rd.Report()
	m.Problems = len(report.Problems) + report.Dropped
	unwound = coderange.Join(unwound)
	for _, r := range coderange.Join(code) {
		m.Code += r.Size
		m.Unwound += coderange.In(unwound, r.RVA, r.Size)
	}
	return m, nil
}

// count counts a record.
func (m *Measure) count(rec *symfmt.Record) {
	switch rec.Kind {
	case symfmt.KindModule:
		m.OS, m.Arch = string(rec.OS), string(rec.Arch)
	case symfmt.KindInfo:
		switch string(rec.Key) {
		case "CODE_ID":
			m.CodeID, _, _ = strings.Cut(string(rec.Name), " ")
		case "GENERATOR":
			m.Generator = string(rec.Name)
		}
	case symfmt.KindFunc:
		m.Funcs++
	case symfmt.KindLine:
		m.Lines++
	case symfmt.KindInline:
		m.Inlines++
	case symfmt.KindPublic:
		m.Publics++
	case symfmt.KindCFIInit, symfmt.KindStackWin:
		m.Unwinds++
	}
}

// Measures remembers what symbol files contain. Its zero value remembers nothing.
type Measures struct {
	mu  sync.Mutex
	all map[measured]*Measure
}

// measured identifies the contents of a file.
type measured struct {
	path        string
	bytes, time int64
}

// maxMeasures is the number of files that are remembered.
const maxMeasures = 50_000

// Symbols returns the symbol file of a version, or nil.
func (v *Version) Symbols() *store.Entry {
	for i, e := range v.Files {
		if _, ext, ok := store.StemOf(e.Path); ok && ext == ".sym" {
			return &v.Files[i]
		}
	}
	return nil
}

func (v *Version) measured() (key measured, ok bool) {
	e := v.Symbols()
	if e == nil {
		return measured{}, false
	}
	return measured{filepath.Join(v.Dir, e.Path), e.Bytes, e.Time.UnixNano()}, true
}

// Get returns what the symbol file of a version contains, or nil if that is not known.
func (l *Measures) Get(v *Version) *Measure {
	key, ok := v.measured()
	if !ok {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all[key]
}

// Add remembers what the symbol file of a version contains.
func (l *Measures) Add(v *Version, m *Measure) {
	key, ok := v.measured()
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil || len(l.all) == maxMeasures {
		l.all = map[measured]*Measure{}
	}
	l.all[key] = m
}
