// Package symlist reads and writes two lists of symbols that tools exchange as text:
// perf maps, and the output of nm.
//
// # The formats as we read them
//
// A perf map is defined by the Linux kernel's
// tools/perf/Documentation/jit-interface.txt: a line for each symbol,
//
//	START SIZE symbolname
//
// START and SIZE are hexadecimal numbers without 0x; the name is the rest of the line,
// including blanks. nm's output is as binutils writes it (see its manual, "nm"), in
// BSD format, with sizes (-S) or without:
//
//	ADDRESS [SIZE] TYPE name
//
// The types T, t, W, w and i are code. Lines of other types, and of undefined symbols,
// which have no address, do not describe functions and are skipped. /proc/kallsyms has
// this form, too. Lines end in LF or CR LF; empty ones are ignored. A symbol with a
// size is a FUNC, one without is a PUBLIC; addresses count from ReadOptions.Base.
//
// # The formats as we write them
//
// Lines are sorted by address, symbols with a size before those without; names are
// cleaned by symfmt.CleanName, so that each fits a line. nm's numbers have as many
// digits as the CPU's addresses, 16 for an unknown CPU; the type is T. A PUBLIC has no
// size there. A perf map needs sizes, so a PUBLIC extends to the next FUNC or PUBLIC,
// and the last one has 1 byte.
//
// # Where we differ
//
//   - perf accepts 0x before a number, and skips bad lines silently. Here these are
//     problems, with their line (TestReadDamage).
//   - nm sorts by name, and by address only with -n.
package symlist
