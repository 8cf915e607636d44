package dumpfile_test

import (
	"bytes"
	"fmt"
	"reflect"

	"github.com/symtool/symtool/walk/dump"
)

// compare lists where two dumps differ, except for their formats, parts and
// problems.
func compare(a, b *dump.Dump) (out []string) {
	add := func(what string, x, y any) {
		if !reflect.DeepEqual(x, y) {
			out = append(out, fmt.Sprintf("%s: %.300v | %.300v", what, fmt.Sprintf("%+v", x), fmt.Sprintf("%+v", y)))
		}
	}
	each := func(what string, x, y any) {
		v, w := reflect.ValueOf(x), reflect.ValueOf(y)
		if v.Kind() == reflect.Pointer {
			if v.IsNil() || w.IsNil() {
				add(what, v.IsNil(), w.IsNil())
				return
			}
			v, w = v.Elem(), w.Elem()
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Type != reflect.TypeFor[*dump.Context]() {
				add(what+"."+f.Name, v.Field(i).Interface(), w.Field(i).Interface())
			}
		}
	}
	add("Order", a.Order, b.Order)
	add("Arch", a.Arch, b.Arch)
	add("Main", a.Main, b.Main)
	add("Time", a.Time, b.Time)
	each("System", a.System, b.System)
	each("Process", a.Process, b.Process)
	each("Crash", a.Crash, b.Crash)
	if a.Crash != nil && b.Crash != nil {
		out = append(out, compareRegs("Crash", a.Crash.Context, b.Crash.Context)...)
	}
	add("number of threads", len(a.Threads), len(b.Threads))
	for i := range min(len(a.Threads), len(b.Threads)) {
		each("Thread", a.Threads[i], b.Threads[i])
		out = append(out, compareRegs("Thread", a.Threads[i].Context, b.Threads[i].Context)...)
	}
	for _, list := range [][2][]dump.Module{{a.Modules, b.Modules}, {a.Unloaded, b.Unloaded}} {
		add("number of modules", len(list[0]), len(list[1]))
		for i := range min(len(list[0]), len(list[1])) {
			each("Module", list[0][i], list[1][i])
		}
	}
	add("number of mappings", len(a.Maps), len(b.Maps))
	for i := range min(len(a.Maps), len(b.Maps)) {
		each("Mapping", a.Maps[i], b.Maps[i])
	}
	add("Requester", [2]any{a.Requester, a.HasRequester}, [2]any{b.Requester, b.HasRequester})
	add("Writer", [2]any{a.Writer, a.HasWriter}, [2]any{b.Writer, b.HasWriter})
	add("Auxv", a.Auxv, b.Auxv)
	add("Linker", a.Linker, b.Linker)
	add("Files", a.Files, b.Files)
	add("Annotations", a.Annotations, b.Annotations)
	add("Assertion", a.Assertion, b.Assertion)
	add("Comment", a.Comment, b.Comment)
	add("ReportID", a.ReportID, b.ReportID)
	add("ClientID", a.ClientID, b.ClientID)
	add("Handles", a.Handles, b.Handles)
	return append(out, compareMemory(a, b)...)
}

func compareRegs(what string, a, b *dump.Context) (out []string) {
	if a == nil || b == nil {
		if a != b {
			return []string{fmt.Sprintf("%s.registers: %v | %v", what, a != nil, b != nil)}
		}
		return nil
	}
	for i, r := range a.Arch.Regs {
		v, ok := a.At(i)
		w, ok2 := b.At(i)
		if v != w || ok != ok2 {
			out = append(out, fmt.Sprintf("%s.%s: %#x %v | %#x %v", what, r.Name, v, ok, w, ok2))
		}
	}
	for i, r := range a.Arch.Regs {
		if x, y := a.Bytes(i), b.Bytes(i); bytes.Equal(a.Vector, b.Vector) && !bytes.Equal(x, y) {
			out = append(out, fmt.Sprintf("%s.%s: % x | % x", what, r.Name, x, y))
		}
	}
	if !bytes.Equal(a.Vector, b.Vector) {
		out = append(out, fmt.Sprintf("%s.Vector: %d bytes | %d bytes", what, len(a.Vector), len(b.Vector)))
	}
	return out
}

// compareMemory compares the byte at each address, however regions are cut.
func compareMemory(a, b *dump.Dump) (out []string) {
	for _, x := range [][2]*dump.Dump{{a, b}, {b, a}} {
		for _, r := range x[0].Memory.Regions {
			if got := x[1].Memory.Bytes(r.Addr, len(r.Data)); !bytes.Equal(got, r.Data) {
				out = append(out, fmt.Sprintf("Memory: %d bytes at %#x, of which the other has %d", len(r.Data), r.Addr, len(got)))
			}
		}
	}
	return out
}
