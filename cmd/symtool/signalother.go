//go:build !unix

package main

// ignoreBrokenWrites does nothing: where these signals are not, such a write is an
// error anyway.
func ignoreBrokenWrites() {}
