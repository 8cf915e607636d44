package main

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	elfobj "github.com/symtool/symtool/internal/object/elf"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/store"
)

// moduleName names a module; id may be "".
type moduleName struct {
	name, id string
	file     string // the id as it was written, if it may be the name of a file instead: bin/ed
	build    string // build-id, in lower-case hexadecimal digits
}

// longID is the length of the shortest id that is not taken for the name of a file:
// 32 digits and the age. Older ones have 9 and more; stores have any.
const longID = 33

// parseModule reads NAME or NAME/ID; folders in front of NAME do not count.
func parseModule(text string) moduleName {
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == '/' || r == '\\' })
	n := len(parts)
	if n == 0 {
		return moduleName{}
	}
	if n > 1 && isID(parts[n-1]) {
		m := moduleName{name: parts[n-2], id: strings.ToUpper(parts[n-1])}
		if len(m.id) >= longID {
			return m
		}
		if _, err := store.NewPlace(m.name, m.id); err == nil {
			m.file = parts[n-1]
			return m
		}
	}
	return moduleName{name: parts[n-1]}
}

func isID(s string) bool {
	return s != "" && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

func (m moduleName) String() string {
	if m.build != "" {
		return m.name + " with build-id " + m.build
	}
	if m.id == "" {
		return m.name
	}
	return m.name + "/" + cmp.Or(m.file, m.id)
}

// symbolSources finds the symbols of modules as the flags say.
type symbolSources struct {
	supplier resolve.Supplier
	one      bool // there is one place: it may answer addresses that name no module
	index    bool
	indexDir string
	verbose  bool
	any      bool // names come from a log: most are not of a module, which is not an error
	msgs     *messages

	known  map[moduleName]*resolve.Resolver // nil for what was not found
	listed map[string]bool                  // names; nil before they are asked for
	damage map[*resolve.Resolver]*damageReport
	opened []*damageReport // those of damage, in order
	status int
}

func newSymbolSources(c *cli.Context, msgs *messages) (*symbolSources, error) {
	s := &symbolSources{
		msgs: msgs, verbose: c.Bool("verbose"), any: c.Bool("filter"),
		index: c.Bool("index") || c.IsSet("index-dir"), indexDir: c.String("index-dir"),
		known: map[moduleName]*resolve.Resolver{}, damage: map[*resolve.Resolver]*damageReport{},
	}
	places := 0
	for _, name := range []string{"symbols", "symbol-url"} {
		places += len(c.StringSlice(name))
	}
	places += min(len(c.StringSlice("binaries")), 1) // they are searched together
	if places == 0 {
		return nil, errors.New("no --symbols, --binaries or --symbol-url")
	}
	s.one = places == 1
	var err error
	s.supplier, err = newSupplier(c, s.openFile)
	return s, err
}

// openFile opens a symbol file, through its index if that is wanted.
func (s *symbolSources) openFile(path string) (r *resolve.Resolver, err error) {
	var unwritten error
	if s.index {
		r, unwritten, err = resolve.OpenIndexed(path, s.indexDir)
	} else {
		r, err = resolve.Open(path)
	}
	var notThere *fs.PathError
	if errors.As(err, &notThere) && notThere.Path == path {
		err = fmt.Errorf("%s: %w", path, notThere.Err)
	}
	if err != nil {
		return nil, err
	}
	if unwritten != nil {
		s.msgs.warnf("symtool: %s: the index could not be written: %v", path, unwritten)
	}
	return r, nil
}

// reportFound reports symbols that were found, and their damage.
func (s *symbolSources) reportFound(r *resolve.Resolver) {
	if s.verbose {
		s.msgs.printf("symtool: symbols of %s from %s", r.Index().Name, r.Path)
	}
	s.reportDamage(r)
}

// damageReport tracks which damage of a symbol file was reported.
type damageReport struct {
	lines problemLines
	done  int // problems
}

// reportDamage reports the damage found since the last call: functions are read when they are asked
// for.
func (s *symbolSources) reportDamage(r *resolve.Resolver) {
	d := s.damage[r]
	if d == nil {
		d = &damageReport{lines: problemLines{msgs: s.msgs, all: s.verbose, hint: verboseHint}}
		s.damage[r] = d
		s.opened = append(s.opened, d)
	}
	if r.Damaged() == d.done {
		return
	}
	s.status = statusInput
	problems := r.Damage()
	for _, p := range problems[d.done:] {
		d.lines.add(p.String())
	}
	d.done = len(problems)
}

// end reports how many problems were not printed.
func (s *symbolSources) end() {
	for _, d := range s.opened {
		d.lines.end()
	}
}

// find returns the symbols of a module, nil if there are none. That is reported once.
func (s *symbolSources) find(ctx context.Context, m moduleName) *resolve.Resolver {
	r, known := s.known[m]
	if known {
		return r
	}
	var tried []resolve.Tried
	if m.file != "" { // it costs no question to a server, which wants an id
		r, tried = s.look(ctx, resolve.Module{Name: m.file})
	}
	if r == nil && (m.name != "" || s.one) {
		modules := m.modules()
		for i := 0; r == nil && i < len(modules); i++ {
			var more []resolve.Tried
			if r, more = s.look(ctx, modules[i]); i == 0 {
				tried = append(tried, more...)
			}
		}
	}
	s.known[m] = r
	if r != nil {
		s.reportFound(r)
	}
	switch {
	case r == nil && !s.any || s.verbose:
		s.reportTried(m, r != nil, tried)
	case r == nil:
		s.reportSkipped(ctx, m, tried)
	}
	return r
}

// modules returns the modules that the name may mean, in the order to try them.
func (m moduleName) modules() []resolve.Module {
	build, err := hex.DecodeString(m.build)
	if m.build == "" || err != nil {
		return []resolve.Module{{Name: m.name, DebugID: m.id}}
	}
	// The id of symbol files has the bytes of the build-id in the order of the file's
	// numbers.
	var all []resolve.Module
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		all = append(all, resolve.Module{Name: m.name, BuildID: build, DebugID: elfobj.ModuleID(build, order)})
	}
	return all
}

// reportSkipped reports why a module of a log has no answers although symbols have its name.
func (s *symbolSources) reportSkipped(ctx context.Context, m moduleName, tried []resolve.Tried) {
	if s.listed == nil {
		s.listed = map[string]bool{}
		for _, name := range s.names(ctx) {
			s.listed[name] = true
		}
	}
	if !s.listed[m.name] {
		return
	}
	why := append(resolve.SeveralBuilds(tried), resolve.OtherModules(tried)...)
	if len(why) == 0 {
		why = resolve.Lines(tried)
	}
	slices.Sort(why)
	s.msgs.warnf("symtool: %s is left as it is: %s", m, strings.Join(slices.Compact(why), "; "))
}

// look asks for symbols, and reports those that could not be used.
func (s *symbolSources) look(ctx context.Context, m resolve.Module) (*resolve.Resolver, []resolve.Tried) {
	r, tried, err := s.supplier.Symbols(ctx, m)
	s.reportError(err)
	return r, tried
}

// names returns the names of the modules whose symbols are on this machine: those on servers are
// not known.
func (s *symbolSources) names(ctx context.Context) []string {
	if l, ok := s.supplier.(resolve.Lister); ok {
		return l.Names(ctx)
	}
	return nil
}

// reportError reports symbols that could not be used.
func (s *symbolSources) reportError(err error) {
	if err == nil {
		return
	}
	if !s.any {
		s.status = statusInput
	}
	if s.verbose || !s.any {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			s.msgs.printf("symtool: %s", line)
		}
	}
}

func (s *symbolSources) reportTried(m moduleName, found bool, tried []resolve.Tried) {
	if !found && m.name == "" {
		s.msgs.warnf("symtool: no module: --module says which one addresses are of")
	} else if !found {
		s.msgs.warnf("symtool: no symbols of %s", m)
	}
	for _, t := range tried {
		s.msgs.warnf("symtool:   tried %s", t)
	}
}
