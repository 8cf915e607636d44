//go:build unix

package cli

import (
	"os/signal"
	"syscall"
)

// ignoreBrokenWrites makes a write to a closed pipe, or beyond the file size limit, return an
// error instead of ending the program.
func ignoreBrokenWrites() { signal.Ignore(syscall.SIGPIPE, syscall.SIGXFSZ) }
