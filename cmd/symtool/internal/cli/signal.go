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
// temporary files are removed; a second signal has its usual effect. Signals
// that the parent process ignored remain ignored.
func withSignals(ctx context.Context) (context.Context, func()) {
	ignoreBrokenWrites()
	ctx, cancel := context.WithCancelCause(ctx)
	got := make(chan os.Signal, 4) // room for signals that do not end ctx
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

// hangupTaken reports whether SIGHUP means something else in this process than to end it.
var hangupTaken atomic.Bool

// AtHangup calls do at each SIGHUP, until stop is called. In this time, SIGHUP does not end the
// process.
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

// signalStatus returns the exit status after ctx has ended: 128 plus the signal's number, as in
// shells.
func signalStatus(ctx context.Context) int {
	var s SignalError
	if errors.As(context.Cause(ctx), &s) {
		return 128 + int(s.Signal)
	}
	return StatusInput
}

// SignalGrace is the time that a command has to end after a signal. It ends at once unless it
// is blocked on the reader of a pipe.
const SignalGrace = time.Second

// Grace is the grace period of this process, SignalGrace by default. A server, which waits for
// its clients, sets it.
var Grace atomic.Int64

func init() { Grace.Store(int64(SignalGrace)) }
