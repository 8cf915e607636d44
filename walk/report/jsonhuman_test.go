package report

import (
	"fmt"
	stdmaps "maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
)

// humanFrame is a frame, or a function that was inlined, of rust-minidump's
// output for people.
type humanFrame struct {
	place string            // "test_app.exe!main [test_app.cc : 65 + 0x4]", without "+ 0x4"
	regs  map[string]string // nil for an inlined function
	found string            // "call frame info", "inlining"
}

// humanText is rust-minidump's output for people.
type humanText struct {
	threads map[string][]humanFrame // by id
	modules []string
}

var (
	humanThread   = regexp.MustCompile(`^Thread \d+ .*- tid: (\d+)$`)
	humanPlace    = regexp.MustCompile(`^ ?\d+  (\S.*)$`)
	humanRegister = regexp.MustCompile(`(\w+) = (0x[0-9a-f]+)`)
	humanModule   = regexp.MustCompile(`^0x[0-9a-f]+ - 0x[0-9a-f]+  `)
	humanOffset   = regexp.MustCompile(` \+ 0x[0-9a-f]+\]$`)
)

func parseHuman(text string) humanText {
	h := humanText{threads: map[string][]humanFrame{}}
	thread := ""
	last := func() *humanFrame { return &h.threads[thread][len(h.threads[thread])-1] }
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case humanThread.MatchString(line):
			thread = humanThread.FindStringSubmatch(line)[1]
			h.threads[thread] = []humanFrame{}
		case humanModule.MatchString(line):
			h.modules = append(h.modules, line)
		case thread == "":
		case strings.HasPrefix(line, "    Found by: "):
			last().found = strings.TrimPrefix(line, "    Found by: ")
		case humanPlace.MatchString(line):
			place := humanOffset.ReplaceAllString(humanPlace.FindStringSubmatch(line)[1], "]")
			h.threads[thread] = append(h.threads[thread], humanFrame{place: place})
		case strings.HasPrefix(line, "     "):
			f := last()
			if f.regs == nil {
				f.regs = map[string]string{}
			}
			for _, m := range humanRegister.FindAllStringSubmatch(line, -1) {
				f.regs[m[1]] = m[2]
			}
		case line == "Loaded modules:":
			thread = ""
		}
	}
	return h
}

// humanFrames returns the frames of a thread as rust-minidump would print them.
func humanFrames(t *testing.T, doc *Document, s *walk.Stack, frames docFrames) (all []humanFrame) {
	t.Helper()
	base := func(path *string) string { return (*path)[strings.LastIndexAny(*path, `/\`)+1:] }
	for i := range frames.size() {
		f, module := frames.at(i), ""
		if f.Module != nil {
			module = *f.Module + "!"
		}
		for _, in := range f.Inlines {
			all = append(all, humanFrame{place: fmt.Sprintf("%s%s [%s : %d]", module, in.Function, base(in.File), *in.Line), found: "inlining"})
		}
		h := humanFrame{regs: f.Registers, found: s.Frames[i].Trust.Text()}
		switch {
		case f.Function != nil && f.Line != nil:
			h.place = fmt.Sprintf("%s%s [%s : %d]", module, *f.Function, base(f.File), *f.Line)
		case f.Function != nil:
			h.place = fmt.Sprintf("%s%s + 0x%s", module, *f.Function, strings.TrimLeft((*f.FunctionOffset)[2:], "0"))
		case f.Module != nil:
			h.place = fmt.Sprintf("%s + 0x%s", *f.Module, strings.TrimLeft((*f.ModuleOffset)[2:], "0"))
		default:
			h.place = "0x" + strings.TrimLeft(f.Offset[2:], "0")
			for _, u := range f.UnloadedModules {
				var offsets []string
				for _, off := range u.Offsets {
					offsets = append(offsets, "0x"+strings.TrimLeft(off[2:], "0"))
				}
				h.place += fmt.Sprintf(" (unloaded %s@%s)", u.Module, strings.Join(offsets, "|"))
			}
		}
		all = append(all, h)
	}
	return all
}

// diffHuman lists where the frames of a thread differ.
func diffHuman(thread string, want, got []humanFrame) (diffs []string) {
	add := func(i int, format string, args ...any) {
		diffs = append(diffs, fmt.Sprintf("thread %s frame %d: ", thread, i)+fmt.Sprintf(format, args...))
	}
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(want):
			add(i, "not in theirs, got %q by %s", got[i].place, got[i].found)
			continue
		case i >= len(got):
			add(i, "want %q by %s, not in ours", want[i].place, want[i].found)
			continue
		}
		if want[i].place != got[i].place {
			add(i, "want %q, got %q", want[i].place, got[i].place)
		}
		if want[i].found != got[i].found {
			add(i, "want %q, got %q", want[i].found, got[i].found)
		}
		names := map[string]bool{}
		for name := range want[i].regs {
			names[name] = true
		}
		for name := range got[i].regs {
			names[name] = true
		}
		for _, name := range slices.Sorted(stdmaps.Keys(names)) {
			if w, g := want[i].regs[name], got[i].regs[name]; w != g {
				add(i, "%s: want %q, got %q", name, w, g)
			}
		}
	}
	return diffs
}

var humanRules = []peerRule{
	{"json-pretty-symbols", regexp.MustCompile(`^thread 3060 frame [123]: (ebx|esi|edi): want "0x[0-9a-f]{8}", got ""$`),
		"behind STACK WIN, rust-minidump gives callers the callee-saved registers that the program does not set; Breakpad, whose output we have byte for byte, does not", 9},
	{"macos_inlines_json_pretty", regexp.MustCompile(`^thread 4611 frame 19: want "libdyld.dylib \+ 0x15f3c" by stack scanning, not in ours$`),
		"rust-minidump finds the frame before again by a scan: the walk is at its end, with a saved frame pointer of 0", 1},
}

// The registers and the trust of every frame, and the list of modules, equal
// rust-minidump's output for people.
func TestPeerHuman(t *testing.T) {
	for _, c := range peerCases {
		t.Run(c.name(), func(t *testing.T) {
			want := parseHuman(string(peerText(t, c.human)))
			r := peerWalk(t, c)
			doc := NewDocument(r, DocumentOptions{Registers: true})
			var diffs []string
			frames, regs := 0, 0
			for i, thread := range doc.Threads {
				id := fmt.Sprint(thread.ThreadID)
				for _, f := range want.threads[id] {
					frames++
					regs += len(f.regs)
				}
				diffs = append(diffs, diffHuman(id, want.threads[id], humanFrames(t, doc, &r.Stacks[i], thread.Frames))...)
			}
			walked := slices.DeleteFunc(slices.Clone(r.Stacks), func(s walk.Stack) bool { return s.End == walk.EndWriter })
			if len(want.threads) != len(walked) {
				t.Errorf("%d threads, want %d", len(walked), len(want.threads))
			}
			allowPeer(t, c, humanRules, diffs)
			if got := humanModules(r.Dump); !slices.Equal(got, want.modules) {
				t.Errorf("modules:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want.modules, "\n"))
			}
			t.Logf("compared %d frames, %d registers, %d modules", frames, regs, len(want.modules))
		})
	}
}

// humanModules returns the list of modules as rust-minidump prints it.
func humanModules(d *dump.Dump) (lines []string) {
	for i := range d.Modules {
		m := &d.Modules[i]
		version := m.Version
		if version == "" {
			version = "???"
		}
		line := fmt.Sprintf("0x%08x - 0x%08x  %s  %s", m.Addr, m.Addr+m.Size-1, d.System.OS.Base(m.Path), version)
		if i == d.Main {
			line += "  (main)"
		}
		lines = append(lines, line)
	}
	for i := range d.Unloaded {
		m := &d.Unloaded[i]
		lines = append(lines, fmt.Sprintf("0x%08x - 0x%08x  %s", m.Addr, m.Addr+m.Size-1, d.System.OS.Base(m.Path)))
	}
	return lines
}

// A frame without a module names the modules that were there before, as in the dump that
// rust-minidump's test makes.
func TestPeerUnloaded(t *testing.T) {
	want := parseHuman(string(peerText(t, "human-unloaded.txt")))
	d := &dump.Dump{Arch: arch.X86, Main: -1}
	for _, line := range want.modules {
		var m dump.Module
		var end uint64
		if _, err := fmt.Sscanf(line, "0x%x - 0x%x  %s", &m.Addr, &end, &m.Path); err != nil {
			t.Fatal(err)
		}
		m.Size = end - m.Addr + 1
		d.Unloaded = append(d.Unloaded, m)
	}
	c := dump.NewContext(arch.X86)
	for _, name := range []string{"$eip", "$esp", "$ebp", "$ebx", "$esi", "$edi", "$eax", "$ecx", "$edx", "$eflags"} {
		c.Set(name, 0)
	}
	c.Set("$eip", 0xf00800)
	c.Set("$esp", 0x1010)
	d.Threads = []dump.Thread{{ID: 4660, Context: c}}
	r, err := walk.NewWalker(&walk.SymbolSet{}, walk.Config{}).Walk(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	doc := NewDocument(r, DocumentOptions{Registers: true})
	for _, diff := range diffHuman("4660", want.threads["4660"], humanFrames(t, doc, &r.Stacks[0], doc.Threads[0].Frames)) {
		t.Error(diff)
	}
	if got := humanModules(d); !slices.Equal(got, want.modules) {
		t.Errorf("modules %q", got)
	}
}
