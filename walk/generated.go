package walk

import (
	"context"
	"slices"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/walk/jit"
)

// generated is what a file says about code that a JIT compiler has made. Its addresses are those of the process.
type generated struct {
	jit.Code
	state *moduleState
}

// generatedAt returns the symbols of the generated code that contains an address outside of modules, or nil. The files
// are looked for when the first such address is asked about.
func (u *unwinder) generatedAt(addr uint64) *moduleState {
	if u.config.JIT == nil || !u.mayBeGenerated(addr) {
		return nil
	}
	if !u.result.soughtJIT {
		u.result.soughtJIT = true
		u.findGenerated()
	}
	if g := u.result.generatedAt(addr); g != nil {
		return g.state
	}
	return nil
}

// mayBeGenerated reports whether an address may be that of code outside of modules.
func (u *unwinder) mayBeGenerated(addr uint64) bool {
	m := u.d.MappingAt(addr)
	return addr >= FirstPage && u.d.ModuleAt(addr) < 0 && (m == nil && len(u.d.Maps) == 0 || m != nil && (m.Unknown || m.Exec))
}

// findGenerated reads the files about generated code.
func (u *unwinder) findGenerated() {
	found, problems := u.config.JIT.Find(u.ctx, u.d)
	for _, c := range found {
		st := &moduleState{sources: u.sources}
		st.symbols.Do(u.ctx, func(y *moduleSymbols) { y.resolver = c.Symbols })
		u.result.generated = append(u.result.generated, generated{c, st})
	}
	u.result.problems = append(u.result.problems, problems...)
}

// generatedAt returns what is known about the code at an address, or nil.
func (r *Result) generatedAt(addr uint64) *generated {
	var at resolve.Location
	i := slices.IndexFunc(r.generated, func(g generated) bool {
		ok, err := resolve.Find(context.Background(), g.Symbols, rva(addr), &at)
		return ok && err == nil
	})
	if i < 0 {
		return nil
	}
	return &r.generated[i]
}

// NamedBy returns the path of the file about generated code that names the function of a frame outside of modules, or "".
func (r *Result) NamedBy(f *Frame) string {
	if f.Module >= 0 || len(f.Names) == 0 {
		return ""
	}
	if g := r.generatedAt(f.Inst); g != nil {
		return g.Path
	}
	return ""
}
