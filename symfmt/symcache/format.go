package symcache

import (
	"encoding/binary"
	"math"
)

// Versions that are read and written. Versions 1 to 6 were another format.
const (
	version7 = 7 // strings prefixed with a u32 length
	version8 = 8 // strings prefixed with a ULEB128 length
	version9 = 9 // files with source server and revision

	firstVersion, lastVersion = version7, version9
	defaultVersion            = version8
)

const (
	headSize     = 80 // preamble and header
	functionSize = 16
	locationSize = 16
	rangeSize    = 4
	alignment    = 8
)

// none stands for a missing string, file, function or source location.
const none = math.MaxUint32

// noLanguage is the language that symbolic gives to the symbols of a symbol
// table; functions have 0 if theirs is unknown.
const noLanguage = math.MaxUint32

// addressEnd is the first address that does not fit.
const addressEnd = 1 << 32

var magic = [4]byte{'S', 'Y', 'M', 'C'}
var magicFlipped = [4]byte{'C', 'M', 'Y', 'S'}

// Match reports whether a file with these first bytes is a symcache, of either
// byte order and any version.
func Match(head []byte) bool {
	return len(head) >= 8 && orderOf(head) != nil
}

// orderOf returns the byte order of a file with these first bytes, or nil.
func orderOf(head []byte) binary.ByteOrder {
	switch [4]byte(head) {
	case magic:
		return binary.LittleEndian
	case magicFlipped:
		return binary.BigEndian
	}
	return nil
}

func fileSize(version uint32) int {
	if version >= version9 {
		return 24
	}
	return 12
}

// location is a source location.
type location struct {
	file     uint32
	line     uint32
	function uint32
	into     uint32 // the source location that it is inlined into
}

// unknown is the location of a range about which nothing is known.
var unknown = location{none, none, none, none}

func padding(n int) int { return -n & (alignment - 1) }

// arches lists the CPUs by MODULE name, with their symbolic_common::Arch
// numbers. symbolic does not have RISC-V and S/390.
var arches = []struct {
	name   string
	number uint32
}{
	{"x86", 101}, {"x86_64", 201}, {"x86_64h", 202},
	{"arm", 301}, {"armv5", 302}, {"armv6", 303}, {"armv6m", 304}, {"armv7", 305}, {"armv7f", 306},
	{"armv7s", 307}, {"armv7k", 308}, {"armv7m", 309}, {"armv7em", 310},
	{"arm64", 401}, {"arm64v8", 402}, {"arm64e", 403},
	{"ppc", 501}, {"ppc64", 601}, {"mips", 701}, {"mips64", 801},
	{"arm64_32", 901}, {"arm64_32_v8", 902}, {"wasm32", 1001},

	// Other names, and numbers of families without a known member.
	{"i386", 101}, {"i686", 101}, {"amd64", 201}, {"aarch64", 401},
	{"x86", 199}, {"x86_64", 299}, {"arm", 399}, {"arm64", 499}, {"arm64_32", 999},
}

// archNumber returns the number of a CPU, or 0.
func archNumber(name string) uint32 {
	for _, a := range arches {
		if a.name == name {
			return a.number
		}
	}
	return 0
}

// archName returns the name of a CPU, or "" for an unknown number.
func archName(number uint32) string {
	for _, a := range arches {
		if a.number == number {
			return a.name
		}
	}
	return ""
}
