package object

import "fmt"

// MappedObject is an object file and where the linker put its functions and data.
type MappedObject struct {
	Path   string // as the linker recorded it
	Member string // name of the member of the archive at Path; "" if Path is the object itself
	Time   int64  // when it was last changed, in seconds since 1970; 0 if unknown
	Funcs  []MappedFunc
	Data   []MappedData
}

// String returns the object's name as linkers write it: "lib.a(x.o)".
func (o *MappedObject) String() string {
	if o.Member == "" {
		return o.Path
	}
	return fmt.Sprintf("%s(%s)", o.Path, o.Member)
}

// MappedFunc is a function of an object: its name in the object's symbol table, and where the linker
// put it.
type MappedFunc struct {
	Name       string
	Addr, Size uint64
}

// MappedData is a variable of an object: its name in the object's symbol table, and where the linker
// put it.
type MappedData struct {
	Name string
	Addr uint64
}
