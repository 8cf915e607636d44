package report

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/walktest/walks"
)

//go:embed testdata/page_user.js
var testdata embed.FS

// hostileName would run a script if it were not escaped, and end the page's data.
const hostileName = `hostile</script><script>document.documentElement.dataset.hostile = "yes"</script><!--` + "\u202e\x1b[2J"

// manyThreads returns a walk of threads with frames, each with registers and a stack.
func manyThreads(threads, frames int) *walk.Result {
	d := &dump.Dump{
		System: dump.System{OS: dump.Linux}, Arch: arch.X86_64, Main: 0,
		Modules: []dump.Module{
			{Path: "/bin/app", DebugID: "A0", Range: dump.Range{Addr: 0x400000, Size: 0x100000}},
			{Path: "/lib/" + hostileName, DebugID: hostileName, Range: dump.Range{Addr: 0x600000, Size: 0x1000}},
		},
		Crash: &dump.Crash{Thread: 1},
	}
	r := &walk.Result{Dump: d, Modules: make([]walk.Symbols, 2)}
	index := func(name string) int16 {
		return int16(slices.IndexFunc(d.Arch.Regs, func(r arch.Reg) bool { return d.Arch.Label(r.Name) == name }))
	}
	rip, rsp, rbx := index("rip"), index("rsp"), index("rbx")
	for t := range threads {
		d.Threads = append(d.Threads, dump.Thread{ID: uint32(t + 1), Name: "worker"})
		s := walk.Stack{Thread: t, End: walk.EndStart, Why: "start is where threads begin"}
		for i := range frames {
			pc, sp := uint64(0x400000+16*i), uint64(0x7f0000000000+1<<20*t+64*i)
			f := walk.Frame{PC: pc, Inst: pc, SP: sp, Trust: walk.TrustCFI, By: walk.BySymbols, Start: 0x400000}
			f.Registers = []walk.Register{{Index: rip, Value: pc}, {Index: rsp, Value: sp}, {Index: rbx, Value: 7}}
			f.Names = []resolve.Frame{{Function: fmt.Sprintf("app::Worker<std::string>::step_%d(int)", i%200), File: fmt.Sprintf("/src/app/worker%d.cc", i%20), Line: uint32(i + 1)}}
			if i == 0 {
				f.Trust = walk.TrustContext
				f.Names = append([]resolve.Frame{{Function: "app::inlined", File: "/src/app/in.h", Line: 3}}, f.Names...)
			}
			s.Frames = append(s.Frames, f)
		}
		r.Stacks = append(r.Stacks, s)
	}
	last := &r.Stacks[threads-1]
	f := &last.Frames[len(last.Frames)-1]
	f.Module, f.Inst, f.Names = 1, 0x600010, []resolve.Frame{{Function: hostileName}}
	return r
}

func pageOf(t *testing.T, r *walk.Result, o HTMLOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteHTML(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A page shows the same as the text and the document.
func TestHTML(t *testing.T) {
	s := walks.BinarySources(t, testenv.Input(t, "walk-sources.elf"))
	r := walks.Dump(t, testenv.Input(t, "walk-sources.core.gz"), s, walk.Config{})
	page := pageOf(t, r, HTMLOptions{
		Dump: "a<b>.core", Generator: "symtool test", Verdict: &HTMLVerdict{Conclusion: "symbols to blame", Findings: []string{"missing <x>"}},
		Variables: NewVariables(r.Variables(context.Background()), VariableOptions{Locals: true}),
	})
	for _, want := range []string{
		"<title>symtool walk: a&lt;b&gt;.core</title>", "SIGSEGV / SEGV_MAPERR", "mov rax, qword [rax&#43;8*rdi]", "read 8 bytes at 0x0000000000000030", "a null pointer &#43; 0x0000000000000030",
		`<div class="panel bad"><strong>symbols to blame</strong><ul><li>missing &lt;x&gt;</li>`, `"recurse"`, `"title":"Thread 0 (crashed), id `, "walk_sources.c", "depth = ",
		`<span class="good">binary</span>`, "17F473446FAE06D27ECE5A270227EC290", "_start is where threads begin", " 0  walk-sources.elf!crash [walk_sources.c : 20 &#43; 0x7]",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// Names cannot break out of their places, and pages do not depend on anything outside them.
func TestHTMLHostile(t *testing.T) {
	r := manyThreads(2, 3)
	r.Dump.Threads[0].Name, r.Stacks[0].Why, r.Stacks[0].Notes = hostileName, hostileName, []string{hostileName}
	page := pageOf(t, r, HTMLOptions{Dump: hostileName, Generator: "x", Verdict: &HTMLVerdict{Conclusion: hostileName}})
	for _, bad := range []string{hostileName, "<script>document.documentElement.dataset.hostile", "\x1b", "http://", "https://", " src="} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if n := strings.Count(page, "</script>"); n != 2 {
		t.Errorf("%d scripts, want the data and the page's", n)
	}
}

// A page for a thousand threads has all of them and is smaller than 10 MB. What is beyond the
// limits is counted.
func TestHTMLSize(t *testing.T) {
	page := pageOf(t, manyThreads(1000, 50), HTMLOptions{Dump: "a", Generator: "x"})
	if len(page) > 10<<20 {
		t.Errorf("%d bytes for 1,000 threads of 50 frames", len(page))
	}
	t.Logf("%d bytes", len(page))
	if page := pageOf(t, manyThreads(3, maxPageFrames/2), HTMLOptions{Dump: "a", Generator: "x"}); !strings.Contains(page, `"cut":30000,"frames":[]}`) {
		t.Error("30,000 frames of the third thread are not counted")
	}
	r := manyThreads(1, 2000)
	for i := range r.Stacks[0].Frames {
		r.Stacks[0].Frames[i].Names = []resolve.Frame{{Function: strings.Repeat(fmt.Sprint(i, "<"), 1<<10)}}
	}
	r.Stacks[0].Why = strings.Repeat("<", 1<<20)
	if page := pageOf(t, r, HTMLOptions{Dump: "a", Generator: "x"}); len(page) > 2*maxPageNames {
		t.Errorf("%d bytes with long names", len(page))
	}
}

// The page is used by keys in a browser.
func TestOracleHTML(t *testing.T) {
	testenv.Oracle(t)
	page := pageOf(t, manyThreads(1000, 50), HTMLOptions{Dump: "a", Generator: "x"})
	script, err := testdata.ReadFile("testdata/page_user.js")
	if err != nil {
		t.Fatal(err)
	}
	policy := regexp.MustCompile(`script-src &#39;sha256-[^ "]*&#39;`)
	page = policy.ReplaceAllString(page, "script-src &#39;unsafe-inline&#39;")
	dom := testenv.DOM(t, strings.Replace(page, "</body>", "<script>"+string(script)+"</script></body>", 1))
	m := regexp.MustCompile(`(?s)<pre id="seen">(.*?)</pre>`).FindStringSubmatch(dom)
	if m == nil {
		t.Fatalf("the scripts did not run:\n%.2000s", dom)
	}
	const want = `made=true
shown=50,000 frames in 1,000 threads
chosen=0contextapp::Worker&lt;std::string&gt;::step_0(int) ▸ 1 inlinedappworker0.cc:1
registers=true
down=1cfiapp::Worker&lt;std::string&gt;::step_1(int)appworker1.cc:2
differs=true
unfolded=app::inlined
folded=true
closed=50,000 frames in 1,000 threads
last=49cfi`
	if got := m[1]; !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "none=0 frames in 0 threads 0\nhostile=no") ||
		!strings.Contains(got, "\nsearch has the focus=true\nfound=1 frame in 1 thread\nnext=49cfihostile&lt;/script&gt;") {
		t.Errorf("in the browser:\n%s\nwant:\n%s", got, want)
	}
}
