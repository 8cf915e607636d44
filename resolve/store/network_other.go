//go:build !linux

package store

// onNetwork reports whether a folder is on a file system of another machine. Where it
// is unknown, it may be.
func onNetwork(string) bool { return true }
