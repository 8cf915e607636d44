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

// Static libraries are archives of ar(1), of which a universal library has one for each CPU. A member is a header of
// text fields, the name if it is long, and the contents, with a byte of padding after an odd number of them. Of a thin
// archive, members are files elsewhere, and their names are paths from the archive's folder; only tables have contents.
const (
	archiveMagic = "!<arch>\n"
	thinMagic    = "!<thin>\n"

	memberHeader = 60
	memberName   = 16 // bytes of the fields, in their order: name, time, uid, gid, mode, size, end
	memberTime   = 12
	memberSize   = 48 // offset of the field
	memberEnd    = 58
)

// Archive is a static library.
type Archive struct {
	Changed time.Time // the file's

	file    *os.File
	in      *object.Input
	thin    bool
	members map[string][]member
	room    int64 // bytes that names may take, which members may share
}

// member is a file in an archive.
type member struct{ offset, size, time int64 }

// OpenArchive lists the members of the static library at path; of a universal one, those for lim.CPU.
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

// Close closes the file, and thus all members.
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

// has reports whether a member whose header has a name has its contents in the archive.
func (a *Archive) has(name string) bool {
	return !a.thin || name == "/" || name == "//" || name == "/SYM64/"
}

// member reads the header at an offset.
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

// ownName returns the name that BSD's ar puts before the contents, "#1/20" saying its length.
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

// longName returns the name that GNU's ar puts into a table, "/20" saying its offset.
func (a *Archive) longName(m *member, name string, table []byte) (string, error) {
	at, err := strconv.ParseUint(name[1:], 10, 63)
	if err != nil || at >= uint64(len(table)) {
		return "", a.in.Errorf(uint64(m.offset-memberHeader), "name %q: want an offset in the table of %d bytes of names", name, len(table))
	}
	text, _, _ := bytes.Cut(table[at:min(at+maxSymbolName, uint64(len(table)))], []byte("/\n"))
	return string(text), nil
}

// Times returns when each member of a name was last changed, in seconds since 1970.
func (a *Archive) Times(name string) (all []int64) {
	for _, m := range a.members[name] {
		all = append(all, m.time)
	}
	return all
}

// Elsewhere returns the path of a member of a thin archive; "" if members are in the archive.
func (a *Archive) Elsewhere(name string) string {
	if !a.thin {
		return ""
	}
	return filepath.Join(filepath.Dir(a.in.Path), filepath.FromSlash(name))
}

// Open opens the ith member of a name, which is in the archive.
func (a *Archive) Open(name string, i int) (*object.File, error) {
	m := a.members[name][i]
	if a.thin {
		return nil, a.in.Errorf(uint64(m.offset), "the member %s of a thin archive is in a file of its own", name)
	}
	f, err := NewFile(io.NewSectionReader(a.file, m.offset, m.size), m.size, fmt.Sprintf("%s(%s)", a.in.Path, name), a.in.Limits)
	return f.Object(), err
}
