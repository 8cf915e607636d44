// Package symdiff compares two symbol files by meaning, and finds what changed
// and what was lost. Open the files with OpenSource and pass them to Compare.
//
// # How it works
//
// Each text is read once, front to back, into an Outline. For each FUNC it holds
// the place in the text, and hashes of the name, lines and inlined calls,
// relative to the function's address and with the names of files and origins
// instead of their numbers. For STACK CFI it holds the rules in force over the
// code, evaluated as far as package cfi knows their effects. Functions are then
// matched (match.go) and compared by their hashes. The details of a pair are read
// from the texts on demand (Detail).
//
// Memory is used for the outlines: about 115 bytes for a FUNC, 50 for a
// PUBLIC and 16 for a row of STACK CFI, whatever the number of lines, and some 50
// bytes more for each function while they are matched. Time grows with n log n of
// the records, even for artificial files (TestHostile in package report).
//
// # What counts as lost
//
// A missing function is a regression only if its code still exists, judging by the
// functions around it, and no FUNC covers it (findLost). Lines and call frame
// information are lost if more bytes lack them than before, and a greater share
// does; if the size of the function differs, up to 15 bytes of padding are ignored.
//
// # What counts as equal
//
//   - the order of records, and the numbers of FILE and INLINE_ORIGIN;
//   - adjacent records of the same line, and one record for both;
//   - the order of INLINE records, as their levels and ranges determine the tree;
//   - rows of STACK CFI with the same effect, however they are written and however
//     the code is cut into STACK CFI INITs. Where two of those overlap, the one
//     with the lower address counts up to its end; of two at one address, the
//     shorter; of equal ones, the first in the file;
//   - a record, and the same record twice: FUNCs with equal lines and calls, PUBLICs,
//     STACK WINs, INFOs;
//   - call frame information, whether a FUNC covers its code or not.
package symdiff
