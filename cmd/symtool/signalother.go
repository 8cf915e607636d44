//go:build !unix

package main

// ignoreBrokenWrites does nothing: without these signals such a write is an error anyway.
func ignoreBrokenWrites() {}
