package minidump

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/walk/dump"
)

// file returns the reader of a stream that is the text of a file.
func file(name string) func(*reader, span) {
	return func(r *reader, s span) { r.d.Files = append(r.d.Files, dump.File{Name: name, Data: s.data}) }
}

// procStatus takes the process's ids from /proc/self/status.
func (r *reader) procStatus(s span) {
	file("/proc/self/status")(r, s)
	r.d.Tags = dump.StatusTags(s.data)
	p := &r.d.Process
	numbers := map[string]*uint32{"Pid": &p.ID, "PPid": &p.Parent, "Uid": &p.UID, "Gid": &p.GID}
	for line := range bytes.Lines(s.data) {
		key, value, _ := bytes.Cut(line, []byte(":"))
		if string(key) == "Name" {
			p.Name = string(bytes.TrimSpace(value))
		}
		to := numbers[string(key)]
		if to == nil {
			continue
		}
		if fields := strings.Fields(string(value)); len(fields) > 0 {
			n, err := strconv.ParseUint(fields[0], 10, 32)
			if err == nil {
				*to = uint32(n)
				p.HasID = p.HasID || to == &p.ID
			}
		}
	}
}

func (r *reader) cmdLine(s span) { r.d.Process.Args = nulTexts(s.data) }
func (r *reader) environ(s span) { r.d.Process.Env = nulTexts(s.data) }

// nulTexts splits b into texts that end at a NUL.
func nulTexts(b []byte) []string {
	b = bytes.TrimSuffix(b, []byte{0})
	if len(b) == 0 {
		return nil
	}
	return strings.Split(string(b), "\x00")
}

func (r *reader) auxv(s span) {
	c := r.cursor(s)
	for size := r.wordSize(); c.Len() >= 2*size; {
		a := dump.Aux{Key: c.Uint(size), Value: c.Uint(size)}
		if a.Key == 0 {
			break
		}
		r.d.Auxv = append(r.d.Auxv, a)
	}
}

func (r *reader) wordSize() int {
	if r.d.Arch == nil {
		return 8
	}
	return r.d.Arch.PtrSize
}

func (r *reader) linuxMaps(s span) {
	const shortest = len("0-0 r--p 0 0:0 0") // a line
	r.d.Maps = slices.Grow(r.d.Maps, min(bytes.Count(s.data, []byte("\n"))+1, len(s.data)/shortest))
	off := s.off
	for line := range strings.Lines(string(s.data)) {
		if m, ok := parseMapping(strings.TrimRight(line, "\n\x00")); ok {
			r.d.Maps = append(r.d.Maps, m)
		} else if len(strings.TrimRight(line, "\n\x00")) > 0 {
			r.problemf("a mapping", off, "%.60q is not a line of /proc/self/maps", line)
		}
		off += uint64(len(line))
	}
}

// parseMapping parses a line of /proc/self/maps: "START-END rwxp OFFSET DEVICE
// INODE PATH". END is the address after the last byte.
func parseMapping(line string) (m dump.Mapping, ok bool) {
	var fields [5]string
	for i := range fields {
		line = strings.TrimLeft(line, " ")
		if fields[i], line, ok = strings.Cut(line, " "); !ok && i+1 < len(fields) {
			return m, false
		}
	}
	from, to, _ := strings.Cut(fields[0], "-")
	start, err1 := strconv.ParseUint(from, 16, 64)
	end, err2 := strconv.ParseUint(to, 16, 64)
	offset, err3 := strconv.ParseUint(fields[2], 16, 64)
	inode, err4 := strconv.ParseUint(fields[4], 10, 64)
	perms := fields[1]
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil || end < start || len(perms) != 4 {
		return m, false
	}
	return dump.Mapping{
		Range: dump.Range{Addr: start, Size: end - start},
		Read:  perms[0] == 'r', Write: perms[1] == 'w', Exec: perms[2] == 'x', Shared: perms[3] == 's',
		Offset: offset, Device: fields[3], Inode: inode, Path: strings.TrimLeft(line, " "),
	}, true
}

// dsoDebug reads what the dynamic linker publishes for debuggers. Its structures have pointers of
// the CPU's size and, unlike any others in minidumps, its alignment.
func (r *reader) dsoDebug(s span) {
	size := r.wordSize()
	c := r.cursor(s)
	l := &dump.Linker{Version: c.U32()}
	list, count := uint64(c.U32()), uint64(c.U32())
	c.Skip(uint64(size - 4))
	l.Break, l.Base, l.Dynamic = c.Uint(size), c.Uint(size), c.Uint(size)
	if err := c.Err(); err != nil {
		r.problem(s.name, err)
		return
	}
	if c.Len() > 0 {
		l.Section = c.Bytes(uint64(c.Len()))
	}
	r.d.Linker = l
	data, whole := r.at(location{list, count * uint64(3*size)})
	have := len(data) / (3 * size)
	if !whole {
		r.problemf(fmt.Sprintf("%d link maps", count-uint64(have)), list, "%d link maps, of which the file has %d", count, have)
	}
	c = bin.NewAt("", data, list, r.order)
	for i := range have {
		var m dump.LinkMap
		m.Addr = c.Uint(size)
		m.Name = r.text(uint64(c.U32()), label{"the name of link map", i})
		c.Skip(uint64(size - 4))
		m.Dynamic = c.Uint(size)
		l.Maps = append(l.Maps, m)
	}
}
