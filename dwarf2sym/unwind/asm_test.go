package unwind

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// This is a text form of .eh_frame and .debug_frame. It shares nothing with the
// reader: opcodes are written down again, from DWARF 5, 7.24 and 7.7.1.
//
//	cie [v=1] [aug=zR] [code=1] [data=-8] [ra=16] [R=0x1b] [asize=8] [ssize=0] [augdata=hex] [wide]
//	fde LO SIZE [cie=0] [augdata=hex] [wide]
//	terminator
//	raw hex
//
// After cie and fde, there is one instruction in each line: its name in lower
// case without DW_CFA_, operands in decimal or 0x, and for expressions the
// operations, with their operands after colons: "expression 3 breg7:40
// deref". "bytes hex" is any bytes. A wrong field is written in the line:
// "length=5" and "id=7" replace what is computed.

type asmCase struct {
	arch  *arch.Arch
	order binary.ByteOrder
	eh    bool
	addr  uint64
}

var asmOps = map[string]string{ // opcode and operands: u ULEB, s SLEB, 1 2 4 8 bytes, a address, x expression
	"nop": "00", "set_loc": "01 a", "advance_loc1": "02 1", "advance_loc2": "03 2", "advance_loc4": "04 4",
	"offset_extended": "05 u u", "restore_extended": "06 u", "undefined": "07 u", "same_value": "08 u",
	"register": "09 u u", "remember_state": "0a", "restore_state": "0b", "def_cfa": "0c u u",
	"def_cfa_register": "0d u", "def_cfa_offset": "0e u", "def_cfa_expression": "0f x", "expression": "10 u x",
	"offset_extended_sf": "11 u s", "def_cfa_sf": "12 u s", "def_cfa_offset_sf": "13 s", "val_offset": "14 u u",
	"val_offset_sf": "15 u s", "val_expression": "16 u x", "mips_advance_loc8": "1d 8",
	"set_ra_state": "2b u s", "negate_ra_state_with_pc": "2c", "negate_ra_state": "2d", "gnu_args_size": "2e u",
	"gnu_negative_offset_extended": "2f u u",
}

var asmExprOps = map[string]string{
	"addr": "03 a", "deref": "06", "const1u": "08 1", "const1s": "09 1", "const2u": "0a 2", "const2s": "0b 2",
	"const4u": "0c 4", "const4s": "0d 4", "const8u": "0e 8", "const8s": "0f 8", "constu": "10 u", "consts": "11 s",
	"dup": "12", "drop": "13", "over": "14", "pick": "15 1", "swap": "16", "rot": "17", "xderef": "18", "abs": "19",
	"and": "1a", "div": "1b", "minus": "1c", "mod": "1d", "mul": "1e", "neg": "1f", "not": "20", "or": "21",
	"plus": "22", "plus_uconst": "23 u", "shl": "24", "shr": "25", "shra": "26", "xor": "27", "bra": "28 2",
	"eq": "29", "ge": "2a", "gt": "2b", "le": "2c", "lt": "2d", "ne": "2e", "skip": "2f 2", "bregx": "92 u s",
	"deref_size": "94 1", "nop": "96", "push_object_address": "97", "call_frame_cfa": "9c", "stack_value": "9f",
}

// asmEntries assembles; the positions of CIEs are known from the previous pass.
type asmEntries struct {
	asmCase
	t    testing.TB
	out  []byte
	cies []asmCIE // of this pass
	last []asmCIE // of the last pass
}

type asmCIE struct {
	offset uint64
	z      bool
}

func (c asmCase) assemble(t testing.TB, text string) []byte {
	t.Helper()
	a := &asmEntries{asmCase: c, t: t}
	for range 3 { // sizes depend on the augmentation, positions on sizes
		a.out, a.last, a.cies = nil, a.cies, nil
		a.pass(strings.Split(text, "\n"))
	}
	return a.out
}

func (a *asmEntries) pass(lines []string) {
	for len(lines) > 0 {
		head := strings.Fields(lines[0])
		lines = lines[1:]
		if len(head) == 0 {
			continue
		}
		n := 0
		for n < len(lines) && !asmHead(lines[n]) {
			n++
		}
		a.entry(head, lines[:n])
		lines = lines[n:]
	}
}

func asmHead(line string) bool {
	f := strings.Fields(line)
	return len(f) > 0 && (f[0] == "cie" || f[0] == "fde" || f[0] == "terminator" || f[0] == "raw")
}

func (a *asmEntries) entry(head, body []string) {
	switch head[0] {
	case "terminator":
		a.out = append(a.out, 0, 0, 0, 0)
		return
	case "raw":
		a.out = append(a.out, a.hex(head[1])...)
		return
	}
	opt := map[string]string{}
	var plain []string
	for _, f := range head[1:] {
		if k, v, ok := strings.Cut(f, "="); ok || f == "wide" {
			opt[k] = v
		} else {
			plain = append(plain, f)
		}
	}
	_, wide := opt["wide"]
	start := uint64(len(a.out))
	var b []byte
	lengthSize := uint64(4)
	if wide {
		lengthSize = 12
	}
	at := start + lengthSize // of the id
	idSize := 4
	if wide && !a.eh {
		idSize = 8
	}
	if head[0] == "cie" {
		a.cies = append(a.cies, asmCIE{start, strings.HasPrefix(opt["aug"], "z")})
		id := uint64(0)
		if !a.eh {
			id = 1<<(8*idSize-1)<<1 - 1
		}
		b = a.fixed(b, a.num(opt, "id", id), idSize)
		b = a.cie(b, opt)
	} else {
		var cie asmCIE
		if k := a.num(opt, "cie", uint64(max(len(a.cies), 1)-1)); k < uint64(len(a.last)) {
			cie = a.last[k]
		}
		id := cie.offset
		if a.eh {
			id = at - id
		}
		b = a.fixed(b, a.num(opt, "id", id), idSize)
		b = a.fde(b, plain, opt, at, cie.z)
	}
	for _, line := range body {
		b = a.instruction(b, strings.Fields(line), at+uint64(len(b)))
	}
	for (lengthSize+uint64(len(b)))%4 != 0 {
		b = append(b, 0)
	}
	if wide {
		a.out = append(a.out, 0xff, 0xff, 0xff, 0xff)
		a.out = a.fixed(a.out, a.num(opt, "length", uint64(len(b))), 8)
	} else {
		a.out = a.fixed(a.out, a.num(opt, "length", uint64(len(b))), 4)
	}
	a.out = append(a.out, b...)
}

func (a *asmEntries) cie(b []byte, opt map[string]string) []byte {
	v := a.num(opt, "v", 1)
	b = append(b, byte(v))
	b = append(append(b, opt["aug"]...), 0)
	if opt["aug"] == "eh" {
		b = a.fixed(b, 0x1234, a.arch.PtrSize)
	}
	if v >= 4 {
		b = append(b, byte(a.num(opt, "asize", uint64(a.arch.PtrSize))), byte(a.num(opt, "ssize", 0)))
	}
	b = asmULEB(b, a.num(opt, "code", 1))
	b = asmSLEB(b, int64(a.num(opt, "data", ^uint64(7))))
	if ra := a.num(opt, "ra", 16); v == 1 {
		b = append(b, byte(ra))
	} else {
		b = asmULEB(b, ra)
	}
	if !strings.HasPrefix(opt["aug"], "z") {
		return append(b, a.hex(opt["augdata"])...)
	}
	data := a.hex(opt["augdata"])
	for _, letter := range opt["aug"][1:] {
		switch letter {
		case 'R':
			data = append(data, byte(a.num(opt, "R", 0x1b)))
		case 'L':
			data = append(data, byte(a.num(opt, "L", 0xff)))
		case 'P': // pcrel, four bytes
			data = a.fixed(append(data, 0x1b), 0x4711, 4)
		}
	}
	b = asmULEB(b, a.num(opt, "auglen", uint64(len(data))))
	return append(b, data...)
}

// fde writes the range, in the encoding given in opt, which must be the CIE's.
func (a *asmEntries) fde(b []byte, plain []string, opt map[string]string, at uint64, z bool) []byte {
	enc := a.num(opt, "R", 0)
	if z && opt["R"] == "" {
		enc = 0x1b
	}
	b = append(b, make([]byte, a.num(opt, "ssize", 0))...)
	lo, size := asmNum(a.t, plain[0]), asmNum(a.t, plain[1])
	b = a.pointer(b, enc, lo, at)
	b = a.encoded(b, enc, size)
	if z {
		data := a.hex(opt["augdata"])
		b = append(asmULEB(b, a.num(opt, "auglen", uint64(len(data)))), data...)
	}
	return b
}

func (a *asmEntries) pointer(b []byte, enc, v, at uint64) []byte {
	place := a.addr + at + uint64(len(b))
	switch enc & 0x70 {
	case 0x10:
		v -= place
	case 0x20:
		v -= 0x1000 // .text
	case 0x30:
		v -= 0x1100 // .got
	case 0x50:
		for ; place%uint64(a.arch.PtrSize) != 0; place++ {
			b = append(b, 0)
		}
		return a.fixed(b, v, a.arch.PtrSize)
	}
	return a.encoded(b, enc, v)
}

func (a *asmEntries) encoded(b []byte, enc, v uint64) []byte {
	switch enc & 15 {
	case 0:
		return a.fixed(b, v, a.arch.PtrSize)
	case 1:
		return asmULEB(b, v)
	case 9:
		return asmSLEB(b, int64(v))
	case 2, 10:
		return a.fixed(b, v, 2)
	case 3, 11:
		return a.fixed(b, v, 4)
	}
	return a.fixed(b, v, 8)
}

func (a *asmEntries) instruction(b []byte, f []string, at uint64) []byte {
	if len(f) == 0 {
		return b
	}
	switch f[0] {
	case "bytes":
		return append(b, a.hex(f[1])...)
	case "advance_loc":
		return append(b, 0x40|byte(asmNum(a.t, f[1])))
	case "offset":
		return asmULEB(append(b, 0x80|byte(asmNum(a.t, f[1]))), asmNum(a.t, f[2]))
	case "restore":
		return append(b, 0xc0|byte(asmNum(a.t, f[1])))
	}
	form, ok := asmOps[f[0]]
	if !ok {
		a.t.Fatalf("no instruction %q", f[0])
	}
	return a.operation(b, form, f[1:])
}

// operation writes an opcode and its operands.
func (a *asmEntries) operation(b []byte, form string, operands []string) []byte {
	kinds := strings.Fields(form)
	b = append(b, a.hex(kinds[0])...)
	for i, kind := range kinds[1:] {
		if kind == "x" {
			x := a.expression(operands[i:])
			b = append(asmULEB(b, uint64(len(x))), x...)
			return b
		}
		v := asmNum(a.t, operands[i])
		switch kind {
		case "u":
			b = asmULEB(b, v)
		case "s":
			b = asmSLEB(b, int64(v))
		case "a":
			b = a.fixed(b, v, a.arch.PtrSize)
		default:
			b = a.fixed(b, v, int(kind[0]-'0'))
		}
	}
	return b
}

func (a *asmEntries) expression(ops []string) (b []byte) {
	for _, op := range ops {
		f := strings.Split(op, ":")
		if form, ok := asmExprOps[f[0]]; ok {
			b = a.operation(b, form, f[1:])
			continue
		}
		for prefix, base := range map[string]byte{"lit": 0x30, "reg": 0x50, "breg": 0x70} {
			if n, err := strconv.Atoi(strings.TrimPrefix(f[0], prefix)); err == nil {
				b = append(b, base+byte(n))
			}
		}
		if strings.HasPrefix(f[0], "breg") {
			b = asmSLEB(b, int64(asmNum(a.t, f[1])))
		} else if strings.HasPrefix(f[0], "0x") {
			b = append(b, a.hex(f[0][2:])...)
		}
	}
	return b
}

func (a *asmEntries) num(opt map[string]string, key string, def uint64) uint64 {
	if v, ok := opt[key]; ok {
		return asmNum(a.t, v)
	}
	return def
}

func (a *asmEntries) hex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		a.t.Fatal(err)
	}
	return b
}

func (a *asmEntries) fixed(b []byte, v uint64, size int) []byte {
	for i := range size {
		shift := 8 * i
		if a.order == binary.ByteOrder(binary.BigEndian) {
			shift = 8 * (size - 1 - i)
		}
		b = append(b, byte(v>>shift))
	}
	return b
}

func asmNum(t testing.TB, s string) uint64 {
	t.Helper()
	if v, err := strconv.ParseInt(s, 0, 64); err == nil {
		return uint64(v)
	}
	v, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func asmULEB(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }

func asmSLEB(b []byte, v int64) []byte {
	for {
		x := byte(v & 0x7f)
		v >>= 7
		if v == 0 && x&0x40 == 0 || v == -1 && x&0x40 != 0 {
			return append(b, x)
		}
		b = append(b, x|0x80)
	}
}

// read assembles a section and reads it: blocks, rows and problems as text.
func (c asmCase) read(t testing.TB, text string) (string, Stats) {
	t.Helper()
	in := c.input(t, text)
	table, stats, problems := readTable(in)
	compareIndex(t, in, &table, problems)
	out := symtest.CFI(&table)
	for _, p := range problems {
		out += fmt.Sprintf("problem: %s\n", p)
	}
	return out, stats
}

// table returns the table that a section yields.
func (c asmCase) table(t testing.TB, text string) *symfmt.CFITable {
	table, _, _ := readTable(c.input(t, text))
	return &table
}

func (c asmCase) input(t testing.TB, text string) *Input {
	t.Helper()
	name := ".debug_frame"
	if c.eh {
		name = ".eh_frame"
	}
	return &Input{
		Arch: c.arch, Order: c.order, PtrSize: c.arch.PtrSize, TextAddr: 0x1000, DataAddr: 0x1100,
		Sections: []Section{{Name: name, Addr: c.addr, Data: c.assemble(t, text), EH: c.eh}},
	}
}

// BenchmarkKernel reads a section of the size of a kernel's: 49,000 FDEs with seven rows
// each.
func BenchmarkKernel(b *testing.B) {
	in := kernelInput(b)
	b.SetBytes(int64(len(in.Sections[0].Data)))
	b.ReportAllocs()
	for b.Loop() {
		readTable(in)
	}
}

// kernelInput creates a .debug_frame like that of a kernel build: many CIEs, and
// functions that push registers and pop them.
func kernelInput(b *testing.B) *Input {
	x := asmCase{arch: arch.X86_64, order: binary.LittleEndian}
	var text strings.Builder
	for i := range 49000 {
		if i%20 == 0 {
			text.WriteString("cie\n def_cfa 7 8\n offset 16 1\n")
		}
		fmt.Fprintf(&text, "fde %d 256\n advance_loc 2\n def_cfa_offset 16\n offset 6 2\n advance_loc 3\n def_cfa_register 6\n", 0x1000+256*i)
		fmt.Fprintf(&text, " advance_loc 2\n offset %d 3\n advance_loc 2\n offset 12 4\n advance_loc1 %d\n remember_state\n", 13+i%2, 100+i%50)
		text.WriteString(" restore 12\n restore 6\n def_cfa 7 8\n advance_loc 1\n restore_state\n advance_loc 20\n def_cfa 7 8\n")
	}
	return &Input{Arch: x.arch, Order: x.order, PtrSize: 8, Sections: []Section{{Name: ".debug_frame", Data: x.assemble(b, text.String())}}}
}
