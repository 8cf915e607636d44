package elfcore

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/symtool/symtool/internal/object"
	elfobj "github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/walk/dump"
)

// addText adds the parts of binaries that the core lacks and the process
// cannot have changed: segments without PF_W.
func (r *reader) addText() {
	if len(r.o.Binaries) == 0 && !r.o.AtPaths {
		return
	}
	r.findNamed()
	found, modules := 0, 0
	var text []dump.Region
	for i := range r.d.Modules {
		m := &r.d.Modules[i]
		if m.Path == vdsoName {
			continue // there is no file
		}
		modules++
		if b := r.findBinary(m, i == r.d.Main); b != nil {
			found++
			if !r.o.NoCode {
				text = append(text, r.missing(m, b)...)
			}
		}
	}
	r.setModules(r.d.Modules, r.d.Main) // the files give the modules' ends
	if len(text) > 0 {
		r.d.Memory = dump.NewMemory(r.order(), append(r.d.Memory.Regions, text...))
	}
	r.reportUnused(found, modules)
}

// binaryFile is a module's file.
type binaryFile struct {
	f    *elfobj.File
	data []byte
}

// missing returns the parts of a binary that are not in memory.
func (r *reader) missing(m *dump.Module, b *binaryFile) (text []dump.Region) {
	for _, p := range b.f.Segments {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_W != 0 || p.Offset > uint64(len(b.data)) {
			continue
		}
		data := b.data[p.Offset:][:min(p.FileSize, uint64(len(b.data))-p.Offset)]
		addr := r.addr(m.Bias + p.Addr)
		if addr < m.Addr || addr-m.Addr > m.Size {
			continue
		}
		data = data[:min(uint64(len(data)), m.Size-(addr-m.Addr))]
		text = append(text, r.gaps(addr, data)...)
	}
	return text
}

// gaps removes from data at addr the parts that are in memory.
func (r *reader) gaps(addr uint64, data []byte) (out []dump.Region) {
	regions := r.d.Memory.Regions
	k := sort.Search(len(regions), func(i int) bool { return regions[i].Addr+uint64(len(regions[i].Data)-1) >= addr })
	for ; len(data) > 0; k++ {
		n := uint64(len(data))
		if k < len(regions) && regions[k].Addr > addr {
			n = min(n, regions[k].Addr-addr)
		}
		if k == len(regions) || regions[k].Addr > addr {
			out = append(out, dump.Region{Addr: addr, Data: data[:n:n]})
			addr, data = addr+n, data[n:]
		}
		if k < len(regions) && len(data) > 0 {
			n = min(uint64(len(data)), regions[k].Addr+uint64(len(regions[k].Data))-addr)
			addr, data = addr+n, data[n:]
		}
	}
	return out
}

// findBinary finds the file of a module.
func (r *reader) findBinary(m *dump.Module, isMain bool) *binaryFile {
	for _, n := range r.places {
		if n.file != nil && r.fits(n.path, n.file, m, isMain) {
			n.used = true
			return n.file
		}
		if n.file != nil {
			continue
		}
		for _, p := range r.placesIn(n.path, m) {
			if b := r.open(p, m, isMain); b != nil {
				n.used = true
				return b
			}
		}
		if b := r.onlyOne(n.path, m, isMain); b != nil {
			n.used = true
			return b
		}
	}
	return r.findHere(m, isMain)
}

// placesIn lists the paths in a folder where a module's file may be. Paths in the core never lead
// out of the folder.
func (r *reader) placesIn(dir string, m *dump.Module) (places []string) {
	if len(m.BuildID) > 1 {
		places = append(places, filepath.Join(dir, ".build-id", hex.EncodeToString(m.BuildID[:1]), hex.EncodeToString(m.BuildID[1:])))
	}
	name := strings.TrimLeft(path.Clean("/"+m.Path), "/")
	for _, name := range []string{name, path.Base(name), path.Base(m.DebugFile)} {
		place := filepath.Join(dir, name)
		if name != "." && filepath.IsLocal(name) && !strings.ContainsRune(name, 0) && !slices.Contains(places, place) {
			places = append(places, place)
		}
	}
	return places
}

// open returns the file if it is the module's.
func (r *reader) open(file string, m *dump.Module, isMain bool) *binaryFile {
	b, why := r.load(file)
	if why != "" {
		r.tried(file, why)
		return nil
	}
	if !r.fits(file, b, m, isMain) {
		return nil
	}
	return b
}

// fits reports whether a file belongs to a module. If so, it adds what the core lacks about the
// module.
func (r *reader) fits(file string, b *binaryFile, m *dump.Module, isMain bool) bool {
	why := r.unfit(b.f)
	if why == "" {
		why = r.unlike(b.f, b.data, m, isMain)
	}
	if why != "" {
		r.tried(file, why)
		return false
	}
	r.adopt(b.f, m)
	return true
}

func (r *reader) tried(file, why string) {
	if r.o.Tried != nil {
		r.o.Tried(file, why)
	}
}

// unlike returns the reason why a file is not the module's, or "" if it may be.
func (r *reader) unlike(f *elfobj.File, data []byte, m *dump.Module, isMain bool) string {
	if len(m.BuildID) > 0 {
		if id := f.BuildID(); !bytes.Equal(id, m.BuildID) {
			return fmt.Sprintf("build-id %x, want %x", id, m.BuildID)
		}
		if r.kernel != nil {
			return r.unlikeKernel(f, m)
		}
		return ""
	}
	head := r.d.Memory.Bytes(m.Addr, headPage)
	if n := min(len(head), len(data)); !bytes.Equal(head[:n], data[:n]) {
		return "its first bytes differ from memory"
	}
	if len(head) == 0 {
		if _, why := r.disagrees(f, data, m); why != "" {
			return why
		}
	}
	if entry, ok := r.aux(atEntry); ok && isMain && r.addr(f.Entry+m.Addr-f.HeaderAddr()) != entry {
		return fmt.Sprintf("its entry point is %#x, which is not the core's", f.Entry)
	}
	return ""
}

// adopt takes from a module's file what the core lacks.
func (r *reader) adopt(f *elfobj.File, m *dump.Module) {
	if r.kernel != nil { // a segment of the core may begin elsewhere
		m.Addr = r.addr(f.LoadBase() + m.Bias)
		r.panicIn(f, m)
	}
	m.Bias = r.addr(m.Addr - f.HeaderAddr())
	if size := r.size(m.Addr, f); size > 0 {
		m.Size = size
	}
	if m.Path == "" {
		m.Path = filepath.Base(f.Path)
		m.DebugFile = m.Path
	}
	if own, err := f.Name(); own != "" {
		m.DebugFile = own
	} else if err == nil && f.Object().HasCode() {
		m.DebugFile = baseName(m.Path)
	}
	if id := f.BuildID(); len(id) > 0 {
		r.identify(m, id)
	} else if id := f.ContentID(); id != nil {
		m.DebugID = object.ModuleID(id, r.order())
	}
}
