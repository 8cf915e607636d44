// Package resolve maps addresses to functions, inlined functions, files and lines, with symbol
// files or binaries.
//
// A symbol file is not read into a model for that. One pass over its text makes an index: where the
// FUNC, PUBLIC, FILE, INLINE_ORIGIN and STACK records are, by address or number. The records of a
// function are read from the text when an address in it is asked for, and kept. An index can be
// written to a file beside the symbol file, which later processes map (side.go).
package resolve
