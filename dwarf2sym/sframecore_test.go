package dwarf2sym_test

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt/symsframe"
)

// The stacks in cores of real programs, unwound with SFrame made from the programs'
// .eh_frame, have the frames that gdb finds.
func TestSFrameOfCores(t *testing.T) {
	for dir, test := range map[string]struct {
		abi     sframe.ABI
		version uint8
		least   int // minimum number of frames
	}{
		"arch/arm64":      {sframe.AArch64LE, 3, 11},
		"crashes/deeprec": {sframe.AMD64, 2, 300},
		"crashes/omitfp":  {sframe.AMD64, 3, 5},
	} {
		t.Run(dir, func(t *testing.T) {
			dir := testenv.Shared(t, "data", dir)
			core := readCore(t, filepath.Join(dir, "core"), test.abi)
			section := sframeOf(t, filepath.Join(dir, "prog"), test.abi, test.version)
			base := core.entry - section.entry
			frame := core.top
			frame.PC -= base
			regs := core.registers
			want := gdbFrames(t, filepath.Join(dir, "gdb_bt.txt"), core.top.PC)
			for i, pc := range want {
				next, err := section.Step(frame, regs, core.word)
				if err != nil {
					t.Fatalf("frame %d, %+v: %v", i, frame, err)
				}
				if next.PC != pc {
					t.Fatalf("frame %d, %+v: %#x, want %#x", i, frame, next.PC, pc)
				}
				next.PC -= base
				frame, regs = next, nil
			}
			if len(want) < test.least {
				t.Errorf("%d frames", len(want))
			}
			t.Logf("%d frames", len(want))
		})
	}
}

type placedSection struct {
	*sframe.Section
	entry uint64
}

// sframeOf makes SFrame from a program's .eh_frame.
func sframeOf(t *testing.T, path string, abi sframe.ABI, version uint8) placedSection {
	t.Helper()
	f, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table, err := dwarf2sym.Read(context.Background(), f, dwarf2sym.Options{CFIOnly: true, CFI: dwarf2sym.CFIDWARF})
	if err != nil {
		t.Fatal(err)
	}
	funcs, _ := symsframe.FromCFI(&table.Module.CFI, abi, f.Base)
	data, _, err := sframe.Encode(funcs, sframe.Target{Version: version, ABI: abi, Addr: 0x1000})
	if err != nil {
		t.Fatal(err)
	}
	s, err := sframe.Decode(data, sframe.Options{Addr: 0x1000})
	if err != nil || len(s.Problems) != 0 {
		t.Fatal(err, s.Problems)
	}
	e, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	return placedSection{s, e.Entry}
}

// coreFile holds the state of the first thread in a core.
type coreFile struct {
	top   sframe.Frame
	regs  map[sframe.Reg]uint64 // by DWARF number
	entry uint64                // address of the program's entry point
	loads []*elf.Prog
}

func (c *coreFile) registers(r sframe.Reg) (uint64, bool) { v, ok := c.regs[r]; return v, ok }

func (c *coreFile) word(addr uint64) (uint64, bool) {
	for _, p := range c.loads {
		if at := addr - p.Vaddr; at < p.Filesz {
			var b [8]byte
			_, err := p.ReadAt(b[:], int64(at))
			return binary.LittleEndian.Uint64(b[:]), err == nil
		}
	}
	return 0, false
}

// prstatus gives the offsets of registers in NT_PRSTATUS, in words: general ones by DWARF
// number, and the program counter.
var prstatus = map[sframe.ABI]struct {
	dwarf []sframe.Reg // registers in the words, beginning with the first word
	pc    int
}{
	sframe.AMD64: {[]sframe.Reg{15, 14, 13, 12, 6, 3, 11, 10, 9, 8, 0, 2, 1, 4, 5, 99, 99, 99, 99, 7}, 16},
	sframe.AArch64LE: {[]sframe.Reg{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
		28, 29, 30, 31}, 32},
}

const (
	ntPRStatus  = 1
	ntAuxv      = 6
	atEntry     = 9
	prstatusReg = 112 // bytes before the registers
)

func readCore(t *testing.T, path string, abi sframe.ABI) *coreFile {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	c := &coreFile{regs: map[sframe.Reg]uint64{}}
	word := binary.LittleEndian.Uint64
	for _, p := range f.Progs {
		switch p.Type {
		case elf.PT_LOAD:
			c.loads = append(c.loads, p)
		case elf.PT_NOTE:
			notes := make([]byte, p.Filesz)
			if _, err := p.ReadAt(notes, 0); err != nil {
				t.Fatal(err)
			}
			eachNote(notes, func(kind uint32, desc []byte) {
				switch {
				case kind == ntPRStatus && c.top.PC == 0:
					layout := prstatus[abi]
					for i, r := range layout.dwarf {
						c.regs[r] = word(desc[prstatusReg+8*i:])
					}
					c.top = sframe.Frame{PC: word(desc[prstatusReg+8*layout.pc:]), SP: c.regs[abi.SP()], FP: c.regs[abi.FP()], Interrupted: true}
				case kind == ntAuxv:
					for ; len(desc) >= 16; desc = desc[16:] {
						if word(desc) == atEntry {
							c.entry = word(desc[8:])
						}
					}
				}
			})
		}
	}
	if c.top.PC == 0 || c.entry == 0 {
		t.Fatalf("%s: no registers or no entry point", path)
	}
	return c
}

// eachNote calls f with each note of a core.
func eachNote(b []byte, f func(kind uint32, desc []byte)) {
	pad := func(n uint32) uint32 { return (n + 3) &^ 3 }
	for len(b) >= 12 {
		name, desc, kind := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])
		b = b[12+pad(name):]
		f(kind, b[:desc])
		b = b[pad(desc):]
	}
}

var gdbFrame = regexp.MustCompile(`(?m)^#(\d+) +0x([0-9a-f]+) in `)

// gdbFrames returns the addresses of the frames after the topmost one, without
// those of inlined functions.
func gdbFrames(t *testing.T, path string, top uint64) (pcs []uint64) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range gdbFrame.FindAllStringSubmatch(string(text), -1) {
		pc, err := strconv.ParseUint(m[2], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		if m[1] != "0" || pc != top {
			pcs = append(pcs, pc)
		}
	}
	return pcs
}
