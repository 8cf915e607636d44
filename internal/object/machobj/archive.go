package machobj

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
)

// Static libraries are archives of ar(1); a universal library has one for each CPU. A member is a header of text
// fields, the name if it is long, and the contents, padded to an even number of bytes. In a thin archive, members are
// files elsewhere, whose names are paths relative to the archive's folder; only tables have contents.
const (
	archiveMagic = "!<arch>\n"
	thinMagic    = "!<thin>\n"

	memberHeader = 60
	memberName   = 16 // bytes of the fields of a header, in order: name, time, uid, gid, mode, size, end
	memberTime   = 12
	memberSize   = 48 // offset of the size field
	memberEnd    = 58
)

// Archive is a static library.
type Archive struct {
	Changed time.Time // when the file was last changed

	file    *os.File
	in      *object.Input
	thin    bool
	members map[string][]member
	room    int64 // bytes that names may still take; members may share them
}

// member is a file in an archive.
type member struct{ offset, size, time int64 }

// OpenArchive lists the members of the static library at path; in a universal library, those for lim.CPU.
func OpenArchive(path string, lim object.Limits) (*Archive, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, &bin.Error{File: path, Err: bin.WithoutPath(err)}
	}
	if lim.Opened != nil {
		lim.Opened(path)
	}
	a := &Archive{file: file, members: map[string][]member{}}
	if err := a.list(path, lim); err != nil {
		file.Close()
		return nil, err
	}
	return a, nil
}

// Close closes the file, and thereby all members.
func (a *Archive) Close() error { return a.file.Close() }

// list finds the members.
func (a *Archive) list(path string, lim object.Limits) error {
	st, err := a.file.Stat()
	if err != nil {
		return &bin.Error{File: path, Err: bin.WithoutPath(err)}
	}
	a.Changed = st.ModTime()
	a.in, a.room = object.NewInput(a.file, st.Size(), path, lim), st.Size()
	at := int64(0)
	parts, err := readSlices(a.in)
	if err == nil && parts != nil {
		var s slice
		s, err = pick(a.in, parts)
		at, a.in.Size = s.offset, s.offset+s.size
	}
	if err != nil {
		return err
	}
	magic, err := a.in.Read(at, int64(len(archiveMagic)))
	if a.thin = err == nil && string(magic) == thinMagic; !a.thin && (err != nil || string(magic) != archiveMagic) {
		return a.in.Errorf(uint64(at), "not an archive of ar: want %q or %q", archiveMagic, thinMagic)
	}
	var long []byte // GNU's table of long names
	for at += int64(len(archiveMagic)); at < a.in.Size; {
		m, name, err := a.member(at)
		if err != nil {
			return err
		}
		if at = m.offset; a.has(name) {
			at += m.size
		}
		at += at & 1 // all offsets are even: a universal file aligns its binaries
		switch {
		case name == "//":
			if long, err = a.in.Read(m.offset, m.size); err != nil {
				return err
			}
			continue
		case strings.HasPrefix(name, "#1/") && !a.thin:
			name, err = a.ownName(&m, name)
		case strings.HasPrefix(name, "/") && name != "/" && name != "/SYM64/":
			name, err = a.longName(&m, name, long)
		default:
			name = strings.TrimSuffix(name, "/")
		}
		if err != nil {
			return err
		}
		if a.room -= int64(len(name)); a.room < 0 {
			return a.in.Errorf(uint64(m.offset), "members from here on are left out: names of those before are too long")
		}
		a.members[name] = append(a.members[name], m)
	}
	return nil
}

// has reports whether the archive contains the contents of a member whose header has the given name.
func (a *Archive) has(name string) bool {
	return !a.thin || name == "/" || name == "//" || name == "/SYM64/"
}

// member reads the header at offset at.
func (a *Archive) member(at int64) (m member, name string, err error) {
	head, err := a.in.Read(at, memberHeader)
	if err != nil {
		return m, "", err
	}
	field := func(from, size int) string { return strings.TrimRight(string(head[from:from+size]), " ") }
	m.offset = at + memberHeader
	m.size, err = strconv.ParseInt(field(memberSize, memberEnd-memberSize), 10, 64)
	name = field(0, memberName)
	if err != nil || string(head[memberEnd:]) != "`\n" || m.size < 0 || a.has(name) && m.size > a.in.Size-m.offset {
		return m, "", a.in.Errorf(uint64(at), "no header of a member of at most %d bytes", a.in.Size-m.offset)
	}
	m.time, _ = strconv.ParseInt(field(memberName, memberTime), 10, 64) // empty in GNU's tables
	return m, name, nil
}

// ownName returns the name that BSD's ar puts before the contents; "#1/20" gives its length.
func (a *Archive) ownName(m *member, name string) (string, error) {
	n, err := strconv.ParseUint(name[3:], 10, 16)
	if err != nil || int64(n) > m.size {
		return "", a.in.Errorf(uint64(m.offset-memberHeader), "name %q of a member of %d bytes: want #1/ and the name's length", name, m.size)
	}
	text, err := a.in.Read(m.offset, int64(n))
	m.offset, m.size = m.offset+int64(n), m.size-int64(n)
	text, _, _ = bytes.Cut(text, []byte{0})
	return string(text), err
}

// longName returns a name that GNU's ar puts into a table; "/20" gives its offset.
func (a *Archive) longName(m *member, name string, table []byte) (string, error) {
	at, err := strconv.ParseUint(name[1:], 10, 63)
	if err != nil || at >= uint64(len(table)) {
		return "", a.in.Errorf(uint64(m.offset-memberHeader), "name %q: want an offset in the table of %d bytes of names", name, len(table))
	}
	text, _, _ := bytes.Cut(table[at:min(at+maxSymbolName, uint64(len(table)))], []byte("/\n"))
	return string(text), nil
}

// Times returns when each member called name was last changed, in seconds since 1970.
func (a *Archive) Times(name string) (all []int64) {
	for _, m := range a.members[name] {
		all = append(all, m.time)
	}
	return all
}

// Elsewhere returns the path of a member of a thin archive, or "" if members are in the archive itself.
func (a *Archive) Elsewhere(name string) string {
	if !a.thin {
		return ""
	}
	return filepath.Join(filepath.Dir(a.in.Path), filepath.FromSlash(name))
}

// Open opens the ith member called name, which must be in the archive itself.
func (a *Archive) Open(name string, i int) (*object.File, error) {
	m := a.members[name][i]
	if a.thin {
		return nil, a.in.Errorf(uint64(m.offset), "the member %s of a thin archive is in a file of its own", name)
	}
	f, err := NewFile(io.NewSectionReader(a.file, m.offset, m.size), m.size, fmt.Sprintf("%s(%s)", a.in.Path, name), a.in.Limits)
	return f.Object(), err
}
