package elfcore

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"

	elfobj "github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/walk/dump"
)

// A core that gdb writes for a remote process has a segment for each section of the program that is
// in memory, but not the program's headers: only its bytes identify it.

// buildIDIn returns the build-id in a range of memory, if a segment begins
// with its note.
func (r *reader) buildIDIn(in dump.Range) []byte {
	for i := range r.d.Memory.Regions {
		g := &r.d.Memory.Regions[i]
		if !in.Contains(g.Addr) {
			continue
		}
		if id := elfobj.FindBuildID(g.Data[:min(len(g.Data), headPage)], 4, r.order()); id != nil {
			return id
		}
	}
	return nil
}

// minAgreed is the number of bytes of a binary that must be in memory to identify it among the
// files of a folder. The code of crt1.o, which all programs share, is smaller.
const minAgreed = 4096

// disagrees compares the bytes of a file's segments without PF_W with those in memory. It returns
// the number of equal bytes and the reason why the file cannot be the module's, or "".
func (r *reader) disagrees(f *elfobj.File, data []byte, m *dump.Module) (agreed int, why string) {
	bias := m.Addr - f.HeaderAddr()
	for _, p := range f.SegmentsOf(elf.PT_LOAD) {
		if p.Flags&elf.PF_W != 0 || p.Offset > uint64(len(data)) {
			continue
		}
		want := dump.Region{Addr: r.addr(p.Addr + bias), Data: data[p.Offset:][:min(p.FileSize, uint64(len(data))-p.Offset)]}
		n, at, same := r.compare(&want)
		if !same {
			return agreed, fmt.Sprintf("its bytes for %#x differ from memory", at)
		}
		agreed += n
	}
	return agreed, ""
}

// compare compares a region with the dump's memory. It returns the number of equal bytes, or the
// address near which they differ.
func (r *reader) compare(want *dump.Region) (n int, at uint64, same bool) {
	for i := range r.d.Memory.Regions {
		g := &r.d.Memory.Regions[i]
		from, to := max(g.Addr, want.Addr), min(g.End(), want.End())
		if from >= to {
			continue
		}
		if !bytes.Equal(g.Data[from-g.Addr:to-g.Addr], want.Data[from-want.Addr:to-want.Addr]) {
			return n, from, false
		}
		n += int(to - from)
	}
	return n, 0, true
}

// maxCandidates limits the files of a folder that are compared with memory.
const maxCandidates = 1000

// onlyOne returns the file of a module without id and name, if it is the only
// one in a folder whose bytes agree with memory.
func (r *reader) onlyOne(dir string, m *dump.Module, isMain bool) (found *binaryFile) {
	if len(m.BuildID) > 0 || m.Path != "" {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // a file, or an error that is reported elsewhere
	}
	if len(entries) > maxCandidates {
		r.tried(dir, fmt.Sprintf("%d files, too many to find the program by comparing them with memory", len(entries)))
		return nil
	}
	var of dump.Module
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		file, like := filepath.Join(dir, e.Name()), *m
		b := r.open(file, &like, isMain)
		if b == nil {
			continue
		}
		switch agreed, _ := r.disagrees(b.f, b.data, m); {
		case agreed < minAgreed:
			r.tried(file, fmt.Sprintf("only %d bytes of it are in memory: too few to decide whether it is the program", agreed))
		case found == nil:
			found, of = b, like
		case !bytes.Equal(of.BuildID, like.BuildID) || of.DebugID != like.DebugID:
			r.tried(file, "agrees with memory, as does "+of.Path)
			return nil
		}
	}
	if found != nil {
		*m = of
	}
	return found
}
