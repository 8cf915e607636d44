// Package gsym reads and writes GSYM, LLVM's format for address look-ups:
// functions, lines and inlined functions in files that are mapped and searched.
// The format has no call frame information. Use Read and Write.
//
// # The format as we read it
//
// It is defined by LLVM's headers in llvm/include/llvm/DebugInfo/GSYM, cited
// here by file. Numbers are in the file's byte order, in which the magic is
// 0x4753594d. Version 1 has 32-bit offsets of strings and FunctionInfos, version
// 2 64-bit ones ("str" below).
//
//	version 1 (Header.h): 48 bytes
//	    u32 magic, u16 1, u8 size of addresses, u8 size of UUID, u64 base address,
//	    u32 number of addresses, u32 offset and u32 size of strings, 20 bytes UUID
//	    addresses, offsets of FunctionInfos, files, strings, FunctionInfos; each at a
//	    multiple of its entries' size, FunctionInfos at one of 4
//	version 2 (HeaderV2.h, GlobalData.h): 20 bytes
//	    u32 magic, u16 2, u8 size of addresses, u8 encoding of strings (0), u64 base
//	    address, u32 number of addresses
//	    directory: u32 kind, u64 offset, u64 size for each section, kind 0 at its end;
//	    1 addresses, 2 offsets of FunctionInfos, 3 strings, 4 files, 5 FunctionInfos,
//	    6 UUID
//	addresses: differences from the base address, ascending, of 1, 2, 4 or 8 bytes
//	offsets of FunctionInfos: u32 from the file's start; in version 2, u64 from the
//	    start of section 5
//	files (FileEntry.h): u32 count, then str directory, str base name; the first is
//	    unused
//	strings: ended by NUL; the first is empty
//	FunctionInfo (FunctionInfo.h): u32 size of the code, str name, then u32 kind, u32
//	    length and payload until kind 0; a size of 0 is a symbol whose end is not known
//	    1 lines (LineTable.h): SLEB128 least and most line difference of special
//	      opcodes, ULEB128 first line; opcodes 0 end, 1 ULEB128 file, 2 ULEB128 advance
//	      of the address and row, 3 SLEB128 advance of the line, from 4 on advance of
//	      both and row. It begins with file 1 at the function's start
//	    2 inlined functions (InlineInfo.h), a tree whose root is the function:
//	      ULEB128 count of ranges, each ULEB128 start from the first range of the node
//	      around (the root's: from the function) and ULEB128 size; u8 whether it has
//	      children, str name, ULEB128 file and ULEB128 line of the call, then the
//	      children and a count of 0
//	    3 merged functions (MergedFunctionsInfo.h): u32 count, each u32 length and a
//	      FunctionInfo at the same address
//	    4 call sites (CallSiteInfo.h): skipped, and reported (ReadOptions.Dropped)
//
// Version 1 is what llvm-gsymutil 22 writes and reads, in both byte orders. It
// refuses version 2 ("unsupported GSYM version 2"), and has no option for it:
// version 2 is LLVM 23's. Its description here follows LLVM's headers and
// GsymCreatorV2.cpp as of 2026 (64-bit string offsets:
// HeaderV2::getStringOffsetSize; offsets of FunctionInfos in their section:
// GlobalData.h). No tool of that version has read our files: they are tested with a
// file assembled by hand from those headers (TestVersion2ByHand), and version 2
// shares everything but the header, the directory and the size of offsets with
// version 1, which llvm-gsymutil 22 does read.
//
// A FunctionInfo becomes a FUNC, or a PUBLIC if its size is 0; merged functions
// likewise. Lines extend to the next row, the last to the function's end; a row
// without a file has no line. Files keep their numbers in the table. RVAs count
// from the header's base address, which llvm-gsymutil sets to the image's base.
//
// # The format as we write it
//
// The base address is Options.Base; addresses are RVAs, in the smallest size that
// holds the last one. FUNCs with the same range share one FunctionInfo, in which all
// but the first are merged functions. PUBLICs at the start of a FUNC or at the same
// address are merged likewise. Where a line ends and none begins, a row refers to an
// entry of the table of files that has no name and is not the first: readers then
// return the function without a line, and still look for inlined functions. The root
// of the inlined functions has the function's range and name, as in llvm-gsymutil's
// files. Each string is written once.
//
// A PUBLIC has size 0: readers let it answer for addresses up to the next
// function, as Breakpad does, and llvm-gsymutil writes ELF symbols of size 0 the
// same way. A FUNC of size 0, which answers for no address in a symbol file, is
// left out.
//
// A FUNC in which others begin gets another FunctionInfo after each of them, because
// readers consider only the last function that begins before an address. Read
// recognises these and makes one FUNC of them.
//
// The UUID is taken from INFO CODE_ID if that agrees with MODULE's id. Otherwise
// it is the GUID in MODULE's id, in the CPU's byte order: 16 bytes of the build
// id. Read makes both records from it. OS, CPU and name come from ReadOptions.
//
// # Where we differ
//
// From llvm-gsymutil 22:
//
//   - It leaves out all but one of the functions with the same range, unless
//     --merged-functions is given. Here none is left out: TestForms.
//   - If a function contains another, it finds nothing in the outer one after the
//     inner one: TestForms, and TestOracleGSYMOfOddModules of package resolve.
//   - It keeps a symbol of size 0 inside a function, which then answers for the
//     function's end. Here it is left out, and counted: TestLosses.
//   - It writes lines without a file with file 0, and then finds no inlined functions
//     there. Here they are found: TestOracleGSYMRead of package resolve.
//   - It omits inlined functions whose call has no file. Here the file is
//     symfmt.NoFile: TestOracleGSYMOfOddModules.
//   - For a damaged FunctionInfo it prints only the error. Here what precedes the
//     damage is kept: TestHostile.
package gsym
