package lint

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/elfobj"
	"github.com/symtool/symtool/internal/sorting"
	"github.com/symtool/symtool/symfmt"
)

// minGap is the shortest piece of code that is told to have no name, in bytes,
// where there are no bytes that tell whether it is padding.
const minGap = 64

// maxCodePieces is how many pieces a finding names.
const maxCodePieces = 5

func checkCodeNamed(p *Pass) (func(*symfmt.Record), func()) {
	return atEnd(p, func() {
		if !p.HasModule {
			return
		}
		named := p.named()
		for _, part := range p.binary.codeParts() {
			p.tellGaps(part, gaps(part.Range, named))
		}
	})
}

// codePart is a piece of executable code and what it is called.
type codePart struct {
	elfobj.Range
	name string
	data func() []byte
}

// codeParts are the sections with code but those of the procedure linkage table,
// whose entries have no names of their own.
func (b *elfBinary) codeParts() (all []codePart) {
	if !b.HasSections() {
		for _, r := range b.ExecRanges() {
			all = append(all, codePart{r, "the executable segment", func() []byte { return b.code(r.Start) }})
		}
		return all
	}
	for _, s := range b.Sections {
		if s.Flags&elf.SHF_ALLOC == 0 || s.Flags&elf.SHF_EXECINSTR == 0 || s.FileSize == 0 || strings.HasPrefix(s.Name, ".plt") || s.Name == ".iplt" {
			continue
		}
		all = append(all, codePart{elfobj.Range{Start: s.Addr, End: s.Addr + s.FileSize}, s.Name, func() []byte {
			if !s.HasData() {
				return nil
			}
			data, err := s.Data()
			b.problem("section "+s.Name, err)
			return data
		}})
	}
	return all
}

// named are the ranges that have a name, in addresses of the binary, ascending
// and apart: those of FUNCs, and from each PUBLIC up to what begins next.
func (p *Pass) named() []elfobj.Range {
	all := make([]elfobj.Range, 0, p.Functions.Len()+p.Publics.Len())
	for _, f := range p.Functions.All {
		start := p.binary.addr(f.RVA)
		if end := start + f.Size; end > start {
			all = append(all, elfobj.Range{Start: start, End: end})
		}
	}
	starts := p.starts()
	for _, pub := range p.Publics.All {
		next, _ := slices.BinarySearch(starts, pub.RVA+1)
		end := ^uint64(0)
		if next < len(starts) {
			end = p.binary.addr(starts[next])
		}
		all = append(all, elfobj.Range{Start: p.binary.addr(pub.RVA), End: end})
	}
	sorting.Func(all, func(a, b elfobj.Range) int { return cmp.Compare(a.Start, b.Start) })
	n := 0
	for _, r := range all {
		if n > 0 && r.Start <= all[n-1].End {
			all[n-1].End = max(all[n-1].End, r.End)
			continue
		}
		all[n] = r
		n++
	}
	return all[:n]
}

// gaps are the parts of a range that are not in others, which ascend.
func gaps(whole elfobj.Range, others []elfobj.Range) (left []elfobj.Range) {
	at := whole.Start
	first, _ := slices.BinarySearchFunc(others, whole.Start, func(r elfobj.Range, at uint64) int { return cmp.Compare(r.End, at) })
	for _, r := range others[first:] {
		if r.Start >= whole.End {
			break
		}
		if r.Start > at {
			left = append(left, elfobj.Range{Start: at, End: r.Start})
		}
		at = max(at, r.End)
	}
	if at < whole.End {
		left = append(left, elfobj.Range{Start: at, End: whole.End})
	}
	return left
}

// tellGaps reports a section's code without a name, less its padding.
func (p *Pass) tellGaps(part codePart, left []elfobj.Range) {
	if len(left) == 0 {
		return
	}
	data, total := part.data(), uint64(0)
	n := 0
	for _, r := range left {
		if data != nil {
			r = p.binary.unpadded(r, data, part.Start)
		}
		if r.End <= r.Start || data == nil && r.End-r.Start < minGap {
			continue
		}
		total += r.End - r.Start
		left[n] = r
		n++
	}
	if left = left[:n]; n == 0 {
		return
	}
	sorting.StableFunc(left, func(a, b elfobj.Range) int { return cmp.Compare(b.End-b.Start, a.End-a.Start) })
	var say []string
	for _, r := range left[:min(n, maxCodePieces)] {
		say = append(say, fmt.Sprintf("0x%x (0x%x bytes)", uint64(p.binary.rva(r.Start)), r.End-r.Start))
	}
	size := part.End - part.Start
	p.ReportAt(0, p.binary.rva(left[0].Start), "0x%x of 0x%x bytes of %s (%.1f %%) have neither FUNC nor PUBLIC, in %s: %s",
		total, size, part.name, 100*float64(total)/float64(size), plural(uint64(n), "piece"), strings.Join(say, ", "))
}

// unpadded is a range without the padding at its start and at its end.
func (b *elfBinary) unpadded(r elfobj.Range, data []byte, start uint64) elfobj.Range {
	end := min(r.End-start, uint64(len(data)))
	at := r.Start - start
	for at < end {
		n := b.padding(data[at:end])
		if n == 0 {
			break
		}
		at += uint64(n)
	}
	for at < end && (data[end-1] == 0 || data[end-1] == 0xcc || data[end-1] == 0x90) && b.Machine == elf.EM_X86_64 {
		end--
	}
	return elfobj.Range{Start: start + at, End: start + max(at, end)}
}

// padding is the length of the padding that code begins with: zeros, traps and
// instructions that do nothing.
func (b *elfBinary) padding(code []byte) int {
	switch b.Machine {
	case elf.EM_X86_64, elf.EM_386:
		return paddingX86(code)
	case elf.EM_AARCH64:
		return paddingARM64(code)
	}
	for _, nop := range nops[b.Machine] {
		var word [4]byte
		b.Order.PutUint32(word[:], nop.code)
		part := word[:nop.size]
		if b.Order == binary.BigEndian {
			part = word[4-nop.size:]
		}
		if bytes.HasPrefix(code, part) {
			return nop.size
		}
	}
	if code[0] == 0 {
		return 1
	}
	return 0
}

// nops are instructions that do nothing and what else fills gaps, by CPU.
var nops = map[elf.Machine][]struct {
	code uint32
	size int
}{
	elf.EM_ARM:   {{0xe320f000, 4}, {0xe1a00000, 4}, {0x8000f3af, 4}, {0xbf00, 2}, {0x46c0, 2}},
	elf.EM_PPC:   {{0x60000000, 4}},
	elf.EM_PPC64: {{0x60000000, 4}, {0x60420000, 4}},
	elf.EM_RISCV: {{0x00000013, 4}, {0x0001, 2}},
	elf.EM_S390:  {{0x0707, 2}, {0x0700, 2}, {0x47000000, 4}},
}

// paddingX86 is the length of zeros, an int3 or a nop. One zero alone may begin an
// addition.
func paddingX86(code []byte) int {
	switch {
	case code[0] == 0xcc, code[0] == 0x90, code[0] == 0 && len(code) == 1:
		return 1
	case code[0] == 0 && code[1] == 0:
		return 2
	}
	return nopX86(code)
}

// leaX86 are the forms of "lea 0(%esi),%esi", with which gas fills gaps of i386.
var leaX86 = [][]byte{
	{0x8d, 0x76, 0}, {0x8d, 0x74, 0x26, 0}, {0x8d, 0xb6, 0, 0, 0, 0}, {0x8d, 0xb4, 0x26, 0, 0, 0, 0},
}

// nopX86 is the length of a nop of several bytes, 0 for anything else: prefixes
// and 90, prefixes and 0F 1F, or a lea or xchg that changes nothing.
func nopX86(code []byte) int {
	i := 0
	for i < len(code) && i < 12 && (code[i] == 0x66 || code[i] == 0x2e) {
		i++
	}
	rest := code[i:]
	for _, lea := range leaX86 {
		if bytes.HasPrefix(rest, lea) {
			return i + len(lea)
		}
	}
	switch {
	case len(rest) > 0 && rest[0] == 0x90, len(rest) > 1 && rest[0] == 0x66 && rest[1] == 0x90:
		return i + 1
	case len(rest) > 2 && rest[0] == 0x0f && rest[1] == 0x1f:
		x := x86Prefix{code: code}
		if x.read() {
			if n := x.pos + x.modRM(); n <= len(code) {
				return n
			}
		}
	}
	return 0
}
