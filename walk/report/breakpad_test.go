package report

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/internal/walktest/walks"
)

// breakpadWalk walks one of Breakpad's dumps with Breakpad's symbols.
func breakpadWalk(t *testing.T, name string) *walk.Result {
	t.Helper()
	return walks.Dump(t, testenv.Shared(t, "data", "minidumps", "breakpad", name), breakpadSources(t), walk.Config{Trace: true})
}

func breakpadSources(t *testing.T) *walk.SymbolSet {
	return walks.SymbolSources(t, testenv.Shared(t, "data", "minidumps", "breakpad", "symbols"))
}

// breakpadFile is one of Breakpad's expected outputs, which have the line ends
// of Windows.
func breakpadFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(testenv.Shared(t, "data", "minidumps", "breakpad", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(data), "\r", "")
}

// Both outputs are Breakpad's own, byte for byte.
func TestBreakpadOutput(t *testing.T) {
	r := breakpadWalk(t, "minidump2.dmp")
	var text, machine bytes.Buffer
	if err := WriteText(&text, r, TextOptions{Registers: true}); err != nil {
		t.Fatal(err)
	}
	if err := WriteMachine(&machine, r); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{
		"minidump2.stackwalk.out": text.String(), "minidump2.stackwalk.machine_readable.out": machine.String(),
	} {
		if want := breakpadFile(t, name); got != want {
			t.Errorf("%s: got\n%swant\n%strace\n%s", name, got, want, strings.Join(r.Stacks[0].Trace, "\n"))
		}
	}
}

// stackLines returns the frames of a stack: module, function or offset, and
// technique.
func stackLines(d *dump.Dump, s *walk.Stack) (lines []string) {
	for i := range s.Frames {
		f := &s.Frames[i]
		for k := range max(len(f.Names), 1) {
			v := view{d: d}
			name, file, line, off := v.place(f, k)
			shown := "?"
			if f.Module >= 0 {
				shown = text.Base(d.Modules[f.Module].Path)
			}
			switch {
			case name == "":
				shown += fmt.Sprintf("+%#x", off)
			case file == "":
				shown += fmt.Sprintf("!%s+%#x", name, off)
			default:
				shown += fmt.Sprintf("!%s %s:%d", name, text.Base(file), line)
			}
			if k+1 < len(f.Names) {
				lines = append(lines, shown+" inline")
			} else {
				lines = append(lines, shown+" "+f.By.String())
			}
		}
	}
	return append(lines, s.End.String())
}

// Breakpad's other dumps. If their symbols have call frame information, no frame is found
// by a scan. Without symbols, the walk follows the chain of frame pointers as far as it
// goes.
func TestBreakpadStacks(t *testing.T) {
	for _, c := range []struct {
		name   string
		thread int
		want   string
	}{
		// The symbols have neither a name nor rules for the program's entry, which has called
		// __libc_start_main: it is known from the auxiliary vector.
		{"linux_null_read_av", 0, `null_read_av!crash() null_read_av.cc:18 context
null_read_av!main null_read_av.cc:27 symbols
libc-2.13.so!__libc_start_main+0xfd symbols
null_read_av+0x205d symbols
start`},
		// The same, and PUBLIC symbols of libc, which do not know static functions:
		// what is called __fsetlocking is __libc_message.
		{"linux_overflow", 0, `libc-2.13.so!gsignal+0x35 context
libc-2.13.so!abort+0x180 symbols
libc-2.13.so!__fsetlocking+0x38b symbols
libc-2.13.so!__fortify_fail+0x37 symbols
libc-2.13.so!__chk_fail+0x10 symbols
overflow!overflow(char const*) string3.h:105 symbols
overflow!main overflow.cc:45 symbols
libc-2.13.so!__libc_start_main+0xfd symbols
overflow+0x23f5 symbols
start`},
		// No symbols at all. main has a frame pointer; the entry has set it to 0.
		{"linux_divide_by_zero", 0, `driver+0x1f27 context
driver+0x1fcf frame-pointer
libc-2.19.so+0x21ec5 frame-pointer
outermost`},
		{"read_av_conditional", 0, `crashme.exe+0x109e context
crashme.exe+0x3617 frame-pointer
kernel32.dll+0x13677 frame-pointer
ntdll.dll+0x39d42 frame-pointer
ntdll.dll+0x39d15 frame-pointer
zero`},
		{"thread_name_list", 0, `ntdll.dll+0x706ac context
KERNELBASE.dll+0x1186b2 frame-pointer
allocer32.exe+0x183b frame-pointer
allocer32.exe+0x34f0 frame-pointer
kernel32.dll+0x20419 frame-pointer
ntdll.dll+0x666dd frame-pointer
ntdll.dll+0x666ad frame-pointer
zero`},
		{"thread_name_list", 5, `allocer32.exe+0x15fd context
kernel32.dll+0x20419 frame-pointer
ntdll.dll+0x666dd frame-pointer
ntdll.dll+0x666ad frame-pointer
zero`},
	} {
		t.Run(fmt.Sprint(c.name, " ", c.thread), func(t *testing.T) {
			r := breakpadWalk(t, c.name+".dmp")
			s := &r.Stacks[c.thread]
			if got := strings.Join(stackLines(r.Dump, s), "\n"); got != c.want {
				t.Errorf("got\n%s\nwant\n%s\ntrace\n%s", got, c.want, strings.Join(s.Trace, "\n"))
			}
		})
	}
}

// Both forms of INLINE records; the old form has no files of calls. The program's symbols
// have no call frame information, and those of libc are missing.
func TestBreakpadInlines(t *testing.T) {
	const id = "BBA6FA10B8AAB33D00000000000000000"
	for form, files := range map[string][4]string{
		"new": {"linux_inline.cpp", "c.cpp", "b.cpp", "a.cpp"},
		"old": {"linux_inline.cpp", "linux_inline.cpp", "linux_inline.cpp", "linux_inline.cpp"},
	} {
		data, err := os.ReadFile(testenv.Shared(t, "data", "minidumps", "breakpad", "symbols", "linux_inline", id, "linux_inline."+form+".sym"))
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "linux_inline", id)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "linux_inline.sym"), data, 0o644); err != nil {
			t.Fatal(err)
		}
		sources := walks.SymbolSources(t, filepath.Dir(filepath.Dir(dir)))
		r := walks.Dump(t, testenv.Shared(t, "data", "minidumps", "breakpad", "linux_inline.dmp"), sources, walk.Config{MaxFrames: 2})
		want := fmt.Sprintf(`linux_inline!func() %s:27 inline
linux_inline!bar() %s:32 inline
linux_inline!foo() %s:39 inline
linux_inline!main %s:42 context
libc.so.6+0x26d0a frame-pointer
limit`, files[0], files[1], files[2], files[3])
		if got := strings.Join(stackLines(r.Dump, &r.Stacks[0]), "\n"); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", form, got, want)
		}
	}
}

// The registers of a 64-bit Windows process with a shadow stack are read although XSAVE
// data precede them; the topmost function is a system call, a leaf.
func TestBreakpadShadowStack(t *testing.T) {
	r := breakpadWalk(t, "tiny-exe-with-cet-xsave.dmp")
	for i := range r.Stacks {
		lines := stackLines(r.Dump, &r.Stacks[i])
		if len(lines) < 3 || !strings.HasPrefix(lines[0], "ntdll.dll+") || !strings.HasSuffix(lines[1], " return") {
			t.Errorf("thread %d: %q", i, lines)
		}
	}
}

// Any damage to a dump gives outputs without control characters.
func TestBreakpadDamaged(t *testing.T) {
	data, err := os.ReadFile(testenv.Shared(t, "data", "minidumps", "breakpad", "minidump2.dmp"))
	if err != nil {
		t.Fatal(err)
	}
	w := walk.NewWalker(breakpadSources(t), walk.Config{MaxFrames: 1000})
	rng := rand.New(rand.NewPCG(3, 4))
	walked := 0
	for range 500 {
		bad := slices.Clone(data)
		for range 1 + rng.IntN(40) {
			bad[rng.IntN(len(bad))] = byte(rng.Uint32())
		}
		d, err := dumpfile.Read(bad, "x.dmp", dumpfile.Options{})
		if err != nil {
			continue
		}
		r, err := w.Walk(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		walked++
		all := textOf(t, r, TextOptions{Registers: true, Stack: true, Ends: true}) + machineOf(t, r)
		if i := strings.IndexFunc(all, func(c rune) bool { return c != '\n' && unicode.IsControl(c) }); i >= 0 || !utf8.ValidString(all) {
			t.Fatalf("control character at %d in %q", i, all)
		}
	}
	if walked < 300 {
		t.Errorf("only %d dumps could be read", walked)
	}
}
