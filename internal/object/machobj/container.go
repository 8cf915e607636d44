package machobj

import (
	"bytes"
	"fmt"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt/arch"
)

// kinds lists the file types: their names in the header file, and descriptions.
var kinds = map[uint32]struct {
	kind        object.Kind
	name, title string
}{
	typeObject:  {object.Relocatable, "MH_OBJECT", "object"},
	typeExecute: {object.Executable, "MH_EXECUTE", "executable"},
	3:           {object.Shared, "MH_FVMLIB", "fixed library"},
	5:           {object.Executable, "MH_PRELOAD", "preloaded executable"},
	typeDylib:   {object.Shared, "MH_DYLIB", "dynamic library"},
	typeLinker:  {object.Shared, "MH_DYLINKER", "dynamic linker"},
	typeBundle:  {object.Shared, "MH_BUNDLE", "bundle"},
	typeStub:    {object.Shared, "MH_DYLIB_STUB", "stub of a dynamic library"},
	typeDSYM:    {object.Shared, "MH_DSYM", "dSYM"},
	typeKext:    {object.Shared, "MH_KEXT_BUNDLE", "kernel extension"},
	typeFileSet: {object.Shared, "MH_FILESET", "kernel cache"},
}

// Object returns the file as an object.File, or nil if f is nil.
func (f *File) Object() *object.File {
	if f == nil {
		return nil
	}
	o := &object.File{
		Path: f.in.Path, Size: f.in.Size - f.start, KindName: fmt.Sprintf("file type %d", f.fileType), Kind: object.Shared,
		Format: "Mach-O", NameFrom: "the file's name", Terms: f.terms(),
		OS: f.system(), Arch: f.cpu.arch, CPU: f.cpu.name, ModuleCPU: f.cpu.module,
		AddrSize: 4, Order: f.order, CodeOrder: f.order, Base: f.base, Sections: f.SectionsOnly.Sections, Container: f,
	}
	if k, ok := kinds[f.fileType]; ok {
		o.Kind, o.KindName, o.Title = k.kind, k.name, k.title
	}
	if f.fileType == typeExecute && f.flags&flagPIE != 0 {
		o.Kind = object.Shared
	}
	if f.wide {
		o.AddrSize = 8
	}
	if f.cpu.arch == arch.ARM {
		o.ISABit = 1
	}
	if f.entry != 0 {
		o.Entry = f.base + f.entry
	}
	return o
}

// system returns the operating system as MODULE records spell it: "mac" for what runs there, and "ios"
// for other platforms.
func (f *File) system() string {
	switch f.platform {
	case 0, platformMacOS, platformCatalyst:
		return "mac"
	}
	return "ios"
}

// Of returns the Mach-O file behind an object, or nil if there is none.
func Of(o *object.File) *File {
	if o == nil {
		return nil
	}
	f, _ := o.Container.(*File)
	return f
}

// BuildID implements object.Container: it returns the UUID.
func (f *File) BuildID() []byte { return f.uuid }

// ContentID implements object.Container, as for ELF files. Only files without LC_UUID need it; linkers omit that on
// request.
func (f *File) ContentID() []byte {
	return object.ContentID(f.SectionsOnly.Section("__text"), f.in, f.codeParts())
}

// codeParts returns the parts of the file that are code.
func (f *File) codeParts() (all []object.Range) {
	for _, s := range f.sections {
		if s.IsCode() && s.HasData() {
			all = append(all, object.Range{Start: uint64(s.offset), End: uint64(s.offset) + s.FileSize})
		}
	}
	return all
}

// ModuleID implements object.Container: it returns the bytes of the UUID in order, and the age 0.
func (f *File) ModuleID(id []byte) string { return fmt.Sprintf("%X0", padded(id)) }

func padded(id []byte) []byte {
	var guid [16]byte
	copy(guid[:], id)
	return guid[:]
}

// CodeID implements object.Container: it returns the UUID, as Mozilla writes it.
func (f *File) CodeID(id []byte, _ string) string { return fmt.Sprintf("%X", id) }

// Moved implements object.Container.
func (f *File) Moved(debug *object.File) (uint64, error) {
	d := Of(debug)
	if d == nil {
		return 0, object.OtherContainer(f.in.Path, debug)
	}
	return f.base - d.base, nil
}

// Problems implements object.Container.
func (f *File) Problems() []bin.Problem {
	all := f.problems
	for _, s := range f.sections {
		if s.fixer != nil {
			all = append(all, s.fixer.reported()...)
		}
	}
	return all
}

// Close implements object.Container.
func (f *File) Close() error {
	f.ReleaseSymbols()
	return f.SectionsOnly.Close()
}

// CheckDebug implements object.DebugChecker: a dSYM must be for the same CPU, and have the same UUID. Its code must
// be at the same distance from the header.
func (f *File) CheckDebug(o *object.File) error {
	debug := Of(o)
	switch {
	case debug == nil:
		return object.OtherContainer(f.in.Path, o)
	case f.cpu.name != debug.cpu.name:
		return debug.errorf(0, "for %s, want %s", debug.cpu.name, f.cpu.name)
	case !bytes.Equal(f.uuid, debug.uuid):
		e := debug.errorf(0, "UUID %s, want %s", debug.idText(), f.idText())
		e.Kind = object.ErrOtherBuild
		return e
	case !sameText(f, debug):
		return debug.errorf(0, "its code is elsewhere than that of %s", f.in.Path)
	}
	return nil
}

func (f *File) idText() string {
	if f.uuid == nil {
		return "none"
	}
	return fmt.Sprintf("%X", f.uuid)
}

// text returns __text or, in a file without it, the first section with code, or nil.
func (f *File) text() *object.Section {
	if s := f.SectionsOnly.Section("__text"); s != nil {
		return s
	}
	for _, s := range f.SectionsOnly.Sections {
		if s.IsCode() {
			return s
		}
	}
	return nil
}

func sameText(a, b *File) bool {
	x, y := a.text(), b.text()
	return x != nil && y != nil && x.Addr-a.base == y.Addr-b.base && x.MemSize == y.MemSize
}

// terms returns the names of things in Mach-O files of this kind.
func (f *File) terms() object.Terms {
	t := object.Terms{
		Tables: [2]string{object.Symtab: "LC_SYMTAB", object.Dynamic: "exports"},
		Unwind: []string{"__unwind_info", "__eh_frame", "__debug_frame"},

		ID:         "a UUID",
		Debug:      "compile with -g; keep the objects, whose folder --dwo-dir names, or run dsymutil on the linked file and name the dSYM",
		Identify:   "link without -no_uuid",
		UnwindMake: "in assembly, write .cfi directives; compilers write __unwind_info for all functions",
		UnwindKeep: "dump the binary with its dSYM: a dSYM alone has neither __unwind_info nor __eh_frame",
	}
	switch f.fileType {
	case typeDSYM:
		t.UnwindAlone = "it is in the program or library; dump that, with the dSYM beside it"
	case typeObject:
		t.UnwindAlone = "what objects have for it, __compact_unwind, is not read; dump the program or library that is linked from them"
	}
	return t
}
