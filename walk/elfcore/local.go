package elfcore

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/symtool/symtool/walk/dump"
)

// findHere finds the file of a module at its path on this machine. Neither Go's linker before 1.24 nor GNU ld without
// --build-id writes a build-id. Without one, the file must contain everything that the core has of the module, and must
// be older than the core: gdb, too, warns if a program is newer.
func (r *reader) findHere(m *dump.Module, isMain bool) *binaryFile {
	name := m.Path
	if !r.o.AtPaths || !filepath.IsAbs(name) {
		return nil
	}
	if len(m.BuildID) > 0 {
		return r.open(name, m, isMain)
	}
	b, why := r.load(name)
	if why == "" {
		why = r.unfit(b.f)
	}
	agreed := 0
	if why == "" {
		agreed, why = r.resembles(b, m, isMain)
	}
	if why != "" {
		m.ByPath = name + ": " + why
		return nil
	}
	m.ByPath = fmt.Sprintf("%s: it has no build-id, but the %d bytes of it that the dump has agree", name, agreed)
	if !r.o.Written.IsZero() {
		m.ByPath += ", and it is older than the dump"
	}
	r.adopt(b.f, m)
	return b
}

// resembles compares the file at a module's path with the core. It returns the number of equal bytes, which include the
// headers, or the reason why the file is not the module's.
func (r *reader) resembles(b *binaryFile, m *dump.Module, isMain bool) (agreed int, why string) {
	if m.Deleted {
		return 0, "it replaced the program's file, which was deleted while it ran"
	}
	if st, err := os.Stat(b.f.Path); err == nil && !r.o.Written.IsZero() && st.ModTime().After(r.o.Written) {
		return 0, fmt.Sprintf("changed at %s, after the dump was written at %s", atSecond(st.ModTime()), atSecond(r.o.Written))
	}
	if why = r.unlike(b.f, b.data, m, isMain); why != "" {
		return 0, why
	}
	if agreed, why = r.disagrees(b.f, b.data, m); why == "" && agreed < r.headersSize(b) {
		why = "the dump has neither a build-id nor the headers of the module to compare"
	}
	return agreed, why
}

func atSecond(t time.Time) string { return t.UTC().Format(time.DateTime + " UTC") }

// headersSize returns the size of a file's header and program headers.
func (r *reader) headersSize(b *binaryFile) int {
	entry := 56 // Elf64_Phdr
	if r.word == 4 {
		entry = 32
	}
	return r.headSize() + len(b.f.Segments)*entry
}
