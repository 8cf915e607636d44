package elfobj

import (
	"bytes"
	"debug/elf"
	"fmt"
	"regexp"
	"unicode/utf8"
)

// sniffLen is enough for every magic number below and for the ELF header.
const sniffLen = 512

// magics lists the first bytes of files that users name by mistake, what these files are, and what to do with them.
var magics = []struct{ magic, what, do string }{
	{"\x1f\x8b", "gzip data", ""},
	{"\x28\xb5\x2f\xfd", "zstd data", ""},
	{"\xfd7zXZ\x00", "xz data", ""},
	{"BZh", "bzip2 data", ""},
	{"!<arch>\ndebian-binary", "a Debian package", ""},
	{"!<arch>\n", "an ar archive (a static library)", "take its members out (ar x) and name those"},
	{"!<thin>\n", "a thin ar archive", "name the objects that it lists (ar t)"},
	{"PK\x03\x04", "a zip archive", ""},
	{"\xed\xab\xee\xdb", "an RPM package", ""},
	{"MDMP", "a minidump", ""},
	{"MODULE ", "a Breakpad symbol file", ""},
	{"\xfe\xed\xfa\xce", "a Mach-O file", ""},
	{"\xfe\xed\xfa\xcf", "a Mach-O file", ""},
	{"\xce\xfa\xed\xfe", "a Mach-O file", ""},
	{"\xcf\xfa\xed\xfe", "a Mach-O file", ""},
	{"\xca\xfe\xba\xbe", "a Mach-O universal file or a Java class", ""},
	{"\xca\xfe\xba\xbf", "a Mach-O universal file", ""},
	{"Microsoft C/C++ MSF", "a PDB file", ""},
	{"Microsoft C/C++ program database 2.00", "a PDB of Visual C++ 6 or earlier, which is not supported", ""},
	{"BSJB", "a portable PDB of .NET, which describes no native code", ""},
	{"MSCF", "a cabinet", "extract the file in it (cabextract)"},
	{"BC\xc0\xde", "LLVM bitcode", ""},
	{"\xde\xc0\x17\x0b", "LLVM bitcode", ""},
	{"dyld_v", "a dyld shared cache, which is not read", "take its libraries out (ipsw dyld extract) and name those"},
	{"\x00asm", "WebAssembly", ""},
	{"#!", "a script", ""},
}

// Magic begins every ELF file.
const Magic = elf.ELFMAG

// notBinary describes a file that begins with head. It returns "" for ELF.
func notBinary(head []byte) string {
	switch {
	case len(head) == 0:
		return "empty"
	case bytes.HasPrefix(head, []byte(Magic)):
		return ""
	}
	if what, do := Describe(head); do != "" {
		return what + ": " + do
	} else if what != "" {
		return what
	}
	return fmt.Sprintf("begins with % x, which begins no ELF, Windows or macOS file", head[:min(4, len(head))])
}

// Text is what Describe returns for text of no other known kind.
const Text = "text"

// Describe returns what a file that begins with head but is not a binary is, and what to do with it. Both may be "".
func Describe(head []byte) (what, do string) {
	if what, do := libtool(head); what != "" {
		return what, do
	}
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.magic)) {
			return m.what, m.do
		}
	}
	if isText(head) {
		return Text, ""
	}
	return "", ""
}

// Libtool creates these files in place of the programs and libraries that a Makefile names.
var (
	libtoolScript  = regexp.MustCompile(`\A#!.*\n\n?# .* - temporary wrapper script for (\S+)\n`)
	libtoolLibrary = regexp.MustCompile(`\A# \S+\.la - a libtool library file\n`)
	libtoolObject  = regexp.MustCompile(`\A# \S+\.lo - a libtool object file\n`)
)

// libtool describes a file written by libtool that begins with head.
func libtool(head []byte) (what, do string) {
	if m := libtoolScript.FindSubmatch(head); m != nil {
		return "libtool's script for a program", fmt.Sprintf("name the program, %s beside it", m[1])
	}
	if libtoolLibrary.Match(head) {
		return "libtool's description of a library", "name the library, in .libs beside it"
	}
	if libtoolObject.Match(head) {
		return "libtool's description of an object file", "name the object file, in .libs beside it"
	}
	return "", ""
}

// isText reports whether head is UTF-8 without control characters. The last
// rune may be cut off.
func isText(head []byte) bool {
	for len(head) > 0 {
		r, n := utf8.DecodeRune(head)
		if r == utf8.RuneError && n == 1 {
			return !utf8.FullRune(head)
		}
		if r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != '\f' || r == 0x7f {
			return false
		}
		head = head[n:]
	}
	return true
}
