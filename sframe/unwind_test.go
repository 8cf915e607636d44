package sframe_test

import (
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/sframe"
)

// DWARF numbers that the tests use.
const (
	r10 = 10 // AMD64
	lr  = 30 // AArch64
	r14 = 14 // s390x: the return address
	f0  = 16 // s390x: where leaf functions keep the frame pointer
)

// words holds stacks and register files.
type words map[uint64]uint64

func (w words) mem(addr uint64) (uint64, bool)   { v, ok := w[addr]; return v, ok }
func (w words) regs(r sframe.Reg) (uint64, bool) { v, ok := w[uint64(r)]; return v, ok }

// The function in each section is at 0x1000, with 64 bytes.
var (
	amd64   = one(3, rawFunc{size: 64, n: 4, rows: pushRows})
	aarch64 = one(2, rawFunc{size: 64, n: 3, rows: []byte{
		0, 0x03, 0, // CFA=SP
		4, 0x87, 32, 0xe8, 0xe0, // CFA=SP+32 RA=c-24 FP=c-32, signed
		8, 0x05, 16, 0xf8, // CFA=SP+16 RA=c-8
	}})
	s390x = one(4, rawFunc{size: 64, n: 3, rows: []byte{
		0, 0x03, 0, // CFA=SP+160
		6, 0x07, 20, 0xd0, 0xb8, // CFA=SP+320 RA=c-48 FP=c-72
		16, 0x06, 20, 0xd0, 0xb8, // CFA=FP+320
	}})
	s390xV2 = raw(2, 1, 4, rawFunc{start: 0x1000, size: 64, n: 1, rows: []byte{0, 0x07, 0, 0, f0<<1 | 1}}) // FP in f0, RA unsaved
	drap    = one(3, rawFunc{size: 64, n: 3, info2: 1, rows: []byte{
		0, 0x04, 0x39, 8, // CFA=SP+8
		4, 0x0a, r10<<3 | 1, 0, 0, 0x33, 0, // CFA=r10 FP=(FP)
		8, 0x0a, 0x33, 0xf8, 0, 0x33, 0, // CFA=(FP-8) FP=(FP)
	}})
	signal = one(3, rawFunc{size: 64, n: 1, info: 0x80, rows: []byte{0, 0x05, 0x20, 0xf0}}) // CFA=SP+32 FP=c-16
	outer  = one(3, rawFunc{size: 64, n: 2, rows: []byte{4, 0x03, 8, 8, 0}})
)

func TestStep(t *testing.T) {
	for _, test := range []struct {
		name string
		data []byte
		f    sframe.Frame
		regs words
		mem  words
		want sframe.Frame
		err  error
	}{
		{"entry", amd64, sframe.Frame{PC: 0x1000, SP: 0x7000, FP: 5, Interrupted: true}, nil, words{0x7000: 0x2005},
			sframe.Frame{PC: 0x2005, SP: 0x7008, FP: 5}, nil},
		{"pushed", amd64, sframe.Frame{PC: 0x1001, SP: 0x7000, FP: 5, Interrupted: true}, nil, words{0x7000: 0x8000, 0x7008: 0x2005},
			sframe.Frame{PC: 0x2005, SP: 0x7010, FP: 0x8000}, nil},
		{"by frame pointer", amd64, sframe.Frame{PC: 0x1005, SP: 0x6000, FP: 0x7000}, nil, words{0x7000: 0x8000, 0x7008: 0x2005},
			sframe.Frame{PC: 0x2005, SP: 0x7010, FP: 0x8000}, nil},
		{"behind the call the rule is another", amd64, sframe.Frame{PC: 0x1014, SP: 0x6000, FP: 0x7000}, nil, words{0x7000: 0x8000, 0x7008: 0x2005},
			sframe.Frame{PC: 0x2005, SP: 0x7010, FP: 0x8000}, nil},
		{"interrupted there", amd64, sframe.Frame{PC: 0x1014, SP: 0x6000, FP: 0x7000, Interrupted: true}, nil, words{0x5ff8: 0x8000, 0x6000: 0x2005},
			sframe.Frame{PC: 0x2005, SP: 0x6008, FP: 0x8000}, nil},
		{"the call is the last instruction", amd64, sframe.Frame{PC: 0x1040, SP: 0x6ff8}, nil, words{0x6ff0: 0x8000, 0x6ff8: 0x2005},
			sframe.Frame{PC: 0x2005, SP: 0x7000, FP: 0x8000}, nil},
		{"behind the end", amd64, sframe.Frame{PC: 0x1040, SP: 0x7000, Interrupted: true}, nil, nil, sframe.Frame{}, sframe.ErrNoFDE},
		{"no function", amd64, sframe.Frame{PC: 0, SP: 0x7000}, nil, nil, sframe.Frame{}, sframe.ErrNoFDE},
		{"no stack", amd64, sframe.Frame{PC: 0x1001, SP: 0x7000}, nil, words{}, sframe.Frame{}, sframe.ErrMemory},
		{"backwards", amd64, sframe.Frame{PC: 0x1005, SP: 0x9000, FP: 0x7000}, nil, words{0x7000: 0x8000, 0x7008: 0x2005}, sframe.Frame{}, sframe.ErrStuck},
		{"in place", amd64, sframe.Frame{PC: 0x1005, SP: 0x7010, FP: 0x7000}, nil, words{0x7000: 0x8000, 0x7008: 0x2005}, sframe.Frame{}, sframe.ErrStuck},

		{"AArch64 leaf", aarch64, sframe.Frame{PC: 0x1000, SP: 0x7000, FP: 5, Interrupted: true}, words{lr: 0x2004}, nil,
			sframe.Frame{PC: 0x2004, SP: 0x7000, FP: 5}, nil},
		{"AArch64 leaf that is none", aarch64, sframe.Frame{PC: 0x1004, SP: 0x7000}, nil, nil, sframe.Frame{}, sframe.ErrRegister},
		{"AArch64 leaf that returns to itself", aarch64, sframe.Frame{PC: 0x1000, SP: 0x7000, Interrupted: true}, words{lr: 0x1000}, nil, sframe.Frame{}, sframe.ErrStuck},
		{"AArch64 signed", aarch64, sframe.Frame{PC: 0x1008, SP: 0x7000}, nil, words{0x7000: 0x8000, 0x7008: 0x40_0000_0000_2004},
			sframe.Frame{PC: 0x40_0000_0000_2004, SP: 0x7020, FP: 0x8000, Signed: true}, nil},
		{"AArch64 without frame pointer", aarch64, sframe.Frame{PC: 0x100c, SP: 0x7000, FP: 5}, nil, words{0x7008: 0x2004},
			sframe.Frame{PC: 0x2004, SP: 0x7010, FP: 5}, nil},

		{"s390x leaf", s390x, sframe.Frame{PC: 0x1000, SP: 0x7000, FP: 5, Interrupted: true}, words{r14: 0x2006}, nil,
			sframe.Frame{PC: 0x2006, SP: 0x7000, FP: 5}, nil},
		{"s390x", s390x, sframe.Frame{PC: 0x1008, SP: 0x7000}, nil, words{0x7110: 0x2006, 0x70f8: 0x8000},
			sframe.Frame{PC: 0x2006, SP: 0x70a0, FP: 0x8000}, nil},
		{"s390x by frame pointer", s390x, sframe.Frame{PC: 0x1012, SP: 0x6000, FP: 0x7000}, nil, words{0x7110: 0x2006, 0x70f8: 0x8000},
			sframe.Frame{PC: 0x2006, SP: 0x70a0, FP: 0x8000}, nil},
		{"s390x register", s390xV2, sframe.Frame{PC: 0x1008, SP: 0x7000, Interrupted: true}, words{r14: 0x2006, f0: 0x8000}, nil,
			sframe.Frame{PC: 0x2006, SP: 0x7000, FP: 0x8000}, nil},
		{"s390x register of no topmost frame", s390xV2, sframe.Frame{PC: 0x1008, SP: 0x7000}, nil, nil, sframe.Frame{}, sframe.ErrRegister},

		{"other base", drap, sframe.Frame{PC: 0x1004, SP: 0x6000, FP: 0x6800, Interrupted: true}, words{r10: 0x7000}, words{0x6ff8: 0x2005, 0x6800: 0x8000},
			sframe.Frame{PC: 0x2005, SP: 0x7000, FP: 0x8000}, nil},
		{"other base of no topmost frame", drap, sframe.Frame{PC: 0x1005, SP: 0x6000, FP: 0x6800}, nil, words{0x6ff8: 0x2005, 0x6800: 0x8000}, sframe.Frame{}, sframe.ErrRegister},
		{"base in memory", drap, sframe.Frame{PC: 0x100a, SP: 0x6000, FP: 0x6800}, nil, words{0x67f8: 0x7000, 0x6ff8: 0x2005, 0x6800: 0x8000},
			sframe.Frame{PC: 0x2005, SP: 0x7000, FP: 0x8000}, nil},
		{"base in memory that is not there", drap, sframe.Frame{PC: 0x100a, SP: 0x6000, FP: 0x6800}, nil, words{0x6ff8: 0x2005, 0x6800: 0x8000}, sframe.Frame{}, sframe.ErrMemory},

		{"signal", signal, sframe.Frame{PC: 0x1001, SP: 0x7000}, nil, words{0x7018: 0x2000, 0x7010: 0x8000},
			sframe.Frame{PC: 0x2000, SP: 0x7020, FP: 0x8000, Interrupted: true}, nil},
		{"outermost", outer, sframe.Frame{PC: 0x1009, SP: 0x7000}, nil, nil, sframe.Frame{}, sframe.ErrOutermost},
		{"outermost, without rows", one(3, rawFunc{size: 64}), sframe.Frame{PC: 0x1009, SP: 0x7000}, nil, nil, sframe.Frame{}, sframe.ErrOutermost},
		{"before the first row", outer, sframe.Frame{PC: 0x1003, SP: 0x7000}, nil, nil, sframe.Frame{}, sframe.ErrNoRow},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := sframe.Decode(test.data, sframe.Options{})
			if err != nil {
				t.Fatal(err)
			}
			regs := test.regs.regs
			if test.regs == nil {
				regs = nil
			}
			want := test.want
			if test.err != nil {
				want = sframe.Frame{}
			}
			if got, err := s.Step(test.f, regs, test.mem.mem); got != want || err != test.err {
				t.Errorf("got %+v, %v, want %+v, %v", got, err, want, test.err)
			}
		})
	}
}

// If the return address of an interrupted signal frame is on another stack, a
// lower stack pointer is not an error.
func TestStepSignalStack(t *testing.T) {
	s, err := sframe.Decode(one(3, rawFunc{size: 64, n: 1, info: 0x80, info2: 1, rows: flex(0x3b, 0, 2, 0xf8)}), sframe.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := sframe.Frame{PC: 0x1001, SP: 0x9000}
	got, err := s.Step(f, nil, words{0x9000: 0x7000, 0x6ff8: 0x2000}.mem)
	if want := (sframe.Frame{PC: 0x2000, SP: 0x7000, Interrupted: true}); got != want || err != nil {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	if _, err = s.Step(f, nil, words{0x9000: 0x9000, 0x8ff8: 0x1001}.mem); err != sframe.ErrStuck {
		t.Errorf("to itself: %v", err)
	}
}

func TestStepDamage(t *testing.T) {
	s, err := sframe.Decode(patch(amd64, 0x32, 0x63), sframe.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Step(sframe.Frame{PC: 0x1005, SP: 0x7000}, nil, words{}.mem)
	inside(t, amd64, err)
}

func TestStepAllocs(t *testing.T) {
	s, err := sframe.Decode(amd64, sframe.Options{})
	if err != nil {
		t.Fatal(err)
	}
	stack := words{0x7000: 0x8000, 0x7008: 0x2005}
	regs, mem := stack.regs, stack.mem
	n := testenv.Allocations(100, func() {
		if _, err := s.Step(sframe.Frame{PC: 0x1005, SP: 0x6000, FP: 0x7000}, regs, mem); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Step(sframe.Frame{PC: 5}, regs, mem); err != sframe.ErrNoFDE {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
