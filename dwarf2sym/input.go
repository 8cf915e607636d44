package dwarf2sym

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/par"
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

// moduleName returns the base name of the file, or that of the binary for FILE.debug.
func moduleName(path string) string {
	return strings.TrimSuffix(filepath.Base(path), ".debug")
}

// nameModule names the module by DT_SONAME, as the writers of minidumps do (Breakpad's client,
// rust-minidump's writer), which is the name that symbols are looked up by. Without DT_SONAME it
// uses the name of the file, or of the binary for FILE.debug.
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

// isBuildID reports whether a name is that of a debug file below .build-id, in
// a folder named after the first byte of the id.
func isBuildID(name string, id []byte) bool {
	return len(id) > 1 && name == hex.EncodeToString(id[1:])
}

// readSymbols collects the function symbols from the file with the better table.
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

// readCFI reads STACK CFI, concurrently with the functions. finish puts the result into the
// module, and must not run concurrently with them.
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

// allFunctions is what damage of all of .debug_info costs.
const allFunctions = "all functions"

// openDebugData finds the debug sections. It returns nil if there are none.
func (r *reader) openDebugData() *debugData {
	f := r.described().File
	if !f.HasDWARF() {
		return nil
	}
	d := r.openDWARF(f, allFunctions)
	if d == nil {
		return nil
	}
	r.openSupplement(f, d)
	if s := f.Section(".debug_types"); s != nil && s.HasData() {
		info, err := openWhole(s)
		if err != nil {
			r.problem(problemFile, "names of types", err)
		} else {
			d.types.old = d.oldTypesData(info)
		}
	}
	return d
}

// ErrNoSupplement is the kind of problem reported if the supplementary file of the debug information
// was not found.
var ErrNoSupplement = errors.New("no supplementary file")

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
			Msg: fmt.Sprintf("the supplementary file %q was not found", link.Name), Kind: ErrNoSupplement})
		return
	}
	const names = "names in it"
	if d.sup = r.openDWARF(r.supplement, names); d.sup == nil {
		return
	}
	if err := whole(d.sup.Info); err != nil {
		r.problem(problemFile, names, err)
		d.sup = nil
	} else {
		d.sup.tag, d.SupStr = supTag, d.sup.Str
	}
}

// openDWARF opens the debug sections of one file; lost names the loss to report if they cannot be
// opened.
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
	r.openTables(f, d)
	return d
}

// openTables opens the sections that units refer to. Those that are compressed are inflated side by
// side.
func (r *reader) openTables(f *object.File, d *debugData) {
	type table struct {
		name string
		data *[]byte // nil: it is read piece by piece
	}
	tables := []table{
		{".debug_abbrev", &d.Abbrev}, {".debug_str", &d.Str}, {".debug_line_str", &d.LineStr},
		{".debug_str_offsets", &d.StrOffsets}, {".debug_addr", &d.Addr},
		{".debug_rnglists", &d.Rnglists}, {".debug_ranges", &d.Ranges},
	}
	if r.opts.Vars.wanted() {
		tables = append(tables, table{".debug_loclists", &d.Loclists}, table{".debug_loc", &d.Loc})
	}
	if f != r.supplement { // only references to names lead there
		tables = append(tables, table{".debug_line", nil})
	}
	errs := make([]error, len(tables))
	_ = par.Each(context.Background(), r.jobs, len(tables), func(_ context.Context, _, i int) error {
		if s := f.Section(tables[i].name); s == nil || !s.HasData() {
			return nil
		} else if tables[i].data == nil {
			d.line, errs[i] = openWhole(s)
		} else {
			*tables[i].data, errs[i] = s.Map()
		}
		return nil // damage costs what needs the section
	})
	for i, t := range tables {
		if t.data == nil {
			if errs[i] != nil {
				r.problem(problemFile, "all lines", errs[i])
			}
			continue
		}
		if errs[i] != nil {
			r.problem(problemFile, "what needs "+t.name, errs[i])
		}
		if section := f.Section(t.name); section != nil {
			d.random = append(d.random, section)
		}
	}
	d.Str, d.LineStr = wholeStrings(d.Str), wholeStrings(d.LineStr)
}

// openWhole opens a section for reading piece by piece, after a look at all of it if it is compressed.
func openWhole(s *object.Section) (object.Source, error) {
	src, err := s.Open()
	if err == nil {
		err = whole(src)
	}
	return src, err
}

// whole reads what is missing of a section that is inflated as it is read. An error means that a part
// of it is damaged.
func whole(s object.Source) error {
	if _, ok := s.(object.Gradual); !ok {
		return nil
	}
	_, err := s.Bytes(s.Size(), 0, nil)
	return err
}

func orderOf(f *object.File) dwarf.Order { return f.Order == binary.ByteOrder(binary.BigEndian) }

// checkOrder rejects a file with the other halves of d's units that cannot
// belong to it.
func (d *debugData) checkOrder(f *object.File) error {
	if orderOf(f) != d.Order {
		return &bin.Error{File: f.Path, Msg: "its byte order differs from that of the file with its skeletons"}
	}
	return nil
}

// wholeStrings leaves out a last string without a terminator, so that every
// offset into the section finds a string without a search to the end of the
// section.
func wholeStrings(section []byte) []byte {
	return section[:bytes.LastIndexByte(section, 0)+1]
}

// dropStep is the number of bytes of .debug_info after which the memory of
// mapped sections is released: units mostly look at nearby places there.
const dropStep = 16 << 20

// passed records that n more bytes of .debug_info are done.
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

// release releases the sections; d must not be used any more.
func (d *debugData) release() {
	if d.sup != nil {
		d.sup.release()
	}
	for _, s := range d.random {
		s.Release()
	}
}
