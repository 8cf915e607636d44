// Package symdiff compares two symbol files by meaning: what changed, and what
// was lost.
//
// # How
//
// Each text is read once, front to back, into an Outline: for each FUNC its
// place in the text, and hashes of its name, its lines and its inlined calls, all
// relative to the function's address and by the names of files and origins, not
// their numbers; for STACK CFI, the rules in force over the code, evaluated as
// far as package cfi knows effects. Functions are then matched (match.go), and
// differences are found by the hashes. Details of a pair are read from the texts
// on demand (Detail).
//
// Memory is that of the outlines: about 115 bytes for a FUNC, 50 for a PUBLIC, 16
// for a row of STACK CFI, whatever the number of lines; and while functions are
// matched some 50 bytes more for each. Time grows with n log n of the records,
// for artificial files too (TestHostile in package report).
//
// # What is lost
//
// A function that is gone is a regression only if its code is still there, judging by
// the functions around it, and no FUNC has it: findLost. Lines and call frame
// information are lost where more bytes go without than before, and a greater share;
// where the size of the function differs, up to 15 bytes of padding do not count.
//
// # What is the same
//
//   - the order of records, and the numbers of FILE and INLINE_ORIGIN;
//   - line records that touch, of one line, and one record over both;
//   - the order of INLINE records, as their levels and ranges determine the tree;
//   - rows of STACK CFI with the same effect, however they are written and however
//     the code is cut into STACK CFI INITs. Where two of those overlap, the one
//     with the lower address counts up to its end, of two at one address the
//     shorter one, of equal ones the first of the file;
//   - one record, and the same twice: FUNCs with equal lines and calls, PUBLICs,
//     STACK WINs, INFOs;
//   - the same, in code that is in no function: whether a FUNC has it or not.
package symdiff
