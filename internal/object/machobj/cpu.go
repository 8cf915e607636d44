package machobj

import (
	"fmt"

	"github.com/symtool/symtool/symfmt/arch"
)

// cpu describes a CPU that a header names.
type cpu struct {
	name   string     // Apple's, as in "lipo -archs"
	module string     // in MODULE records
	arch   *arch.Arch // nil if unknown
}

// cpus lists the CPU types, each with the subtypes that have names of their own; the first entry
// stands for any other subtype.
var cpus = map[uint32][]struct {
	subtype uint32
	cpu
}{
	7:          {{0, cpu{"i386", "x86", arch.X86}}},
	0x01000007: {{0, cpu{"x86_64", "x86_64", arch.X86_64}}, {8, cpu{"x86_64h", "x86_64h", arch.X86_64}}},
	12: {
		{0, cpu{"arm", "arm", arch.ARM}}, {6, cpu{"armv6", "arm", arch.ARM}}, {9, cpu{"armv7", "arm", arch.ARM}},
		{11, cpu{"armv7s", "arm", arch.ARM}}, {12, cpu{"armv7k", "arm", arch.ARM}},
	},
	arm64:      {{0, cpu{"arm64", "arm64", arch.ARM64}}, {2, cpu{"arm64e", "arm64e", arch.ARM64}}},
	0x0200000c: {{0, cpu{"arm64_32", "arm64_32", nil}}},
	18:         {{0, cpu{"ppc", "ppc", arch.PPC}}},
	0x01000012: {{0, cpu{"ppc64", "ppc64", arch.PPC64}}},
}

// cpuOf returns the CPU for a type and a subtype. The high byte of the subtype holds capabilities.
func cpuOf(kind, subtype uint32) cpu {
	var found cpu
	for i, c := range cpus[kind] {
		if i == 0 || c.subtype == subtype&subtypeMask {
			found = c.cpu
		}
	}
	if found.name == "" {
		found.name = fmt.Sprintf("cputype %#x", kind)
		found.module = "unknown"
	}
	return found
}

// called reports whether name, given by a user, means the CPU: Apple's name, or that of MODULE
// records.
func (c cpu) called(name string) bool {
	return name == c.name || name == c.module || c.arch != nil && name == c.arch.Name && c.module == c.arch.Name
}
