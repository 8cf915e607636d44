package elfcore

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"path"
	"sort"
	"strings"

	"github.com/symtool/symtool/internal/object"
	elfobj "github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/symfmt/damage"
	"github.com/symtool/symtool/walk/dump"
)

// headPage is the size in bytes of the part of a binary's first mapping that the kernel dumps. It contains the binary's
// program headers and, as linkers place it, its build-id.
const headPage = 4096

// maxModules limits the number of modules: the kernel allows 65,530 mappings.
const maxModules = 1 << 16

// vdsoName is Breakpad's name for the library that the kernel maps into each
// process, and so its name in symbol stores.
const vdsoName = "linux-gate.so"

// image is a binary in memory.
type image struct {
	f       *elfobj.File // its program headers
	base    uint64       // address of its ELF header
	bias    uint64       // added to an address in the file to get the address in memory
	buildID []byte
}

// imageAt returns the binary whose ELF header is at an address, or nil.
func (r *reader) imageAt(base uint64) *image {
	head := r.d.Memory.Bytes(base, headPage)
	if !bytes.HasPrefix(head, []byte(elf.ELFMAG)) {
		return nil
	}
	lim := object.DefaultLimits()
	lim.Image = true
	f, err := elfobj.NewFile(bytes.NewReader(head), int64(len(head)), "", lim)
	if err != nil || f.Class != r.f.Class || f.Type != elf.ET_EXEC && f.Type != elf.ET_DYN {
		return nil
	}
	img := &image{f: f, base: base, bias: r.addr(base - f.HeaderAddr())}
	for _, p := range f.Segments {
		if p.Type == elf.PT_NOTE && img.buildID == nil {
			notes := r.d.Memory.Bytes(r.addr(img.bias+p.Addr), headPage) // Go's linker puts the build-id after the segment
			img.buildID = elfobj.FindBuildID(notes, max(4, min(8, p.Align)), r.order())
		}
	}
	return img
}

// size returns the size of the memory that a binary's program headers describe, including .bss.
func (r *reader) size(base uint64, f *elfobj.File) uint64 {
	size := f.LoadEnd() - f.HeaderAddr()
	if r.word == 4 {
		size = min(size, 1<<32-base)
	}
	return size
}

// findModules lists the binaries in memory: those that NT_FILE names or, without NT_FILE, those of the dynamic linker
// and those whose header is in memory; and the vdso.
func (r *reader) findModules() {
	var list []dump.Module
	if r.kernel != nil {
		list = r.kernelModules()
	} else if len(r.files) > 0 {
		list = r.mappedModules()
	} else {
		list = r.unnamedModules()
	}
	if base, ok := r.aux(atSysinfoEHdr); ok {
		if img := r.imageAt(base); img != nil {
			list = withModule(list, r.module(img, vdsoName))
		}
	}
	r.limitModules(&list)
	r.setModules(list, -1)
	r.findMain()
	r.nameDebugFiles()
}

// setModules sets the modules, and reports those that overlap. main is the index of the program itself, or -1.
func (r *reader) setModules(list []dump.Module, main int) {
	for _, o := range r.d.SetModules(list, main) {
		r.d.Problems = append(r.d.Problems, damage.Problem{Err: &damage.Error{File: r.f.Path, Msg: o.String()}})
	}
}

// nameDebugFiles names the libraries' symbols by DT_SONAME, as Breakpad's client and both peers' dumpers do. Few cores
// contain its string. Otherwise the names by which the dynamic linker opened the libraries are used; they are usually
// the same, because they come from the programs linked against the libraries.
func (r *reader) nameDebugFiles() {
	opened := map[int]string{}
	if r.d.Linker != nil {
		for _, l := range r.d.Linker.Maps {
			if i := r.d.ModuleAt(l.Dynamic); i >= 0 && l.Name != "" {
				opened[i] = baseName(l.Name)
			}
		}
	}
	for i := range r.d.Modules {
		m := &r.d.Modules[i]
		m.Path, m.Deleted = strings.CutSuffix(m.Path, deletedMark)
		if m.Path == vdsoName {
			continue
		}
		own, known := "", false
		if img := r.imageAt(m.Addr); img != nil {
			own, known = r.soname(img)
		}
		if own == "" && !known {
			own = opened[i]
		}
		if own != "" {
			m.DebugFile = own
		}
	}
}

func (r *reader) limitModules(list *[]dump.Module) {
	if len(*list) > maxModules {
		r.problem("modules", 0, "%d modules, of which the first %d are kept", len(*list), maxModules)
		*list = (*list)[:maxModules]
	}
}

// withModule adds a module, or replaces one at the same address that has a worse name.
func withModule(list []dump.Module, m dump.Module) []dump.Module {
	for i := range list {
		if list[i].Addr == m.Addr {
			list[i] = m
			return list
		}
	}
	return append(list, m)
}

// module describes a binary in memory.
func (r *reader) module(img *image, name string) dump.Module {
	m := dump.Module{Range: dump.Range{Addr: img.base, Size: r.size(img.base, img.f)}, Path: name, Bias: img.bias}
	m.DebugFile = baseName(name)
	r.identify(&m, img.buildID)
	return m
}

// identify sets the ids that Breakpad derives from a build-id.
func (r *reader) identify(m *dump.Module, id []byte) {
	if len(id) > 0 {
		m.BuildID, m.CodeID, m.DebugID = id, hex.EncodeToString(id), object.ModuleID(id, r.order())
	}
}

// mappedModules returns the modules among the files that NT_FILE names. The program headers say where a module is:
// other mappings of its file, for instance of a payload after its sections, are not part of it. If the core lacks the
// program headers, which a bit of coredump_filter omits, the module consists of the mappings that follow each other
// like segments.
func (r *reader) mappedModules() (list []dump.Module) {
	maps := r.d.Maps
	images := map[int]bool{}
	for _, g := range dump.Images(maps) {
		images[g.First] = true
	}
	for i := 0; i < len(maps) && len(list) <= maxModules; i++ {
		first := &maps[i]
		if !first.IsFile() {
			continue
		}
		img := r.imageAt(first.Addr)
		switch {
		case img != nil && r.isLoaded(img):
			m := r.module(img, first.Path)
			list = append(list, m)
			for i+1 < len(maps) && m.Contains(maps[i+1].Addr) {
				i++
			}
		case img == nil && images[i] && r.d.Memory.Find(first.Addr) == nil:
			if g := dump.ImageFrom(maps, i); g.Exec {
				list = append(list, dump.Module{Range: g.Range, Path: first.Path, DebugFile: baseName(first.Path)})
				i = g.Last
			}
		}
	}
	return list
}

// isLoaded reports whether the code of a binary is where its program headers say. Otherwise the file is mapped only to
// be read, for instance by a program that looks for its own symbols.
func (r *reader) isLoaded(img *image) bool {
	hasCode := false
	for _, p := range img.f.Segments {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_X == 0 || p.MemSize == 0 {
			continue
		}
		hasCode = true
		if r.isCodeAt(dump.Range{Addr: r.addr(img.bias + p.Addr), Size: p.MemSize}, p.Offset) {
			return true
		}
	}
	return !hasCode
}

// isCodeAt reports whether a segment with code is at a place. Mappings known only from NT_FILE have no permissions:
// they must map the segment's part of the file.
func (r *reader) isCodeAt(at dump.Range, offset uint64) bool {
	known := false
	for i := mapFrom(r.segments, at.Addr); i < len(r.segments) && r.segments[i].Addr <= last(at); i++ {
		if r.segments[i].Exec {
			return true
		}
		known = true
	}
	i := mapFrom(r.d.Maps, at.Addr)
	if known || i == len(r.d.Maps) {
		return false
	}
	m := &r.d.Maps[i]
	return m.Contains(at.Addr) && m.IsFile() && m.Offset+(at.Addr-m.Addr) == offset
}

// unnamedModules returns the modules found without NT_FILE, at ELF headers at the start of mappings. They have the
// dynamic linker's names or else those that libraries give themselves.
func (r *reader) unnamedModules() (list []dump.Module) {
	heads := r.heads()
	names := map[uint64]string{}
	if r.d.Linker != nil {
		for _, l := range r.d.Linker.Maps {
			i := sort.Search(len(heads), func(i int) bool { return heads[i] > l.Dynamic })
			if i > 0 && l.Name != "" {
				names[heads[i-1]] = l.Name
			}
		}
	}
	if program := r.programImage(); program != nil {
		names[program.base] = r.programName()
	} else if m, ok := r.programWithoutHeader(r.programName()); ok {
		r.identify(&m, r.buildIDIn(m.Range))
		list = append(list, m)
	}
	var below *image
	for _, base := range heads {
		img := r.imageAt(base)
		if img == nil || r.again(below, base) || len(list) > 0 && r.adoptCopy(img, &list[0]) {
			continue
		}
		below = img
		name, ok := names[base]
		if !ok {
			name, _ = r.soname(img)
		}
		list = append(list, r.module(img, name))
	}
	return append(list, r.linkedModules(list)...)
}

// linkedModules returns the modules of the dynamic linker's list whose headers are not in the core and which are not in
// list. They extend from where the linker loaded them to the end of the mapping with their dynamic section, the last
// mapping that a module certainly has; their files may extend them. A module linked to a fixed address is left out,
// because the linker does not say where it begins.
func (r *reader) linkedModules(list []dump.Module) (more []dump.Module) {
	if r.d.Linker == nil {
		return nil
	}
	known := dump.Dump{}
	known.SetModules(list, -1)
	for i := range r.d.Linker.Maps {
		l := &r.d.Linker.Maps[i]
		first, last := mapFrom(r.d.Maps, l.Addr), mapFrom(r.d.Maps, l.Dynamic)
		if l.Name == "" || l.Addr == 0 || l.Dynamic <= l.Addr || known.ModuleAt(l.Dynamic) >= 0 || known.ModuleAt(l.Addr) >= 0 ||
			last == len(r.d.Maps) || r.d.Maps[first].Addr != l.Addr || !r.d.Maps[last].Contains(l.Dynamic) || len(more) == maxModules {
			continue
		}
		size := r.d.Maps[last].Addr + r.d.Maps[last].Size - l.Addr
		more = append(more, dump.Module{Range: dump.Range{Addr: l.Addr, Size: size}, Path: l.Name, DebugFile: baseName(l.Name), Bias: l.Addr})
	}
	return more
}

// heads returns the addresses of mappings that begin like an ELF file, in order.
func (r *reader) heads() (list []uint64) {
	for i := range r.d.Maps {
		addr := r.d.Maps[i].Addr
		if bytes.HasPrefix(r.d.Memory.Bytes(addr, len(elf.ELFMAG)), []byte(elf.ELFMAG)) && len(list) < maxModules {
			list = append(list, addr)
		}
	}
	return list
}

// mapFrom returns the index of the first mapping that ends after an address.
func mapFrom(maps []dump.Mapping, addr uint64) int {
	lo, hi := 0, len(maps)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); last(maps[mid].Range) < addr {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// soname returns the name that a library gives itself, without folders. known reports whether the core has that name,
// or shows that the library has none.
func (r *reader) soname(img *image) (own string, known bool) {
	var name, table uint64
	named, whole := false, false
	r.eachDynamic(img, func(_ uint64, tag elf.DynTag, value uint64) bool {
		switch tag {
		case elf.DT_SONAME:
			name, named = value, true
		case elf.DT_STRTAB:
			table = value
		case elf.DT_NULL:
			whole = true
		}
		return true
	})
	if !named {
		return "", whole
	}
	if table < img.base { // the linker has not relocated it
		table += img.bias
	}
	text, ok := r.cstring(r.addr(table+name), maxPath)
	own = baseName(text)
	return own, ok && own != ""
}

// deletedMark is appended to the path of a deleted file.
const deletedMark = " (deleted)"

func baseName(name string) string {
	if name == "" {
		return ""
	}
	return path.Base(strings.TrimSuffix(name, deletedMark))
}
