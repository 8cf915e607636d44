package walk_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/eval"
	"github.com/symtool/symtool/walk/internal/walktest"
	"github.com/symtool/symtool/walk/show"
)

// varSymbols are modules with variables, by id and by name: some have no id.
type varSymbols map[string]resolve.Symbols

func (s varSymbols) Symbols(_ context.Context, m resolve.Module) (resolve.Symbols, []symfmt.Tried, error) {
	r := s[m.DebugID]
	if m.DebugID == "" {
		r = cmp.Or(r, s[m.Name])
	}
	if r != nil {
		r.Share()
	}
	return r, nil, nil
}

// add reads a binary with the debug file beside it; text makes a symbol file of it.
func (s varSymbols) add(t testing.TB, path string, text bool) {
	t.Helper()
	f, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	o := dwarf2sym.Options{Demangle: true, Vars: dwarf2sym.VarOptions{Params: true, Locals: true, FullTypes: true}}
	if _, err := os.Stat(path + ".debug"); err == nil {
		debug, err := objfile.Open(path+".debug", object.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		defer debug.Close()
		o.Debug = debug
	}
	result, err := dwarf2sym.Read(context.Background(), f, o)
	if err != nil {
		t.Fatal(err)
	}
	var r resolve.Symbols = resolve.FromModule(result.Module, resolve.ModuleOptions{Path: path, Extents: &result.Extents})
	if text {
		r = symbolFile(t, result.Module)
	}
	s[result.Module.ID], s[result.Module.Name] = r, r
}

// symbolFile writes a symbol file and its variables, and opens it.
func symbolFile(t testing.TB, m *symfmt.Module) resolve.Symbols {
	t.Helper()
	symbols, variables := m.SplitVars()
	base := filepath.Join(t.TempDir(), m.Name)
	for ext, part := range map[string]*symfmt.Module{".sym": symbols, ".vars": variables} {
		var b bytes.Buffer
		if err := symfmt.Write(&b, part, symfmt.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(base+ext, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(base + ".sym")
	if err != nil {
		t.Fatal(err)
	}
	r, err := resolve.OpenFile(context.Background(), f, resolve.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// tally counts the outcomes of a comparison with gdb's truth.
type tally map[string]int

func (c tally) add(o tally) {
	for k, n := range o {
		c[k] += n
	}
}

// truthWalk compares a walk of a case with gdb's truth.
type truthWalk struct {
	t      testing.TB
	name   string
	result *walk.Result
	vars   *walk.Variables
	count  tally

	printer *show.Printer
	outer   *walktest.TruthFrame // the function around those inlined
}

func (w *truthWalk) note(outcome, format string, args ...any) {
	w.count[outcome]++
	if outcome == "INVENTED" || outcome == "member missing" || strings.HasPrefix(outcome, "lost without") || strings.HasPrefix(outcome, "not listed, ") || outcome == "only ours" || outcome == "frame missing" || strings.HasPrefix(outcome, "WRONG") || outcome == "functions differ" {
		w.t.Logf("%s: %s: %s", w.name, outcome, fmt.Sprintf(format, args...))
	}
}

// compare compares all threads.
func (w *truthWalk) compare(truth *walktest.Truth) {
	for _, thread := range truth.Threads {
		stack := slices.IndexFunc(w.result.Stacks, func(s walk.Stack) bool { return w.result.Dump.Threads[s.Thread].ID == thread.ID })
		if stack < 0 {
			w.note("thread missing", "%d", thread.ID)
			continue
		}
		w.stack(stack, thread.Frames)
	}
}

// stack compares the frames of a thread. gdb's frames with the same program counter are a frame and the functions
// inlined into it.
func (w *truthWalk) stack(stack int, truth []walktest.TruthFrame) {
	truth = slices.DeleteFunc(slices.Clone(truth), func(f walktest.TruthFrame) bool { return f.TailCall })
	frames := w.result.Stacks[stack].Frames
	i := 0
	for k := 0; k < len(truth); i++ {
		end := k
		for end < len(truth) && truth[end].Inline && end+1 < len(truth) {
			end++
		}
		end++
		if i >= len(frames) || frames[i].PC != truth[k].Addr() {
			for _, f := range truth[k:] {
				if len(f.Variables) > 0 {
					w.note("frame missing", "%s at %s", f.Function, f.PC)
				}
			}
			return
		}
		f, all := w.vars.Of(stack, i)
		w.outer = &truth[end-1]
		for n, g := range truth[k:end] {
			var ours []eval.Variable
			if len(all) == end-k {
				ours = all[n]
			} else if len(g.Variables) > 0 {
				w.note("functions differ", "%s: %d, gdb %d", g.Function, len(all), end-k)
				continue
			}
			w.function(f, &g, ours)
		}
		k = end
	}
}

// function compares the variables of a function, by name and by the number of variables that hide them.
func (w *truthWalk) function(f *eval.Frame, g *walktest.TruthFrame, ours []eval.Variable) {
	used := make([]bool, len(ours))
	for i := range g.Variables {
		v := &g.Variables[i]
		at := -1
		for k := range ours {
			if !used[k] && ours[k].Name == v.Name && (at < 0 || ours[k].Hidden == v.Shadow && ours[at].Hidden != v.Shadow) {
				at = k
			}
		}
		if at < 0 {
			outcome := "not listed"
			switch copied := strings.Contains(w.name, "gcc") || strings.Contains(w.name, "g++") || strings.Contains(w.name, "rustc") || strings.HasPrefix(g.Module, "lib"); {
			case v.Status != "optimized_out":
				outcome = "not listed, with a value"
			case !copied: // blocks of gcc and rustc that are in the abstract instance alone, from which gdb takes them, have no values
				outcome = "not listed, no copy of a block"
			}
			w.note(outcome, "%s: %s %s (%s, %s)", g.Function, v.Type, v.Name, v.Status, v.Loc.Form)
			continue
		}
		used[at] = true
		w.variable(f, g, v, &ours[at])
	}
	for k, u := range used {
		if !u && len(g.Variables)+len(ours) > 0 {
			w.note("only ours", "%s: %s (%v)", g.Function, ours[k].Name, ours[k].Status())
		}
	}
}

// variable compares a variable.
func (w *truthWalk) variable(f *eval.Frame, g *walktest.TruthFrame, want *walktest.TruthVariable, got *eval.Variable) {
	place := fmt.Sprintf("%s: %s %s [%s %v]", g.Function, want.Type, want.Name, want.Loc.Form, want.Loc.Ops)
	if got.Hidden != want.Shadow {
		w.note("shadow differs", "%s: %d, gdb %d", place, got.Hidden, want.Shadow)
	}
	if got.Param != (want.Kind == "param") {
		w.note("kind differs", "%s", place)
	}
	ours := got.Hex()
	switch {
	case want.Synthetic:
		if got.Pointee != nil {
			w.note("synthetic equal", "%s", place)
		} else {
			w.note("synthetic lost", "%s: %s %s", place, ours, got.Why)
		}
	case want.Status == "gdb_error":
		w.note("gdb fails", "%s: ours %v %s %s", place, got.Status(), ours, got.Why)
	case want.Status != "value" && got.Status() == eval.HasValue && len(got.Bytes) > 0:
		w.note("INVENTED", "%s: %s, gdb %s", place, ours, want.Status)
	case want.Status != "value":
		if got.Status().String() == want.Status {
			w.note("no value equal", "%s", place)
		} else {
			w.note("no value differs", "%s: %v %s, gdb %s", place, got.Status(), got.Why, want.Status)
		}
	default:
		w.value(place, g.Inline, want, got, ours)
		w.members(f, place, want, got)
	}
}

// members compares the scalars in a variable: their paths, offsets, sizes and bytes.
func (w *truthWalk) members(f *eval.Frame, place string, want *walktest.TruthVariable, got *eval.Variable) {
	if len(want.Members) == 0 || got.Status() != eval.HasValue {
		return
	}
	leaves := map[string]leaf{}
	root := w.printer.Tree(f, got)
	leavesOf(leaves, "", 0, root.Members)
	for i := range want.Members {
		m := &want.Members[i]
		ours, ok := leaves[plainPath(m.Path)]
		switch {
		case !ok && strings.HasPrefix(want.Type, "character*"):
			w.note("member of a string", "%s", m.Path)
		case !ok && (!got.Whole() || !known(leaves, plainPath(m.Path))): // such as a discriminant
			w.note("member of what is not known", "%s", m.Path)
		case !ok && strings.Contains(want.Bytes, "__") && strings.Contains(want.Type, "closure"):
			// gdb does not have the discriminant of a value in pieces, and lists the members of all variants.
			w.note("member of another variant", "%s", m.Path)
		case !ok:
			w.note("member missing", "%s: %s", place, m.Path)
		case ours.Offset != uint64(m.Offset):
			w.note("member offset differs", "%s: %s at %d, gdb %d", place, m.Path, ours.Offset, m.Offset)
		case m.BitSize != nil && (ours.BitSize != *m.BitSize || 8*int(ours.Offset)+ours.BitOffset != *m.BitOffset):
			w.note("member bits differ", "%s: %s: %d+%d, gdb %d+%d", place, m.Path, ours.BitOffset, ours.BitSize, *m.BitOffset, *m.BitSize)
		case m.Status == "value" && m.Bytes != "" && len(ours.Bytes) != len(m.Bytes):
			w.note("member size differs", "%s: %s: %d, gdb %d", place, m.Path, len(ours.Bytes)/2, len(m.Bytes)/2)
		case swapped(want.Type) && reversed(ours.Bytes) == m.Bytes:
			w.note("gdb's number", "%s", m.Path)
		case m.Status == "value" && m.Bytes != "" && !strings.Contains(ours.Bytes, "..") && ours.Bytes != m.Bytes:
			w.note("member bytes differ", "%s: %s: %s, gdb %s", place, m.Path, ours.Bytes, m.Bytes)
		default:
			w.note("member equal", "%s", m.Path)
		}
	}
}

// swapped reports whether a type of testdata/variables has the other byte order. truth.py writes gdb's numbers in
// the CPU's order, not in the order of memory.
func swapped(typ string) bool { return typ == "struct wire" }

// reversed returns bytes in hexadecimal from the last to the first.
func reversed(hex string) string {
	var b strings.Builder
	for i := len(hex) - 2; i >= 0; i -= 2 {
		b.WriteString(hex[i : i+2])
	}
	return b.String()
}

// plainPath normalizes names of types where gdb and compilers differ: blanks, 0ul for 0UL, and short for short int.
func plainPath(path string) string { return plainWords.Replace(strings.ToLower(path)) }

var plainWords = strings.NewReplacer(" int", "", " ", "")

// known reports whether all nodes on a path that exist have a value.
func known(leaves map[string]leaf, path string) bool {
	for i := range path {
		if n, ok := leaves[path[:i]]; ok && path[i] == '.' && n.Status != eval.HasValue {
			return false
		}
	}
	return true
}

// leaf is a node of a tree, and its offset from the start of the variable.
type leaf struct {
	*show.Node
	Offset uint64
}

// leavesOf collects nodes by their paths, as truth.json writes them.
func leavesOf(to map[string]leaf, path string, offset uint64, nodes []show.Node) {
	for i := range nodes {
		n := &nodes[i]
		at := path + n.Name
		if path != "" && !strings.HasPrefix(n.Name, "[") {
			at = path + "." + n.Name
		}
		to[plainPath(at)] = leaf{n, offset + n.Offset}
		leavesOf(to, at, offset+n.Offset, n.Members)
	}
}

// value compares those bytes of a variable that gdb knows.
func (w *truthWalk) value(place string, inlined bool, want *walktest.TruthVariable, got *eval.Variable, ours string) {
	known, equal, wrong, lost := 0, 0, 0, 0
	for i := 0; i+1 < len(want.Bytes); i += 2 {
		b := want.Bytes[i : i+2]
		if b == ".." || b == "__" {
			continue
		}
		known++
		switch {
		case i+2 > len(ours) || ours[i:i+2] == "..":
			lost++
		case ours[i:i+2] == b:
			equal++
		default:
			wrong++
		}
	}
	why := ""
	switch {
	case len(want.Clobbered) > 0:
		why = " clobbered"
	case want.ConstAggregate:
		why = " const_aggregate"
	}
	if len(ours) != len(want.Bytes) && why == "" {
		w.note("size differs", "%s: %d, gdb %d", place, len(ours)/2, len(want.Bytes)/2)
	}
	switch {
	case wrong > 0 && inlined && slices.ContainsFunc(w.outer.Variables, func(v walktest.TruthVariable) bool { return v.Bytes == ours }):
		w.note("gdb is wrong", "%s", place)
	case wrong > 0 && swapped(want.Type):
		w.note("gdb's number", "%s", place)
	case wrong > 0:
		w.note("WRONG"+why, "%s: %s, gdb %s", place, ours, want.Bytes)
	case lost > 0 && got.Why == "" && why == "":
		w.note("lost without a reason", "%s: %s, gdb %s", place, ours, want.Bytes)
	case lost > 0:
		w.note("lost"+why, "%s: %s (%s), gdb %s", place, ours, got.Why, want.Bytes)
	default:
		w.note("equal", "%s", place)
	}
	w.count["bytes"] += known
	w.count["bytes equal"] += equal
}

// least is the minimum number of values that equal gdb's.
var least = map[string]int{"core": 2333, "dump.dmp": 2333, "core2md.dmp": 2160}

// Every byte of a variable that symtool shows equals the one that gdb shows, whether the symbols are read
// from binaries or from symbol files and files of variables.
//
// Where we differ: gdb shows registers that a call may have changed ("clobbered"), and fills bytes that no piece of
// a location describes with zeros; gdb's values at entry are wrong in inlined functions, and are right a frame
// further out; constants in .rodata are in no dump, and what is passed to functions of other modules is known only
// from dumps that have the words with the addresses of these functions.
//
// Blocks in which no variable has a location are not in the records, such as gcc's copies of the variables
// of inlined functions, and those that rustc has in the abstract instance alone: gdb lists their variables, all of
// them optimized out.
//
// Members equal gdb's, with paths, offsets, sizes and bytes, except for the characters of Fortran's strings.
func TestVariables(t *testing.T) {
	shared := testenv.Shared(t, "data")
	for _, text := range []bool{false, true} {
		system := varSymbols{}
		for _, name := range []string{"libc.so.6", "ld-linux-x86-64.so.2"} {
			system.add(t, filepath.Join(shared, "crashes", "system", name), text)
		}
		totals := map[string]tally{"core": {}, "dump.dmp": {}, "core2md.dmp": {}}
		for _, name := range walktest.VarCases(t) {
			dir := filepath.Join(shared, "vars", name)
			symbols := maps.Clone(system)
			symbols.add(t, testenv.Unpacked(t, filepath.Join(dir, "prog")), text)
			for file, total := range totals {
				if path := filepath.Join(dir, file+".gz"); exists(path) {
					total.add(compareTruth(t, name+"/"+file, walktest.Opened(t, path), &walk.SymbolSet{Symbols: symbols}, walktest.ReadTruth(t, name)))
				}
			}
		}
		for file, total := range totals {
			t.Logf("%s, text %v: %v", file, text, total)
			if total["equal"] < least[file] {
				t.Errorf("%s: %d values equal, want %d", file, total["equal"], least[file])
			}
			for _, bad := range wrongOutcomes {
				if total[bad] > 0 {
					t.Errorf("%s, text %v: %s: %d", file, text, bad, total[bad])
				}
			}
		}
	}
}

// wrongOutcomes are outcomes of a comparison that must not occur.
var wrongOutcomes = []string{
	"INVENTED", "WRONG", "WRONG clobbered", "thread missing", "frame missing", "functions differ", "kind differs", "only ours", "not listed, with a value", "not listed, no copy of a block",
	"member missing", "member offset differs", "member bits differ", "member size differs", "member bytes differ",
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// compareTruth walks a dump of a case, and compares the variables.
func compareTruth(t testing.TB, name string, d *dump.Dump, sources *walk.SymbolSet, truth *walktest.Truth) tally {
	t.Helper()
	defer sources.Close()
	r, err := walk.NewWalker(sources, walk.Config{}).Walk(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	w := truthWalk{t: t, name: name, result: r, vars: r.Variables(context.Background()), count: tally{}, printer: show.New(show.Options{Depth: 64, Length: 1000})}
	w.compare(truth)
	return w.count
}
