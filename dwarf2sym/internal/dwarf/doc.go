// Package dwarf decodes DWARF 2 to 5: bytes of sections in; units, entries, values, address ranges
// and rows of line tables out. It knows neither the files that sections are in, nor what is made of
// the entries.
//
// Section numbers such as "6.2.4" refer to the DWARF 5 standard.
package dwarf
