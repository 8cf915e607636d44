package logs

import (
	"strconv"
	"strings"

	"github.com/symtool/symtool/walk/dump"
)

// perfMaps holds the mappings that perf script prints, by file name.
type perfMaps struct {
	files map[string][]perfMap
	count int
}

// perfMap is a mapping of a file with code.
type perfMap struct {
	start, end uint64
	offset     uint64 // in the file
	build      string
}

// mostOfFile is the maximum number of mappings of one file: for each address in the file, all of them are searched.
const mostOfFile = 1 << 12

// addPerf remembers a mapping. It never replaces anything.
func (f *Filter) addPerf(p *Place, m *match) bool {
	start, ok := m.number("base")
	if !ok || dump.IsMemory(p.Name) || f.perf.count == mostMappings || start+p.Size < start {
		return false
	}
	if f.perf.files == nil {
		f.perf.files = make(map[string][]perfMap)
	}
	if len(f.perf.files[p.Name]) == mostOfFile {
		return false
	}
	f.perf.count++
	f.perf.files[p.Name] = append(f.perf.files[p.Name], perfMap{start, start + p.Size, p.Addr, p.Build})
	return false
}

// inPerf finds the place of an address in the output of perf script. In user-space stacks, perf since 5.19 prints
// file offsets; other addresses are addresses of the process. If these do not help, the symbol that perf printed is
// used.
func (f *Filter) inPerf(p *Place, m *match) bool {
	offset, err := strconv.ParseUint(m.text("offset"), 16, 64)
	if err != nil && p.Symbol != "" {
		return false
	}
	if inKernel, ok := strings.CutPrefix(p.Name, "["); ok {
		p.Name, p.Kernel, p.Sure = strings.TrimSuffix(inKernel, "]"), true, false
		if p.Name == "kernel.kallsyms" {
			p.Name = ""
		}
		p.Addr, p.Counts = offset, AfterSymbol
		return p.Symbol != ""
	}
	if dump.IsMemory(p.Name) {
		return false // generated code
	}
	p.After, p.Counts = offset, FromFile
	at, same := f.perf.at(p.Name, p.Addr)
	if at != nil {
		p.Addr, p.Build = p.Addr-at.start+at.offset, at.build
	}
	return same
}

// at returns the mapping of a file that contains an address, or nil. It reports false if processes map the file at
// several addresses, so that the address stands for different places in the file.
func (m *perfMaps) at(name string, addr uint64) (found *perfMap, same bool) {
	for i := range m.files[name] {
		one := &m.files[name][i]
		if addr < one.start || addr >= one.end {
			continue
		}
		if found != nil && found.start-found.offset != one.start-one.offset {
			return nil, false
		}
		found = one
	}
	return found, true
}
