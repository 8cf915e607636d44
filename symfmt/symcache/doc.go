// Package symcache reads and writes symcaches, the files from which Sentry's
// symbolic (https://github.com/getsentry/symbolic, crate symbolic-symcache)
// answers addresses, and which Symbolicator keeps.
//
// # The format as we read it
//
// From that crate's documentation and its definitions of the structures (lib.rs,
// raw/v7.rs, v9/raw.rs), and from the crates debugid and symbolic-common. All
// numbers have 32 bits unless said otherwise, in the byte order of the machine
// that wrote the file. Each section begins at a multiple of 8 bytes from the
// start of the file; between two are zeros. Addresses are relative to the
// module's load base, in bytes, and below 2^32. Of all numbers 2^32-1 says
// "none", but for lines, where it is 0.
//
//	Preamble (8 bytes)
//	  magic                "SYMC" of a little-endian writer, "CMYS" of a big-endian one
//	  version              7, 8 or 9
//	Header (72 bytes)
//	  debug id, 32 bytes   16 bytes of UUID in the order of the text; age (u32);
//	                       11 bytes 0; a byte: 0 for a UUID, 1 for a PDB 2.0 id,
//	                       whose time stamp is the first 4 bytes, big-endian
//	  arch                 symbolic_common::Arch: 101 x86, 201 x86_64, ... (arch.go)
//	  number of files, functions, source locations, ranges
//	  bytes of strings
//	  16 bytes             reserved; version 9: a u16, which is not 0 if
//	                       sections about variables follow, and 14 bytes reserved
//	Files                  12 bytes each: compilation directory, directory, name
//	                       (strings); version 9: 24, with name, directory and
//	                       revision on a source server
//	Functions              16 bytes each: name (string), unused, entry address,
//	                       none for an inlined function; language
//	Source locations       16 bytes each: file, line, function, and the source
//	                       location that it is inlined into, whose file and line
//	                       are those of the call
//	Ranges                 4 bytes each, ascending: the address where a range begins
//	Strings                a string is found by its offset in this section: its
//	                       length, as u32 in version 7, as ULEB128 from 8 on, and
//	                       that many bytes of UTF-8. The empty string means no string.
//	(version 9) a header, variables of functions, locations, types
//
// The last source locations, as many as there are ranges, belong to the ranges,
// in their order; those before them are only inlined into. A range ends where
// the next begins, the last never. A source location whose four fields are all
// empty says that nothing is known of the range.
//
// A file's path is its compilation directory, directory and name, each joined to
// the one before unless it is absolute.
//
// # What becomes of it
//
// A file that is not known is one of the name symfmt.NoFile, and the other way
// round. Ranges, one behind the other, whose outermost function is the same are a FUNC;
// one that goes on behind others is a FUNC around those. The source locations
// that others are inlined into become INLINEs, of one function those with equal
// calls being one; the innermost become line records. A range with nothing but a
// function that has no language (as symbolic writes the symbols of a symbol
// table) is a PUBLIC, unless its end is known: a PUBLIC has none, so that it is a
// FUNC then. A function that no source location names has no code and is left
// out, as are languages, and what version 9 knows of source servers and variables:
// ReadOptions.Dropped counts them.
//
// # The format as we write it
//
// Version 8, which symbolic reads since 2022 (its pull request 670) and still does
// next to 9, or another that the Options name; little-endian; in version 9 without
// variables. Which FUNC or PUBLIC an address belongs to, with which line and calls,
// is as in package resolve. Ranges with equal locations one behind the other are
// one. Files, functions and strings are in order of first use by address, and each
// is there once. A path is cut into directory and name where joining them gives it
// back. FUNCs and inlined functions have the language 0 (unknown), PUBLICs none.
//
// # Where we differ
//
// From symbolic:
//
//   - It rejects a truncated file. Here the ranges that are still there are read, the
//     rest is a problem: TestReadCut.
//   - It reads files of its own byte order only. Here both: TestReadBigEndian.
//   - It follows source locations that are inlined into each other in a circle
//     for ever. Here the range is a problem: TestReadDamage.
//   - It simplifies paths ("a/../b") when they are asked for. Here they stay as
//     they are: TestOracleSymcache counts them.
//   - A range whose end is known is a FUNC here, even one from a symbol table:
//     TestReadOfSymbolic.
//   - Its converter of Breakpad's text and ELF files has rules of its own for
//     records that overlap, and begins a range at a PUBLIC inside of a FUNC. Here
//     answers are those of package resolve: TestSymcacheAnswers.
package symcache
