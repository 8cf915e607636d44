package goroutine

import (
	"encoding/binary"
	"fmt"

	"github.com/symtool/symtool/symfmt/vars"
	"github.com/symtool/symtool/walk/eval"
)

// object is a value of the runtime with its type.
type object struct {
	f     *eval.Frame
	name  string // for messages: "runtime.allgs[3].sched"
	typ   *vars.Type
	value eval.Value
}

// typed returns the object of a type, resolving typedefs.
func typed(f *eval.Frame, name string, id vars.TypeID, v eval.Value) (object, error) {
	t, _ := f.Info.Plain(id)
	if t == nil {
		return object{}, fmt.Errorf("%s: its type refers to itself", name)
	}
	return object{f, name, t, v}, nil
}

// has reports whether a structure has a member.
func (o *object) has(name string) bool { return o.find(name) != nil }

func (o *object) find(name string) *vars.Member {
	for i := range o.typ.Members {
		if o.typ.Members[i].Name == name {
			return &o.typ.Members[i]
		}
	}
	return nil
}

// member returns a member of a structure.
func (o *object) member(name string) (object, error) {
	m := o.find(name)
	full := o.name + "." + name
	if m == nil {
		return object{}, fmt.Errorf("%s: type %q has no member %s", o.name, o.typ.Name, name)
	}
	v, ok := o.f.Member(&o.value, m)
	if !ok {
		return object{}, fmt.Errorf("%s: %s", full, v.Why)
	}
	return typed(o.f, full, m.Type, v)
}

// target returns the object that a pointer, which must not be nil, points to.
func (o *object) target() (object, error) {
	at, err := o.uint()
	if err != nil {
		return object{}, err
	}
	if o.typ.Kind != vars.Pointer {
		return object{}, fmt.Errorf("%s: type %q is not a pointer", o.name, o.typ.Name)
	}
	return o.at(o.name, at, o.typ.Elem)
}

// at returns the object of a type at an address.
func (o *object) at(name string, addr uint64, id vars.TypeID) (object, error) {
	size, ok := o.f.Info.SizeOf(id, o.f.Arch.PtrSize)
	if !ok || size == 0 || size > eval.MaxValue {
		return object{}, fmt.Errorf("%s: the size of its type is not known", name)
	}
	return typed(o.f, name, id, o.f.Read(addr, int(size)))
}

// uint returns a number or the address in a pointer. For a structure, such as the types of
// internal/runtime/atomic, it reads the member named value.
func (o *object) uint() (uint64, error) {
	if o.has("value") {
		v, err := o.member("value")
		if err != nil {
			return 0, err
		}
		o = &v
	}
	if len(o.value.Bytes) == 0 || len(o.value.Bytes) > 8 || len(o.typ.Members) > 0 {
		return 0, fmt.Errorf("%s: type %q is not a number", o.name, o.typ.Name)
	}
	if !o.value.Whole() {
		return 0, fmt.Errorf("%s: %s", o.name, o.value.Why)
	}
	var b [8]byte
	if o.f.BigEndian() {
		copy(b[8-len(o.value.Bytes):], o.value.Bytes)
		return binary.BigEndian.Uint64(b[:]), nil
	}
	copy(b[:], o.value.Bytes)
	return binary.LittleEndian.Uint64(b[:]), nil
}

// number returns a member that is a number or a pointer.
func (o *object) number(name string) (uint64, error) {
	m, err := o.member(name)
	if err != nil {
		return 0, err
	}
	return m.uint()
}

// text returns a Go string.
func (o *object) text() (string, error) {
	at, err := o.number("str")
	if err != nil {
		return "", err
	}
	n, err := o.number("len")
	if err != nil {
		return "", err
	}
	if n > maxReason {
		return "", fmt.Errorf("%s: a string of %d bytes, want at most %d", o.name, n, maxReason)
	}
	b := o.f.Memory.Bytes(at, int(n))
	if uint64(len(b)) < n {
		return "", fmt.Errorf("%s: the dump does not have the memory at %#x", o.name, at)
	}
	return string(b), nil
}
