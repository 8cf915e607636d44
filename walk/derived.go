package walk

import (
	"context"
	"slices"

	"github.com/symtool/symtool/internal/unwind/code"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
)

// byCode uses rules derived from instructions where nobody has rules: those of the binary if the symbols are from
// elsewhere, or of the code in the dump's memory.
func byCode(u *unwinder, f *Frame) outcome {
	if !u.may[ByCode] || u.frame.Handler || !u.isLinux() || !code.FollowsCPU(u.cpu.Arch) || u.hasRules() {
		return nothing
	}
	if u.module != nil && u.frame.Module >= 0 {
		if r := u.module.derived(u.ctx); r != nil && u.rows.at(u.ctx, r, u.rva).derived {
			return u.byRules(f, r, ByCode)
		}
	}
	return u.byMemory(f)
}

// derived returns symbols with the rules derived from the binary, or nil if the symbols are from there anyway.
func (st *moduleState) derived(ctx context.Context) resolve.Symbols {
	y := st.symbolsFrom(ctx)
	switch {
	case y.lines != nil:
		return y.lines
	case y.binary || st.binaries() == nil || st.file(ctx) == nil:
		return nil
	}
	return st.coded.Do(ctx, func(d *describedBy) {
		if d.binary, _, _ = st.binaries().Symbols(ctx, st.m); d.binary != nil {
			st.sources.hold(d.binary)
		}
	}).binary
}

// memoryCode has what was derived from code in a dump's memory.
type memoryCode struct {
	process   code.Process
	functions map[uint64]resolve.Symbols // by their starts
	starts    map[uint64]uint64          // the start of the function that contains an address; 0 if it is not known
}

// maxDerived limits the functions and the addresses in a memoryCode.
const maxDerived = 1 << 12

// memoryCode returns what was derived from code in the dump's memory so far.
func (u *unwinder) memoryCode() *memoryCode {
	if u.result.code == nil {
		u.result.code = &memoryCode{
			process:   code.Process{Arch: u.cpu.Arch, Bytes: u.d.Memory.Bytes},
			functions: map[uint64]resolve.Symbols{}, starts: map[uint64]uint64{},
		}
	}
	return u.result.code
}

// function returns the rules of a function, with addresses as RVAs.
func (m *memoryCode) function(start uint64) resolve.Symbols {
	r := m.functions[start]
	if r == nil {
		if len(m.functions) >= maxDerived {
			clear(m.functions)
		}
		r = resolve.FromModule(&symfmt.Module{CFI: m.process.Function(start)}, resolve.ModuleOptions{})
		m.functions[start] = r
	}
	return r
}

// byMemory uses rules derived from the code in the dump's memory. It must be certain where the frame's function begins:
// by the rules from there on, the return address is behind a call of that function.
func (u *unwinder) byMemory(f *Frame) outcome {
	pc := u.frame.Inst
	if len(u.d.Memory.Bytes(pc, 1)) == 0 {
		return nothing
	}
	m := u.memoryCode()
	start, known := m.starts[pc]
	if !known || start != 0 && !u.calls(start) {
		if start = u.functionStart(); len(m.starts) >= maxDerived {
			clear(m.starts)
		}
		m.starts[pc] = start
	}
	if start == 0 {
		u.note("%v: it is not certain where the function begins", ByCode)
		return nothing
	}
	u.out.Reset()
	u.reads = 0
	was := u.rva
	u.rva = rva(pc)
	found := u.byRules(f, m.function(start), ByCode)
	u.rva = was
	return found
}

// What is searched for the start of a function: so many words of the stack, for return addresses behind calls of so many
// functions that begin at most so many bytes before the instruction.
const (
	startWords    = 1 << 12
	startTries    = 8
	startDistance = 16 << 10
)

// functionStart returns where the frame's function begins: where its symbol says so, or where a call leads whose return
// address the stack has. It returns 0 if that is not known.
func (u *unwinder) functionStart() uint64 {
	if start := u.frame.Start; start != 0 && !u.frame.Guess && u.calls(start) {
		return start
	}
	var tried []uint64
	try := func(ret uint64) uint64 {
		if !u.isCode(ret) && !u.isExecutable(ret) {
			return 0
		}
		for _, start := range u.result.code.process.Called(ret) {
			if start > u.frame.Inst || u.frame.Inst-start >= startDistance || slices.Contains(tried, start) {
				continue
			}
			if tried = append(tried, start); u.calls(start) {
				return start
			}
		}
		return 0
	}
	if ra := u.cpu.RA; ra != cfi.NoReg {
		if v, ok := u.in.Get(ra); ok {
			if start := try(u.clean(v)); start != 0 {
				return start
			}
		}
	}
	word := uint64(u.cpu.Arch.PtrSize)
	for i := range uint64(startWords) {
		v, ok := u.ReadWord(u.frame.SP + i*word)
		if !ok || len(tried) >= startTries {
			break
		}
		if start := try(u.clean(v)); start != 0 {
			return start
		}
	}
	return 0
}

// calls reports whether a call behind which the frame returns, by rules derived from a function's start on, leads to
// that start. The caller of a function whose symbol says where it begins may have jumped there from another one.
func (u *unwinder) calls(start uint64) bool {
	m := u.result.code
	row := u.rows.at(u.ctx, m.function(start), rva(u.frame.Inst)).row
	u.out.Reset()
	if row == nil || row.Caller(u.in, u, u.out) != nil {
		return false
	}
	ret, _ := u.out.Get(u.cpu.PC)
	if ret = u.clean(ret); start == u.frame.Start && !u.frame.Guess {
		return u.call(ret) == CallYes
	}
	return slices.Contains(m.process.Called(ret), start)
}
