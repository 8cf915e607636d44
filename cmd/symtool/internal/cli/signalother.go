//go:build !unix

package cli

// ignoreBrokenWrites does nothing: without these signals such a write is an error anyway.
func ignoreBrokenWrites() {}
