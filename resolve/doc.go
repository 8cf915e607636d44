// Package resolve maps addresses to functions, inlined functions, files and lines, using
// symbol files or binaries. Open opens a symbol file, and FromModule takes symbols in memory;
// both return a Resolver, whose Find looks up an address.
//
// A symbol file is not read into a model for this. One pass over its text makes an index of where
// the FUNC, PUBLIC, FILE, INLINE_ORIGIN and STACK records are, by address or number. The records of
// a function are read from the text, and kept, when an address in it is first looked up. An index
// can be written to a file beside the symbol file, which later processes map (side.go).
package resolve
