package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// SignalError is the cause of a context that a signal ended.
type SignalError struct{ Signal syscall.Signal }

func (e SignalError) Error() string { return e.Signal.String() }

// withSignals ends ctx at the first SIGINT, SIGTERM or SIGHUP, so that
// temporary files are removed; the second one has the usual effect. Signals
// that the parent process has ignored stay ignored.
func withSignals(ctx context.Context) (context.Context, func()) {
	ignoreBrokenWrites()
	ctx, cancel := context.WithCancelCause(ctx)
	got := make(chan os.Signal, 4) // some of which may be nothing to end for
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(got, s)
		}
	}
	go func() {
		for {
			select {
			case s := <-got:
				if s == syscall.SIGHUP && hangupTaken.Load() {
					continue
				}
				signal.Stop(got)
				if s, ok := s.(syscall.Signal); ok {
					cancel(SignalError{s})
				}
				return
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(got)
		cancel(nil)
	}
}

// hangupTaken is true where SIGHUP has another meaning in this process than to end.
var hangupTaken atomic.Bool

// AtHangup calls do at each SIGHUP, which then does not end ctx, until stop is called.
func AtHangup(do func()) (stop func()) {
	got, ended := make(chan os.Signal, 1), make(chan struct{})
	hangupTaken.Store(true)
	signal.Notify(got, syscall.SIGHUP)
	go func() {
		defer close(ended)
		for range got {
			do()
		}
	}()
	return func() {
		signal.Stop(got)
		close(got)
		<-ended
		hangupTaken.Store(false)
	}
}

// signalStatus is the exit status after ctx has ended: 128 and the signal's number, as in shells.
func signalStatus(ctx context.Context) int {
	var s SignalError
	if errors.As(context.Cause(ctx), &s) {
		return 128 + int(s.Signal)
	}
	return StatusInput
}

// SignalGrace is how long the work may take to end after a signal. It ends at
// once, unless it waits for the reader of a pipe.
const SignalGrace = time.Second

// Grace is SignalGrace for this process: a server waits for its clients.
var Grace atomic.Int64

func init() { Grace.Store(int64(SignalGrace)) }
