package elfobj

import (
	"bytes"
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/oracle"
)

// dynamicELF adds a dynamic section of tags and values, and its string table.
func dynamicELF(e *testELF, names string, entries ...uint64) *testELF {
	var dynamic bytes.Buffer
	for _, v := range entries {
		e.addr(&dynamic, v)
	}
	e.typ = uint16(elf.ET_DYN)
	e.secs = []testSec{
		{name: ".dynstr", typ: stStrtab, flags: 2, addr: 0x1000, data: []byte(names)},
		{name: ".dynamic", typ: uint32(elf.SHT_DYNAMIC), flags: 3, addr: 0x2000, data: dynamic.Bytes(), link: 1},
	}
	return e
}

func TestSOName(t *testing.T) {
	const soname, needed, strtab, null = uint64(elf.DT_SONAME), uint64(elf.DT_NEEDED), uint64(elf.DT_STRTAB), uint64(elf.DT_NULL)
	const names = "\x00libc.so.6\x00libx.so.1\x00"
	cases := []struct {
		name, names, want, err string
		entries                []uint64
		change                 func(*testELF)
	}{
		{name: "library", names: names, entries: []uint64{needed, 1, soname, 11, null, 0}, want: "libx.so.1"},
		{name: "none", names: names, entries: []uint64{needed, 1, null, 0}},
		{name: "behind the end", names: names, entries: []uint64{needed, 1, null, 0, soname, 11}},
		{name: "no end", names: names, entries: []uint64{soname, 11}, want: "libx.so.1"},
		{name: "the first of two", names: names, entries: []uint64{soname, 11, soname, 1, null, 0}, want: "libx.so.1"},
		{name: "with folders", names: "\x00../../lib/libx.so\x00", entries: []uint64{soname, 1, null, 0}, want: "libx.so"},
		{name: "a folder", names: "\x00lib/\x00", entries: []uint64{soname, 1, null, 0}, err: `.dynstr+0x1: DT_SONAME is "lib/", want the name of a file`},
		{name: "empty", names: names, entries: []uint64{soname, 0, null, 0}, err: `DT_SONAME is "", want the name of a file`},
		{name: "a line break", names: "\x00a\nFUNC 0 1 0 f\x00", entries: []uint64{soname, 1, null, 0}, err: "want the name of a file"},
		{name: "outside", names: names, entries: []uint64{soname, 99, null, 0}, err: ".dynstr+0x63: string outside the section's 0x15 bytes"},
		{name: "unfinished", names: "\x00libx", entries: []uint64{soname, 1, null, 0}, err: "string has no end within 4 bytes"},
		{name: "too long", names: "\x00" + strings.Repeat("x", 300) + "\x00", entries: []uint64{soname, 1, null, 0}, err: "string has no end within 256 bytes"},
		{name: "executable", names: names, entries: []uint64{soname, 11, null, 0}, want: "libx.so.1",
			change: func(e *testELF) { e.typ = uint16(elf.ET_EXEC) }},
		{name: "separate debug file", names: names, entries: []uint64{soname, 11, null, 0},
			change: func(e *testELF) { e.secs[1].typ = stNobits }},
		{name: "section headers lost", names: names, entries: []uint64{soname, 11, strtab, 0x1000, null, 0}, want: "libx.so.1", change: stripSections},
		{name: "section headers and string table lost", names: names, entries: []uint64{soname, 11, strtab, 0x9000, null, 0},
			err: ".dynamic+0x0: DT_STRTAB: no segment has bytes at 0x9000", change: stripSections},
		{name: "no link", names: names, entries: []uint64{soname, 11, strtab, 0x1000, null, 0}, want: "libx.so.1", change: func(e *testELF) {
			e.secs[1].link = 0
			e.segs = []testSeg{{typ: uint32(elf.PT_LOAD), sec: ".dynstr"}}
		}},
		{name: "cut", names: names, entries: []uint64{soname, 11, null, 0}, err: ".dynamic+0x0: 1048576 bytes at offset",
			change: func(e *testELF) { e.secs[1].size = 1 << 20 }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, e *testELF) {
				dynamicELF(e, c.names, c.entries...)
				if c.change != nil {
					c.change(e)
				}
				got, err := openBytes(t, e.build()).Name()
				if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
					t.Errorf("%q, %v, want %q, %q", got, err, c.want, c.err)
				}
			})
		})
	}
}

// stripSections removes the section headers and keeps the program headers.
func stripSections(e *testELF) {
	e.noSecs = true
	e.segs = []testSeg{{typ: uint32(elf.PT_LOAD), sec: ".dynstr"}, {typ: uint32(elf.PT_DYNAMIC), sec: ".dynamic"}}
}

// binutils' readelf prints the same names for all libraries on this system.
func TestOracleSOName(t *testing.T) {
	var files []string
	for _, dir := range []string{"/lib/*-linux-gnu", "/usr/lib/*-linux-gnu", "/lib64", "/usr/lib64", "/usr/bin"} {
		found, _ := filepath.Glob(filepath.Join(dir, "*"))
		files = append(files, found...)
	}
	n, other := 0, 0
	for _, file := range files {
		if st, err := os.Lstat(file); err != nil || !st.Mode().IsRegular() {
			continue
		}
		f, err := Open(file, object.DefaultLimits())
		if err != nil {
			continue
		}
		got, err := f.Name()
		f.Close()
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		_, want, _ := strings.Cut(strings.Join(oracle.Readelf(t, file, "-d"), "\n"), "Library soname: [")
		want, _, _ = strings.Cut(want, "]")
		if got != want {
			t.Errorf("%s: %q, readelf says %q", file, got, want)
		}
		if got != "" {
			n++
		}
		if got != "" && got != filepath.Base(file) {
			other++
		}
	}
	if n == 0 {
		t.Error("no library has a name")
	}
	t.Logf("%d files have a DT_SONAME; of %d it is not the file's name", n, other)
}
