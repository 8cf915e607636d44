// Package symfmt implements the model of a module's symbols, Module, and
// Breakpad's text format for it: Read and Reader parse it, Write prints it.
//
// # The format as we read it
//
// It is the format of Breakpad's docs/symbol_files.md (the specification, cited by its headings).
// Each line is a record, ended by LF, CR LF or CR CR LF; an unterminated last line is damage, and
// is not used. Blank lines are ignored. Fields are separated by blanks (one or more spaces or
// tabs: the specification's own example aligns STACK CFI with six); the last field may contain
// blanks. Hexadecimal numbers have up to 64 bits and digits of either case, decimal ones up to 32
// bits.
//
//	MODULE os arch id name                             "MODULE records"
//	INFO key [value]                                   not in the specification; all but DIGEST are kept
//	INFO DIGEST sha256 [hex]                           digest of the text (digest.go); without hex, it is announced
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
// All numbers are hexadecimal except those of FILE and INLINE_ORIGIN, levels and
// lines. An INLINE with an odd number of fields has the old form. The form of a
// file's INLINEs determines the form of its INLINE_ORIGINs, whose own text is
// ambiguous because a name may begin with a number. The strict reader requires MODULE
// first, a FILE before its use ("prior FILE record"), each number once, INLINE and
// line records after a FUNC, the rows of a STACK CFI INIT inside it and at ascending
// addresses, no empty names, and one form of INLINE. The tolerant reader reports
// departures from this (see Read). A byte order mark is skipped; gzip and zstd are
// recognised by their magic; UTF-16 is rejected with an error that names it.
//
// # The format as we write it
//
// Records are in the order of the list above, each FUNC followed by its INLINEs
// and its lines, and each STACK CFI INIT by its rows; order.go gives the order
// among records of the same kind. One space separates fields, numbers have no
// leading zeros, digits are lower case (except in the id, which stays as it is),
// lines end in LF, names are cleaned by CleanName. Where a module mixes INLINEs
// with and without a call file, a FILE named NoFile stands for unknown call
// files.
//
// # Where we differ
//
// From Breakpad (src/processor/basic_source_line_resolver.cc), rust-minidump
// (breakpad-symbols/src/sym_file/parser.rs) and Mozilla's dump_syms:
//
//   - Breakpad drops line records after a PUBLIC; rust-minidump rejects the
//     file. Here they belong to the last FUNC, as the specification says:
//     TestLinesBehindPublic.
//   - rust-minidump rejects a file for one bad line, Breakpad gives up after
//     100. The tolerant reader reads to the end: TestReaderProblemsAreBounded.
//   - Of two FILEs with the same number Breakpad takes the first,
//     rust-minidump the last. Here the second is an error or, for the tolerant
//     reader, ignored: TestReadFaults.
//   - Breakpad silently drops the records after a bad FUNC. Here its problem
//     counts them: TestReadFaults.
//   - rust-minidump reads the new form of INLINE only, Breakpad's older resolver
//     the old one only and each INLINE_ORIGIN by itself: TestInlineForms.
//   - Breakpad applies a STACK CFI to any INIT that covers an address after
//     it, and of several at the same address uses the last. Here a row belongs to
//     the INIT before it (specification: "must not be at or beyond the end of
//     the range given by the most recent STACK CFI INIT"): TestReadFaults. Rows
//     at the same address are joined, the later winning for a register:
//     TestCanonicalizeCFI.
//   - rust-minidump's sizes have 32 bits, and it drops STACK WINs of other
//     types, and those whose flag does not match their type. Here they stay:
//     TestReaderRecords.
//   - Breakpad uses a last line without a line feed; rust-minidump rejects the file. Here the line
//     is left out and reported, because a truncated record often reads as a different one: TestCutLines.
//   - Breakpad's numbers (strtoull) may have a sign or 0x prefix and stop
//     at 2^64-2. Here they are digits up to 2^64-1: TestReaderBadRecords,
//     TestReaderRecords.
//   - Breakpad ends a line at a lone CR. Here it is part of the name, and is
//     written as a space: TestLoneCR.
//   - A blank name makes rust-minidump or Breakpad reject the file. Here such
//     a record is read, reported, and written with a name that says so: TestWriteEmpty. Invalid
//     UTF-8 in a name is replaced when it is written: TestCleanName.
//   - Mozilla's dump_syms numbers FILEs in order of first use. Canonicalize
//     does the same, also for INLINE_ORIGINs: TestCanonicalizeNumbers.
package symfmt
