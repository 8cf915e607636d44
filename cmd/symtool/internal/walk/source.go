package walk

import (
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

// sourceRoot parses a value of --source-map. Names may contain "="; folders of sources hardly
// do.
func sourceRoot(entry string) (source.Root, error) {
	i := strings.LastIndexByte(entry, '=')
	if i < 0 || i == len(entry)-1 {
		return source.Root{}, cli.Want("OLD=NEW")
	}
	root := source.Root{Old: entry[:i], New: entry[i+1:]}
	if st, err := os.Stat(root.New); err != nil || !st.IsDir() {
		return source.Root{}, fmt.Errorf(": %s is not a folder", root.New)
	}
	return root, nil
}

// sources returns the sources of a walk, or nil without --source.
func (w *walkCall) sources(r *walk.Result) *report.Sources {
	if w.finder == nil {
		return nil
	}
	return report.NewSources(w.ctx, r, w.finder, w.around)
}
