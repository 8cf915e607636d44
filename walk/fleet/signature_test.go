package fleet

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
)

// resultOf returns a walk of one thread, which crashed. A frame is FUNCTION; MODULE@ for a frame without a function at
// offset 0x10; "@" for a frame outside modules; or functions joined by "<-", the innermost first.
func resultOf(frames ...string) *walk.Result {
	d := &dump.Dump{System: dump.System{OS: dump.Linux}, Threads: []dump.Thread{{ID: 7}}, Crash: &dump.Crash{Thread: 7}}
	s := walk.Stack{}
	for i, text := range frames {
		f := walk.Frame{Module: -1, Inst: 0x1234}
		if name, ok := strings.CutSuffix(text, "@"); !ok {
			for _, function := range strings.Split(text, "<-") {
				f.Names = append(f.Names, resolve.Frame{Function: function})
			}
		} else if name != "" {
			f.Module, f.Inst = len(d.Modules), uint64(i+1)<<20+0x10
			d.Modules = append(d.Modules, dump.Module{Path: "/lib/" + name, Range: dump.Range{Addr: uint64(i+1) << 20, Size: 0x1000}})
		}
		s.Frames = append(s.Frames, f)
	}
	return &walk.Result{Dump: d, Stacks: []walk.Stack{s}}
}

func mustParse(t *testing.T, text string) *Rules {
	t.Helper()
	r, err := ParseRules(strings.NewReader(text), "test.rules")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The addresses of modules and of generated code, which differ between processes, do not change a signature.
func TestSignatureMoves(t *testing.T) {
	for _, rules := range []*Rules{DefaultRules(), mustParse(t, "prefix .*")} {
		for _, frames := range []string{"@", "@,@", "@,f,main", "libfoo.so@,@,f", "f,@,libbar.so@"} {
			here := NewSignatureMaker(rules).Of(movedBy(resultOf(strings.Split(frames, ",")...), 0x55c5d6c48000))
			there := NewSignatureMaker(rules).Of(movedBy(resultOf(strings.Split(frames, ",")...), 0x7f3310000000))
			if here != there || here == "" {
				t.Errorf("%s: %q and %q", frames, here, there)
			}
		}
	}
}

// movedBy moves all code of a walk.
func movedBy(r *walk.Result, by uint64) *walk.Result {
	for i := range r.Dump.Modules {
		r.Dump.Modules[i].Addr += by
	}
	for i := range r.Stacks[0].Frames {
		r.Stacks[0].Frames[i].Inst += by
	}
	return r
}

func TestSignature(t *testing.T) {
	rules := mustParse(t, `
# a comment
start _purecall$
keep special_abort
skip .*abort
prefix malloc
trim libc\.so
`)
	for _, c := range []struct {
		frames string // separated by commas
		want   string
	}{
		{"crash(int),main", "crash"},
		{"malloc,_malloc,main", "malloc | _malloc"},
		{"abort,malloc,f<int>(int),main", "malloc | f<T>"},
		{"special_abort,main", "special_abort"}, // an earlier rule decides
		{"libc.so.6@,libc.so.6@,f", "libc.so.6 | f"},
		{"libc.so.6@", "libc.so.6"},
		{"libfoo.so@,f", "libfoo.so@0x10"},
		{"@,f", "@0x1234"},
		{"a,b,_purecall,malloc,c,d", "_purecall | malloc | c"},
		{"abort,abort", "abort"}, // nothing is left
		{"malloc<-abort<-g(int),main", "malloc | g"},
		{"malloc", "malloc"},
		{"", ""},
	} {
		var frames []string
		if c.frames != "" {
			frames = strings.Split(c.frames, ",")
		} else {
			c.want = noFrames
		}
		if got := NewSignatureMaker(rules).Of(resultOf(frames...)); got != c.want {
			t.Errorf("%s: %q, want %q", c.frames, got, c.want)
		}
	}
	r := resultOf("f")
	r.Stacks = nil
	if got := NewSignatureMaker(rules).Of(r); got != noThread {
		t.Errorf("without stacks: %q", got)
	}
}

// Crashes as systems and languages raise them.
func TestDefaultRules(t *testing.T) {
	for frames, want := range map[string]string{
		"__pthread_kill_implementation;raise;abort;fail(int);main":                                                                                                                              "fail",
		"raise;abort;__gnu_cxx::__verbose_terminate_handler();__cxxabiv1::__terminate(void (*)());std::terminate();__cxa_throw;parse(char const*);main":                                         "parse",
		"rust_panic;std::panicking::rust_panic_with_hook;core::panicking::panic_fmt;core::option::unwrap_failed;app::run::h0123456789abcdef":                                                    "app::run",
		"runtime.raise;runtime.sigpanic;main.(*Store).Get":                                                                                                                                      "main.(*Store).Get",
		"runtime.raise;runtime.fatalthrow.func1;runtime.systemstack;runtime.systemstack_switch;runtime.fatalthrow;runtime.fatal;internal/runtime/maps.fatal;runtime.mapassign_fast64;main.fill": "runtime.mapassign_fast64 | main.fill",
		"runtime.raise;runtime.throw;runtime.(*mcache).allocLarge;runtime.mallocgcLarge;runtime.makeslice;main.grow":                                                                            "OOM | unknown | runtime.mallocgcLarge | runtime.makeslice | main.grow",
		"runtime.raise;runtime.fatalthrow;runtime.fatal;internal/sync.fatal;internal/sync.(*Mutex).unlockSlow;sync.(*Mutex).Unlock;main.f":                                                      "internal/sync.(*Mutex).unlockSlow | sync.(*Mutex).Unlock | main.f",
		"abort;libstdc++.so.6@;__gxx_personality_v0;libgcc_s.so.1@;_Unwind_RaiseException;__cxa_throw;libstdc++.so.6@;D::f();main":                                                              "libstdc++.so.6 | D::f",
		"abort;libstdc++.so.6@;std::terminate();on_exit();main":                                                                                                                                 "on_exit",
		"abort;quit();libstdc++.so.6@;std::terminate();main":                                                                                                                                    "quit",
		"__memmove_avx_unaligned_erms;std::vector<int, std::allocator<int> >::push_back(int&&);fill()":                                                                                          "__memmove_avx_unaligned_erms | std::vector<T>::push_back | fill",
		"_int_free;cfree;drop(A*)":    "_int_free | cfree | drop",
		"libc.so.6@;libc.so.6@;run()": "libc.so.6 | run",
		"@;main":                      "main",
		"raise;abort;__rustc::__rust_abort;__rustc::__rust_start_panic;__rustc[0123456789abcdef]::rust_panic;core::panicking::panic_fmt;core::option::Option<T>::expect;app::run": "app::run",
		"abort;std::__throw_bad_alloc();operator new(unsigned long);std::__new_allocator<char>::allocate(unsigned long, void const*);grow()":                                      "OOM | unknown | operator new | grow",
		"mozalloc_abort;mozalloc_handle_oom(unsigned int);moz_xmalloc;load()":                                                                                                     "mozalloc_abort",
		"mozalloc_handle_oom(unsigned int);moz_xmalloc;load()":                                                                                                                    "OOM | unknown | moz_xmalloc | load",
		"__rustc::__rust_alloc_error_handler;alloc::alloc::handle_alloc_error;app::read":                                                                                          "OOM | unknown | app::read",
		"__cxa_pure_virtual;A::~A()": "__cxa_pure_virtual | A::~A",
	} {
		if got := NewSignatureMaker(DefaultRules()).Of(resultOf(strings.Split(frames, ";")...)); got != want {
			t.Errorf("%s: %q, want %q", frames, got, want)
		}
	}
}

// What the dump says about memory and the stack comes first, as in Mozilla's crash statistics.
func TestCause(t *testing.T) {
	oom := func(size string) *walk.Result {
		r := resultOf("abort", "load()")
		r.Dump.Annotations = []dump.Annotation{{Key: "other", Value: "1"}, {Key: "OOMAllocationSize", Value: size}}
		return r
	}
	overflow := resultOf("sum(node*)", "sum(node*)")
	overflow.Stacks[0].Overflow = true
	for want, r := range map[string]*walk.Result{
		"OOM | small":          oom("262144"),
		"OOM | large | load":   oom("262145"),
		"OOM | unknown | load": oom("much"),
		"load":                 oom("0"),
		"stackoverflow | sum":  overflow,
	} {
		if got := NewSignatureMaker(DefaultRules()).Of(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	long := resultOf(strings.Repeat("x", 2*maxSignature))
	long.Stacks[0].Overflow = true
	if got := NewSignatureMaker(DefaultRules()).Of(long); len(got) > maxSignature || !strings.HasPrefix(got, "stackoverflow | x") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

// A library without symbols has the name by which it is linked: cores name the file, Crashpad's minidumps the DT_SONAME.
func TestModuleName(t *testing.T) {
	r := resultOf("libstdc++.so.6.0.30@", "parse()")
	r.Dump.Modules[0].DebugFile = "libstdc++.so.6"
	if got := NewSignatureMaker(DefaultRules()).Of(r); got != "libstdc++.so.6 | parse" {
		t.Errorf("%q", got)
	}
	r.Dump.System.OS, r.Dump.Modules[0].DebugFile = dump.Windows, "app.pdb"
	if got := NewSignatureMaker(DefaultRules()).Of(r); got != "libstdc++.so.6.0.30 | parse" {
		t.Errorf("%q", got)
	}
}

func TestSignatureLimits(t *testing.T) {
	var frames []string
	for i := range 2 * maxFrames {
		frames = append(frames, fmt.Sprintf("prefix%dé", i))
	}
	got := NewSignatureMaker(mustParse(t, "prefix .")).Of(resultOf(frames...))
	if len(got) > maxSignature || !strings.HasSuffix(got, "...") || strings.ToValidUTF8(got, "?") != got {
		t.Errorf("%d bytes: %q", len(got), got)
	}
	m := NewSignatureMaker(mustParse(t, "skip a"))
	for i := range maxActions + 10 {
		m.action(fmt.Sprint("name", i))
	}
	if len(m.actions) > maxActions {
		t.Errorf("%d names are kept", len(m.actions))
	}
	if got := NewSignatureMaker(mustParse(t, "keep x")).Of(resultOf("a\xff\x1bb")); got != "a\ufffd\x1bb" {
		t.Errorf("%q", got)
	}
}

func TestParseRulesErrors(t *testing.T) {
	for text, want := range map[string]string{
		"# x\n\nignore a": `f:3: rule "ignore": want skip, reset, prefix, trim, start, oom or keep`,
		"skip":            "f:1: skip without a pattern: want a regular expression of the names of frames",
		"skip a)|(b":      "f:1: skip \"a)|(b\": error parsing regexp: unexpected ): `a)|(b`",
		"prefix (":        "f:1: prefix \"(\": error parsing regexp: missing closing ): `(`",
		"keep " + strings.Repeat("a", maxRuleLine): "f:1: line of more than 65536 bytes",
		strings.Repeat("keep a\n", maxRules+1):     "f:10001: more than 10000 rules",
	} {
		_, err := ParseRules(strings.NewReader(text), "f")
		var rule *RuleError
		if !errors.As(err, &rule) || err.Error() != want {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
}

// Rules before others decide first.
func TestBefore(t *testing.T) {
	own, other := mustParse(t, "keep a"), mustParse(t, "start a\nskip b")
	both := own.Before(other)
	if both.action("a") != actKeep || both.action("b") != actSkip || !both.hasStart || len(own.list) != 1 {
		t.Errorf("%+v", both)
	}
}

func FuzzParseRules(f *testing.F) {
	f.Add(defaultText, "abort", "main")
	f.Add("skip a\nprefix (?i)b\n", "B", "a")
	f.Add("start \\pL", "é", "")
	f.Fuzz(func(t *testing.T, text, a, b string) {
		r, err := ParseRules(strings.NewReader(text), "f")
		if err != nil {
			return
		}
		got := NewSignatureMaker(r).Of(resultOf(a, b))
		if got == "" && a != "" || len(got) > maxSignature {
			t.Errorf("%q", got)
		}
	})
}
