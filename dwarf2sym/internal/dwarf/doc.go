// Package dwarf decodes DWARF 2 to 5: its input is the bytes of sections, and its output units,
// entries, values, address ranges and rows of line tables. It knows neither the files of the
// sections nor the use of the entries.
//
// Section numbers such as "6.2.4" refer to the DWARF 5 standard.
package dwarf
