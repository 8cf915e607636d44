package machobj

import (
	"strings"

	"github.com/symtool/symtool/internal/object"
)

// The symbol table of a linked file without a dSYM has entries for debuggers (stabs): for each object, its source
// files (N_SO), the object (N_OSO) and its functions. A function has two N_FUN: the first has its name and address,
// the second, without a name, its size. Data are listed, too: static variables (N_STSYM) with their addresses, and
// others (N_GSYM) with names only, whose addresses are in the linked file's own symbols.

// Types of stabs.
const (
	stabGlobal   = 0x20 // N_GSYM
	stabFunction = 0x24 // N_FUN
	stabStatic   = 0x26 // N_STSYM
	stabSource   = 0x64 // N_SO
	stabObject   = 0x66 // N_OSO
)

// mappedPlace identifies a variable of an object by their indices.
type mappedPlace struct{ object, data int }

// DebugMap implements object.Container.
func (f *File) DebugMap() (objects []object.MappedObject, err error) {
	names, table, err := f.readSymbols()
	if err != nil || table == nil || f.fileType == typeObject {
		return nil, err
	}
	room := maxShared*(len(names)+len(table)) + minNames
	var now *object.MappedObject // nil before the first N_OSO of a unit
	var globals []mappedPlace
	var bad error
	for i := range int(f.symtab.count) {
		s := f.symbolAt(table, i)
		switch s.kind {
		case stabObject, stabFunction, stabSource, stabGlobal, stabStatic:
		default:
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
		case s.kind == stabGlobal || s.kind == stabStatic:
			now.Data = append(now.Data, object.MappedData{Name: string(unprefixed(text, &s.name)), Addr: s.value})
			if s.kind == stabGlobal {
				globals = append(globals, mappedPlace{len(objects) - 1, len(now.Data) - 1})
			}
		case len(text) > 0:
			if why := f.misplaced(s); why != "" && bad == nil {
				bad = f.errorf(at, "debug map: function at %#x is %s", s.value, why)
			}
			now.Funcs = append(now.Funcs, object.MappedFunc{Name: string(unprefixed(text, &s.name)), Addr: s.value})
		case len(now.Funcs) > 0:
			now.Funcs[len(now.Funcs)-1].Size = s.value
		}
	}
	f.placeGlobals(names, table, objects, globals)
	return objects, bad
}

// placeGlobals fills in the addresses of the variables at places, taken from the external symbols of the linked file.
func (f *File) placeGlobals(names, table []byte, objects []object.MappedObject, places []mappedPlace) {
	if len(places) == 0 {
		return
	}
	addrs := make(map[string]uint64, len(places))
	for _, p := range places {
		addrs[objects[p.object].Data[p.data].Name] = 0
	}
	room := maxShared*(len(names)+len(table)) + minNames
	for i := range int(f.symtab.count) {
		s := f.symbolAt(table, i)
		if s.kind&stabMask != 0 || s.kind&(external|private) == 0 || s.kind&typeMask != inSection {
			continue
		}
		text, ok := cString(names, s.name)
		if room -= len(text); room < 0 {
			break // the error is reported when the symbols are read
		}
		if ok {
			name := unprefixed(text, &s.name)
			if _, wanted := addrs[string(name)]; wanted {
				addrs[string(name)] = s.value
			}
		}
	}
	for _, p := range places {
		d := &objects[p.object].Data[p.data]
		d.Addr = addrs[d.Name]
	}
}

// splitMember splits "lib.a(x.o)" into the paths of an archive and of its member.
func splitMember(name string) (path, member string) {
	if open := strings.LastIndexByte(name, '('); open > 0 && strings.HasSuffix(name, ")") {
		return name[:open], name[open+1 : len(name)-1]
	}
	return name, ""
}
