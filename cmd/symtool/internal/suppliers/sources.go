package suppliers

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/store"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/symfmt"
)

// ModuleName names a module. Its id may be "".
type ModuleName struct {
	Name, ID string
	file     string // the id as written, if it may be a file's name instead: bin/ed
	BuildID  string // build-id, in lower-case hexadecimal digits
}

// longID is the length of the shortest id that cannot be the name of a file: 32
// digits and the age. Older ids have 9 or more; stores have any.
const longID = 33

// ParseModule parses NAME or NAME/ID. It ignores folders before NAME.
func ParseModule(text string) ModuleName {
	folders, last := lastPart(text)
	if _, name := lastPart(folders); name != "" && IsID(last) {
		m := ModuleName{Name: name, ID: strings.ToUpper(last)}
		if len(m.ID) >= longID {
			return m
		}
		if _, err := store.NewPlace(m.Name, m.ID); err == nil {
			m.file = last
			return m
		}
	}
	return ModuleName{Name: last}
}

// lastPart splits a path before its last part, from which it removes trailing separators.
func lastPart(path string) (folders, last string) {
	path = strings.TrimRight(path, `/\`)
	n := strings.LastIndexAny(path, `/\`) + 1
	return path[:n], path[n:]
}

// IsID reports whether s has the form of a module's id.
func IsID(s string) bool {
	return s != "" && strings.TrimLeft(s, "0123456789abcdefABCDEF") == ""
}

func (m ModuleName) String() string {
	if m.BuildID != "" {
		return m.Name + " with build-id " + m.BuildID
	}
	if m.ID == "" {
		return m.Name
	}
	return m.Name + "/" + cmp.Or(m.file, m.ID)
}

// Sources finds the symbols of modules as specified by flags.
type Sources struct {
	supplier resolve.Supplier
	one      bool // there is only one place, which may answer for addresses without a module
	verbose  bool
	any      bool // names come from a log: most are not modules, which is not an error
	Msgs     *cli.Messages

	known   map[ModuleName]resolve.Symbols
	unknown map[moduleKey]bool  // not found
	listed  map[string]bool     // names; nil until requested
	left    map[ModuleName]bool // modules that a message named as left as they are
	damage  map[resolve.Symbols]*damageReport
	opened  []*damageReport // damage reports, in order
	Status  int
}

// IndexFlags holds the values of the flags for the indexes of symbol files.
type IndexFlags struct {
	Index    bool
	IndexDir string
}

// Flags returns the flags.
func (f *IndexFlags) Flags() []cli.Flag {
	return []cli.Flag{
		cli.Switch("index", "keep an index next to each symbol file, as FILE.idx, and use it\nthe next time", &f.Index),
		cli.Text("index-dir", "keep the indexes in `DIR` instead", &f.IndexDir),
	}
}

// Open returns a function that opens symbol files, through their indexes if requested.
func (f IndexFlags) Open(msgs *cli.Messages) supplier.Opener {
	return func(ctx context.Context, path string) (resolve.Symbols, error) {
		r, err := resolve.Open(ctx, path, resolve.OpenOptions{Index: f.Index || f.IndexDir != "", IndexDir: f.IndexDir, Unwritten: func(err error) {
			msgs.Warnf("symtool: %s: the index could not be written: %v", path, err)
		}})
		var notThere *fs.PathError
		if errors.As(err, &notThere) && notThere.Path == path {
			err = fmt.Errorf("%s: %w", path, notThere.Err)
		}
		if err != nil {
			return nil, err
		}
		return r, nil
	}
}

// NewSources returns the sources that flags name. log says that names come from a log, in which most names are
// not modules, which is not an error.
func NewSources(p *Places, index IndexFlags, log bool) (*Sources, error) {
	s := &Sources{
		Msgs: p.Msgs, verbose: p.Verbose, any: log,
		known: map[ModuleName]resolve.Symbols{}, unknown: map[moduleKey]bool{}, damage: map[resolve.Symbols]*damageReport{},
	}
	places := len(p.Symbols) + len(p.Servers.URLs) + min(len(p.Binaries), 1) // binaries are searched together
	if places == 0 {
		return nil, errors.New("no --symbols, --binaries or --symbol-url")
	}
	s.one = places == 1
	var err error
	s.supplier, err = p.New(index.Open(p.Msgs))
	return s, err
}

// reportFound reports symbols that were found, and their damage.
func (s *Sources) reportFound(r resolve.Symbols) {
	if s.verbose {
		s.Msgs.Printf("symtool: symbols of %s from %s", r.Identity().Name, r.Identity().Path)
	}
	if doubt := resolve.DoubtOf(r); doubt != "" {
		s.Msgs.Warnf("symtool: %s", doubt)
	}
	s.ReportDamage(r)
}

// damageReport records how much of a symbol file's damage has been reported.
type damageReport struct {
	lines cli.ProblemLines
	done  int // number of problems reported
}

// ReportDamage reports the damage found since the last call for r: functions are read on demand.
func (s *Sources) ReportDamage(r resolve.Symbols) {
	d := s.damage[r]
	if d == nil {
		d = &damageReport{lines: cli.ProblemLines{Msgs: s.Msgs, All: s.verbose, Hint: cli.VerboseHint}}
		s.damage[r] = d
		s.opened = append(s.opened, d)
	}
	problems := slices.Clone(r.Damage()[d.done:])
	if len(problems) == 0 {
		return
	}
	s.Status = cli.StatusInput
	slices.SortStableFunc(problems, comparePlaces) // several threads have found them
	for _, p := range problems {
		d.lines.Add(p.String())
	}
	d.done += len(problems)
}

// comparePlaces compares problems by their position in binaries.
func comparePlaces(a, b symfmt.Problem) int {
	x, y := new(bin.Error), new(bin.Error)
	errors.As(a.Err, &x)
	errors.As(b.Err, &y)
	return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Section, y.Section), cmp.Compare(x.Offset, y.Offset), cmp.Compare(x.Msg, y.Msg))
}

// End reports how many problems were not printed.
func (s *Sources) End() {
	for _, d := range s.opened {
		d.lines.End()
	}
}

// mostKnown limits the number of names looked up for a log, which may contain anything.
const mostKnown = 1 << 16

// moduleKey identifies a module without symbols. There may be one on every line, and its name takes more
// memory.
type moduleKey [16]byte

func (m ModuleName) key() (k moduleKey) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", m.Name, m.ID, m.file, m.BuildID))
	copy(k[:], sum[:])
	return k
}

// Find returns the symbols of a module. If there are none, it reports so once and returns nil.
func (s *Sources) Find(ctx context.Context, m ModuleName) resolve.Symbols {
	if r, known := s.known[m]; known {
		return r
	}
	key := m.key()
	if s.unknown[key] {
		return nil
	}
	if s.any && len(s.known)+len(s.unknown) >= mostKnown {
		return nil
	}
	var r resolve.Symbols
	var tried []symfmt.Tried
	if m.file != "" { // not from a server, which needs an id
		r, tried = s.look(ctx, resolve.Module{Name: m.file})
	}
	if r == nil && (m.Name != "" || s.one) {
		modules := m.modules()
		for i := 0; r == nil && i < len(modules); i++ {
			var more []symfmt.Tried
			if r, more = s.look(ctx, modules[i]); i == 0 {
				tried = append(tried, more...)
			}
		}
	}
	if r != nil {
		s.known[m] = r
		s.reportFound(r)
	} else {
		s.unknown[key] = true
	}
	switch {
	case r == nil && !s.any || s.verbose:
		s.reportTried(m, r != nil, tried)
	case r == nil:
		s.reportSkipped(ctx, m, tried)
	default:
		for _, other := range resolve.OtherDebugFiles(ctx, r, tried) {
			s.Msgs.Warnf("symtool: %s is not the debug file of %s: %s", other.Place, cmp.Or(r.Identity().Path, m.String()), other.Why)
		}
	}
	return r
}

// modules returns the modules that the name may stand for, in the order in which to try them.
func (m ModuleName) modules() []resolve.Module {
	build, err := hex.DecodeString(m.BuildID)
	if m.BuildID == "" || err != nil {
		return []resolve.Module{{Name: m.Name, DebugID: m.ID}}
	}
	// The id in symbol files has the build-id's bytes in the order of the file's
	// numbers.
	var all []resolve.Module
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		all = append(all, resolve.Module{Name: m.Name, BuildID: build, DebugID: object.ModuleID(build, order)})
	}
	return all
}

// reportSkipped reports why places in a module in a log are left as they are although symbols with the
// module's name exist.
func (s *Sources) reportSkipped(ctx context.Context, m ModuleName, tried []symfmt.Tried) {
	if s.listed == nil {
		s.listed = map[string]bool{}
		for _, name := range s.Names(ctx) {
			s.listed[name] = true
		}
	}
	if !s.listed[m.Name] {
		return
	}
	why := append(resolve.SeveralBuilds(tried), resolve.OtherModules(tried)...)
	if len(why) == 0 {
		why = symfmt.TriedLines(tried)
	}
	slices.Sort(why)
	s.leave(m, strings.Join(slices.Compact(why), "; "))
}

// Missing reports, once, that a module in a log has no symbols, unless reportSkipped has said why.
func (s *Sources) Missing(m ModuleName) {
	if !s.left[m] && !s.verbose {
		s.leave(m, "no symbols")
	}
}

// Gone reports a module in a log whose file has been deleted or replaced.
func (s *Sources) Gone(m ModuleName) {
	s.leave(m, "it was deleted or replaced while it ran, and the log does not say which build it was: use --core")
}

// mostLeft limits the number of messages about modules in a log.
const mostLeft = 1000

func (s *Sources) leave(m ModuleName, why string) {
	if s.left == nil {
		s.left = map[ModuleName]bool{}
	}
	if s.left[m] || len(s.left) > mostLeft {
		return
	}
	if s.left[m] = true; len(s.left) > mostLeft {
		s.Msgs.Warnf("symtool: more modules are left as they are")
		return
	}
	s.Msgs.Warnf("symtool: %s is left as it is: %s", m, why)
}

// look looks up symbols, and reports those that could not be used.
func (s *Sources) look(ctx context.Context, m resolve.Module) (resolve.Symbols, []symfmt.Tried) {
	r, tried, err := s.supplier.Symbols(ctx, m)
	s.reportError(err)
	return r, tried
}

// Names returns the names of the modules whose symbols are on this machine; those on servers are
// unknown.
func (s *Sources) Names(ctx context.Context) []string {
	if l, ok := s.supplier.(resolve.Lister); ok {
		return l.Names(ctx)
	}
	return nil
}

// reportError reports symbols that could not be used.
func (s *Sources) reportError(err error) {
	if err == nil {
		return
	}
	if !s.any {
		s.Status = cli.StatusInput
	}
	if s.verbose || !s.any {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			s.Msgs.Printf("symtool: %s", line)
		}
	}
}

func (s *Sources) reportTried(m ModuleName, found bool, tried []symfmt.Tried) {
	if !found && m.Name == "" {
		s.Msgs.Warnf("symtool: no module: use --module to say which one the addresses are in")
	} else if !found {
		s.Msgs.Warnf("symtool: no symbols of %s", m)
	}
	for _, t := range tried {
		s.Msgs.Warnf("symtool:   tried %s", t)
	}
	if !found && len(resolve.SeveralBuilds(tried)) > 0 {
		s.Msgs.Warnf("symtool:   choose a build: %s/ID+ADDR, or --module %s/ID", m.Name, m.Name)
	}
}
