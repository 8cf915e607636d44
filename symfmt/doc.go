// Package symfmt is the model of a module's symbols, and Breakpad's text format
// for them: Reader and Read take it apart, Write puts it together.
//
// # The format as we read it
//
// It is that of Breakpad's docs/symbol_files.md (the specification, here named
// by its headings). A line is a record, ended by LF, CR LF or CR CR LF, or by
// the end of the file; blank lines are nothing. Fields are separated by blanks
// (spaces or tabs, one or more: the specification's own example aligns STACK CFI
// with six), the last may hold blanks inside. Hexadecimal numbers have up to 64
// bits and digits of either case, decimal ones up to 32 bits.
//
//	MODULE os arch id name                             "MODULE records"
//	INFO key [value]                                   not in the specification; all are kept
//	FILE number name                                   "FILE records"
//	INLINE_ORIGIN number name                          "INLINE_ORIGIN records"
//	INLINE_ORIGIN number file name                     the old form; file may be -1
//	FUNC [m] address size parameter_size name          "FUNC records"
//	INLINE level line file origin [address size]+      "INLINE records"; file may be -1
//	INLINE level line origin [address size]+           the old form
//	address size line file                             "Line records"
//	PUBLIC [m] address parameter_size name             "PUBLIC records"
//	STACK WIN type rva ... flag program|flag           "STACK WIN records"; any type
//	STACK CFI INIT address size rules                  "STACK CFI records"
//	STACK CFI address rules
//
// All numbers but those of FILE, INLINE_ORIGIN, levels and lines are
// hexadecimal. An INLINE has the old form if its fields are odd in number. The
// form of a file's INLINEs decides that of its INLINE_ORIGINs, which is not evident
// from their text: a name may begin with a number. The strict reader wants MODULE
// first, a FILE before its use ("prior FILE record"), each number once, INLINE
// and line records behind a FUNC, the rows of a STACK CFI INIT inside it and at
// growing addresses, no empty name, and one form of INLINE. The tolerant reader
// reports what is otherwise (see Read). A byte order mark is skipped; gzip and
// zstd are recognised by their magic; UTF-16 is rejected with an error that names it.
//
// # The format as we write it
//
// Records are in the order of the list above, FUNCs each with its INLINEs and
// then its lines, blocks of STACK CFI each with its rows; order.go has the order
// among records of one kind. One space separates fields, numbers have no
// leading zeros, digits are lower-case (the id stays as it is), lines end in
// LF, names are as CleanName makes them. Where a module mixes INLINEs with and
// without a call file, a FILE named NoFile stands for the unknown.
//
// # Where we differ
//
// From Breakpad (src/processor/basic_source_line_resolver.cc), rust-minidump
// (breakpad-symbols/src/sym_file/parser.rs) and Mozilla's dump_syms:
//
//   - Breakpad drops the lines behind a PUBLIC; rust-minidump rejects the
//     file. Here they belong to the last FUNC, as
//     the specification says: TestLinesBehindPublic.
//   - rust-minidump rejects a file for one bad line, Breakpad gives up after
//     100. The tolerant reader reads to the end: TestReaderProblemsAreBounded.
//   - Of two FILEs with one number Breakpad takes the first, rust-minidump the
//     last. Here it is an error, or the first: TestReadFaults.
//   - Breakpad attaches the records behind a bad FUNC to nothing, silently.
//     Here they are counted in its problem: TestReadFaults.
//   - rust-minidump reads the new form of INLINE only, Breakpad's older resolver
//     the old one only and each INLINE_ORIGIN by itself: TestInlineForms.
//   - Breakpad applies a STACK CFI to any INIT that covers an address behind
//     it, and keeps the last of those at one address. Here a row belongs to
//     the INIT before it (specification: "must not be at or beyond the end of
//     the range given by the most recent STACK CFI INIT"): TestReadFaults. Rows
//     at one address are joined, the later winning for a register:
//     TestCanonicalizeCFI.
//   - rust-minidump's sizes have 32 bits, and it drops the STACK WINs whose
//     flag does not fit their type and those of other types. Here they stay:
//     TestReaderRecords.
//   - Breakpad's numbers (strtoull) may have a sign or 0x before them and stop
//     at 2^64-2. Here they are digits up to 2^64-1: TestReaderBadRecords,
//     TestReaderRecords.
//   - Breakpad ends a line at a lone CR. Here it is a part of the name, and
//     written as a space: TestLoneCR.
//   - A name that is blank makes a file that rust-minidump or Breakpad reject.
//     Here such a record is read, reported, and written with a name that says
//     so: TestWriteEmpty. A name that is not UTF-8 is written as if it were:
//     TestCleanName.
//   - Mozilla's dump_syms numbers FILEs in order of first use. Canonicalize does
//     so too, and with INLINE_ORIGINs: TestCanonicalizeNumbers.
package symfmt
