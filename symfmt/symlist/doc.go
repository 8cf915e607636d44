// Package symlist is the two lists of symbols that tools exchange as text: the map of
// perf, and what nm prints.
//
// # The formats as we read them
//
// A perf map is that of the Linux kernel's tools/perf/Documentation/
// jit-interface.txt: a line for each symbol,
//
//	START SIZE symbolname
//
// START and SIZE being hexadecimal numbers without 0x, the name the rest of the
// line, blanks included. The list of nm is that of binutils' nm (its manual, "nm"),
// in the BSD format, with sizes (-S) or without:
//
//	ADDRESS [SIZE] TYPE name
//
// Of its types, T t W w and i are code; lines of other types, and those of undefined
// symbols, which have no address, are not about functions, and passed over.
// /proc/kallsyms has this form, too. Lines end in LF or CR LF; empty ones are nothing.
// A symbol with a size is a FUNC, one without is a PUBLIC; addresses count from
// ReadOptions.Base.
//
// # The formats as we write them
//
// Sorted by address, what has a size before what has none; names as
// symfmt.CleanName makes them, so that each is a line. nm's numbers have as many
// digits as the CPU's addresses, 16 for an unknown CPU; its type is T. A PUBLIC has no
// size there. A perf map has no symbol without one, so that a PUBLIC reaches up to the
// next FUNC or PUBLIC, and the last one is of 1 byte.
//
// # Where we differ
//
//   - perf takes 0x in front of a number, and passes over bad lines silently. Here
//     these are problems, with their line (TestReadDamage).
//   - nm sorts by name unless it is asked otherwise (-n).
package symlist
