package logs

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/symtool/symtool/walk/dump"
)

// Maps holds the address ranges of the modules of a process.
type Maps struct {
	ranges []mapped // by address, without overlaps
}

// mapped is a part of a module in a process.
type mapped struct {
	start, end uint64
	name       string
	build      string
	base       uint64 // address from which addresses in the module count
}

// Add adds a module at the addresses [start, end).
func (m *Maps) Add(name, build string, start, end uint64) {
	m.ranges = append(m.ranges, mapped{start, end, name, build, start})
}

// Sort sorts the ranges. It must be called after the last Add.
func (m *Maps) Sort() {
	slices.SortStableFunc(m.ranges, func(a, b mapped) int { return cmp.Compare(a.start, b.start) })
}

// at returns the range that contains an address, or nil.
func (m *Maps) at(addr uint64) *mapped {
	i := sort.Search(len(m.ranges), func(i int) bool { return m.ranges[i].start > addr }) - 1
	if i < 0 || addr >= m.ranges[i].end {
		return nil
	}
	return &m.ranges[i]
}

// longestMapping is the maximum length of a line with a mapping, and mostMappings the maximum number of mappings.
// Linux allows 65,530.
const (
	longestMapping = 64 << 10
	mostMappings   = 1 << 20
)

// ReadMaps reads mappings in the form of /proc/PID/maps. It skips other lines, so it can read a program's report that
// contains mappings somewhere. Files without code, and parts of files that are mapped again as data, are omitted.
func ReadMaps(r io.Reader) (*Maps, error) {
	var list []dump.Mapping
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestMapping)
	for n := 1; lines.Scan(); n++ {
		one, ok := parseMapping(lines.Text())
		if !ok {
			continue
		}
		if len(list) == mostMappings {
			return nil, fmt.Errorf("line %d: more than %d mappings", n, mostMappings)
		}
		list = append(list, one)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	dump.SortMappings(list)
	m := &Maps{}
	for _, image := range dump.Images(list) {
		if !image.Exec {
			continue
		}
		name := strings.TrimSuffix(image.Path, gone)
		for _, one := range list[image.First : image.Last+1] {
			m.ranges = append(m.ranges, mapped{one.Addr, one.Addr + one.Size, name, "", image.Addr})
		}
	}
	if len(m.ranges) == 0 {
		return nil, errNoMappings
	}
	return m, nil
}

var errNoMappings = fmt.Errorf("no mappings of files with code, want lines as in /proc/PID/maps")

// parseMapping parses the mapping of a file.
func parseMapping(line string) (m dump.Mapping, ok bool) {
	m, ok = dump.ParseMapping(strings.TrimRight(line, " \r\n"))
	return m, ok && strings.HasPrefix(m.Path, "/")
}

// inImage returns the module of a frame that has an address, or nil. This is the module that begins at base or, if base
// is 0, the module that the frame names or the only one at the address. On Apple's systems modules may overlap, since
// the libraries of the shared cache have one common __LINKEDIT, and frames may use other names for them.
func (m *Maps) inImage(addr, base uint64, name string) (found *mapped) {
	after := sort.Search(len(m.ranges), func(i int) bool { return m.ranges[i].start > addr })
	several := false
	for i := after - 1; i >= max(0, after-mostOverlaps); i-- {
		at := &m.ranges[i]
		switch {
		case addr >= at.end || base != 0 && base != at.base:
		case base != 0 || isNamed(at.name, name):
			return at
		default:
			several, found = several || found != nil, at
		}
	}
	if several {
		return nil
	}
	return found
}

// mostOverlaps is the maximum number of modules before an address that are searched for it.
const mostOverlaps = 64

// isNamed reports whether a module, which may be followed by a slash and an ID, has a name.
func isNamed(module, name string) bool {
	module, _, _ = strings.Cut(module, "/")
	return module == name
}

// inMaps finds the module that contains an address of the process.
func (f *Filter) inMaps(p *Place, _ *match) bool {
	at := f.Maps.at(p.Addr)
	if at == nil {
		return false
	}
	p.Name, p.Build, p.Addr, p.Counts = at.name, at.build, p.Addr-at.base, FromStart
	return true
}
