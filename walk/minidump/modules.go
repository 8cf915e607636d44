package minidump

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/symfmt/damage"
	"github.com/symtool/symtool/walk/dump"
)

const moduleSize = 108

func (r *reader) moduleList(s span) {
	r.list(s, moduleSize, func(i, n int, c *bin.Cursor) {
		r.modules = slices.Grow(r.modules, n-i)
		var m dump.Module
		m.Addr, m.Size = c.U64(), uint64(c.U32())
		m.Checksum, m.Time = c.U32(), c.U32()
		m.Path = r.text(uint64(c.U32()), label{"the name of module", i})
		if m.Path == unnamed(m.Addr) {
			m.Path = ""
		}
		if r.d.System.OS.IsLinux() {
			m.Path, m.Deleted = strings.CutSuffix(m.Path, deletedMark)
		}
		m.Version, m.Product = r.fileVersion(c)
		r.moduleID(&m, i, place(c), place(c))
		r.modules = append(r.modules, m)
	})
}

// fileVersion reads a VS_FIXEDFILEINFO: the versions of the file and of its
// product. Both are four numbers.
func (r *reader) fileVersion(c *bin.Cursor) (file, product string) {
	const magic = 0xfeef04bd
	sig := c.U32()
	c.Skip(4) // version of the structure
	fileHigh, fileLow, productHigh, productLow := c.U32(), c.U32(), c.U32(), c.U32()
	c.Skip(28) // flags, system, type and date
	if sig != magic {
		return "", ""
	}
	four := func(high, low uint32) string {
		if high|low == 0 {
			return ""
		}
		return fmt.Sprintf("%d.%d.%d.%d", high>>16, high&0xffff, low>>16, low&0xffff)
	}
	return four(fileHigh, fileLow), four(productHigh, productLow)
}

// Signatures of CodeView records, as numbers in the dump's byte order. The
// last is Breakpad's, for build-ids.
const (
	cvPDB70 = 0x53445352 // "RSDS"
	cvPDB20 = 0x3031424e // "NB10"
	cvELF   = 0x4270454c // "LEpB"
)

// moduleID sets the ids of a module, from its CodeView record or else from the name in
// IMAGE_DEBUG_MISC.
func (r *reader) moduleID(m *dump.Module, i int, cv, misc location) {
	os := r.d.System.OS
	m.DebugFile = os.Base(m.Path)
	if os == dump.Windows && (m.Time != 0 || m.Size != 0) {
		m.CodeID = fmt.Sprintf("%08x%x", m.Time, m.Size)
	}
	lost := label{"the id of module", i}
	data, whole := r.at(cv)
	switch {
	case !whole:
		r.problemf(lost.String(), cv.off, "a CodeView record of %d bytes, of which the file has %d", cv.size, len(data))
		return
	case cv.size == 0:
		r.debugName(m, misc)
		return
	case !r.take(data):
		r.problemf(lost.String(), cv.off, "the CodeView records are longer than the file: they overlap")
		return
	}
	c := bin.NewAt("", data, cv.off, r.order)
	switch sig := c.U32(); {
	case c.Err() != nil:
	case sig == cvPDB70:
		r.pdb70(m, &c)
	case sig == cvPDB20:
		c.Skip(4) // offset
		stamp, age := c.U32(), c.U32()
		m.DebugID = fmt.Sprintf("%08X%x", stamp, age)
		r.setPDB(m, &c)
	case sig == cvELF:
		r.buildID(m, &c)
	default:
		r.problemf(lost.String(), cv.off, "a CodeView record with signature %#08x, want RSDS, NB10 or a build-id", sig)
	}
	if err := c.Err(); err != nil {
		m.DebugID = ""
		r.problem(lost.String(), err)
	}
}

// pdb70 reads GUID, age and name. On macOS the GUID is the UUID of the Mach-O file, which is also
// its code id.
func (r *reader) pdb70(m *dump.Module, c *bin.Cursor) {
	guid := c.Bytes(16)
	age := c.U32()
	if c.Err() != nil {
		return
	}
	if !zeros(guid) {
		m.DebugID = fmt.Sprintf("%s%x", guidText(guid, r.order), age)
	}
	if os := r.d.System.OS; (os == dump.MacOS || os == dump.IOS) && !zeros(guid) {
		m.CodeID = fmt.Sprintf("%x", bigEndianGUID(guid, r.order))
	}
	r.setPDB(m, c)
}

// setPDB reads the name at the end of a record.
func (r *reader) setPDB(m *dump.Module, c *bin.Cursor) {
	if name := cString(c.Bytes(uint64(c.Len()))); name != "" && c.Err() == nil {
		m.DebugPath, m.DebugFile = name, r.d.System.OS.Base(name)
	}
}

// buildID reads Breakpad's record of a complete ELF build-id.
func (r *reader) buildID(m *dump.Module, c *bin.Cursor) {
	id := c.Bytes(uint64(c.Len()))
	if len(id) == 0 || zeros(id) {
		return
	}
	m.BuildID, m.CodeID = id, hex.EncodeToString(id)
	m.DebugID = object.ModuleID(id, r.order)
}

// debugName reads the name in an IMAGE_DEBUG_MISC record: type, length, a byte that marks UTF-16,
// 3 bytes of padding, the name.
func (r *reader) debugName(m *dump.Module, misc location) {
	const header = 12
	data, whole := r.at(misc)
	if !whole || len(data) <= header || !r.take(data) {
		return
	}
	name := cString(data[header:])
	if data[8] != 0 {
		name = r.fixed(data[header:])
	}
	if name != "" {
		m.DebugPath, m.DebugFile = name, r.d.System.OS.Base(name)
	}
}

// guidText formats a GUID in upper case: three numbers in the dump's byte
// order, then eight bytes.
func guidText(guid []byte, order binary.ByteOrder) string {
	return fmt.Sprintf("%X", bigEndianGUID(guid, order))
}

func bigEndianGUID(guid []byte, order binary.ByteOrder) []byte {
	g := bin.SwapGUID(guid, order)
	return g[:]
}

func zeros(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

func (r *reader) unloadedModules(s span) {
	const least = 24 // MINIDUMP_UNLOADED_MODULE
	r.longList(s, false, least, func(i, n int, c *bin.Cursor) {
		r.d.Unloaded = slices.Grow(r.d.Unloaded, n-i)
		var m dump.Module
		m.Addr, m.Size = c.U64(), uint64(c.U32())
		m.Checksum, m.Time = c.U32(), c.U32()
		m.Path = r.text(uint64(c.U32()), label{"the name of unloaded module", i})
		m.DebugFile = r.d.System.OS.Base(m.Path)
		if m.Time != 0 || m.Size != 0 {
			m.CodeID = fmt.Sprintf("%08x%x", m.Time, m.Size)
		}
		r.d.Unloaded = append(r.d.Unloaded, m)
	})
	slices.SortStableFunc(r.d.Unloaded, dump.ByAddr)
}

// deletedMark is appended to the path of a file that was deleted or replaced.
const deletedMark = " (deleted)"

// finishModules builds the list of modules. The first in the file is the
// program itself, where all writers put it.
func (r *reader) finishModules() {
	for _, o := range r.d.SetListed(r.modules, min(len(r.modules), 1)-1, r.loaded) {
		lost := "the end of the module"
		if o.Dropped {
			lost = "the module"
		}
		r.problem(lost, &damage.Error{Msg: o.String()})
	}
}

// headPage is the size of the part of a binary's first mapping that contains its program headers.
const headPage = 4096

// loaded returns the size of a Linux module according to the program headers at an address.
func (r *reader) loaded(addr uint64) (size uint64, ok bool) {
	if !r.d.System.OS.IsLinux() {
		return 0, false
	}
	return elfobj.LoadSize(r.d.Memory.Bytes(addr, headPage))
}
