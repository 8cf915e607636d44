package elfobj

import (
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
)

// Supplement implements object.Container: it returns the link to the file's supplementary file, or nil.
// The link is in .gnu_debugaltlink (name, NUL, build-id) or, for DWARF 5, in .debug_sup (7.3.6). A
// supplementary file itself has no link.
func (f *File) Supplement() (*object.Link, error) {
	if s := f.Section(".gnu_debugaltlink"); s != nil && s.HasData() {
		data, err := s.Data()
		if err != nil {
			return nil, err
		}
		c := bin.New(s.Name, data, f.Order)
		name := c.CStr()
		id := c.Bytes(uint64(c.Len()))
		return f.checkLink(&c, &object.Link{Section: s.Name, Name: string(name), ID: id})
	}
	l, supplementary, err := f.debugSup()
	if supplementary {
		return nil, nil
	}
	return l, err
}

// debugSup decodes .debug_sup.
func (f *File) debugSup() (l *object.Link, supplementary bool, err error) {
	s := f.Section(".debug_sup")
	if s == nil || !s.HasData() {
		return nil, false, nil
	}
	data, err := s.Data()
	if err != nil {
		return nil, false, err
	}
	c := bin.New(s.Name, data, f.Order)
	if v := c.U16(); c.Err() == nil && v != 5 {
		c.Fail("version %d, want 5", v)
	}
	supplementary = c.U8() != 0
	name := c.CStr()
	id := c.Bytes(c.ULEB())
	l, err = f.checkLink(&c, &object.Link{Section: s.Name, Name: string(name), ID: id})
	return l, supplementary, err
}

// SupplementID implements object.Container: it returns the id by which other files link to this one: the checksum in
// .debug_sup, or else the build-id.
func (f *File) SupplementID() []byte {
	if own, supplementary, _ := f.debugSup(); own != nil && supplementary {
		return own.ID
	}
	return f.BuildID()
}

func (f *File) checkLink(c *bin.Cursor, l *object.Link) (*object.Link, error) {
	if err := c.Err(); err != nil {
		if e, ok := err.(*bin.Error); ok {
			e.File = f.Path
		}
		return nil, err
	}
	if len(l.ID) == 0 {
		return nil, &bin.Error{File: f.Path, Section: l.Section, Msg: "link to a supplementary file without an id"}
	}
	return l, nil
}
