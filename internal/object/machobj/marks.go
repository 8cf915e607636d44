package machobj

import (
	"bytes"
	"slices"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt/arch"
)

// FunctionStarts implements object.Container: it returns the addresses in LC_FUNCTION_STARTS, which are
// encoded as unsigned LEB128 deltas, beginning at the header, up to a zero. On arm, bit 0 means Thumb.
func (f *File) FunctionStarts() ([]uint64, error) {
	if f.starts.size == 0 {
		return nil, nil
	}
	data, err := f.readPart(f.starts)
	if err != nil {
		return nil, err
	}
	all, err := f.decodeStarts(data)
	slices.Sort(all)
	all = slices.Compact(all)
	if at, ok := f.notCode(all); ok && err == nil {
		err = f.errorf(int64(f.starts.off), "function starts: no instruction at %#x", at)
	}
	return all, err
}

// decodeStarts decodes the deltas of function starts.
func (f *File) decodeStarts(data []byte) (all []uint64, err error) {
	at := f.base
	for len(data) > 0 {
		delta, rest, ok := uleb(data)
		if !ok {
			return all, f.errorf(int64(f.starts.off), "function starts: a number of more than 10 bytes, or without an end")
		}
		if delta == 0 {
			if n := len(bytes.TrimLeft(rest, "\x00")); n > 0 {
				return all, f.errorf(int64(f.starts.off), "function starts: %d bytes behind the end of the list", n)
			}
			break
		}
		at += delta
		data = rest
		if f.cpu.name[:3] == "arm" && !f.wide {
			all = append(all, at&^1)
			continue
		}
		all = append(all, at)
	}
	return all, nil
}

// notCode returns the first of the sorted addresses where no instruction can be: it is in no section with code, or
// not a multiple of the CPU's instruction size.
func (f *File) notCode(addrs []uint64) (at uint64, ok bool) {
	var code []object.Range
	for _, s := range f.sections {
		if s.Exec {
			code = append(code, object.Range{Start: s.Addr, End: s.Addr + s.MemSize})
		}
	}
	code = object.Ranges.Join(code)
	for _, a := range addrs {
		for len(code) > 0 && code[0].End <= a {
			code = code[1:]
		}
		if len(code) == 0 || a < code[0].Start || f.cpu.arch == arch.ARM64 && a%4 != 0 {
			return a, true
		}
	}
	return 0, false
}

// dataEntry is the size of an entry of LC_DATA_IN_CODE: u32 offset, u16 length, u16 kind.
const dataEntry = 8

// DataInCode implements object.Container. Offsets in the file are relative to the header.
func (f *File) DataInCode() ([]object.Range, error) {
	if f.inCode.size == 0 {
		return nil, nil
	}
	data, err := f.readPart(f.inCode)
	if err != nil {
		return nil, err
	}
	var all []object.Range
	for ; len(data) >= dataEntry; data = data[dataEntry:] {
		at := f.base + uint64(f.order.Uint32(data))
		all = append(all, object.Range{Start: at, End: at + uint64(f.order.Uint16(data[4:]))})
	}
	return object.Ranges.Join(all), nil
}
