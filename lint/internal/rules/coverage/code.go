package coverage

import (
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/coderange"
	"github.com/symtool/symtool/internal/execcode"
	"github.com/symtool/symtool/internal/insn"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/extent"
	"github.com/symtool/symtool/symfmt"
)

// codeMeasure measures the code of a module in order of address.
type codeMeasure struct {
	p       *check.Pass
	image   *check.Image // the binary; nil unless the records describe it
	share   coverage.CodeShare
	known   []coverage.Extent // code with call frame information
	skip    []coverage.Extent // start-up code, known by name
	data    []coverage.Extent
	anchors []execcode.Anchor
	names   codeNames
	found   func(*coverage.Gap) // called in order of address for each function that lacks call frame information
	last    coverage.Gap        // not yet passed to found

	part    *execcode.Part // nil without a binary
	padding execcode.Padding
	step    insn.Step      // nil if code may contain unmarked data
	unit    int            // alignment of the instructions that step decodes
	counted []object.Range // code of the binary that counts, in the binary's addresses

	excluded []coverage.Extent
}

// codeShare measures the code, and calls found for each FUNC, PUBLIC, and piece of code outside both that
// lacks call frame information.
func codeShare(p *check.Pass, known []symfmt.Range, found func(*coverage.Gap)) *codeMeasure {
	m := &codeMeasure{p: p, found: found, names: newCodeNames(p)}
	if b := p.Image; sameBinary(p, b) && b.HasCode() {
		m.image = b
	}
	for _, r := range known {
		m.known = append(m.known, extent.Of(r.RVA, r.Size))
	}
	m.skip = m.startup()
	if m.image != nil {
		m.binary()
	} else {
		m.records()
	}
	m.flush()
	return m
}

// sameBinary reports whether there is a binary from which the symbols were made.
func sameBinary(p *check.Pass, b *check.Image) bool {
	switch {
	case b == nil || !p.HasModule:
		return false
	case b.Own:
		return true
	case b.Arch == nil || p.Arch != b.Arch:
		return false
	}
	id, _ := b.DebugID()
	return id == "" || strings.EqualFold(id, p.DebugID)
}

// noCode reports whether there is a binary without code that counts. Files made by dwz are relocatable.
func (m *codeMeasure) noCode() bool {
	b := m.p.Image
	return m.share.Total == 0 && sameBinary(m.p, b) &&
		(m.image != nil || len(b.ExecRanges()) == 0 && b.Kind != object.Relocatable)
}

// binary measures the executable bytes of the binary.
func (m *codeMeasure) binary() {
	b := m.image
	m.share.Of = coverage.CodeOfBinary
	m.padding = execcode.PaddingOf(b.File)
	m.step, m.unit = dataStep(b.Arch)
	m.anchors, m.data = execcode.Anchors(b.File), b.DataSymbols()
	for _, part := range b.Parts() {
		whole := extent.Between(b.RVA(part.Start), b.RVA(part.End))
		switch {
		case part.Start < b.Base:
		case part.Kind == execcode.Linkage:
			m.share.Linkage += whole.Size()
		case part.Kind == execcode.Startup:
			m.share.Startup += whole.Size()
		default:
			m.part = &part
			m.whole(m.mentioned(whole))
		}
	}
	m.part = nil
}

// mentioned returns the code of a part. In a file without section headers, a segment may contain tables
// and constants before and after its code; the code is then what lies between the first and the last
// address in a record.
func (m *codeMeasure) mentioned(whole coverage.Extent) coverage.Extent {
	if !m.part.Segment {
		return whole
	}
	e := extent.Between(whole.End, whole.RVA)
	if i := extent.EndsBehind(m.known, whole.RVA); i < len(m.known) && m.known[i].RVA < whole.End {
		last := extent.EndsBehind(m.known, whole.End-1)
		if last == len(m.known) || m.known[last].RVA >= whole.End {
			last--
		}
		e = extent.Between(max(m.known[i].RVA, whole.RVA), min(m.known[last].End, whole.End))
	}
	if i, _ := slices.BinarySearch(m.names.starts, whole.RVA); i < len(m.names.starts) && m.names.starts[i] < whole.End {
		last, _ := m.names.upTo(whole.End - 1)
		e = extent.Between(min(e.RVA, m.names.starts[i]), max(e.End, min(m.public(last).End, whole.End)))
	}
	return extent.Between(min(e.RVA, e.End), e.End)
}

// records measures the code that records cover.
func (m *codeMeasure) records() {
	m.share.Of = coverage.CodeOfRecords
	all := make([]symfmt.Range, 0, m.p.Functions.Len()+m.p.Publics.Len())
	for _, f := range m.p.Functions.All {
		all = append(all, symfmt.Range{RVA: f.RVA, Size: f.Size})
	}
	for _, pub := range m.p.Publics.All {
		e := m.public(pub.RVA)
		all = append(all, symfmt.Range{RVA: e.RVA, Size: e.Size()})
	}
	for _, r := range coderange.Join(all) {
		m.whole(extent.Of(r.RVA, r.Size))
	}
}

// codePage is the page size in bytes at which the code of the last PUBLIC is assumed to end.
const codePage = 4096

// public returns the code of a PUBLIC: up to the end of its rules or, without rules, up to the next
// record. The end of the last PUBLIC is unknown: it gets the rest of its page unless it is start-up code.
func (m *codeMeasure) public(rva symfmt.RVA) coverage.Extent {
	end := rva | (codePage - 1)
	if end++; end < rva {
		end = ^symfmt.RVA(0)
	}
	if next, ok := m.names.next(rva); ok {
		end = next
	}
	switch i := extent.EndsBehind(m.known, rva); {
	case i == len(m.known):
	case m.known[i].RVA <= rva:
		end = min(end, m.known[i].End)
	default:
		end = min(end, m.known[i].RVA)
	}
	if i := extent.EndsBehind(m.skip, rva); i < len(m.skip) && m.skip[i].RVA <= rva {
		end = min(end, m.skip[i].End)
	}
	return extent.Between(rva, end)
}

// startup returns the code of functions named like start-up code, by address.
func (m *codeMeasure) startup() (all []coverage.Extent) {
	for _, s := range m.p.Startup {
		e := extent.Of(s.RVA, s.Size)
		if s.Size == 0 {
			e = m.public(s.RVA)
			e.End = min(e.End, e.RVA+execcode.MaxStartup)
		}
		if e.Size() <= execcode.MaxStartup {
			all = append(all, e)
		}
	}
	return extent.Join(all)
}

// whole measures a piece of code. It counts, except for the excluded parts.
func (m *codeMeasure) whole(e coverage.Extent) {
	if e.RVA >= e.End {
		return
	}
	m.names.from = e.RVA
	m.add(e.Size(), 0)
	at := e.RVA
	for gap := range extent.Missing(e, m.known) {
		m.share.Covered -= gap.Size()
		m.share.Total -= gap.Size()
		m.count(extent.Between(at, gap.RVA))
		at = gap.End
		m.gap(gap)
	}
	m.count(extent.Between(at, e.End))
}

func (m *codeMeasure) add(covered, without uint64) {
	add(&m.share.Share, covered, extent.Sum(covered, without))
}

// count records code that counts, in which return addresses are searched for later.
func (m *codeMeasure) count(e coverage.Extent) {
	if m.part == nil || e.RVA >= e.End {
		return
	}
	r := object.Range{Start: m.image.Addr(e.RVA), End: m.image.Addr(e.End)}
	if n := len(m.counted); n > 0 && m.counted[n-1].End == r.Start {
		m.counted[n-1].End = r.End
		return
	}
	m.counted = append(m.counted, r)
}

// gap handles a piece without call frame information.
func (m *codeMeasure) gap(e coverage.Extent) {
	for _, a := range m.anchors {
		if at := m.image.RVA(a.Addr); at >= e.RVA && at < e.End {
			m.skip = extent.Join(append(m.skip, m.aroundAnchor(e, at, a)))
		}
	}
	startup := e.Size()
	for rest := range extent.Missing(e, m.skip) {
		startup -= rest.Size()
		m.exclude(extent.Between(e.RVA, rest.RVA))
		e.RVA = rest.End
		data := rest.Size()
		for code := range extent.Missing(rest, m.data) {
			data -= code.Size()
			m.split(code)
		}
		m.share.Data += data
	}
	m.exclude(e)
	m.share.Startup += startup
}

// exclude records code that does not count: code of the start-up files, or data that only its bytes
// identify.
func (m *codeMeasure) exclude(e coverage.Extent) {
	if m.part != nil && e.Size() > 0 {
		m.excluded = append(m.excluded, e)
	}
}

// aroundAnchor returns the start-up code around an anchor in a gap, limited by the nearest names if there
// are any.
func (m *codeMeasure) aroundAnchor(gap coverage.Extent, at symfmt.RVA, a execcode.Anchor) coverage.Extent {
	e := extent.Between(max(gap.RVA, at-min(at, symfmt.RVA(a.Before))), min(gap.End, at+symfmt.RVA(a.Behind)))
	if from, ok := m.names.upTo(at); ok {
		e.RVA = max(e.RVA, from)
	}
	if next, ok := m.names.next(at); ok {
		e.End = min(e.End, next)
	}
	return e
}

// split assigns a piece without call frame information to the functions that it belongs to.
func (m *codeMeasure) split(e coverage.Extent) {
	for e.RVA < e.End {
		owner, next := m.names.at(e.RVA)
		piece := extent.Between(e.RVA, min(e.End, next))
		e.RVA = piece.End
		m.piece(piece, owner)
	}
}

// piece handles code of one function, without call frame information.
func (m *codeMeasure) piece(e coverage.Extent, owner coverage.Gap) {
	if m.part == nil {
		m.lack(e, owner)
		return
	}
	whole := e
	if e = m.trim(e, e.RVA == owner.RVA && owner.Line > 0); e.Size() == 0 && owner.Kind == coverage.GapFunc {
		e = whole // the FUNC shows that it is code
	}
	m.share.Padding += whole.Size() - e.Size()
	if m.step == nil {
		m.lack(e, owner)
		return
	}
	code, at := m.image.CodeAt(m.image.Addr(e.RVA)), e.RVA
	dataIn(code[:min(e.Size(), uint64(len(code)))], m.step, m.unit, func(from, to int) {
		m.share.Data += uint64(to - from)
		m.exclude(extent.Between(e.RVA+symfmt.RVA(from), e.RVA+symfmt.RVA(to)))
		m.lack(extent.Between(at, e.RVA+symfmt.RVA(from)), owner)
		at = e.RVA + symfmt.RVA(to)
	})
	m.lack(extent.Between(at, e.End), owner)
}

// lack adds a piece that counts and lacks call frame information.
func (m *codeMeasure) lack(e coverage.Extent, owner coverage.Gap) {
	if e.Size() == 0 {
		return
	}
	m.count(e)
	m.add(0, e.Size())
	if owner.Line == 0 {
		owner.RVA = e.RVA
	}
	if owner.Line != m.last.Line || owner.RVA != m.last.RVA {
		m.flush()
		m.last = owner
	}
	if owner.Kind != coverage.GapFunc {
		m.last.Size = uint64(e.End - owner.RVA)
	}
	m.last.Missing = extent.Sum(m.last.Missing, e.Size())
}

func (m *codeMeasure) trim(e coverage.Extent, function bool) coverage.Extent {
	b := m.image
	r, err := m.part.Trim(object.Range{Start: b.Addr(e.RVA), End: b.Addr(e.End)}, function, m.padding)
	b.Problem("section "+m.part.Name, err)
	return extent.Between(b.RVA(r.Start), b.RVA(r.End))
}

func (m *codeMeasure) flush() {
	if m.last.Missing > 0 {
		m.found(&m.last)
	}
	m.last = coverage.Gap{}
}
