package code

import (
	"bytes"
	"path/filepath"
	"strings"
)

// wrongTables are functions whose own table is wrong, by the name that their file begins with and the bytes that they begin
// with: all of them are assembly, and return with the stack pointer that the derived rules lead to, if they do.
var wrongTables = []struct{ file, code, reason string }{
	{"libc.so", "\x53\x55\x48\x8d\x1a\x48\xf7\xdb", "__mpn_addmul_1 and __mpn_submul_1: two pushes are not described"},
	{"busybox", "\x53\x55\x48\x8d\x1a\x48\xf7\xdb", "the same, in a static program"},
	{"libcrypto.so", "\x4c\x8d\x14\x24\x48\x81\xec\x08\x01\x00\x00", "bn_gather5: its frame is not described"},
	{"libcrypto.so", "\x53\x55\x53\x41\x54\x41\x55\x41\x56\x41\x57", "x25519_fe51_*: the epilogue gives the CFA an offset twice"},
	{"libcrypto.so", "\x55\x53\x41\x54\x41\x55\x41\x56\x41\x57", "x25519_fe51_*: the epilogue gives the CFA an offset twice"},
	{"libcrypto.so", "\x48\x8b\x0d\x9d\x0f\x20\x00\x48\x0f\xba\xe1\x3d", "sha1_multi_block: the CFA is relative to a register that changes"},
	{"ocaml", "\x49\x89\xfe\x49\xf7\x86\xe8", "caml_raise_exception: where it branches, what the other branch popped counts, too"},
	{"ocaml", "\x49\xf7\x86\xe8", "caml_raise_exn: the same"},
	{"ocaml", "\x48\x83\xec", "a call of the collector behind a function's end, for an allocation in a block with a handler, whose two words do not count"},
	{"libmvec.so", "\x55\x48\x89\xe5\x48\x83\xe4", "pushes behind the alignment count as if they moved the CFA; %r15 is described as %r14; some frames are not described"},
	{"libhwasan.so", "\xfd\xa3\x03\x91\xfc\x73\x00\xf9", "__hwasan_tag_mismatch_v2: it is entered in a frame of its caller, which the table leaves out"},
	{"libgcrypt.so", "\xf3\x53\xbf\xa9\xf5\x5b\xbf\xa9", "registers are described as saved where the stack pointer is, which moves on"},
	{"libgcrypt.so", "\x03\x10\x40\x29\x05\x18\x41\x29", "the same"},
	{"ld-linux-aarch64.so", "\x1f\x20\x03\xd5\xff\xc3\x07\xd1", "_dl_runtime_profile: the return address is described as in x30 behind calls"},
	{"ld-linux-riscv64", "\x75\x71\x86\xe4\x2a\xe4\x2e\xe8", "_dl_runtime_resolve: its frame is not described"},
}

// tableIsWrong reports whether the table of a function that begins with code is known to be wrong.
func tableIsWrong(path string, code []byte) bool {
	for _, w := range wrongTables {
		if strings.HasPrefix(filepath.Base(path), w.file) && bytes.HasPrefix(code, []byte(w.code)) {
			return true
		}
	}
	return false
}
