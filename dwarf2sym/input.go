package dwarf2sym

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt"
)

// identify fills in MODULE and INFO.
func (r *reader) identify() {
	m, o := &r.module, r.opts
	cpu := r.file.Arch
	m.Arch = "unknown"
	if cpu != nil {
		m.Arch = cpu.Name
	}
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
	if value := r.file.CodeID(code); value != "" {
		m.Infos = append(m.Infos, symfmt.Info{Key: "CODE_ID", Value: value})
	}
	if o.Generator != "" {
		m.Infos = append(m.Infos, symfmt.Info{Key: "GENERATOR", Value: o.Generator})
	}
}

// moduleName returns the base name of the file; that of FILE.debug's partner.
func moduleName(path string) string {
	return strings.TrimSuffix(filepath.Base(path), ".debug")
}

// nameModule names the module by DT_SONAME, as the writers of minidumps do, which
// is the name that symbols are asked for by (Breakpad's client, rust-minidump's
// writer). Without DT_SONAME the file's name is used, or its partner's for FILE.debug.
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

// isBuildID reports whether a name is that of debug files below .build-id, of which
// the first byte of the id names the folder.
func isBuildID(name string, id []byte) bool {
	return len(id) > 1 && name == hex.EncodeToString(id[1:])
}

// readSymbols collects the function symbols of the file with the better table.
func (r *reader) readSymbols() {
	var problems []bin.Problem
	r.symbols, problems = companionPublics(r.file.Base, r.companions)
	for _, p := range problems {
		r.problem(problemFile, p.Lost, p.Err)
	}
}

// reportRelocations reports the relocations that could not be applied to a relocatable file.
func (r *reader) reportRelocations() {
	for _, f := range []*object.File{r.file, r.debug} {
		if f == nil {
			continue
		}
		for _, p := range f.Problems() {
			r.problem(problemFile, p.Lost, p.Err)
		}
	}
}

// readCFI reads STACK CFI, concurrently with the functions. finish puts the result into
// the module; it must not run concurrently with them.
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
	c := companionsCFI(ctx, cpu, r.companions, r.opts.CFI)
	return func() {
		r.module.CFI = c.table
		r.report.Stats.countCFI(&c)
		for _, p := range c.problems {
			r.problem(problemCFI, p.Lost, p.Err)
		}
	}
}

// openDebugData finds the debug sections. It returns nil if there are none.
func (r *reader) openDebugData() *debugData {
	f := r.described().File
	if !f.HasDWARF() {
		return nil
	}
	d := r.openDWARF(f, "all functions")
	if d == nil {
		return nil
	}
	r.openSupplement(f, d)
	if s := f.Section(".debug_types"); s != nil && s.HasData() {
		info, err := s.Open()
		if err != nil {
			r.problem(problemFile, "names of types", err)
		} else {
			d.types.old = d.oldTypesData(info)
		}
	}
	var err error
	if s := f.Section(".debug_line"); s != nil && s.HasData() {
		if d.line, err = s.Open(); err != nil {
			r.problem(problemFile, "all lines", err)
		}
	}
	return d
}

// openSupplement opens the supplementary file of f, where dwz puts what several
// files share: names of functions, of types and of units.
func (r *reader) openSupplement(f *object.File, d *debugData) {
	link, err := f.Supplement()
	if err != nil {
		r.problem(problemFile, "names in the supplementary file", err)
	}
	if link == nil {
		return
	}
	if r.supplement == nil {
		r.problem(problemFile, "names in it", &bin.Error{File: f.Path, Section: link.Section,
			Msg: fmt.Sprintf("the supplementary file %q was not found", link.Name)})
		return
	}
	if d.sup = r.openDWARF(r.supplement, "names in it"); d.sup != nil {
		d.sup.tag, d.SupStr = supTag, d.sup.Str
	}
}

// openDWARF opens the debug sections of one file except .debug_line; lost names the
// loss to report if they cannot be opened.
func (r *reader) openDWARF(f *object.File, lost string) *debugData {
	d := &debugData{Sections: dwarf.Sections{File: f.Path, Order: orderOf(f)}}
	if cpu := r.file.Arch; cpu != nil {
		d.ISA = cpu.ISABit
	}
	info := f.Section(".debug_info")
	if info == nil || !info.HasData() {
		r.problem(problemFile, lost, &bin.Error{File: f.Path, Msg: "no .debug_info"})
		return nil
	}
	src, err := info.Open()
	if err != nil {
		r.problem(problemFile, lost, err)
		return nil
	}
	d.Info = src
	if r.opts.Vars.wanted() {
		d.Loclists, d.Loc = r.sectionData(f, ".debug_loclists"), r.sectionData(f, ".debug_loc")
		for _, name := range []string{".debug_loclists", ".debug_loc"} {
			if section := f.Section(name); section != nil {
				d.random = append(d.random, section)
			}
		}
	}
	for _, s := range []struct {
		name string
		data *[]byte
	}{
		{".debug_abbrev", &d.Abbrev}, {".debug_str", &d.Str}, {".debug_line_str", &d.LineStr},
		{".debug_str_offsets", &d.StrOffsets}, {".debug_addr", &d.Addr},
		{".debug_rnglists", &d.Rnglists}, {".debug_ranges", &d.Ranges},
	} {
		*s.data = r.sectionData(f, s.name)
		if section := f.Section(s.name); section != nil {
			d.random = append(d.random, section)
		}
	}
	d.Str, d.LineStr = wholeStrings(d.Str), wholeStrings(d.LineStr)
	return d
}

func orderOf(f *object.File) dwarf.Order { return f.Order == binary.ByteOrder(binary.BigEndian) }

// checkOrder refuses a file with the other halves of d's units that cannot
// belong to it.
func (d *debugData) checkOrder(f *object.File) error {
	if orderOf(f) != d.Order {
		return &bin.Error{File: f.Path, Msg: "has another byte order than the file with its skeletons"}
	}
	return nil
}

// wholeStrings leaves out a last string that has no end, so that every offset
// into the section finds one without a search to the section's end.
func wholeStrings(section []byte) []byte {
	return section[:bytes.LastIndexByte(section, 0)+1]
}

// sectionData returns a section's contents; empty, with a problem, when it is damaged.
func (r *reader) sectionData(f *object.File, name string) []byte {
	s := f.Section(name)
	if s == nil || !s.HasData() {
		return nil
	}
	data, err := s.Map()
	if err != nil {
		r.problem(problemFile, "what needs "+name, err)
	}
	return data
}

// dropStep is after how many bytes of .debug_info the memory of mapped sections
// is given back: what units look at there is mostly near each other.
const dropStep = 16 << 20

// passed reports that n more bytes of .debug_info are done.
func (d *debugData) passed(n int64, scratch *object.Scratch) {
	if sum := atomic.AddInt64(&d.done, n); sum/dropStep != (sum-n)/dropStep {
		for _, s := range d.random {
			s.Drop()
		}
		if scratch != nil {
			scratch.Drop()
		}
	}
}

// release gives back the sections; d is of no use any more.
func (d *debugData) release() {
	if d.sup != nil {
		d.sup.release()
	}
	for _, s := range d.random {
		s.Release()
	}
}
