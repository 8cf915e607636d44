// Package sframe reads, checks and writes SFrame stack trace information: the
// .sframe section of ELF files in versions 1, 2 (with both errata) and 3, for
// AMD64, AArch64 and s390x in either byte order.
//
// Decode decodes a section. The result is a view: descriptors of functions
// (FDEs) are in memory, while rows (FREs) are decoded from the section's bytes
// on demand, by Section.Rows and Section.Find. All versions look the same:
// addresses are absolute, and a row has rules for the frame address, the
// return address and the frame pointer.
//
// Func is a function with its rows, in a form that does not depend on the
// version. Section.Funcs returns functions and Encode writes them, in version 2
// or 3; Section.Convert does both. Encode's comment says what is lost, and why.
//
// Damage is reported as *damage.Error, with offsets from the start of the section.
//
// Formats: "The SFrame format" of binutils 2.40 (version 1), 2.44 (version 2),
// 2.45 (errata of version 2) and 2.46 (version 3).
package sframe
