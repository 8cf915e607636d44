// Package gsym writes and reads GSYM, LLVM's format for look-ups of addresses:
// functions, lines and inlined functions, in files that are mapped and searched.
// It has no call frame information.
//
// # The format as we read it
//
// It is that of LLVM's headers, llvm/include/llvm/DebugInfo/GSYM, here named by
// the files. Numbers are in the file's byte order, that of the magic: 0x4753594d
// in it. Version 1 has 32-bit places of strings and FunctionInfos, version 2 has
// 64-bit ones ("str" below).
//
//	version 1 (Header.h): 48 bytes
//	    u32 magic, u16 1, u8 size of addresses, u8 size of UUID, u64 base address,
//	    u32 number of addresses, u32 place and u32 size of strings, 20 bytes UUID
//	    addresses, places of FunctionInfos, files, strings, FunctionInfos; each at a
//	    multiple of the size of its entries, FunctionInfos of 4
//	version 2 (HeaderV2.h, GlobalData.h): 20 bytes
//	    u32 magic, u16 2, u8 size of addresses, u8 encoding of strings (0), u64 base
//	    address, u32 number of addresses
//	    directory: u32 kind, u64 place, u64 size for each section, kind 0 at its end;
//	    1 addresses, 2 places of FunctionInfos, 3 strings, 4 files, 5 FunctionInfos,
//	    6 UUID
//	addresses: differences to the base address, ascending, of 1, 2, 4 or 8 bytes
//	places of FunctionInfos: u32 from the file's start; in version 2, u64 from the
//	    start of section 5
//	files (FileEntry.h): u32 count, then str directory, str base name; the first is
//	    unused
//	strings: ended by NUL; the first is empty
//	FunctionInfo (FunctionInfo.h): u32 size of the code, str name, then u32 kind, u32
//	    length and payload until kind 0; a size of 0 is a symbol whose end is not known
//	    1 lines (LineTable.h): SLEB128 least and most line difference of special
//	      opcodes, ULEB128 first line; opcodes 0 end, 1 ULEB128 file, 2 ULEB128 advance
//	      of the address and row, 3 SLEB128 advance of the line, from 4 on advance of
//	      both and row. File 1 and the function's start are where it begins
//	    2 inlined functions (InlineInfo.h), a tree whose root is the function:
//	      ULEB128 count of ranges, each ULEB128 start from the first range of the node
//	      around (the root's: from the function) and ULEB128 size; u8 whether nodes are
//	      in it, str name, ULEB128 file and ULEB128 line of the call, then these nodes
//	      and a count of 0
//	    3 merged functions (MergedFunctionsInfo.h): u32 count, each u32 length and a
//	      FunctionInfo at the same address
//	    4 call sites (CallSiteInfo.h): skipped, and reported (ReadOptions.Dropped)
//
// Version 1 is what llvm-gsymutil 22 writes and reads, in both byte orders. It
// refuses version 2 ("unsupported GSYM version 2"), and has no option for it:
// version 2 is LLVM 23's. What is said of it here is from LLVM's headers and
// GsymCreatorV2.cpp as of 2026 (string places of 64 bits: HeaderV2::
// getStringOffsetSize; places of FunctionInfos in their section: GlobalData.h), and
// no tool of that version has read our files: the test is a file that was put
// together by hand from those headers (TestVersion2ByHand), and that version 1 and 2
// share all but header, directory and the size of places, which llvm-gsymutil 22
// does read.
//
// A FunctionInfo becomes a FUNC, one of size 0 a PUBLIC, and so do merged ones.
// Lines last up to the next row, the last up to the function's end; a row without
// a file has no line. Files have the numbers of the table. RVAs count from the
// header's base address, where llvm-gsymutil puts the image's base.
//
// # The format as we write it
//
// Base address is Options.Base, addresses are RVAs, of the smallest size that
// holds the last. FUNCs of one range are one FunctionInfo with the others as merged
// functions, and so are the PUBLICs at the start of a FUNC, or of one address.
// Where a line ends and none begins, a row has an entry of the table of files that
// has no name and is not the first: readers then give the function without a line, and
// still look for inlined functions. The root of inlined functions has the
// function's range and name, as llvm-gsymutil's has. Strings are written once.
//
// A PUBLIC has size 0: readers have it answer up to the next function, as Breakpad
// does, and as llvm-gsymutil writes ELF symbols of size 0. A FUNC of size 0, which
// answers nothing in a symbol file, is left out.
//
// A FUNC in which others begin gets another FunctionInfo behind each of those: readers
// look at the last function that begins before an address only. Read knows them, and
// makes one FUNC of it.
//
// The UUID is INFO CODE_ID, where MODULE's id agrees with it, else the GUID in that
// id in the CPU's byte order: 16 bytes of the build id. Read makes both records of
// it. OS, CPU and name are from ReadOptions.
//
// # Where we differ
//
// From llvm-gsymutil 22:
//
//   - It leaves out all but one of the functions of a range, unless
//     --merged-functions is given. Here none is left out: TestForms.
//   - Of a function inside of another it answers nothing for the rest of the other:
//     TestForms, and TestOracleGSYMOfOddModules of package resolve.
//   - It keeps a symbol of size 0 inside of a function, which then answers for the
//     function's end. Here it is left out, and counted: TestLosses.
//   - It writes lines without a file with file 0, and then finds no inlined functions
//     there. Here they are found: TestOracleGSYMRead of package resolve.
//   - It gives no inlined function whose call has no file. Here it has the file
//     symfmt.NoFile: TestOracleGSYMOfOddModules.
//   - Of a FunctionInfo that is damaged it prints the error only. Here what is in
//     front of the damage is kept: TestHostile.
package gsym
