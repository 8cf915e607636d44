package dump

import (
	"errors"
	"fmt"

	"github.com/symtool/symtool/internal/debuginfod"
)

// checkBuildID checks --build-id, which replaces FILE.
func (cfg *dumpConfig) checkBuildID(text string, args []string) error {
	id, err := debuginfod.ParseBuildID(text)
	switch {
	case err != nil:
		return fmt.Errorf("--build-id: %w", err)
	case len(args) > 0:
		return fmt.Errorf("--build-id is in place of FILE, unexpected operand %q", args[0])
	case cfg.Client == nil:
		return errors.New("--build-id needs a server: --debuginfod or DEBUGINFOD_URLS")
	}
	cfg.BuildID = id
	cfg.files = []string{fmt.Sprintf("%x", id)}
	cfg.Options.FileName = cfg.files[0]
	return nil
}
