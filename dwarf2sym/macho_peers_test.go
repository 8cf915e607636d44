package dwarf2sym_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/execcode"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// peerRules describe where the recorded symbol files of Breakpad's dump_syms_mac and Mozilla's dump_syms may differ
// from symtool's. Everything else is equal: the places and sizes of FUNCs, the frames at each edge of their records,
// PUBLICs.
var peerRules = []struct {
	name, why string
	holds     func(c *peerCase, ours, theirs string) bool
}{
	{
		name: "spelling", why: "the same name: symtool writes spaces and std::string as c++filt does",
		holds: func(_ *peerCase, ours, theirs string) bool { return spelling(ours) == spelling(theirs) },
	},
	{
		name: "stab", why: "symtool is right: Breakpad writes names of the debug map as linkers do, mangled and with C's underscore, and ends them at a colon",
		holds: func(c *peerCase, ours, theirs string) bool {
			name := sourceName(strings.TrimPrefix(theirs, "_"))
			return c.breakpad && (name == ours || strings.HasPrefix(ours, theirs+":"))
		},
	},
	{
		name: "symbol", why: "the debug information has no linkage name: symtool takes the name that it has, the peers that of the symbol",
		holds: func(c *peerCase, _, theirs string) bool { return c.symbols[spelling(theirs)] },
	},
	{
		name: "return type", why: "Mozilla leaves out the return types of templates; symtool and Breakpad write them, as c++filt does",
		holds: func(c *peerCase, ours, theirs string) bool {
			return !c.breakpad && strings.HasSuffix(spelling(ours), spelling(theirs)) && strings.Contains(ours, "<")
		},
	},
	{
		name: "plain name", why: "symtool is right: Breakpad leaves out scopes and parameters of functions whose linkage name is in another unit",
		holds: func(c *peerCase, ours, theirs string) bool {
			head, _, _ := strings.Cut(ours, "(")
			return c.breakpad && (head == theirs || strings.HasSuffix(head, "::"+theirs))
		},
	},
	{
		name: "letters", why: "the same letters: types of functions and blocks, and operators, are written as c++filt does",
		holds: func(_ *peerCase, ours, theirs string) bool { return letters(ours) == letters(theirs) },
	},
	{
		name: "demangler", why: "Mozilla's demangler reads packs, literals and arguments otherwise; symtool's readings are compared with c++filt's and LLVM's",
		holds: func(c *peerCase, ours, theirs string) bool { return stemOf(ours) == stemOf(theirs) },
	},
	{
		name: "thunk", why: "Mozilla describes what c++filt and symtool name",
		holds: func(c *peerCase, ours, theirs string) bool {
			return !c.breakpad && strings.HasPrefix(theirs, "{virtual override thunk(") && strings.Contains(ours, "virtual thunk to ")
		},
	},
	{
		name: "name omitted", why: "symtool is right: the name is in another unit, in which Breakpad does not look",
		holds: func(c *peerCase, _, theirs string) bool {
			return c.breakpad && (theirs == "<name omitted>" || theirs == "~")
		},
	},
	{
		name: "joined path", why: "symtool is right: Mozilla puts folders before absolute paths of files",
		holds: func(c *peerCase, ours, theirs string) bool { return !c.breakpad && strings.HasSuffix(theirs, ours) },
	},
}

// stemOf returns the scopes and the name of a function, without text in brackets and without what precedes and follows
// them.
func stemOf(name string) string {
	name, _, _ = strings.Cut(name, " [clone ")
	var out []byte
	depth := 0
	for _, b := range []byte(name) {
		switch b {
		case '<', '(', '{', '[':
			depth++
		case '>', ')', '}', ']':
			depth--
		default:
			if depth == 0 {
				out = append(out, b)
			}
		}
	}
	text := strings.TrimSuffix(strings.TrimRight(string(out), " &"), " const")
	return text[strings.LastIndexByte(text, ' ')+1:]
}

// peerCase compares symtool's symbol file of a binary with a peer's.
type peerCase struct {
	breakpad     bool
	ours, theirs *symFile
	file         *object.File
	symbols      map[string]bool // the spelling of all names, mangled and demangled
	functions    map[uint64]bool // RVAs of symbols of functions
	used         map[string]int
	wrong        int
}

// same reports whether a name or path is the same, or differs by a rule.
func (c *peerCase) same(ours, theirs string) bool {
	if ours == theirs {
		return true
	}
	for _, r := range peerRules {
		if r.holds(c, ours, theirs) {
			c.used[r.name]++
			return true
		}
	}
	return false
}

func (c *peerCase) errorf(t *testing.T, format string, args ...any) {
	t.Helper()
	if c.wrong++; c.wrong <= 5 {
		t.Errorf(format, args...)
	}
}

// symbol collects a symbol.
func (c *peerCase) symbol(s *object.Symbol) {
	for _, name := range []string{string(s.Name), "_" + string(s.Name), sourceName(string(s.Name))} {
		c.symbols[spelling(name)] = true
	}
	if s.Kind == object.Function {
		c.functions[s.Addr&^c.file.ISABit-c.file.Base] = true
	}
}

// funcs compares the places of functions, and the frames at the edges of both files' records.
func (c *peerCase) funcs(t *testing.T) {
	for i := range c.theirs.funcs {
		b := &c.theirs.funcs[i]
		switch a := c.ours.funcAt(b.lo); {
		case a == nil || a.lo != b.lo:
			c.errorf(t, "no FUNC %x %s", b.lo, b.name)
		case a.hi != b.hi && c.breakpad && len(b.lines) == 0 && a.hi == c.trimmed(b.lo, b.hi):
			c.used["size in the debug map, which Breakpad takes with its padding"]++
		case a.hi != b.hi:
			c.errorf(t, "FUNC %x %s of %x bytes, want %x", b.lo, b.name, a.hi-a.lo, b.hi-b.lo)
		}
	}
	edges := append(c.ours.edges(0), c.theirs.edges(0)...)
	slices.Sort(edges)
	for _, rva := range slices.Compact(edges) {
		ours, err := c.ours.resolve(rva)
		theirs, failed := c.theirs.resolve(rva)
		switch {
		case err != nil:
			c.errorf(t, "%x: %v", rva, err)
			continue
		case failed != nil:
			c.used["INLINE of the peer that does not nest"]++
			continue
		case len(theirs) == 0:
			c.used["no FUNC of the peer"] += min(len(ours), 1)
			continue
		case c.breakpad && len(ours) == 0 && theirs[0].file == "":
			c.used["padding of a size in the debug map"]++
			continue
		}
		same := len(ours) == len(theirs)
		for k := 0; same && k < len(ours); k++ {
			a, b := ours[k], theirs[k]
			same = c.same(a.name, b.name) && a.line == b.line && c.same(a.file, b.file)
		}
		if !same {
			c.errorf(t, "%x:\nsymtool %v\npeer    %v", rva, ours, theirs)
		}
	}
}

// trimmed returns where the padding at the end of a function begins.
func (c *peerCase) trimmed(lo, hi uint64) uint64 {
	r := object.Range{Start: lo + c.file.Base, End: hi + c.file.Base}
	for _, p := range execcode.Parts(c.file) {
		if p.Start <= r.Start && r.End <= p.End {
			if trimmed, err := p.Trim(r, true, execcode.PaddingOf(c.file)); err == nil {
				return trimmed.End - c.file.Base
			}
		}
	}
	return hi
}

// publics compares PUBLICs. Only the peers have PUBLICs at functions and of data.
func (c *peerCase) publics(t *testing.T, ours, theirs map[uint64]string) {
	for rva, name := range theirs {
		switch mine, ok := ours[rva]; {
		case ok && !c.same(mine, name):
			c.errorf(t, "PUBLIC %x %s, want %s", rva, mine, name)
		case ok:
		case !c.functions[rva] || !c.file.Executable(rva+c.file.Base):
			c.used["PUBLIC of data, or of the header"]++
		case c.ours.funcAt(rva) != nil:
			c.used["PUBLIC in a function"]++
		default:
			c.errorf(t, "no PUBLIC %x %s", rva, name)
		}
	}
	for rva, name := range ours {
		if _, ok := theirs[rva]; !ok {
			c.used["PUBLIC of symtool: "+name]++
		}
	}
}

// moduleAndPublics returns the MODULE record's fields and the PUBLICs of a symbol file.
func moduleAndPublics(text []byte) (module []string, publics map[uint64]string) {
	publics = map[uint64]string{}
	for line := range strings.Lines(string(text)) {
		p := strings.SplitN(strings.Replace(strings.TrimSpace(line), "PUBLIC m ", "PUBLIC ", 1), " ", 4)
		switch {
		case p[0] == "MODULE":
			module = strings.SplitN(strings.TrimSpace(line), " ", 5)
		case p[0] == "PUBLIC" && len(p) == 4:
			rva, _ := strconv.ParseUint(p[1], 16, 64)
			publics[rva] = p[3]
		}
	}
	return module, publics
}

// peerBinary returns the binary from which a recorded symbol file was made, its CPU if the binary is universal, and
// the dSYM if it was read, too.
func peerBinary(root, recorded string) (path, cpu, dsym string) {
	name, _, _ := strings.Cut(filepath.Base(recorded), ".sym")
	name, both := strings.CutSuffix(name, ".with-dSYM")
	path = filepath.Join(root, filepath.Base(filepath.Dir(recorded)), strings.ReplaceAll(name, "__", "/"))
	if _, err := os.Stat(path); err != nil {
		ext := filepath.Ext(path)
		path, cpu = strings.TrimSuffix(path, ext), ext[1:]
	}
	if both {
		dsym = path + ".dSYM"
	}
	return path, cpu, dsym
}

// dumpMachO returns the symbol file of a binary.
func dumpMachO(t *testing.T, path, cpu, dsym string, inlines bool) (*object.File, []byte) {
	t.Helper()
	lim := object.DefaultLimits()
	lim.CPU = cpu
	open := func(path string) *object.File {
		f, err := objfile.Open(path, lim)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	o := dwarf2sym.Options{Demangle: true, Hermetic: true, NoInlines: !inlines}
	if dsym != "" {
		o.Debug = open(dsym)
	}
	file := open(path)
	report, err := dwarf2sym.Read(t.Context(), file, o)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := symfmt.Write(&text, report.Module, symfmt.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return file, text.Bytes()
}

// readRecorded reads a file, which may be compressed by gzip.
func readRecorded(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil && strings.HasSuffix(path, ".gz") {
		var z *gzip.Reader
		var out bytes.Buffer
		if z, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
			_, err = out.ReadFrom(z)
		}
		data = out.Bytes()
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return data
}

// The symbol files that Breakpad and Mozilla made from the shared Mach-O files differ from symtool's only by the
// rules.
func TestMachOPeers(t *testing.T) {
	root, used, files := testenv.Shared(t, "data", "macho"), map[string]int{}, 0
	for _, peer := range []string{"peer-breakpad", "peer-mozilla"} {
		err := filepath.WalkDir(filepath.Join(root, peer), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			files++
			t.Run(peer+"/"+e.Name(), func(t *testing.T) {
				text := readRecorded(t, path)
				binary, cpu, dsym := peerBinary(root, path)
				file, own := dumpMachO(t, binary, cpu, dsym, bytes.Contains(text, []byte("\nINLINE ")))
				c := &peerCase{breakpad: peer == "peer-breakpad", file: file, symbols: map[string]bool{}, functions: map[uint64]bool{}, used: used}
				if err := file.Symbols(object.Symtab, c.symbol); err != nil {
					t.Fatal(err)
				}
				var failed error
				if c.ours, err = readSymFile(bytes.NewReader(own)); err == nil {
					c.theirs, failed = readSymFile(bytes.NewReader(text))
				}
				if err := cmp.Or(err, failed); err != nil {
					t.Fatal(err)
				}
				a, ours := moduleAndPublics(own)
				b, theirs := moduleAndPublics(text)
				c.module(t, a, b)
				c.funcs(t)
				c.publics(t, ours, theirs)
				if c.wrong > 0 {
					t.Errorf("%d differences", c.wrong)
				}
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range peerRules {
		if used[r.name] == 0 {
			t.Errorf("rule %s is not needed", r.name)
		}
	}
	t.Logf("%d files; by rule: %v", files, used)
}

// module compares MODULE records. Mozilla writes Mac, and without LC_UUID each tool makes its own ids.
func (c *peerCase) module(t *testing.T, ours, theirs []string) {
	if len(ours) != 5 || len(theirs) != 5 {
		t.Fatalf("MODULE %q, %q", ours, theirs)
	}
	if c.file.BuildID() == nil {
		ours[3] = theirs[3]
		c.used["no UUID"]++
	}
	if !c.breakpad && theirs[4] != ours[4] { // minidumps have the file's name
		ours[4] = theirs[4]
		c.used["Mozilla names libraries after LC_ID_DYLIB"]++
	}
	theirs[1] = strings.Replace(theirs[1], "Mac", "mac", 1)
	theirs[2] = strings.Replace(theirs[2], "armv7", "arm", 1) // minidumps do not distinguish versions of ARM
	if !slices.Equal(ours, theirs) {
		c.errorf(t, "MODULE %q, want %q", ours, theirs)
	}
}
