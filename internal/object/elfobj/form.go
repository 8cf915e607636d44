package elfobj

import (
	"debug/elf"
	"encoding/binary"
	"reflect"
)

// form is a structure that debug/elf defines for each class: N for ELF32 and W for
// ELF64. Both are decoded into a W. form holds, for each field of N, its index in
// W.
type form[N, W any] []int

var (
	ehdrForm = newForm[elf.Header32, elf.Header64]()
	phdrForm = newForm[elf.Prog32, elf.Prog64]()
	shdrForm = newForm[elf.Section32, elf.Section64]()
	chdrForm = newForm[elf.Chdr32, elf.Chdr64]()
)

func newForm[N, W any]() (m form[N, W]) {
	n, w := reflect.TypeFor[N](), reflect.TypeFor[W]()
	for i := range n.NumField() {
		field, _ := w.FieldByName(n.Field(i).Name)
		m = append(m, field.Index[0])
	}
	return m
}

func (form[N, W]) size(f *File) uint64 {
	return f.pick(uint64(reflect.TypeFor[N]().Size()), uint64(reflect.TypeFor[W]().Size()))
}

// decode reads the structure at the beginning of data, which is long enough, into w. It
// does not allocate, as there may be 100,000 headers.
func (m form[N, W]) decode(f *File, data []byte, w *W) {
	if f.Class == elf.ELFCLASS64 {
		binary.Decode(data, f.Order, w)
		return
	}
	var n N
	binary.Decode(data, f.Order, &n)
	from, to := reflect.ValueOf(&n).Elem(), reflect.ValueOf(w).Elem()
	for i, at := range m {
		copyField(to.Field(at), from.Field(i))
	}
}

func (m form[N, W]) append(f *File, buf []byte, w *W) []byte {
	if f.Class == elf.ELFCLASS64 {
		buf, _ = binary.Append(buf, f.Order, w)
		return buf
	}
	var n N
	from, to := reflect.ValueOf(w).Elem(), reflect.ValueOf(&n).Elem()
	for i, at := range m {
		copyField(to.Field(i), from.Field(at))
	}
	buf, _ = binary.Append(buf, f.Order, &n)
	return buf
}

func copyField(to, from reflect.Value) {
	if from.CanUint() {
		to.SetUint(from.Uint()) // the width may differ
	} else {
		to.Set(from)
	}
}
