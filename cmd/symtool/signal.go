package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// signalError is the cause of a context that a signal ended.
type signalError struct{ signal syscall.Signal }

func (e signalError) Error() string { return e.signal.String() }

// withSignals ends ctx at the first SIGINT, SIGTERM or SIGHUP, so that
// temporary files are removed; the second one has the usual effect. Signals
// that the parent process has ignored stay ignored.
func withSignals(ctx context.Context) (context.Context, func()) {
	ignoreBrokenWrites()
	ctx, cancel := context.WithCancelCause(ctx)
	got := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(got, s)
		}
	}
	go func() {
		select {
		case s := <-got:
			signal.Stop(got)
			if s, ok := s.(syscall.Signal); ok {
				cancel(signalError{s})
			}
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(got)
		cancel(nil)
	}
}

// signalStatus is the exit status after ctx has ended: 128 and the signal's
// number, as shells have it.
func signalStatus(ctx context.Context) int {
	var s signalError
	if errors.As(context.Cause(ctx), &s) {
		return 128 + int(s.signal)
	}
	return statusInput
}
