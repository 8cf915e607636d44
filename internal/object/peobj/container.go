package peobj

import (
	"debug/pe"
	"encoding/binary"
	"fmt"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt/arch"
)

// machine describes a CPU, by its number in the file header.
type machine struct {
	name string
	arch *arch.Arch // nil if unknown
}

var machines = map[uint16]machine{
	pe.IMAGE_FILE_MACHINE_I386:  {"IMAGE_FILE_MACHINE_I386", arch.X86},
	pe.IMAGE_FILE_MACHINE_AMD64: {"IMAGE_FILE_MACHINE_AMD64", arch.X86_64},
	pe.IMAGE_FILE_MACHINE_ARM64: {"IMAGE_FILE_MACHINE_ARM64", arch.ARM64},
	pe.IMAGE_FILE_MACHINE_ARMNT: {"IMAGE_FILE_MACHINE_ARMNT", arch.ARM},
	0xa641:                      {"IMAGE_FILE_MACHINE_ARM64EC", arch.ARM64},
	0xa64e:                      {"IMAGE_FILE_MACHINE_ARM64X", arch.ARM64},
}

func (f *File) arch() *arch.Arch { return machines[f.machine()].arch }

// Object returns the file as an object.File, or nil if f is nil.
func (f *File) Object() *object.File {
	if f == nil {
		return nil
	}
	o := &object.File{
		Path: f.in.Path, Size: f.in.Size, Kind: object.Shared, KindName: f.kindName(), Title: f.title(),
		Format: "PE", NameFrom: "PDB", PDB: f.pdb(), Terms: f.terms(),
		OS: "windows", Arch: f.arch(), CPU: f.cpuName(), AddrSize: 4, Order: binary.LittleEndian, CodeOrder: binary.LittleEndian,
		Base: f.imageBase, Sections: f.SectionsOnly.Sections, Container: f,
	}
	if f.header.Characteristics&pe.IMAGE_FILE_RELOCS_STRIPPED != 0 {
		o.Kind = object.Executable
	}
	if f.plus {
		o.AddrSize = 8
	}
	if o.Arch == arch.ARM {
		o.ISABit = 1
	}
	if f.entry != 0 {
		o.Entry = f.imageBase + uint64(f.entry)
	}
	return o
}

func (f *File) kindName() string {
	form, kind := "PE32", "program"
	if f.plus {
		form = "PE32+"
	}
	if f.dll {
		kind = "DLL"
	}
	return form + " " + kind
}

func (f *File) cpuName() string {
	if m, ok := machines[f.machine()]; ok {
		return m.name
	}
	return fmt.Sprintf("machine %#x", f.header.Machine)
}

// Of returns the PE file behind an object, or nil if there is none.
func Of(o *object.File) *File {
	if o == nil {
		return nil
	}
	f, _ := o.Container.(*File)
	return f
}

// shortNames maps names that do not fit into a section header to their truncated forms, in files of
// tools that do not write long names.
var shortNames = map[string]string{".eh_frame": ".eh_fram"}

// Section implements object.Container. ".debug_x" also finds ".zdebug_x", and ".eh_frame" also finds
// its truncated name.
func (f *File) Section(name string) *object.Section {
	first := f.SectionsOnly.Section(name)
	if first != nil && first.HasData() {
		return first
	}
	if rest, ok := cutDebug(name); ok {
		if z := f.SectionsOnly.Section(".zdebug_" + rest); z != nil {
			return z
		}
	}
	if short, ok := shortNames[name]; ok {
		if s := f.SectionsOnly.Section(short); s != nil {
			return s
		}
	}
	return first
}

func cutDebug(name string) (string, bool) {
	const debug = ".debug_"
	if len(name) <= len(debug) || name[:len(debug)] != debug {
		return "", false
	}
	return name[len(debug):], true
}

const exceptionDirectory = 3 // in the data directories

// Located implements object.Container: in a file whose linker merged .pdata with other
// sections, the exception directory leads to it.
func (f *File) Located(name string) (*object.Section, error) {
	dir := f.directory(exceptionDirectory)
	if f.hybrid != nil {
		dir = f.hybrid.pdata
	}
	if name != ".pdata" || dir.Size == 0 {
		return nil, nil
	}
	data, err := f.at(dir.VirtualAddress, dir.Size)
	if err != nil {
		return nil, err
	}
	for _, s := range f.sections {
		if off := dir.VirtualAddress - s.rva; off < s.raw && s.HasData() {
			part := &section{rva: dir.VirtualAddress, offset: s.offset + off, raw: uint32(len(data)), flags: s.flags}
			part.Section = object.Section{Name: name, Addr: f.imageBase + uint64(part.rva), FileSize: uint64(part.raw), MemSize: uint64(part.raw), Alloc: true}
			part.Contents = f.contents(part)
			return &part.Section, nil
		}
	}
	return nil, nil
}

// BuildID implements object.Container. It returns the GUID of the PDB in its printed order, as GDB does.
func (f *File) BuildID() []byte {
	if f.codeView == nil {
		return nil
	}
	return f.codeView.id
}

// ContentID implements object.Container, as for ELF files.
func (f *File) ContentID() []byte {
	return object.ContentID(f.SectionsOnly.Section(".text"), f.in, f.codeParts())
}

// codeParts returns the parts of the file that contain its code.
func (f *File) codeParts() (all []object.Range) {
	for _, s := range f.sections {
		if s.IsCode() && s.HasData() {
			all = append(all, object.Range{Start: uint64(s.offset), End: uint64(s.offset) + uint64(s.raw)})
		}
	}
	return all
}

// ModuleID implements object.Container.
func (f *File) ModuleID(id []byte) string { return f.moduleID(id) }

// CodeID implements object.Container.
func (f *File) CodeID(_ []byte, name string) string { return f.codeID() + " " + baseName(name) }

// Name implements object.Container. It returns the PDB's name, by which readers of dumps look for
// symbols.
func (f *File) Name() (string, error) { return f.pdb(), nil }

// Moved implements object.Container.
func (f *File) Moved(debug *object.File) (uint64, error) {
	d := Of(debug)
	if d == nil {
		return 0, object.OtherContainer(f.in.Path, debug)
	}
	return f.imageBase - d.imageBase, nil
}

// DebugLink implements object.Container.
func (f *File) DebugLink() (string, uint32, bool) {
	s := f.SectionsOnly.Section(".gnu_debuglink")
	if s == nil {
		s = f.SectionsOnly.Section(".gnu_deb")
	}
	if s == nil || !s.HasData() {
		return "", 0, false
	}
	data, err := s.Data()
	if err != nil {
		return "", 0, false
	}
	return object.ParseDebugLink(data, binary.LittleEndian)
}

// Problems implements object.Container.
func (f *File) Problems() []bin.Problem { return f.problems }

// Close implements object.Container.
func (f *File) Close() error {
	f.ReleaseSymbols()
	return f.SectionsOnly.Close()
}

// CheckDebug implements object.DebugChecker: a debug file must be for the same CPU, and have the same id.
func (f *File) CheckDebug(o *object.File) error {
	debug := Of(o)
	if debug == nil {
		return object.OtherContainer(f.in.Path, o)
	}
	if f.header.Machine != debug.header.Machine || f.plus != debug.plus {
		return debug.in.Errorf(0, "for %s, want %s", debug.cpuName(), f.cpuName())
	}
	if a, b := f.codeView, debug.codeView; a != nil && b != nil && (string(a.id) != string(b.id) || a.age != b.age) {
		e := debug.in.Errorf(0, "id %s, want %s", debug.moduleID(b.id), f.moduleID(a.id))
		e.Kind = object.ErrOtherBuild
		return e
	}
	if f.imageSize != debug.imageSize && f.header.TimeDateStamp != debug.header.TimeDateStamp {
		return debug.in.Errorf(0, "code id %s, want %s", debug.codeID(), f.codeID())
	}
	return nil
}
