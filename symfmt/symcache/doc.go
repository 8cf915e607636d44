// Package symcache reads and writes symcaches, the files in which Sentry's
// symbolic (https://github.com/getsentry/symbolic, crate symbolic-symcache)
// looks up addresses and which Symbolicator stores. Use Read and Write.
//
// # The format as we read it
//
// It follows that crate's documentation and structure definitions (lib.rs,
// raw/v7.rs, v9/raw.rs), and the crates debugid and symbolic-common. All numbers
// have 32 bits unless noted otherwise, in the byte order of the machine that
// wrote the file. Each section begins at a multiple of 8 bytes from the start of
// the file, padded with zeros. Addresses are relative to the module's load base,
// in bytes, and below 2^32. The number 2^32-1 means "none", except for lines,
// where 0 does.
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
// in the same order; the earlier ones are only inlined into. A range extends to
// the next, and the last one has no end. A source location with four empty
// fields means that nothing is known about the range.
//
// A file's path consists of its compilation directory, directory and name, each
// joined to the previous part unless it is absolute.
//
// # How it maps to a module
//
// An unknown file corresponds to one named symfmt.NoFile, in both directions.
// Consecutive ranges with the same outermost function form a FUNC; a function that
// continues after others encloses them. Source locations that others are inlined into
// become INLINEs, joined if they have equal calls and the same function; the innermost
// ones become line records. A range that has only a function without a language (as
// symbolic writes the symbols of a symbol table) is a PUBLIC, or a FUNC if its end is
// known, since a PUBLIC has no end. Functions without source locations have no code and
// are left out, as are languages, and version 9's source servers and variables:
// ReadOptions.Dropped counts them.
//
// # The format as we write it
//
// It is version 8, which symbolic has read since 2022 (its pull request 670) and
// still reads alongside 9, or another version chosen in Options. It is
// little-endian, and version 9 has no variables. The FUNC or PUBLIC, the line and
// the calls of an address are decided as in package resolve. Consecutive ranges
// with equal locations are joined. Files, functions and strings are in order of
// first use by address, each once. A path is split into directory and name if
// joining them restores it. FUNCs and inlined functions have the language 0
// (unknown), PUBLICs none.
//
// # Where we differ
//
// From symbolic:
//
//   - It rejects a truncated file. Here the remaining ranges are read, and the
//     rest is a problem: TestReadCut.
//   - It reads only files of its own byte order. Here both are read: TestReadBigEndian.
//   - It follows cycles of source locations inlined into each other for ever.
//     Here such a range is a problem: TestReadDamage.
//   - It simplifies paths ("a/../b") when they are looked up. Here they are left
//     unchanged: TestOracleSymcache counts them.
//   - A range whose end is known is a FUNC here, even one from a symbol table:
//     TestReadOfSymbolic.
//   - Its converter of Breakpad's text and ELF files has its own rules for
//     overlapping records, and begins a range at a PUBLIC inside a FUNC. Here
//     answers are those of package resolve: TestSymcacheAnswers.
package symcache
