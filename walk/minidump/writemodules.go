package minidump

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/symtool/symtool/walk/dump"
)

func (w *writer) moduleList() []byte {
	b := w.u32(nil, uint32(len(w.modules)))
	for _, i := range w.modules {
		m := &w.d.Modules[i]
		name, cv := w.text(w.modulePath(m)), w.codeView(m)
		b = w.u32(w.u64(b, m.Addr), w.moduleSize(m), m.Checksum, m.Time, name)
		b = w.fileVersion(b, m)
		b = w.place(w.place(b, cv), location{})
		b = w.u64(b, 0, 0)
	}
	return b
}

// modulePath returns a module's path as Breakpad's client writes it on Linux, where readers look
// for symbols by its last element: with DT_SONAME instead of the file's name, or appended if the
// file is an archive. A module that does not begin where the file begins is taken for a part of
// an archive.
func (w *writer) modulePath(m *dump.Module) string {
	if m.Path == "" && m.DebugFile == "" {
		return unnamed(m.Addr)
	}
	base := w.d.System.OS.Base(m.Path)
	if !isLinux(w.d) || m.DebugPath != "" || m.DebugFile == "" || m.DebugFile == base {
		return m.Path
	}
	if from := w.d.MappingAt(m.Addr); from != nil && from.Offset > 0 && strings.TrimSuffix(from.Path, " (deleted)") == m.Path {
		return m.Path + "/" + m.DebugFile
	}
	return m.Path[:len(m.Path)-len(base)] + m.DebugFile
}

// unnamed returns a path for a module without a name, as in cores. Breakpad's and rust-minidump's
// writers leave such modules out, because symbols cannot be looked up for them. But Breakpad's
// walker fails an assertion at a frame in a module with an empty name, so the module gets a name,
// in the form in which Android names mappings without a file. The reader removes it.
func unnamed(addr uint64) string { return fmt.Sprintf("<anonymous:%x>", addr) }

func (w *writer) moduleSize(m *dump.Module) uint32 {
	if m.Size > math.MaxUint32 {
		w.problem(fmt.Sprintf("the end of module %.80q", m.Path), "%d bytes, want less than 4 GB", m.Size)
	}
	return uint32(min(m.Size, math.MaxUint32))
}

// fileVersion writes a VS_FIXEDFILEINFO, which is zero for an unknown version.
func (w *writer) fileVersion(b []byte, m *dump.Module) []byte {
	const size, magic, structure = 52, 0xfeef04bd, 0x10000
	end := len(b) + size
	if m.Version != "" || m.Product != "" {
		b = w.u32(b, magic, structure)
		for _, text := range []string{m.Version, m.Product} {
			var v [4]uint32
			if _, err := fmt.Sscanf(text, "%d.%d.%d.%d", &v[0], &v[1], &v[2], &v[3]); err != nil && text != "" {
				w.problem(fmt.Sprintf("version %.40q of module %.80q", text, m.Path), "want four numbers")
			}
			b = w.u32(b, v[0]<<16|v[1]&0xffff, v[2]<<16|v[3]&0xffff)
		}
	}
	return append(b, make([]byte, end-len(b))...)
}

// codeView writes the record that identifies a module: Breakpad's with a
// build-id, or Microsoft's with the GUID and the age of a debug id.
func (w *writer) codeView(m *dump.Module) location {
	if len(m.BuildID) > 0 {
		return w.put(append(w.u32(nil, cvELF), m.BuildID...))
	}
	name := m.DebugPath
	if name == "" {
		name = m.DebugFile
	}
	if m.DebugID == "" {
		return location{}
	}
	guid, age, ok := parseDebugID(m.DebugID)
	if !ok {
		w.problem(fmt.Sprintf("debug id %.40q of module %.80q", m.DebugID, m.Path), "want a GUID with an age")
		return location{}
	}
	b := append(w.u32(nil, cvPDB70), bigEndianGUID(guid, w.order)...)
	return w.put(append(append(w.u32(b, age), name...), 0))
}

// parseDebugID parses a debug id: 32 digits of the GUID, followed by the age. The GUID is in the
// order of its text.
func parseDebugID(id string) (guid []byte, age uint32, ok bool) {
	const digits = 32
	if len(id) <= digits {
		return nil, 0, false
	}
	guid, err := hex.DecodeString(id[:digits])
	n, err2 := strconv.ParseUint(id[digits:], 16, 32)
	return guid, uint32(n), err == nil && err2 == nil
}

func (w *writer) unloadedModules() []byte {
	const header, entry = 12, 24
	b := w.u32(nil, header, entry, uint32(len(w.d.Unloaded)))
	for i := range w.d.Unloaded {
		m := &w.d.Unloaded[i]
		name := w.text(m.Path)
		b = w.u32(w.u64(b, m.Addr), w.moduleSize(m), m.Checksum, m.Time, name)
	}
	return b
}
