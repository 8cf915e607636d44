// Package version defines the version of symtool, which programs of other modules
// write, too.
package version

// Version is a constant, not taken from the build: two builds of one source
// write the same files.
const Version = "0.1.0-dev"

// Generator is how the program names itself.
const Generator = "symtool " + Version
