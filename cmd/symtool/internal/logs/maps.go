package logs

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Maps says where the modules of a process are.
type Maps struct {
	ranges []mapped // by address, without overlaps
}

// mapped is a piece of a module in a process.
type mapped struct {
	start, end uint64
	name       string
	build      string
	base       uint64 // that addresses in the module count from
}

// Add adds a module that is at [start, end).
func (m *Maps) Add(name, build string, start, end uint64) {
	m.ranges = append(m.ranges, mapped{start, end, name, build, start})
}

// Sort must follow Add.
func (m *Maps) Sort() {
	slices.SortStableFunc(m.ranges, func(a, b mapped) int { return cmp.Compare(a.start, b.start) })
}

// at returns what is at an address, or nil.
func (m *Maps) at(addr uint64) *mapped {
	i := sort.Search(len(m.ranges), func(i int) bool { return m.ranges[i].start > addr }) - 1
	if i < 0 || addr >= m.ranges[i].end {
		return nil
	}
	return &m.ranges[i]
}

// longestMapping limits a line of a file with mappings, and mostMappings their number, of which Linux allows 65,530.
const (
	longestMapping = 64 << 10
	mostMappings   = 1 << 20
)

// ReadMaps reads mappings as /proc/PID/maps has them. Other lines are skipped, so that the report of a program may be
// read that has them somewhere. A module begins where its file is mapped from its start. Files without code are left out.
func ReadMaps(r io.Reader) (*Maps, error) {
	m := &Maps{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestMapping)
	var base uint64
	last := ""
	code := make(map[string]bool)
	for n := 1; lines.Scan(); n++ {
		one, offset, executable, ok := parseMapping(lines.Text())
		if !ok {
			continue
		}
		if len(m.ranges) == mostMappings {
			return nil, fmt.Errorf("line %d: more than %d mappings", n, mostMappings)
		}
		if one.name != last || offset == 0 {
			base, last = one.start, one.name
		}
		one.base = base
		code[one.name] = code[one.name] || executable
		m.ranges = append(m.ranges, one)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	m.ranges = slices.DeleteFunc(m.ranges, func(one mapped) bool { return !code[one.name] })
	if len(m.ranges) == 0 {
		return nil, errNoMappings
	}
	m.Sort()
	return m, nil
}

var errNoMappings = fmt.Errorf("no mappings of files with code, want lines as in /proc/PID/maps")

// parseMapping reads "START-END PERMISSIONS OFFSET DEVICE INODE PATH" of a file that is mapped.
func parseMapping(line string) (m mapped, offset uint64, executable, ok bool) {
	var fields [5]string
	for i := range fields {
		if fields[i], line, ok = strings.Cut(strings.TrimLeft(line, " "), " "); !ok {
			return m, 0, false, false
		}
	}
	from, to, _ := strings.Cut(fields[0], "-")
	var errs [3]error
	m.start, errs[0] = strconv.ParseUint(from, 16, 64)
	m.end, errs[1] = strconv.ParseUint(to, 16, 64)
	offset, errs[2] = strconv.ParseUint(fields[2], 16, 64)
	m.name = strings.TrimSuffix(strings.TrimSpace(line), " (deleted)")
	ok = cmp.Or(errs[:]...) == nil && m.start < m.end && len(fields[1]) == 4 && strings.HasPrefix(m.name, "/")
	return m, offset, ok && fields[1][2] == 'x', ok
}

// inMaps finds the module of an address of the process.
func (f *Filter) inMaps(p *Place, _ *match) bool {
	at := f.Maps.at(p.Addr)
	if at == nil {
		return false
	}
	p.Name, p.Build, p.Addr, p.Counts = at.name, at.build, p.Addr-at.base, FromStart
	return true
}
