package dwarf2sym_test

import (
	"bufio"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"
)

// frame is one function at an address, in a chain that begins with the innermost.
type frame struct {
	name string
	file string
	line int
}

// symFile is a symbol file as read by this test. It is read and queried without
// symfmt, so that the comparison also finds that package's mistakes.
type symFile struct {
	funcs   []symFunc // in order of address
	files   map[string]string
	origins map[string]string
}

type symFunc struct {
	lo, hi  uint64
	name    string
	inlines []symInline
	lines   []symLine
}

type symInline struct {
	depth      int
	line       int
	file       string // FILE's number
	origin     string // INLINE_ORIGIN's number
	parent     int    // index of the enclosing record, or -1
	ranges     [][2]uint64
	lowest, up uint64 // lowest start and highest end of all ranges
}

type symLine struct {
	lo, hi uint64
	line   int
	file   string
}

// readSymFile reads the records that name code. It tolerates no errors.
func readSymFile(r io.Reader) (*symFile, error) {
	s := &symFile{files: map[string]string{}, origins: map[string]string{}}
	in := bufio.NewScanner(r)
	in.Buffer(nil, 16<<20)
	for n := 1; in.Scan(); n++ {
		if err := s.record(in.Text()); err != nil {
			return nil, fmt.Errorf("line %d, %q: %w", n, in.Text(), err)
		}
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	return s, s.check()
}

func (s *symFile) record(text string) error {
	kind, rest, _ := strings.Cut(text, " ")
	switch kind {
	case "MODULE", "INFO", "PUBLIC", "STACK":
		return nil
	case "FILE":
		return declare(s.files, rest)
	case "INLINE_ORIGIN":
		return declare(s.origins, rest)
	case "FUNC":
		return s.function(rest)
	}
	if len(s.funcs) == 0 {
		return fmt.Errorf("no FUNC before it")
	}
	f := &s.funcs[len(s.funcs)-1]
	if kind == "INLINE" {
		return f.inline(strings.Fields(rest))
	}
	return f.lineRecord(strings.Fields(text))
}

func declare(names map[string]string, rest string) error {
	id, name, ok := strings.Cut(rest, " ")
	if !ok || name == "" {
		return fmt.Errorf("no name")
	}
	if _, twice := names[id]; twice {
		return fmt.Errorf("number %s declared twice", id)
	}
	names[id] = name
	return nil
}

func (s *symFile) function(rest string) error {
	rest = strings.TrimPrefix(rest, "m ")
	p := strings.SplitN(rest, " ", 4)
	if len(p) != 4 {
		return fmt.Errorf("%d fields, want 4", len(p))
	}
	lo, hi, err := span(p[0], p[1])
	if err != nil {
		return err
	}
	s.funcs = append(s.funcs, symFunc{lo: lo, hi: hi, name: p[3]})
	return nil
}

func span(addr, size string) (lo, hi uint64, err error) {
	lo, err = strconv.ParseUint(addr, 16, 64)
	if err != nil {
		return 0, 0, err
	}
	n, err := strconv.ParseUint(size, 16, 64)
	if err == nil && n == 0 {
		err = fmt.Errorf("size 0")
	}
	return lo, lo + n, err
}

func (f *symFunc) inline(p []string) error {
	if len(p) < 6 || len(p)%2 != 0 {
		return fmt.Errorf("%d fields", len(p))
	}
	in := symInline{file: p[2], origin: p[3], parent: -1, lowest: ^uint64(0)}
	var err error
	if in.depth, err = strconv.Atoi(p[0]); err != nil {
		return err
	}
	if in.line, err = strconv.Atoi(p[1]); err != nil {
		return err
	}
	for i := 4; i < len(p); i += 2 {
		lo, hi, err := span(p[i], p[i+1])
		if err != nil {
			return err
		}
		if lo < f.lo || hi > f.hi {
			return fmt.Errorf("outside of its FUNC %x-%x", f.lo, f.hi)
		}
		in.ranges = append(in.ranges, [2]uint64{lo, hi})
		in.lowest, in.up = min(in.lowest, lo), max(in.up, hi)
	}
	for i := len(f.inlines) - 1; i >= 0 && in.parent < 0 && in.depth > 0; i-- {
		if f.inlines[i].depth == in.depth-1 {
			in.parent = i
		}
	}
	if in.depth > 0 && in.parent < 0 {
		return fmt.Errorf("no INLINE of depth %d before it", in.depth-1)
	}
	f.inlines = append(f.inlines, in)
	return nil
}

func (f *symFunc) lineRecord(p []string) error {
	if len(p) != 4 {
		return fmt.Errorf("%d fields, want 4", len(p))
	}
	lo, hi, err := span(p[0], p[1])
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(p[2])
	if err != nil {
		return err
	}
	if lo < f.lo || hi > f.hi {
		return fmt.Errorf("outside of its FUNC %x-%x", f.lo, f.hi)
	}
	if k := len(f.lines); k > 0 && lo < f.lines[k-1].hi {
		return fmt.Errorf("overlaps the record before it, or lies before it")
	}
	f.lines = append(f.lines, symLine{lo: lo, hi: hi, line: n, file: p[3]})
	return nil
}

// check returns an error if functions overlap, as answers would be ambiguous.
func (s *symFile) check() error {
	for i := 1; i < len(s.funcs); i++ {
		if a, b := &s.funcs[i-1], &s.funcs[i]; b.lo < a.hi {
			return fmt.Errorf("FUNC %x %s overlaps FUNC %x %s, or lies before it", b.lo, b.name, a.lo, a.name)
		}
	}
	return nil
}

func (in *symInline) holds(rva uint64) bool {
	if rva < in.lowest || rva >= in.up {
		return false
	}
	for _, r := range in.ranges {
		if r[0] <= rva && rva < r[1] {
			return true
		}
	}
	return false
}

// edges returns where each record of code starts and ends, as addresses.
func (s *symFile) edges(base uint64) (out []uint64) {
	for i := range s.funcs {
		f := &s.funcs[i]
		out = append(out, base+f.lo, base+f.hi)
		for _, in := range f.inlines {
			for _, r := range in.ranges {
				out = append(out, base+r[0], base+r[1])
			}
		}
		for _, l := range f.lines {
			out = append(out, base+l.lo, base+l.hi)
		}
	}
	return out
}

// funcAt returns the FUNC that contains rva, or nil.
func (s *symFile) funcAt(rva uint64) *symFunc {
	i := sort.Search(len(s.funcs), func(i int) bool { return s.funcs[i].hi > rva })
	if i == len(s.funcs) || rva < s.funcs[i].lo {
		return nil
	}
	return &s.funcs[i]
}

// resolve returns the frames at rva, innermost first, or none if there is no FUNC.
func (s *symFile) resolve(rva uint64) ([]frame, error) {
	f := s.funcAt(rva)
	if f == nil {
		return nil, nil
	}
	chain, err := f.chain(rva)
	if err != nil {
		return nil, err
	}
	at := f.lineAt(rva)
	out := make([]frame, 0, len(chain)+1)
	for i := len(chain) - 1; i >= 0; i-- {
		in := &f.inlines[chain[i]]
		name, ok := s.origins[in.origin]
		if !ok {
			return nil, fmt.Errorf("INLINE_ORIGIN %s is not declared", in.origin)
		}
		out = append(out, frame{name: name, file: at.file, line: at.line})
		at = symLine{line: in.line, file: in.file}
	}
	out = append(out, frame{name: f.name, file: at.file, line: at.line})
	for i := range out {
		file, ok := s.files[out[i].file]
		if !ok && out[i].file != "" {
			return nil, fmt.Errorf("FILE %s is not declared", out[i].file)
		}
		out[i].file = file
	}
	return out, nil
}

// chain returns the indices of the inlines at rva, outermost first. At each depth there
// is at most one, nested in the one before.
func (f *symFunc) chain(rva uint64) ([]int, error) {
	var chain []int
	for i := range f.inlines {
		in := &f.inlines[i]
		if !in.holds(rva) {
			continue
		}
		if in.depth != len(chain) {
			return nil, fmt.Errorf("INLINE of depth %d at %x, where %d are open", in.depth, rva, len(chain))
		}
		if in.depth > 0 && chain[in.depth-1] != in.parent {
			return nil, fmt.Errorf("INLINE of depth %d at %x lies outside of the one it is nested in", in.depth, rva)
		}
		chain = append(chain, i)
	}
	return chain, nil
}

func (f *symFunc) lineAt(rva uint64) symLine {
	i := sort.Search(len(f.lines), func(i int) bool { return f.lines[i].hi > rva })
	if i == len(f.lines) || rva < f.lines[i].lo {
		return symLine{}
	}
	return f.lines[i]
}
