package execcode

import (
	"bytes"
	"encoding/binary"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt/arch"
)

// StartupName reports whether a function of this name is start-up code, which the start-up files
// of the C library and of the compiler (crt1.o, crti.o, crtbegin.o, crtn.o) add to every program.
// Such code lacks unwind rules by design, or because it is assembly: it runs before main and
// after it, and ends the stack or is called by code that does. StartupName also reports true for
// the symbols of a Mach-O file's headers, which do not name code, either.
func StartupName(name []byte) bool {
	const shortest, longest = len("hlt"), len("_dl_relocate_static_pie")
	return len(name) >= shortest && len(name) <= longest && (startupNames[string(name)] || bytes.HasPrefix(name, thunk))
}

// thunk is the prefix of the functions that start-up code on i386 calls to get its own address.
// For their own copies, compilers do generate rules.
var thunk = []byte("__x86.get_pc_thunk.")

var startupNames = map[string]bool{
	"_start": true, "_start_c": true, "_dl_start_user": true, "__start": true, "_init": true, "_fini": true, "call_weak_fn": true,
	"deregister_tm_clones": true, "register_tm_clones": true, "frame_dummy": true,
	"_mh_execute_header": true, "__mh_execute_header": true, "_mh_dylib_header": true, "__mh_dylib_header": true, "_mh_bundle_header": true,
	"__do_global_dtors_aux": true, "__do_global_ctors_aux": true, "_dl_relocate_static_pie": true,
	"hlt": true, "_ftext": true, "got_label": true, "load_gp": true, // from crt1.o and crti.o, by CPU
}

// MaxStartup is the maximum size of a function of start-up code, in bytes. The largest,
// __do_global_dtors_aux on mips64 and ppc64, has 112 bytes; on s390x, the symbol after _init is
// 160 bytes away.
const MaxStartup = 192

// maxBefore is the maximum distance in bytes from start-up code in a stripped
// file to an anchor after it: crtbegin.o puts functions of 264 bytes before
// frame_dummy on mips64, and of 320 on ppc64.
const maxBefore = 384

// maxBehind is the maximum distance in bytes from an anchor to the end of
// start-up code in a stripped file: frame_dummy, which comes last, jumps to
// register_tm_clones.
const maxBehind = 64

// Anchor is an address that locates start-up code in a file without names:
// the code is in [Addr-Before, Addr+Behind), up to other code.
type Anchor struct {
	Addr           uint64
	Before, Behind uint64
}

// maxAnchors is the number of entries of an array that are examined:
// frame_dummy comes after functions with a priority.
const maxAnchors = 8

// Anchors returns the entry point of a file and the functions in .init_array and .fini_array.
// These include frame_dummy and __do_global_dtors_aux of crtbegin.o, whose other functions
// precede them.
func Anchors(f *object.File) (all []Anchor) {
	if f.Kind != object.Executable && f.Kind != object.Shared {
		return nil
	}
	if f.Entry != 0 {
		all = append(all, Anchor{f.Entry &^ f.ISABit, 0, maxBehind})
	}
	for _, name := range []string{".init_array", ".fini_array"} {
		s := f.Section(name)
		if s == nil || !s.HasData() {
			continue
		}
		for _, addr := range pointers(f, s, s.Addr) {
			addr = described(f, addr)
			all = append(all, Anchor{addr &^ f.ISABit, maxBefore, maxBehind})
		}
	}
	return all
}

// described returns the code to which a function pointer leads: on ppc64 with ELFv1, through
// a function descriptor in .opd.
func described(f *object.File, addr uint64) uint64 {
	opd := f.Section(".opd")
	if f.Arch != arch.PPC64 || opd == nil || !opd.Holds(addr) {
		return addr
	}
	if code := pointers(f, opd, addr); len(code) > 0 {
		return code[0]
	}
	return addr
}

// pointers returns the words of a section from addr on. Where linkers leave a 0, it takes the
// value from the relocation.
func pointers(f *object.File, s *object.Section, addr uint64) (all []uint64) {
	data, err := s.Data()
	if err != nil || addr-s.Addr > uint64(len(data)) {
		return nil
	}
	data = data[addr-s.Addr:]
	size := f.AddrSize
	for i := 0; i < maxAnchors && len(data) >= size; i++ {
		value := word(f.Order, data, size)
		if value == 0 {
			value = f.Pointer(addr + uint64(i*size))
		}
		if value != 0 {
			all = append(all, value)
		}
		data = data[size:]
	}
	return all
}

func word(order binary.ByteOrder, data []byte, size int) uint64 {
	if size == 8 {
		return order.Uint64(data)
	}
	return uint64(order.Uint32(data))
}
