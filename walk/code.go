package walk

import (
	"context"
	"slices"

	"github.com/symtool/symtool/internal/object"
)

// code returns the n bytes of instructions at an address, from the dump's memory or else from the
// module's binary. It returns nil if neither has all of them. The caller must not modify them.
func (u *unwinder) code(addr uint64, n int) []byte {
	if b := u.d.Memory.Bytes(addr, n); len(b) == n {
		return b
	}
	i := u.d.ModuleAt(addr)
	if i < 0 {
		return nil
	}
	if b := u.stateOf(i).code(u.ctx, addr-u.d.Modules[i].Addr, n); len(b) == n {
		return b
	}
	return nil
}

// Code returns up to n bytes of code at an address of the process, from the dump or else from the
// module's binary, in which case binary is true. It returns fewer bytes where the code ends.
func (r *Result) Code(addr uint64, n int) (code []byte, binary bool) {
	if b := r.Dump.Memory.Bytes(addr, n); len(b) > 0 {
		return b, false
	}
	i := r.Dump.ModuleAt(addr)
	if i < 0 || i >= len(r.Modules) || r.Modules[i].state == nil {
		return nil, false
	}
	// Binaries are local files, so reading them needs no context.
	code = r.Modules[i].state.code(context.Background(), addr-r.Dump.Modules[i].Addr, n)
	return slices.Clone(code), len(code) > 0 // the file owns the bytes
}

// code returns up to n bytes at an offset from the module's start, from its binary; fewer where the
// section ends. The caller must not modify them.
func (st *moduleState) code(ctx context.Context, offset uint64, n int) []byte {
	f := st.file(ctx)
	if f == nil {
		return nil
	}
	return fileCode(f, f.Base+offset, n)
}

// loaded is like code, and also returns constants.
func (st *moduleState) loaded(ctx context.Context, offset uint64, n int) []byte {
	f := st.file(ctx)
	if f == nil {
		return nil
	}
	addr := f.Base + offset
	for _, s := range f.Loaded() {
		if s.Holds(addr) && s.HasData() {
			return sectionBytes(s, addr, n)
		}
	}
	return nil
}

// fileCode returns up to n bytes of a file's code at one of its addresses.
func fileCode(f *object.File, addr uint64, n int) []byte {
	s := codeSection(f, addr)
	if s == nil {
		return nil
	}
	return sectionBytes(s, addr, n)
}

// sectionBytes returns up to n bytes of a section at an address.
func sectionBytes(s *object.Section, addr uint64, n int) []byte {
	src, err := s.Open()
	off := addr - s.Addr
	if err != nil || off >= uint64(src.Size()) {
		return nil
	}
	b, err := src.Bytes(int64(off), min(int64(n), src.Size()-int64(off)), nil)
	if err != nil {
		return nil
	}
	return b
}

// codeSection returns the section of a file that contains the code at an address, or nil. In a
// separate debug file such sections have no bytes.
func codeSection(f *object.File, addr uint64) *object.Section {
	for _, s := range f.Loaded() {
		if s.Exec && s.Holds(addr) && s.HasData() {
			return s
		}
	}
	return nil
}

// isCode reports whether an address is in a module.
func (u *unwinder) isCode(pc uint64) bool { return pc >= FirstPage && u.d.ModuleAt(pc) >= 0 }
