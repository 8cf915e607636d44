// Package symelf writes a module as an ELF file, so that what reads ELF can use a
// symbol file: gdb, perf, addr2line, nm, readelf, elfutils, LLVM's tools, Ghidra.
//
// # The format as we write it
//
// The file has the class, machine and byte order of MODULE's CPU (System V gABI,
// chapters 4 and 5), and no code: of the places where code is there are only the
// addresses, RVA + Options.Base, in sections without bytes (.text, .text.1, ...),
// as in a separate debug file. The lowest PT_LOAD begins in the page of RVA 0.
//
//	.note.gnu.build-id  INFO CODE_ID, else MODULE's GUID with its first three fields in the file's byte order
//	.eh_frame_hdr       table of addresses for a binary search (LSB, "Exception Frames")
//	.eh_frame           an FDE for each STACK CFI INIT
//	.symtab .strtab     FUNCs with their sizes, PUBLICs without; STT_FUNC, global, names as they are
//	.debug_*            DWARF 5: lines, FUNCs as DW_TAG_subprogram, INLINEs as DW_TAG_inlined_subroutine
//
// A symbol file has no units. Here one has functions that follow each other,
// some hundred lines or more; its name is the source file of the first line; its
// language is C, because names are complete and no reader is to add parameters or
// scopes to them.
//
// A STACK CFI rule is DW_CFA_def_cfa, offset, val_offset, register, same_value or
// undefined where it has that form, else an expression (DWARF 5, 6.4.2 and 2.5). The
// return address has the column of the CPU's usual CIE; where there are rules for the
// link register too, that of the program counter. .ra: 1, which ends a stack as .ra: 0
// does, and .undef are all DW_CFA_undefined. From a rule of .cfa or .ra on that DWARF
// cannot express the block has no frames; any other such rule is DW_CFA_undefined.
// Losses counts them.
//
// # Where we differ
//
//   - Of records that overlap or lie outside of others, those count that package
//     resolve answers from: the INLINE or line that starts last, up to its end, and an
//     INLINE only in one of the depth before: TestTree, TestLines.
//   - The bit that marks Thumb, MIPS16 or microMIPS code is not in a symbol file, and
//     so not in the symbols: gdb disassembles such code as if it were ARM's.
//   - That a function is a signal frame is not in a symbol file. An unwinder looks
//     up the caller of such a frame at its return address - 1, as for any other.
package symelf
