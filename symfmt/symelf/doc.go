// Package symelf writes a module as an ELF file, so that tools that read ELF can
// use a symbol file: gdb, perf, addr2line, nm, readelf, elfutils, LLVM's tools,
// Ghidra.
//
// # The format as we write it
//
// The file has the class, machine and byte order of MODULE's CPU (System V gABI,
// chapters 4 and 5), but no code: like a separate debug file, it only records
// where code is, RVA + Options.Base, in sections without bytes (.text, .text.1,
// ...). The lowest PT_LOAD begins in the page of RVA 0.
//
//	.note.gnu.build-id  INFO CODE_ID, else MODULE's GUID with its first three fields in the file's byte order
//	.eh_frame_hdr       table of addresses for a binary search (LSB, "Exception Frames")
//	.eh_frame           an FDE for each STACK CFI INIT
//	.symtab .strtab     FUNCs with their sizes, PUBLICs without; STT_FUNC, global, names unchanged
//	.debug_*            DWARF 5: lines, FUNCs as DW_TAG_subprogram, INLINEs as DW_TAG_inlined_subroutine
//
// A symbol file has no units. Here a unit consists of consecutive functions with
// some hundred lines or more. Its name is the source file of the first line, and
// its language is C, because names are complete and readers must not add
// parameters or scopes to them.
//
// A STACK CFI rule becomes DW_CFA_def_cfa, offset, val_offset, register, same_value or
// undefined where it has that form, otherwise an expression (DWARF 5, 6.4.2 and 2.5).
// The return address uses the column of the CPU's usual CIE or, if the link register
// has rules as well, the program counter's column. .ra: 1, which ends a stack as .ra:
// 0 does, and .undef are all DW_CFA_undefined. If DWARF cannot express a rule of .cfa
// or .ra, the block has no frames from there on; any other such rule becomes
// DW_CFA_undefined. Losses counts them.
//
// # Where we differ
//
//   - Where records overlap or lie outside others, those that package resolve uses
//     count: the INLINE or line that starts last, up to its end, and an INLINE only
//     inside one of the depth before: TestTree, TestLines.
//   - A symbol file does not have the bit that marks Thumb, MIPS16 or microMIPS code,
//     so neither do the symbols: gdb disassembles Thumb code as ARM code, for example.
//   - A symbol file does not mark signal frames. An unwinder looks
//     up the caller of such a frame at its return address - 1, as for any other.
package symelf
