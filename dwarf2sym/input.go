package dwarf2sym

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/symtool/symtool/dwarf2sym/internal/callframe"
	"github.com/symtool/symtool/dwarf2sym/internal/codemap"
	"github.com/symtool/symtool/dwarf2sym/internal/publics"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/debugset"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt"
)

// identify fills in the MODULE and INFO records.
func (r *reader) identify() {
	m, o := &r.module, r.opts
	m.Arch = r.file.ModuleCPU
	if cpu := r.file.Arch; cpu != nil && m.Arch == "" {
		m.Arch = cpu.Name
	}
	m.Arch = cmp.Or(m.Arch, "unknown")
	m.OS, m.Name = cmp.Or(o.OS, r.file.OS, "Linux"), o.Name
	if m.Name == "" {
		r.nameModule()
	}
	id := r.file.BuildID()
	if id == nil && r.debug != nil {
		id = r.debug.BuildID()
	}
	code := id
	if id == nil {
		id = r.file.ContentID()
	}
	if m.ID = o.ID; m.ID == "" {
		m.ID = r.file.ModuleID(id)
	}
	if value := r.file.CodeID(code, cmp.Or(o.FileName, r.file.Path)); value != "" {
		m.Infos = append(m.Infos, symfmt.Info{Key: "CODE_ID", Value: value})
	}
	if o.Generator != "" {
		m.Infos = append(m.Infos, symfmt.Info{Key: "GENERATOR", Value: o.Generator})
	}
}

// moduleName returns the base name of the file, or the binary's name for FILE.debug.
func moduleName(path string) string {
	return strings.TrimSuffix(filepath.Base(path), ".debug")
}

// nameModule names the module by DT_SONAME, as the writers of minidumps do (Breakpad's client, rust-minidump's writer),
// since symbols are looked up by that name. Without DT_SONAME it uses the name of the file, or of the binary for
// FILE.debug.
func (r *reader) nameModule() {
	file := cmp.Or(r.opts.FileName, moduleName(r.file.Path))
	name, err := r.file.Name()
	if err != nil {
		r.problem(problemFile, "MODULE's name; it is "+file, err)
	}
	r.module.Name = cmp.Or(name, file)
	if name != "" && name != file {
		r.report.FileName = file
	}
	r.report.NameGuessed = name == "" && err == nil && (r.file.NameLost() || isBuildID(file, r.file.BuildID()))
}

// isBuildID reports whether name is that of a debug file below .build-id, in a folder named after the first byte of the
// id.
func isBuildID(name string, id []byte) bool {
	return len(id) > 1 && name == hex.EncodeToString(id[1:])
}

// findFiles fills in r.files.
func (r *reader) findFiles() error {
	files, lost, err := object.Companions(r.file, r.debug)
	if err != nil {
		return err
	}
	r.files = files
	r.fileProblems(lost)
	return nil
}

// described returns the file whose debug information is read.
func (r *reader) described() object.Companion {
	for _, c := range r.files[1:] {
		if c.File == r.debug && c.HasDWARF() {
			return c
		}
	}
	return r.files[0]
}

// codeMap returns the code of the file whose debug information is read, as RVAs of the binary.
func (r *reader) codeMap() *codemap.Map {
	f := r.described()
	return codemap.Moved(f.File, f.Moved, r.file.Base)
}

// fileProblems adds problems that concern a file as a whole.
func (r *reader) fileProblems(problems []bin.Problem) {
	for _, p := range problems {
		r.problem(problemFile, p.Lost, p.Err)
	}
}

// readSymbols collects the function symbols of the files, from the better table.
func (r *reader) readSymbols() {
	var problems []bin.Problem
	r.symbols, problems = publics.Read(r.file.Base, r.files)
	r.fileProblems(problems)
}

// reportRelocations reports the relocations that could not be applied to a relocatable file.
func (r *reader) reportRelocations() {
	for _, f := range []*object.File{r.file, r.debug} {
		if f == nil {
			continue
		}
		r.fileProblems(f.Problems())
	}
}

// readCFI reads STACK CFI, concurrently with the functions. finish puts the result into the module, and must not run
// concurrently with the reading of functions.
func (r *reader) readCFI(ctx context.Context) (finish func()) {
	cpu := r.file.Arch
	if r.opts.NoCFI {
		return func() {}
	}
	orc := r.file.Section(".orc_unwind")
	r.report.ORC = orc != nil && orc.HasData()
	if cpu == nil {
		return func() {
			r.problem(problemCFI, "STACK CFI", &bin.Error{File: r.file.Path,
				Msg: unknownCPU(r.file)})
		}
	}
	c := callframe.Read(ctx, cpu, r.files, r.opts.CFI.sources())
	return func() {
		r.module.CFI = c.Table
		r.report.Stats.countCFI(&c)
		for _, p := range c.Problems {
			r.problem(problemCFI, p.Lost, p.Err)
		}
	}
}

// ErrNoObject is the kind of problem reported if an object that a Mach-O file was linked from is missing or has changed
// since.
var ErrNoObject = debugset.ErrNoObject

// ErrNoSupplement is the kind of problem reported if the supplementary file of the debug information was not found.
var ErrNoSupplement = units.ErrNoSupplement

// openDebugData opens the debug sections. It returns nil if there are none.
func (r *reader) openDebugData() *units.Data {
	o := units.Options{Jobs: r.jobs, Supplement: r.supplement, Locations: r.opts.Vars.wanted(), Partly: r.partly}
	if cpu := r.file.Arch; cpu != nil {
		o.ISA = cpu.ISABit
	}
	d, problems := units.Open(r.described().File, o)
	r.fileProblems(problems)
	return d
}

// readUnitHeaders finds the units of d and of its supplementary file.
func (r *reader) readUnitHeaders(d *units.Data) {
	if d.Sup != nil {
		problems := d.Sup.ReadUnitHeaders()
		r.addProblems(problemUnits, &problems)
	}
	if err := units.Whole(d.Info); err != nil {
		r.problem(problemFile, units.AllFunctions, err)
		return
	}
	problems := d.ReadUnitHeaders()
	r.addProblems(problemUnits, &problems)
}

// readGradually lets workers find units while others read, if .debug_info is inflated on demand: one worker reads while
// another inflates what follows. Files with split units are excluded, as the work budget there depends on all
// skeletons.
func (r *reader) readGradually(d *units.Data) {
	src, ok := d.Info.(object.Gradual)
	if d.Gradual = ok && src.Ready() < d.Info.Size() && d.Sup == nil && !r.mayHaveSplit(d); d.Gradual {
		d.StartWalk(0, uint64(d.Info.Size()))
	}
}

// mayHaveSplit reports whether units may have split units that matter. Looking up single addresses needs only those
// with code, whose addresses are in .debug_addr; without that section, the abbreviations need not be examined.
func (r *reader) mayHaveSplit(d *units.Data) bool {
	return !(r.partly && len(d.Addr) == 0) && d.DeclaresSplit()
}

// endGradually reports damage that was found while units were read. As in a section that is read at once, damage costs
// all functions: if the checksum is wrong, none can be trusted.
func (r *reader) endGradually(d *units.Data) {
	d.Gradual = false
	if err := units.Whole(d.Info); err != nil {
		r.workers = nil
		r.problem(problemFile, units.AllFunctions, err)
		return
	}
	r.addProblems(problemUnits, &d.Problems)
}

// unknownCPU returns the message for a file whose CPU's registers are unknown.
func unknownCPU(f *object.File) string {
	return fmt.Sprintf("the registers of %s (%d bits) are unknown", f.CPU, 8*f.AddrSize)
}
