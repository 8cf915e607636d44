package callframe_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/callframe/cfitest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
)

// exidxStack is a stack as the program printed it.
type exidxStack map[uint64]uint64

func (s exidxStack) ReadWord(addr uint64) (uint64, bool) {
	v, ok := s[addr]
	return v, ok
}

// TestExidxWalk walks the stack of a running program by STACK CFI made from its index
// table, and compares all frames with what libgcc's unwinder found at the same time, up
// to where both have no more rules.
func TestExidxWalk(t *testing.T) {
	testenv.Oracle(t)
	src := testenv.Input(t, "src", "exidx_walk.cc")
	for _, flags := range [][]string{
		{"-marm", "-O2"}, {"-mthumb", "-O2"}, {"-marm", "-O0"}, {"-mthumb", "-Os"}, {"-mthumb", "-O0", "-fno-omit-frame-pointer"}, {"-marm", "-O1", "-mapcs-frame"},
	} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			bin := filepath.Join(t.TempDir(), "walk")
			args := append(slices.Clone(flags), "-static", "-o", bin, src)
			if msg, err := exec.Command(testenv.Tool(t, "arm-linux-gnueabihf-g++"), args...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, msg)
			}
			cmd := exec.Command(testenv.Tool(t, "qemu-arm-static"), bin)
			cmd.Env = append(os.Environ(), "PAD="+strings.Repeat("x", 4096)) // above the stack that is printed
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			exidxWalk(t, bin, string(out))
		})
	}
}

func exidxWalk(t *testing.T, path, out string) {
	all, _ := cfitest.Open(t, path)
	in := *all
	in.Sections = nil
	table, _, _ := cfitest.Read(&in)
	names := cfi.NewNames(arch.ARM)
	rows := cfiTableRows(t, names, &table, in.Base)

	regs, caller := names.NewRegs(), names.NewRegs()
	stack := exidxStack{}
	var want []uint64
	for _, line := range strings.Split(out, "\n") {
		f := strings.Fields(line)
		switch {
		case len(f) != 3:
		case f[0] == "reg":
			regs.Set(names.Lookup(exidxName("r"+f[1])), cfitest.Hex(f[2]))
		case f[0] == "mem":
			stack[cfitest.Hex(f[1])] = cfitest.Hex(f[2])
		case f[0] == "frame":
			want = append(want, cfitest.Hex(f[1])&^1)
		}
	}
	pc, _ := regs.Get(names.Lookup("pc"))
	var got []uint64
	for at := pc &^ 1; len(got) < 100; at = pc - 1 {
		row := cfiFindRow(rows, at)
		if row == nil {
			break
		}
		got = append(got, pc)
		if err := row.row.Caller(regs, stack, caller); err != nil {
			t.Fatalf("frame %d at %#x: %s: %v", len(got), pc, row.row.String(), err)
		}
		regs, caller = caller, regs
		pc, _ = regs.Get(names.Lookup("pc"))
		pc &^= 1
	}
	if len(want) < 12 || len(got) == 0 || !slices.Equal(got[1:], want[1:]) { // the first is at another place in the same function
		t.Errorf("got %s, the unwinder %s", hexList(got), hexList(want))
	}
	t.Logf("%d frames", len(got))
}

func hexList(list []uint64) string { return fmt.Sprintf("%x", list) }
