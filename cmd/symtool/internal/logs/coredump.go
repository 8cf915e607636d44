package logs

import "strings"

// coredumpIDs maps module names to build-ids, as in the message of systemd-coredump about a process.
type coredumpIDs map[string]string

// mostModules is the maximum number of modules of a process.
const mostModules = 1 << 14

var (
	coredumpModule = form{
		Form:  Form{"`Module NAME with build-id DIGITS`, `Module NAME, build-id=DIGITS`", "systemd-coredump", "nothing: says which build of NAME is in the lines below"},
		needs: coredumpText, line: pattern(`\bModule (?P<name>\S.*?)(?: from \S.*)?(?: with build-id |, build-id=)(?P<build>[0-9a-f]+)\s*$| of user .* dumped core\.`),
		locate: (*Filter).addCoredump,
	}

	coredumpFrame = form{
		Form:  Form{"`#N 0x... SYMBOL (NAME + 0xADDR)`, with or without ` (deleted)` after NAME", "the same; with `(deleted)`, NAME's build-id must be in the log", "the start of the module"},
		needs: frameNumber, also: []string{" + " + number}, line: pattern(`#\d+\s+0x[0-9a-f]+ [^\s(]\S* \((?P<at>(?P<name>[^\s(].*?)(?P<gone> \(deleted\))? \+ 0x(?P<addr>[0-9a-f]+))\)\s*$`),
		sure: true, locate: (*Filter).inCoredump,
	}
)

// addCoredump remembers a build-id, or forgets the build-ids of the previous process. It never replaces
// anything.
func (f *Filter) addCoredump(p *Place, _ *match) bool {
	switch {
	case p.Name == "":
		f.coredump = nil
	case len(f.coredump) < mostModules:
		if f.coredump == nil {
			f.coredump = make(coredumpIDs)
		}
		f.coredump[strings.TrimSuffix(p.Name, gone)] = p.Build
	}
	return false
}

// gone follows the path of a file that was deleted or replaced while the process ran.
const gone = " (deleted)"

func (f *Filter) inCoredump(p *Place, m *match) bool {
	p.Build = f.coredump[p.Name]
	p.Gone = m.text("gone") != ""
	return true
}
