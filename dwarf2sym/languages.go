package dwarf2sym

import "fmt"

// languageNames are the languages of DWARF 5, table 7.17, and those that were
// registered later (dwarfstd.org, "Languages").
var languageNames = map[uint64]string{
	0x01: "C89", 0x02: "C", 0x03: "Ada83", 0x04: "C_plus_plus", 0x05: "Cobol74", 0x06: "Cobol85", 0x07: "Fortran77",
	0x08: "Fortran90", 0x09: "Pascal83", 0x0a: "Modula2", 0x0b: "Java", 0x0c: "C99", 0x0d: "Ada95", 0x0e: "Fortran95",
	0x0f: "PLI", 0x10: "ObjC", 0x11: "ObjC_plus_plus", 0x12: "UPC", 0x13: "D", 0x14: "Python", 0x15: "OpenCL", 0x16: "Go",
	0x17: "Modula3", 0x18: "Haskell", 0x19: "C_plus_plus_03", 0x1a: "C_plus_plus_11", 0x1b: "OCaml", 0x1c: "Rust",
	0x1d: "C11", 0x1e: "Swift", 0x1f: "Julia", 0x20: "Dylan", 0x21: "C_plus_plus_14", 0x22: "Fortran03", 0x23: "Fortran08",
	0x24: "RenderScript", 0x25: "BLISS", 0x26: "Kotlin", 0x27: "Zig", 0x28: "Crystal", 0x2a: "C_plus_plus_17",
	0x2b: "C_plus_plus_20", 0x2c: "C17", 0x2d: "Fortran18", 0x2e: "Ada2005", 0x2f: "Ada2012", 0x30: "HIP", 0x31: "Assembly",
	0x32: "C_sharp", 0x33: "Mojo", 0x3a: "C_plus_plus_23", 0x3e: "C23", 0x3f: "Fortran23", 0x8001: "Mips_Assembler",
}

// languageName returns the DWARF name of a DW_AT_language, without DW_LANG_.
func languageName(code uint64) string {
	if name := languageNames[code]; name != "" {
		return name
	}
	return fmt.Sprintf("%#x", code)
}
