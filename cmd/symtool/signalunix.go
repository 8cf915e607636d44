//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// ignoreBrokenWrites lets a write to a closed pipe or over the limit of a file's
// size be an error of the write, not the end of the program.
func ignoreBrokenWrites() { signal.Ignore(syscall.SIGPIPE, syscall.SIGXFSZ) }
