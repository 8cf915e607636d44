package walk

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/report"
	"github.com/symtool/symtool/walk/source"
)

// Values of --source.
const (
	noSource  = -1  // without the flag
	maxAround = 100 // lines
)

// checkSource sets which source lines are printed, and where source files are.
func (w *walkCall) checkSource(c *cli.Context) error {
	w.around = c.Int("source")
	switch {
	case !c.IsSet("source"):
		if c.IsSet("source-map") {
			return errors.New("--source-map is for --source")
		}
		return nil
	case w.format == formatMachine:
		return errors.New("--format machine has no place for --source")
	case w.around < 0 || w.around > maxAround:
		return fmt.Errorf("--source is %d, want 0 to %d lines", w.around, maxAround)
	}
	w.finder = &source.Finder{AtPaths: !c.Bool("hermetic")}
	for _, entry := range c.StringSlice("source-map") {
		// Names may have "=", folders of sources hardly do.
		i := strings.LastIndexByte(entry, '=')
		if i < 0 || i == len(entry)-1 {
			return fmt.Errorf("--source-map is %q, want OLD=NEW", entry)
		}
		root := source.Root{Old: entry[:i], New: entry[i+1:]}
		if st, err := os.Stat(root.New); err != nil || !st.IsDir() {
			return fmt.Errorf("--source-map %q: %s is not a folder", entry, root.New)
		}
		w.finder.Roots = append(w.finder.Roots, root)
	}
	return nil
}

// sources returns the sources of a walk; nil without --source.
func (w *walkCall) sources(r *walk.Result) *report.Sources {
	if w.finder == nil {
		return nil
	}
	return report.NewSources(w.ctx, r, w.finder, w.around)
}
