package dwarf

import (
	"fmt"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/dw"
)

// header reads the program's header (DWARF 5, 6.2.4).
func (t *LineTable) header(u *Unit) error {
	c := bin.NewAt(".debug_line", t.data, t.off, u.Order.byteOrder())
	offsetSize := 4
	if c.U32() == 0xffffffff {
		c.Skip(8)
		offsetSize = 8
	}
	t.version = c.U16()
	if t.version < 2 || t.version > 5 {
		return t.errorf(u, 0, "line program version %d, want 2 to 5", t.version)
	}
	t.addrSize = u.AddrSize
	if t.version >= 5 {
		t.addrSize = c.U8()
		c.U8() // segment selector size
	}
	if t.most = u.mostAddr(); t.addrSize == 2 || t.addrSize == 4 || t.addrSize == 8 {
		t.most = ^uint64(0) >> (64 - 8*t.addrSize)
	}
	length := c.Uint(offsetSize)
	if length > uint64(c.Len()) {
		return t.errorf(u, c.Pos(), "header of %d bytes, %d left in the program", length, c.Len())
	}
	t.prog = c.Pos() + int(length)
	pos := c.Pos()
	c = bin.NewAt(".debug_line", t.data[:t.prog], t.off, u.Order.byteOrder())
	c.Seek(pos)
	t.minInst, t.maxOps = uint64(c.U8()), 1
	if t.version >= 4 {
		t.maxOps = max(uint64(c.U8()), 1)
	}
	c.U8() // default_is_stmt
	t.lineBase, t.lineRange, t.opBase = int64(int8(c.U8())), uint64(c.U8()), max(c.U8(), 1)
	t.lengths = c.Bytes(uint64(t.opBase - 1))
	if err := c.Err(); err != nil {
		return err
	}
	if t.version >= 5 {
		t.entryTables(u, &c, offsetSize)
	} else {
		t.oldTables(&c)
	}
	return t.knownFiles(c.Err())
}

// knownFiles returns err, which ended the tables of names, if no file is known. Otherwise it returns nil, so that the
// program is run: lines of unknown files have a message of their own.
func (t *LineTable) knownFiles(err error) error {
	if n := len(t.files); err != nil && n > t.firstFile() {
		t.faults = append(t.faults, Fault{fmt.Sprintf("files from number %d on", n), err})
		return nil
	}
	return err
}

// firstFile returns the number of the first file.
func (t *LineTable) firstFile() int {
	if t.version >= 5 {
		return 0
	}
	return 1
}

// oldTables reads the directory and file tables of versions 2 to 4. Numbers start at 1; entry 0 is the compilation
// directory or, among files, unused.
func (t *LineTable) oldTables(c *bin.Cursor) {
	t.dirs = append(t.dirs, Value{})
	for c.Err() == nil {
		at := c.Pos()
		if len(c.CStr()) == 0 {
			break
		}
		t.dirs = append(t.dirs, Value{Inline, uint64(at)})
	}
	t.files = append(t.files, fileEntry{})
	for c.Err() == nil {
		at := c.Pos()
		if len(c.CStr()) == 0 {
			break
		}
		e := fileEntry{name: Value{Inline, uint64(at)}, dir: c.ULEB()}
		c.ULEB() // time
		if e.size = c.ULEB(); c.Err() == nil {
			t.files = append(t.files, e)
		}
	}
}

// entryTables reads the tables of version 5, which declare the form of each field.
func (t *LineTable) entryTables(u *Unit, c *bin.Cursor, offsetSize int) {
	for _, files := range []bool{false, true} {
		var formats [255][2]uint64
		n := int(c.U8())
		for i := range n {
			formats[i] = [2]uint64{c.ULEB(), c.ULEB()}
		}
		count := c.ULEB()
		if n == 0 && count > 0 {
			c.Fail("%d entries without a format", count)
		}
		for ; count > 0 && c.Err() == nil; count-- {
			var e fileEntry
			before := c.Pos()
			for _, f := range formats[:n] {
				t.entryField(u, c, offsetSize, f, &e)
			}
			if c.Pos() == before {
				c.Fail("%d entries of no bytes", count)
			}
			if c.Err() == nil {
				t.addEntry(u, before, files, e)
			}
		}
	}
}

// addEntry appends an entry to the table of files or of directories. It reports the first entry of each kind whose name
// is lost.
func (t *LineTable) addEntry(u *Unit, pos int, files bool, e fileEntry) {
	kind, n, lost := "file", len(t.files), &t.lostFile
	if !files {
		kind, n, lost = "directory", len(t.dirs), &t.lostDir
	}
	if !u.inString(e.name) && !*lost {
		*lost = true
		why := t.errorf(u, pos, "name outside its string section, at %#x", e.name.U)
		t.faults = append(t.faults, Fault{fmt.Sprintf("the name of %s %d", kind, n), why})
	}
	if files {
		t.files = append(t.files, e)
	} else {
		t.dirs = append(t.dirs, e.name)
	}
}

// entryField reads a field of a form that 6.2.4.1 allows, or of any other form of known size.
func (t *LineTable) entryField(u *Unit, c *bin.Cursor, offsetSize int, format [2]uint64, e *fileEntry) {
	kind, form := format[0], format[1]
	at := c.Pos()
	var num uint64
	var text Value
	switch form {
	case dw.FormString:
		text = Value{Inline, uint64(c.Pos())}
		c.CStr()
	case dw.FormStrp:
		text = Value{Strp, c.Uint(offsetSize)}
	case dw.FormLineStrp:
		text = Value{LineStrp, c.Uint(offsetSize)}
	case dw.FormStrpSup:
		text = Value{StrpSup, c.Uint(offsetSize)}
	case dw.FormStrx:
		text = Value{Strx, c.ULEB()}
	case dw.FormStrx1, dw.FormStrx2, dw.FormStrx3, dw.FormStrx4:
		text = Value{Strx, c.Uint(int(form-dw.FormStrx1) + 1)}
	case dw.FormUdata:
		num = c.ULEB()
	case dw.FormData1, dw.FormData2, dw.FormData4, dw.FormData8:
		num = c.Uint(u.Sizes().fixedSize(form))
	case dw.FormData16:
		c.Skip(16)
	case dw.FormBlock:
		c.Skip(c.ULEB())
	case dw.FormBlock1:
		c.Skip(uint64(c.U8()))
	case dw.FormBlock2:
		c.Skip(uint64(c.U16()))
	case dw.FormBlock4:
		c.Skip(uint64(c.U32()))
	case dw.FormSdata:
		c.SLEB()
	default:
		c.Fail("entry with unknown form %#x", form)
	}
	switch kind {
	case dw.LNCTPath:
		e.name = text
	case dw.LNCTDirectoryIndex:
		e.dir = num
	case dw.LNCTSize:
		e.size = num
	case dw.LNCTMD5:
		if form == dw.FormData16 {
			e.md5 = at
		}
	}
}
