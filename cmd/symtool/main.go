// Command symtool makes, checks and uses symbol files for crash reports.
package main

import (
	"context"
	"io"
	"log"
	"os"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
)

func main() {
	// net/http logs unsolicited responses of servers, but standard error is only for our own
	// messages.
	log.SetOutput(io.Discard)
	os.Exit(app.Run(context.Background(), os.Args, os.Stdin, os.Stdout, os.Stderr))
}
