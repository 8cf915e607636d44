// Package house tests the repository: what imports what, the public API, documents and their examples, help and manuals, releases.
package house
