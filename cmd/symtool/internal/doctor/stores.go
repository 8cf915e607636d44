package doctor

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/resolve/store"
	"github.com/symtool/symtool/walk/dump"
)

// storedElsewhere returns path, the symbol file found for a minidump's module, and the
// name that other walkers ask for, if the stores have the module only under other names.
// symtool finds the file by its id, but other walkers do not.
func (d *doctor) storedElsewhere(m *dump.Module, path string) (stored, asked string) {
	place, err := store.NewPlace(m.DebugFile, strings.ToUpper(m.DebugID))
	if err != nil {
		return "", ""
	}
	for _, dir := range d.stores {
		if cli.HasSymbols(dir, place) {
			return "", ""
		}
		if name := nameInStore(dir, path); name != "" && !strings.EqualFold(name, place.Name) {
			stored, asked = path, place.Name
		}
	}
	return stored, asked
}

// nameInStore returns the name under which a store has a file, or "".
func nameInStore(dir, path string) string {
	place, err := filepath.Rel(dir, path)
	if err != nil || !filepath.IsLocal(place) {
		return ""
	}
	name, _, _ := strings.Cut(filepath.ToSlash(place), "/")
	return name
}

// adviseNames advises on symbols that only symtool finds.
func (g *diagnosis) adviseNames() {
	var do []string
	n := 0
	seen := map[string]bool{}
	for _, m := range g.Process.Modules {
		if m.Stored == "" || seen[m.Stored+"\x00"+m.Asked] {
			continue
		}
		seen[m.Stored+"\x00"+m.Asked] = true
		if n++; n <= maxListed {
			root := filepath.Dir(filepath.Dir(filepath.Dir(m.Stored)))
			do = append(do, fmt.Sprintf("symtool convert --to-store %s --layout breakpad --rename-module %s %s", cli.ShellWord(root), cli.ShellWord(m.Asked), cli.ShellWord(m.Stored)))
		}
	}
	if n == 0 {
		return
	}
	if n > maxListed {
		do = append(do, fmt.Sprintf("and so on for %d more", n-maxListed))
	}
	g.missing("symbols of "+text.Count(n, "module")+" under the name in the dump",
		"the store has the id under another name: Breakpad's and rust-minidump's walkers, which ask by name and id, do not find it",
		append(do, "dump libraries again: dump --store names them by DT_SONAME, as crash reports do, and with --both-names also by the file's name")...)
}
