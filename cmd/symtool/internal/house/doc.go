// Package house tests the repository: imports, the public API, documents and their examples, help and manuals,
// releases.
package house
