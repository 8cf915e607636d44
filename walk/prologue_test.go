package walk

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
	"github.com/symtool/symtool/walk/internal/cpu"
	"github.com/symtool/symtool/walk/internal/walktest"
)

func TestFramePrologues(t *testing.T) {
	for _, c := range []struct {
		name string
		a    *arch.Arch
		code string
		want int
	}{
		{"push; mov", arch.X86_64, "55 48 89 e5 c3", 4},
		{"push; mov, the other form", arch.X86_64, "55 48 8b ec c3", 4},
		{"endbr64", arch.X86_64, "f3 0f 1e fa 55 48 89 e5", 8},
		{"32 bits", arch.X86, "55 89 e5", 3},
		{"hotpatch", arch.X86, "8b ff 55 8b ec", 5},
		{"another in between", arch.X86_64, "55 bf 01 00 00 00 48 89 e5", 9},
		{"a test in between", arch.X86_64, "55 85 ff 48 89 e5", 6},
		{"a compare with rsp", arch.X86_64, "55 48 39 e7 48 89 e5", 7},
		{"another push in between", arch.X86_64, "55 53 48 89 e5", 0},
		{"another push in front", arch.X86_64, "53 55 48 89 e5", 0},
		{"room in front", arch.X86_64, "48 83 ec 08 55 48 89 e5", 0},
		{"rbp for something else", arch.X86_64, "55 48 89 fd 48 89 e5", 0},
		{"only push", arch.X86_64, "55 53 48 83 ec 08 90", 0},
		{"a jump in between", arch.X86_64, "55 74 03 48 89 e5", 0},
		{"a call in between", arch.X86_64, "55 e8 00 00 00 00 48 89 e5", 0},
		{"cut", arch.X86_64, "55 48 89", 0},
		{"nothing", arch.X86_64, "", 0},
		{"arm64 stp; mov", arch.ARM64, "fd 7b be a9 fd 03 00 91", 8},
		{"arm64 sub; stp; add", arch.ARM64, "ff 83 00 d1 fd 7b 01 a9 fd 43 00 91", 12},
		{"arm64 paciasp", arch.ARM64, "3f 23 03 d5 fd 7b be a9 fd 03 00 91", 12},
		{"arm64 x29 set to another place", arch.ARM64, "ff 83 00 d1 fd 7b 01 a9 fd 03 00 91", 0},
		{"arm64 no stp", arch.ARM64, "ff 83 00 d1 fd 03 00 91", 0},
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := cpu.All[c.a].MakesFrame(code); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// At the calls of functions that begin by setting the frame pointer, the compiler's rules agree
// with the frame pointer: the frame address is two words above it, or the caller's frame pointer is
// saved where it points. If a rule disagreed, a finding would be a false alarm.
func TestFramePointerOracle(t *testing.T) {
	testenv.Oracle(t)
	calls := map[*arch.Arch]string{arch.X86_64: x86Calls, arch.X86: x86Calls, arch.ARM64: `^(bl|blr|blra.*) `}
	for _, c := range []struct {
		path, pkg, tool string
		a               *arch.Arch
		least           int // calls to be checked
	}{
		{"crashes/system/libc.so.6", "", "objdump", arch.X86_64, 2000},
		{"/usr/i686-linux-gnu/lib/libc.so.6", "libc6-i386-cross", "llvm-objdump-22", arch.X86, 100},
		{"/usr/aarch64-linux-gnu/lib/libc.so.6", "libc6-arm64-cross", "llvm-objdump-22", arch.ARM64, 3000},
	} {
		t.Run(c.path, func(t *testing.T) {
			path := c.path
			if c.pkg == "" {
				path = testenv.Shared(t, "data", path)
			} else {
				path = testenv.File(t, path, c.pkg)
			}
			o := framePointerOracle{t: t, a: c.a}
			o.open(path)
			oracle := callOracle{calls: calls[c.a]}
			addrs, isCall, _, _ := oracle.disassemble(t, testenv.Tool(t, c.tool), path)
			for i, addr := range addrs {
				if isCall[i] {
					o.call(addr)
				}
			}
			t.Logf("%s: %d functions set the frame pointer; rules agree at %d of their calls, and not at %d", path, len(o.sets), o.right, o.wrong)
			if o.wrong > 0 || o.right < c.least {
				t.Errorf("%d right, %d wrong", o.right, o.wrong)
			}
		})
	}
}

type framePointerOracle struct {
	t            *testing.T
	a            *arch.Arch
	f            *object.File
	rules        resolve.Symbols
	rows         rowCache
	names        *cfi.Names
	starts       []uint64       // of functions, RVAs
	sets         map[uint64]int // functions that set the frame pointer, and the length of the code that does
	right, wrong int
}

func (o *framePointerOracle) open(path string) {
	m, err := walktest.SymbolsOf(path)
	if err != nil {
		o.t.Fatal(err)
	}
	for _, f := range m.Funcs {
		o.starts = append(o.starts, uint64(f.RVA))
	}
	for _, p := range m.Publics {
		o.starts = append(o.starts, uint64(p.RVA))
	}
	slices.Sort(o.starts)
	o.starts = slices.Compact(o.starts)
	o.rules = resolve.FromModule(m, resolve.ModuleOptions{Path: path})
	if o.f, err = objfile.Open(path, object.DefaultLimits()); err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() { o.f.Close() })
	o.names, o.sets = cfi.NewNames(o.a), map[uint64]int{}
	o.rows = newRowCache(o.names)
	for _, start := range o.starts {
		code := fileCode(o.f, start+o.f.Base, prologue)
		if n := cpu.All[o.a].MakesFrame(code); n > 0 {
			o.sets[start] = n
		}
	}
}

// call checks the rules at a call.
func (o *framePointerOracle) call(addr uint64) {
	at := addr - o.f.Base
	i, found := slices.BinarySearch(o.starts, at)
	if !found {
		i--
	}
	if i < 0 || o.sets[o.starts[i]] == 0 || at < o.starts[i]+uint64(o.sets[o.starts[i]]) {
		return
	}
	row := o.rows.at(context.Background(), o.rules, rva(at))
	block, _ := o.rules.Rules(context.Background(), rva(at), o.names)
	if row.row == nil || uint64(block.Start) != o.starts[i] {
		return // a function without a symbol
	}
	if o.agrees(row.row) {
		o.right++
	} else if o.wrong++; o.wrong < 10 {
		o.t.Errorf("%#x: in a function that sets the frame pointer at %#x the rules are %s", addr, o.starts[i], row.row)
	}
}

// agrees reports whether rules say that the frame pointer points to the saved frame pointer of the
// caller, as far as rules with another register can say so.
func (o *framePointerOracle) agrees(row *cfi.Row) bool {
	fp := o.names.Lookup(o.a.FP)
	base, offset, ok := row.CFA.AsOffset()
	_, saved, load := row.Rule(fp).AsLoad()
	if ok && base == fp {
		return load && saved == -offset && (o.a == arch.ARM64 || offset == 2*int64(o.a.PtrSize))
	}
	// The frame address is relative to the stack pointer; the frame pointer is still saved.
	return load && (o.a == arch.ARM64 || saved == -2*int64(o.a.PtrSize))
}
