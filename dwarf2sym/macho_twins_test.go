package dwarf2sym_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/insn"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// twinRow is the frame at an address: the CFA, as in "rbp 16", and the places of registers relative to it.
type twinRow struct {
	addr  uint64
	cfa   string
	saved map[string]int
}

func (r *twinRow) String() string { return fmt.Sprint(r.cfa, r.saved) }

// twinFunc holds the rows of a function, by offset from its start.
type twinFunc struct {
	lo, size uint64
	rows     []twinRow
}

func (f *twinFunc) at(off uint64) *twinRow {
	i := sort.Search(len(f.rows), func(i int) bool { return f.rows[i].addr > f.lo+off })
	if i == 0 {
		return nil
	}
	return &f.rows[i-1]
}

var (
	fdeLine    = regexp.MustCompile(` FDE .*pc=([0-9a-f]+)\.\.\.([0-9a-f]+)`)
	frameRow   = regexp.MustCompile(`^  0x([0-9a-f]+): CFA=([A-Z0-9]+)\+?(\d*)(: .*)?$`)
	frameSaved = regexp.MustCompile(`([A-Z0-9]+)=\[CFA-(\d+)\]`)
	armShort   = regexp.MustCompile(`^w(\d+)$`)
)

// dwarfRegister returns the name of a register in symbol files.
func dwarfRegister(name string) string {
	switch name = strings.ToLower(name); name {
	case "rip", "w30", "x30":
		return ".ra"
	case "wsp":
		return "sp"
	case "lr":
		return ".ra"
	case "fp":
		return "x29"
	}
	return armShort.ReplaceAllString(name, "x$1")
}

// twinFrames parses llvm-dwarfdump's output of call frame information.
func twinFrames(printed []byte) (all []*twinFunc) {
	var f *twinFunc
	for in := bufio.NewScanner(bytes.NewReader(printed)); in.Scan(); {
		if m := fdeLine.FindStringSubmatch(in.Text()); m != nil {
			lo, _ := strconv.ParseUint(m[1], 16, 64)
			hi, _ := strconv.ParseUint(m[2], 16, 64)
			f = &twinFunc{lo: lo, size: hi - lo}
			all = append(all, f)
		}
		m := frameRow.FindStringSubmatch(in.Text())
		if m == nil || f == nil {
			continue
		}
		r := twinRow{saved: map[string]int{}}
		r.addr, _ = strconv.ParseUint(m[1], 16, 64)
		n, _ := strconv.Atoi(m[3])
		r.cfa = fmt.Sprintf("%s %d", dwarfRegister(m[2]), n)
		for _, s := range frameSaved.FindAllStringSubmatch(m[4], -1) {
			if at, _ := strconv.Atoi(s[2]); s[1][0] != 'B' && s[1][0] != 'D' {
				r.saved[dwarfRegister(s[1])] = -at
			}
		}
		f.rows = append(f.rows, r)
	}
	return all
}

// machoSymbols returns the functions in a binary's symbol table, with the addresses of their code.
func machoSymbols(t *testing.T, file *object.File) map[string]uint64 {
	t.Helper()
	all := map[string]uint64{}
	if err := file.Symbols(object.Symtab, func(s *object.Symbol) {
		if s.Kind == object.Function {
			all[string(s.Name)] = s.Addr
		}
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// writtenRows reads the STACK CFI that symtool writes for a file.
func writtenRows(t *testing.T, file *object.File) (all []twinRow) {
	t.Helper()
	report, err := dwarf2sym.Read(t.Context(), file, dwarf2sym.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := symfmt.Write(&text, report.Module, symfmt.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	var now twinRow
	end := uint64(0)
	for in := bufio.NewScanner(&text); in.Scan(); {
		p := strings.Fields(in.Text())
		if len(p) < 4 || p[0] != "STACK" || p[1] != "CFI" {
			continue
		}
		rules := p[3:]
		hex := p[2]
		if p[2] == "INIT" {
			hex, rules = p[3], p[5:]
			now = twinRow{saved: map[string]int{}}
		}
		rva, _ := strconv.ParseUint(hex, 16, 64)
		if p[2] == "INIT" {
			if end != 0 && rva+file.Base > end {
				all = append(all, twinRow{addr: end})
			}
			size, _ := strconv.ParseUint(p[4], 16, 64)
			end = rva + file.Base + size
		}
		now.addr = rva + file.Base
		now.apply(rules)
		all = append(all, twinRow{now.addr, now.cfa, maps.Clone(now.saved)})
	}
	return append(all, twinRow{addr: end})
}

// apply changes the rules of a row: ".cfa: $rbp 16 + $rbx: .cfa -24 + ^".
func (r *twinRow) apply(rules []string) {
	name, text := "", []string(nil)
	done := func() {
		reg := strings.TrimPrefix(name, "$")
		switch {
		case name == ".cfa" && strings.Join(text[2:], " ") != "+":
			r.cfa = "expression"
		case name == ".cfa":
			r.cfa = strings.TrimPrefix(text[0], "$") + " " + text[1]
		case len(text) == 4:
			r.saved[reg], _ = strconv.Atoi(text[1])
		default:
			delete(r.saved, reg)
		}
	}
	for _, word := range rules {
		if rest, ok := strings.CutSuffix(word, ":"); ok {
			if name != "" {
				done()
			}
			name, text = rest, nil
		} else {
			text = append(text, word)
		}
	}
	done()
}

// agrees reports whether two rows have the same CFA and no register at different places: a register that one has
// saved and the other leaves unchanged may have the caller's value in both.
func (r *twinRow) agrees(o *twinRow) bool {
	if r.cfa != o.cfa {
		return false
	}
	for reg, at := range r.saved {
		if other, both := o.saved[reg]; both && other != at {
			return false
		}
	}
	return true
}

// endsFrame reports whether the instructions from an address on end the frame whose CFA r describes: they pop what r
// says is saved, and return when the stack pointer is at the return address.
func (r *twinRow) endsFrame(code []byte, addr uint64) bool {
	base, text, _ := strings.Cut(r.cfa, " ")
	left, _ := strconv.Atoi(text)
	if base != "rsp" {
		return false
	}
	for len(code) > 0 {
		size, _, _ := insn.AMD64(code, addr)
		switch op := code[0]; {
		case op == 0xc3 || op == 0xe9 || op == 0xeb || op == 0xff:
			return left == 8
		case op >= 0x58 && op <= 0x5f || op == 0x41 && code[1] >= 0x58 && code[1] <= 0x5f:
			left -= 8
		case bytes.HasPrefix(code, []byte{0x48, 0x83, 0xc4}):
			left -= int(code[3])
		case bytes.HasPrefix(code, []byte{0x48, 0x81, 0xc4}):
			left -= int(binary.LittleEndian.Uint32(code[3:]))
		case size == 0 || !(op >= 0x30 && op <= 0x33 || op>>4 == 7 || op == 0x0f || op == 0x89 || op == 0x8b || op >= 0xb8 && op <= 0xbf):
			return false // more than the result
		}
		code, addr = code[size:], addr+uint64(size)
	}
	return false
}

// beside reports whether r is the row of f for the frame pointer, which .debug_frame leaves or enters one instruction
// earlier or later, or before "ldp x29, x30, [sp, #n]": both rows are right there.
func (r *twinRow) beside(f *twinFunc, off uint64, code []byte) bool {
	if r.cfa != "x29 16" || r.saved["x29"] != -16 {
		return false
	}
	for _, at := range []uint64{off - 4, off + 4} {
		if at < f.size && r.agrees(f.at(at)) {
			return true
		}
	}
	in := binary.LittleEndian.Uint32(code)
	return in&0xffc07fff == 0xa9407bfd && f.at(off).cfa == fmt.Sprintf("sp %d", in>>15&0x7f*8+16)
}

// codeOfMachO returns the code of a file starting at an address.
func codeOfMachO(t *testing.T, file *object.File, addr uint64) []byte {
	t.Helper()
	s := file.Section("__text")
	data, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	return data[addr-s.Addr:]
}

// twinCounts counts the instructions of functions that two builds of the same code share.
type twinCounts struct{ all, exact, ends, missing, others int }

// compareTwins compares STACK CFI from compact unwind and the code alone with the frames that the other build has for
// each instruction. They may differ where the code ends a frame, which compilers for macOS do not describe. A build
// without tables may lack rules.
func compareTwins(t *testing.T, both, compact *object.File, frames []*twinFunc) (n twinCounts) {
	t.Helper()
	tables := compact.Section("__unwind_info") != nil
	theirs := map[uint64]*twinFunc{}
	for _, f := range frames {
		theirs[f.lo] = f
	}
	rows, places := writtenRows(t, compact), machoSymbols(t, compact)
	for name, lo := range machoSymbols(t, both) {
		f := theirs[lo]
		if f == nil {
			continue // clang's own functions have no .debug_frame
		}
		ours := &twinFunc{lo: places[name], rows: rows}
		if !sameShape(t, both, compact, f, ours.lo) {
			n.others++
			continue
		}
		last := byte(0) // opcode of the previous instruction
		for off, size := uint64(0), 4; off < f.size; off += uint64(size) {
			code := codeOfMachO(t, compact, ours.lo+off)
			if compact.Arch == arch.X86_64 {
				size, _, _ = insn.AMD64(code, ours.lo+off)
			}
			a, b := ours.at(off), f.at(off)
			padding := last == 0xc3 && (code[0] == 0x66 || code[0] == 0x0f || code[0] == 0x90)
			last = code[0]
			n.all++
			switch {
			case padding:
				n.ends++
			case a == nil || a.cfa == "" || size == 0:
				n.missing++
				if tables {
					t.Errorf("%s+%#x (%#x): no rule, want %v", name, off, ours.lo+off, b)
				}
				size = max(size, 1)
			case a.agrees(b), a.cfa == "expression": // in the FDE of compact-only
				n.exact++
			case a.endsFrame(code, ours.lo+off), a.beside(f, off, code):
				n.ends++
			default:
				t.Errorf("%s+%#x (%#x): %v, want %v", name, off, ours.lo+off, a, b)
			}
		}
	}
	return n
}

// sameShape reports whether a function has instructions of the same sizes in both builds.
func sameShape(t *testing.T, both, compact *object.File, f *twinFunc, lo uint64) bool {
	t.Helper()
	if lo == 0 {
		return false
	}
	a, b := codeOfMachO(t, both, f.lo), codeOfMachO(t, compact, lo)
	if uint64(len(a)) < f.size || uint64(len(b)) < f.size {
		return false
	}
	for off, size := uint64(0), 4; off < f.size; off += uint64(size) {
		if compact.Arch != arch.X86_64 {
			if a[off+3]&0x9f != b[off+3]&0x9f { // without the low bits of the page of adrp
				return false
			}
			continue
		}
		other := 0
		size, _, _ = insn.AMD64(a[off:], f.lo+off)
		if other, _, _ = insn.AMD64(b[off:], lo+off); other != size || size == 0 || a[off] != b[off] {
			return false
		}
	}
	return true
}

// In the shared twins, STACK CFI from compact unwind and the code alone agrees, at each instruction, with the
// asynchronous .debug_frame of the same code.
func TestMachOTwins(t *testing.T) {
	twins := testenv.SharedGlob(t, "data", "macho", "generated", "*-twin-*")
	if len(twins) == 0 {
		testenv.Shared(t, "data", "macho")
	}
	for _, dir := range twins {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			both, compact := symtest.Open(t, filepath.Join(dir, "both")), symtest.Open(t, filepath.Join(dir, "compact-only"))
			recorded := testenv.Gunzip(t, filepath.Join(dir, "oracle", "both.dSYM.frames.txt.gz"))
			n := compareTwins(t, both, compact, twinFrames(recorded))
			if n.all < 300 || n.others > 0 {
				t.Errorf("%d instructions, %d functions differ", n.all, n.others)
			}
			t.Logf("%d instructions: %d agree, %d end a frame", n.all, n.exact, n.ends)
		})
	}
}
