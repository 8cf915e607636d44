package walk

import "github.com/symtool/symtool/cmd/symtool/internal/cli"

// startProgress shows how many dumps are done on a terminal, unless the stacks go there, too.
func (w *walkCall) startProgress() (stop func()) {
	if !cli.IsTerminal(w.msgs.W) || w.sum == nil && w.output == "-" && cli.IsTerminal(w.stdout) {
		return func() {}
	}
	w.progress, stop = cli.StartCount(w.msgs.W, w.msgs, len(w.files), "dumps", cli.ProgressDelay)
	return stop
}
