package elfcore

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"path"
	"sort"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	elfobj "github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/walk/dump"
)

// headPage is the part of a binary's first mapping that the kernel dumps. It has its program
// headers and, as linkers place it, its build-id.
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
	bias    uint64       // added to an address of the file gives that in memory
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
			notes := r.d.Memory.Bytes(r.addr(img.bias+p.Addr), headPage) // Go's linker puts the build-id behind the segment
			img.buildID = elfobj.FindBuildID(notes, max(4, min(8, p.Align)), r.order())
		}
	}
	return img
}

// end returns the address after the last segment.
func (img *image) end() uint64 {
	end := img.base
	for _, p := range img.f.Segments {
		if p.Type == elf.PT_LOAD {
			end = max(end, img.bias+p.Addr+p.MemSize)
		}
	}
	return end
}

// findModules lists the binaries in memory: those that NT_FILE names or,
// without NT_FILE, those of the dynamic linker and those whose header is in
// memory; and the vdso.
func (r *reader) findModules() {
	var list []dump.Module
	if len(r.files) > 0 {
		list = r.mappedModules()
	} else {
		list = r.unnamedModules()
	}
	if base, ok := r.aux(atSysinfoEHdr); ok {
		if img := r.imageAt(base); img != nil {
			list = withModule(list, r.module(img, vdsoName, img.end()))
		}
	}
	r.limitModules(&list)
	for _, o := range r.d.SetModules(list, -1) {
		r.d.Problems = append(r.d.Problems, dump.Problem{Err: &bin.Error{File: r.f.Path, Msg: o.String()}})
	}
	r.findMain()
	r.nameDebugFiles()
}

// nameDebugFiles names the libraries' symbols by DT_SONAME, as Breakpad's client and both peers'
// dumpers do. Few cores have its string. Without it, the names by which the dynamic linker opened
// the libraries are used, which usually are the same, since they come from the programs linked
// against them.
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
func (r *reader) module(img *image, name string, end uint64) dump.Module {
	m := dump.Module{Range: dump.Range{Addr: img.base, Size: end - img.base}, Path: name, Bias: img.bias}
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

// mappedModules joins the entries of NT_FILE that belong to one binary. They share its name, and
// only the first has offset 0, except for a small binary whose data is on the page of its header:
// that page is mapped twice.
func (r *reader) mappedModules() (list []dump.Module) {
	for i := 0; i < len(r.files) && len(list) <= maxModules; {
		first := r.files[i]
		img := r.imageAt(first.Addr)
		j := i + 1
		for j < len(r.files) && r.files[j].path == first.path && (r.files[j].offset > first.offset || r.again(img, r.files[j].Addr)) {
			j++
		}
		end := last(r.files[j-1].Range) + 1
		if img != nil {
			list = append(list, r.module(img, first.path, end))
		} else if r.d.Memory.Find(first.Addr) == nil && r.executable(first.Addr, end) {
			// The core lacks its first page (a bit of coredump_filter).
			list = append(list, dump.Module{Range: dump.Range{Addr: first.Addr, Size: end - first.Addr},
				Path: first.path, DebugFile: baseName(first.path)})
		}
		i = j
	}
	return list
}

// executable reports whether memory in [start, end) is executable.
func (r *reader) executable(start, end uint64) bool {
	for i := r.mapFrom(start); i < len(r.d.Maps) && r.d.Maps[i].Addr < end; i++ {
		if r.d.Maps[i].Exec {
			return true
		}
	}
	return false
}

// unnamedModules returns the modules found without NT_FILE, at ELF headers at
// the start of mappings. Their names are the dynamic linker's, otherwise those
// that libraries give themselves.
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
		if img == nil || r.again(below, base) || len(list) > 0 && r.isCopy(img, &list[0]) {
			continue
		}
		below = img
		name, ok := names[base]
		if !ok {
			name, _ = r.soname(img)
		}
		list = append(list, r.module(img, name, img.end()))
	}
	return list
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
func (r *reader) mapFrom(addr uint64) int {
	lo, hi := 0, len(r.d.Maps)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); last(r.d.Maps[mid].Range) < addr {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// soname returns the name that a library gives itself, without folders. known reports whether the
// core has that name, or shows that there is none.
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

// deletedMark follows the path of a file that was deleted.
const deletedMark = " (deleted)"

func baseName(name string) string {
	if name == "" {
		return ""
	}
	return path.Base(strings.TrimSuffix(name, deletedMark))
}
