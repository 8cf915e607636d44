// Command symtool makes and checks symbol files for crash reports.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"sync/atomic"
	"time"
)

func main() {
	// net/http logs unsolicited responses of servers. Standard error is for our messages alone.
	log.SetOutput(io.Discard)
	os.Exit(run(context.Background(), os.Args, os.Stdin, os.Stdout, os.Stderr))
}

// signalGrace is how long the work may take to end after a signal. It ends at
// once, unless it waits for the reader of a pipe.
const signalGrace = time.Second

// grace is signalGrace for this process: a server waits for its clients.
var grace atomic.Int64

func init() { grace.Store(int64(signalGrace)) }

// run is main without the process: it returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := withSignals(ctx)
	defer stop()
	done := make(chan int, 1)
	go func() { done <- execute(ctx, args, stdin, stdout, stderr) }()
	select {
	case status := <-done:
		return status
	case <-ctx.Done():
	}
	select {
	case status := <-done:
		return status
	case <-time.After(time.Duration(grace.Load())):
		temporaries.removeAll()
	}
	return signalStatus(ctx)
}

// execute parses args and runs the command.
func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	msgs := newMessages(stderr)
	app := newApp(stdin, stdout, msgs)
	args, err := expandArgs(args)
	if err == nil {
		args, err = permute(app, args)
	}
	if err == nil {
		err = runApp(ctx, app, args)
	}
	status := exitStatus(ctx, app, err)
	msgs.endDebug(status)
	return status
}
