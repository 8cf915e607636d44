package machobj

import (
	"strings"

	"github.com/symtool/symtool/internal/object"
)

// A linked file without dSYM has entries for debuggers (stabs) in its symbol table: for each object its source files
// (N_SO), the object (N_OSO) and its functions, each as two N_FUN, of which the first has name and address, and the
// second, without a name, the size. Data (N_GSYM, N_STSYM) has no code, and is skipped.

// Types of stabs.
const (
	stabFunction = 0x24 // N_FUN
	stabSource   = 0x64 // N_SO
	stabObject   = 0x66 // N_OSO
)

// DebugMap implements object.Mapped.
func (f *File) DebugMap() (objects []object.MappedObject, err error) {
	names, err := f.SymbolNames(object.Symtab)
	if err != nil || names == nil || f.fileType == typeObject {
		return nil, err
	}
	room := maxShared*(len(names)+len(f.symbols.table)) + minNames
	var now *object.MappedObject // nil before the first N_OSO of a unit
	for i := range int(f.symtab.count) {
		s := f.symbolAt(i)
		if s.kind != stabObject && s.kind != stabFunction && s.kind != stabSource {
			continue
		}
		at := int64(f.symtab.off) + int64(i*f.entrySize())
		text, ok := cString(names, s.name)
		if room -= len(text); !ok || room < 0 {
			return objects, f.errorf(at, "debug map: name at %#x of %d bytes of names has no end, or there are too many long ones", s.name, len(names))
		}
		switch {
		case s.kind == stabSource:
			if len(text) == 0 {
				now = nil // the end of a unit
			}
		case s.kind == stabObject:
			o := object.MappedObject{Time: int64(s.value)}
			o.Path, o.Member = splitMember(string(text))
			objects = append(objects, o)
			now = &objects[len(objects)-1]
		case now == nil:
		case len(text) > 0:
			now.Funcs = append(now.Funcs, object.MappedFunc{Name: string(unprefixed(text, &s.name)), Addr: s.value})
		case len(now.Funcs) > 0:
			now.Funcs[len(now.Funcs)-1].Size = s.value
		}
	}
	return objects, nil
}

// splitMember splits "lib.a(x.o)" into the paths of an archive and of its member.
func splitMember(name string) (path, member string) {
	if open := strings.LastIndexByte(name, '('); open > 0 && strings.HasSuffix(name, ")") {
		return name[:open], name[open+1 : len(name)-1]
	}
	return name, ""
}
