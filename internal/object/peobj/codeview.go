package peobj

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/symtool/symtool/internal/bin"
)

// codeView is the entry of the debug directory that names the PDB.
type codeView struct {
	id   []byte // GUID as printed, or the signature of NB10
	age  uint32
	path string // of the PDB, on the machine where the file was linked; may be empty
}

const (
	debugDirectory = 6  // in the data directories
	debugEntrySize = 28 // bytes of an entry of the debug directory
	debugCodeView  = 2  // type of an entry

	// maxDebugEntries and maxCodeView bound what is read: linkers write up to 8 entries, and a
	// path has at most 32,767 characters.
	maxDebugEntries = 64
	maxCodeView     = 64 << 10
)

// readCodeView returns the first CodeView entry that has an id, or nil if there is none.
func (f *File) readCodeView() *codeView {
	dir := f.directory(debugDirectory)
	if dir.Size < debugEntrySize {
		return nil
	}
	data, err := f.at(dir.VirtualAddress, min(dir.Size, maxDebugEntries*debugEntrySize))
	if err != nil {
		f.problems = append(f.problems, bin.Problem{Lost: "the PDB's name and id", Err: err})
		return nil
	}
	for ; len(data) >= debugEntrySize; data = data[debugEntrySize:] {
		u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(data[at:]) }
		if u32(12) != debugCodeView {
			continue
		}
		size, rva, off := min(u32(16), maxCodeView), u32(20), int64(u32(24))
		record, err := f.in.Read(off, min(int64(size), max(f.in.Size-off, 0)))
		if err != nil && rva != 0 { // the sections were moved in the file
			record, err = f.at(rva, size)
		}
		if err != nil {
			f.problems = append(f.problems, bin.Problem{Lost: "the PDB's name and id", Err: err})
			continue
		}
		if cv := parseCodeView(record); cv != nil {
			return cv
		}
	}
	return nil
}

// parseCodeView decodes RSDS (GUID, age, path) and NB10 (offset, signature, age, path).
func parseCodeView(b []byte) *codeView {
	switch {
	case len(b) >= 24 && string(b[:4]) == "RSDS":
		guid := bin.SwapGUID(b[4:20], binary.LittleEndian)
		return &codeView{guid[:], binary.LittleEndian.Uint32(b[20:]), pathIn(b[24:])}
	case len(b) >= 16 && string(b[:4]) == "NB10":
		id := binary.BigEndian.AppendUint32(nil, binary.LittleEndian.Uint32(b[8:]))
		return &codeView{id, binary.LittleEndian.Uint32(b[12:]), pathIn(b[16:])}
	}
	return nil
}

// pathIn returns the text up to a NUL or the end.
func pathIn(b []byte) string {
	if n := bytes.IndexByte(b, 0); n >= 0 {
		b = b[:n]
	}
	return string(b)
}

// baseName returns the last element of a Windows or Unix path.
func baseName(path string) string {
	return path[strings.LastIndexAny(path, `\/`)+1:]
}

// moduleID returns the id in the form that MODULE uses: the GUID, or NB10's signature, and the
// age, all in hexadecimal digits. Without a CodeView entry, the id is ContentID's.
func (f *File) moduleID(id []byte) string {
	age := uint32(0)
	if f.codeView != nil {
		age = f.codeView.age
	}
	return fmt.Sprintf("%X%X", id, age)
}

// codeID returns the id by which symbol servers store the file.
func (f *File) codeID() string {
	return fmt.Sprintf("%08X%X", f.header.TimeDateStamp, f.imageSize)
}
