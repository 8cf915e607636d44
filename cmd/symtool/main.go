// Command symtool makes, checks and uses symbol files for crash reports.
package main

import (
	"context"
	"io"
	"log"
	"os"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/dropin"
)

func main() {
	// net/http logs unsolicited responses of servers, but standard error is for our messages
	// alone.
	log.SetOutput(io.Discard)
	os.Exit(run(context.Background(), os.Args, os.Stdin, os.Stdout, os.Stderr))
}

// run is main without the process: it returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return cli.Run(ctx, commands, dropin.Args(args), stdin, stdout, stderr)
}
