// Package version defines the version of symtool, which programs of other modules
// write, too.
package version

// Version is a constant, not taken from the build, so that two builds of the
// same source write the same files.
const Version = "0.1.0-dev"

// Generator is the name of the program in files that it writes.
const Generator = "symtool " + Version
