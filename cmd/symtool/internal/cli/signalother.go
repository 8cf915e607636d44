//go:build !unix

package cli

// ignoreBrokenWrites does nothing: without these signals such a write returns an error anyway.
func ignoreBrokenWrites() {}
