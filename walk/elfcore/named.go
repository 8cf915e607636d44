package elfcore

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	elfobj "github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/symfmt/damage"
)

// place is an entry of Options.Binaries.
type place struct {
	path string
	file *binaryFile // the file; nil for a folder
	used bool
}

// findNamed examines the entries of Options.Binaries.
func (r *reader) findNamed() {
	for _, path := range r.o.Binaries {
		n := &place{path: path}
		st, err := os.Stat(path)
		if err != nil {
			r.binaryProblem(path, "%v", bin.WithoutPath(err))
			continue
		}
		if !st.IsDir() {
			var why string
			if n.file, why = r.load(path); n.file != nil {
				why = r.unfit(n.file.f)
			}
			if why != "" {
				r.binaryProblem(path, "%s", why)
				continue
			}
		}
		r.places = append(r.places, n)
	}
}

// reportUnused reports the Options.Binaries that were not needed. A folder may be unused if another
// folder was used, and any entry may be unused once each module has its file.
func (r *reader) reportUnused(found, modules int) {
	for _, n := range r.places {
		switch {
		case n.used || found == modules || n.file == nil && r.o.Spare:
		case n.file == nil && found == 0:
			r.binaryProblem(n.path, "no file in it is that of a module of the core")
		case n.file != nil:
			id := "no build-id"
			if b := n.file.f.BuildID(); len(b) > 0 {
				id = fmt.Sprintf("build-id %x", b)
			}
			r.binaryProblem(n.path, "is not the file of any module of the core (it has %s)", id)
		}
	}
}

func (r *reader) binaryProblem(path, format string, args ...any) {
	r.d.Problems = append(r.d.Problems, damage.Problem{Lost: "code that the core left out",
		Err: &damage.Error{File: path, Msg: fmt.Sprintf(format, args...)}})
}

// load reads a file. If it is not a binary, why says so.
func (r *reader) load(file string) (b *binaryFile, why string) {
	st, err := os.Stat(file) // before opening: a named pipe would block
	switch {
	case err != nil:
		return nil, bin.WithoutPath(err).Error()
	case !st.Mode().IsRegular():
		return nil, "not a regular file"
	}
	read := r.o.ReadFile
	if read == nil {
		read = os.ReadFile
	}
	data, err := read(file)
	if err != nil {
		return nil, bin.WithoutPath(err).Error()
	}
	f, err := elfobj.NewFile(bytes.NewReader(data), int64(len(data)), file, object.DefaultLimits())
	if err != nil {
		return nil, bin.Bare(err, file)
	}
	return &binaryFile{f, data}, ""
}

// unfit returns the reason why a file cannot belong to a module of this process, or "".
func (r *reader) unfit(f *elfobj.File) string {
	switch {
	case f.Type == elf.ET_REL:
		return "a relocatable file: want the executable or library that it was linked into"
	case f.Class != r.f.Class || f.Order != r.f.Order || f.Machine != r.f.Machine:
		return fmt.Sprintf("for %v (%v), want %v (%v)", f.Machine, f.Class, r.f.Machine, r.f.Class)
	case withoutCode(f):
		return "a separate debug file, which has no code: want the binary itself"
	}
	return ""
}

// withoutCode reports whether the bytes of all code sections were left out of a file.
func withoutCode(f *elfobj.File) (absent bool) {
	const code = elf.SHF_ALLOC | elf.SHF_EXECINSTR
	for _, s := range f.Sections {
		if s.Flags&code != code {
			continue
		}
		if s.HasData() {
			return false
		}
		absent = true
	}
	return absent
}
