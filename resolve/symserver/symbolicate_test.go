package symserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
)

// inlineText has inlined functions, a PUBLIC, and names that JSON must escape.
const inlineText = `MODULE windows x86_64 ABC1 app.pdb
INFO CODE_ID 5F8599C48000 app.exe
FILE 0 C:\src\main.rs
FILE 1 src/"helper".rs
INLINE_ORIGIN 0 middle<T>
INLINE_ORIGIN 1 inner
FUNC 7a40 85 0 main
INLINE 0 4 0 0 7a40 7d
INLINE 1 2 1 1 7a40 49
7a40 7 3 0
7a47 42 9 1
7a89 34 11 1
FUNC 8000 10 0 no lines
PUBLIC 9000 0 public & "quoted" é
`

func inlineServer(t testing.TB) *Server {
	t.Helper()
	dir := t.TempDir()
	keep(t, dir, "app.pdb", "ABC1", ".sym", []byte(inlineText))
	keep(t, dir, "libc.so", "ABD0", ".sym.gz", symbolText("libc.so", "ABD0", 1000))
	s, _ := newServer(t, Config{Dirs: []string{dir}, MaxBody: 2000, MaxFrames: 20})
	return s
}

// TestAnswers has complete answers, as the documentation of the API describes them.
func TestAnswers(t *testing.T) {
	s := inlineServer(t)
	for _, c := range []struct{ name, path, ask, want string }{
		{"inlined", "v5", `{"memoryMap":[["app.pdb","ABC1"]],"stacks":[[[0,31303]]]}`,
			`{"results":[{"stacks":[[{"frame":0,"module":"app.exe","module_offset":"0x7a47","function":"main","function_offset":"0x7","file":"C:\\src\\main.rs","line":4,
			"inlines":[{"function":"inner","file":"src/\"helper\".rs","line":9},{"function":"middle<T>","file":"src/\"helper\".rs","line":2}]}]],"found_modules":{"app.pdb/ABC1":true}}]}`},
		{"no lines, PUBLIC, nothing", "v5", `{"memoryMap":[["app.pdb","abc1"]],"stacks":[[[0,32769],[0,36865],[0,1],[0,18446744073709551615]]]}`,
			`{"results":[{"stacks":[[{"frame":0,"module":"app.exe","module_offset":"0x8001","function":"no lines","function_offset":"0x1"},
			{"frame":1,"module":"app.exe","module_offset":"0x9001","function":"public & \"quoted\" é","function_offset":"0x1"},{"frame":2,"module":"app.exe","module_offset":"0x1"},
			{"frame":3,"module":"app.exe","module_offset":"0xffffffffffffffff"}]],"found_modules":{"app.pdb/abc1":true}}]}`},
		{"no modules", "v5", `{"jobs":[{"memoryMap":[],"stacks":[[]]},{"stacks":[[],[[-1,1]]],"memoryMap":[["",""],["x","AB"],["y",""],["y",""]]}]}`,
			`{"results":[{"stacks":[[]],"found_modules":{}},{"stacks":[[],[{"frame":0,"module":"<unknown>","module_offset":"0x1"}]],"found_modules":{"/":null,"x/AB":null,"y/":null}}]}`},
		{"several modules", "v5", `{"other":{"a":[1,2]},"jobs":[{"memoryMap":[["libc.so","ABD0"],["app.pdb","ABC1"],["gone.so","ABE0"],["","AB"]],"stacks":[[[0,4096],[1,32769],[2,7],[3,8],[-1,9],[0,-1]],[[1,-1]]],"x":null}]}`,
			`{"results":[{"stacks":[[{"frame":0,"module":"libc.so","module_offset":"0x1000","function":"f0","function_offset":"0x0","file":"/src/libc.so.c","line":1},
			{"frame":1,"module":"app.exe","module_offset":"0x8001","function":"no lines","function_offset":"0x1"},{"frame":2,"module":"gone.so","module_offset":"0x7"},
			{"frame":3,"module":"<unknown>","module_offset":"0x8"},{"frame":4,"module":"<unknown>","module_offset":"0x9"},{"frame":5,"module":"libc.so","module_offset":"-0x1"}],
			[{"frame":0,"module":"app.exe","module_offset":"-0x1"}]],"found_modules":{"libc.so/ABD0":true,"app.pdb/ABC1":true,"gone.so/ABE0":false,"/AB":null}}]}`},
		{"the last of several", "v5", `{"stacks":[[[0,1]],[[0,2]]],"stacks":[[[0,3]]],"memoryMap":[["a","AB"]],"memoryMap":[["y","AB"]]}`,
			`{"results":[{"stacks":[[{"frame":0,"module":"y","module_offset":"0x3"}]],"found_modules":{"y/AB":false}}]}`},
		{"no jobs", "v5", `{"jobs":[]}`, `{"results":[]}`},
		{"v4", "v4", `{"memoryMap":[["app.pdb","ABC1"],["x","AB"],["y","AB"]],"stacks":[[[0,31303],[0,1],[1,2]],[]],"version":4}`,
			`{"symbolicatedStacks":[["main (in app.exe)","0x1 (in app.exe)","0x2 (in x)"],[]],"knownModules":[true,false,null]}`},
	} {
		r := ask(t, s, "POST", "/symbolicate/"+c.path, []byte(c.ask))
		got := body(t, r)
		if r.StatusCode != 200 || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Cache-Control") != "no-store" || !sameJSON(t, got, c.want) {
			t.Errorf("%s: %d\n%s\nwant\n%s", c.name, r.StatusCode, got, c.want)
		}
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var va, vb any
	if err := json.Unmarshal([]byte(a), &va); err != nil {
		t.Errorf("%v: %s", err, a)
		return false
	}
	if err := json.Unmarshal([]byte(b), &vb); err != nil {
		t.Fatal(err)
	}
	ja, _ := json.Marshal(va)
	jb, _ := json.Marshal(vb)
	return string(ja) == string(jb)
}

// TestBadRequests wants Eliot's message, if Eliot has one for the case.
func TestBadRequests(t *testing.T) {
	s := inlineServer(t)
	const maps, stacks = `"memoryMap":[["app.pdb","ABC1"]]`, `"stacks":[[[0,1]]]`
	for ask1, want := range map[string]string{
		``:                  "400 Payload is not valid JSON: offset 0: ",
		`{`:                 "400 Payload is not valid JSON: offset 1: ",
		`{"jobs":[{` + maps: "400 Payload is not valid JSON: offset ",
		`{"x":tru`:          "400 Payload is not valid JSON: offset ",
		`{"jobs":[]} x`:     "400 Payload is not valid JSON: offset ",
		`{"jobs":[]} {}`:    "400 Payload is not valid JSON: offset 13: there is data after it",
		"{\"\xff\":1}":      "400 Payload is not valid JSON: offset ",
		`[]`:                "400 payload must be an object",
		`"x"`:               "400 payload must be an object",
		`{}`:                "400 job 0 is invalid: no stacks specified",
		`{` + stacks + `}`:  "400 job 0 is invalid: no memoryMap specified",
		`{` + maps + `}`:    "400 job 0 is invalid: no stacks specified",
		`{"jobs":{}}`:       "400 jobs must be a list",
		`{"jobs":[[]]}`:     "400 job 0 is invalid",
		`{"jobs":[{` + maps + `,` + stacks + `},{}]}`:                       "400 job 1 is invalid: no stacks specified",
		`{"jobs":[` + strings.Repeat(`{`+maps+`,`+stacks+`},`, 10) + `{}]}`: "400 please limit number of jobs in a single request to <= 10",

		`{"memoryMap":123}`:                                                     "400 job 0 has invalid modules: modules must be a list",
		`{"memoryMap":["abc"]}`:                                                 "400 job 0 has invalid modules: module index 0 does not have a debug_filename and debug_id",
		`{"memoryMap":[["abc"]]}`:                                               "400 job 0 has invalid modules: module index 0 does not have a debug_filename and debug_id",
		`{"memoryMap":[["abc","abc"],["abc"]]}`:                                 "400 job 0 has invalid modules: module index 1 does not have a debug_filename and debug_id",
		`{"memoryMap":[["abc","abc","abc"]]}`:                                   "400 job 0 has invalid modules: module index 0 does not have a debug_filename and debug_id",
		`{"memoryMap":[[1,"abc"]]}`:                                             "400 job 0 has invalid modules: module index 0 has an invalid debug_filename",
		`{"memoryMap":[["abc.so",1]]}`:                                          "400 job 0 has invalid modules: module index 0 has an invalid debug_id",
		`{"memoryMap":[["abc.so","xyz"]]}`:                                      "400 job 0 has invalid modules: module index 0 has an invalid debug_id",
		`{"memoryMap":[["abc.so","  abc"]]}`:                                    "400 job 0 has invalid modules: module index 0 has an invalid debug_id",
		`{` + maps + `,"stacks":[]}`:                                            "400 job 0 has invalid stacks: no stacks specified",
		`{` + maps + `,"stacks":"abc"}`:                                         "400 job 0 has invalid stacks: stacks must be a list of lists",
		`{` + maps + `,"stacks":["abc"]}`:                                       "400 job 0 has invalid stacks: stack 0 is not a list",
		`{` + maps + `,"stacks":[[0]]}`:                                         "400 job 0 has invalid stacks: stack 0 frame 0 is not a list of two items",
		`{` + maps + `,"stacks":[[[0]]]}`:                                       "400 job 0 has invalid stacks: stack 0 frame 0 is not a list of two items",
		`{` + maps + `,"stacks":[[[0,1,2]]]}`:                                   "400 job 0 has invalid stacks: stack 0 frame 0 is not a list of two items",
		`{` + maps + `,"stacks":[[["0",0]]]}`:                                   "400 job 0 has invalid stacks: stack 0 frame 0 has an invalid module_index",
		`{` + maps + `,"stacks":[[[0,"0"]]]}`:                                   "400 job 0 has invalid stacks: stack 0 frame 0 has an invalid module_offset",
		`{` + maps + `,"stacks":[[["abc",0]]]}`:                                 "400 job 0 has invalid stacks: stack 0 frame 0 has an invalid module_index",
		`{` + maps + `,"stacks":[[[0.5,0]]]}`:                                   "400 job 0 has invalid stacks: stack 0 frame 0 has an invalid module_index",
		`{` + maps + `,"stacks":[[[true,0]]]}`:                                  "400 job 0 has invalid stacks: stack 0 frame 0 has an invalid module_index",
		`{` + maps + `,"stacks":[[[-2,0]]]}`:                                    "400 job 0 has invalid stacks: stack 0 frame 0 has a module_index that isn't in modules",
		`{"stacks":[[[0,1]],[[0,1],[1,0]]],` + maps + `}`:                       "400 job 0 has invalid stacks: stack 1 frame 1 has a module_index that isn't in modules",
		`{` + maps + `,"stacks":[[[4294967296,0]]]}`:                            "400 job 0 has invalid stacks: stack 0 frame 0 has a module_index that isn't in modules",
		`{` + maps + `,"stacks":[[[1e99,0]]]}`:                                  "400 job 0 has invalid stacks: stack 0 frame 0 has an invalid module_index",
		`{` + maps + `,"stacks":[[[0,"abc"]]]}`:                                 "400 job 0 has invalid stacks: stack 0 frame 0 has an invalid module_offset",
		`{` + maps + `,"stacks":[[[0,-2]]]}`:                                    "400 job 0 has invalid stacks: stack 0 frame 0 has an invalid module_offset",
		`{` + maps + `,"stacks":[[[0,1.0]]]}`:                                   "400 job 0 has invalid stacks: stack 0 frame 0 has an invalid module_offset",
		`{` + maps + `,"stacks":[[[0,18446744073709551616]]]}`:                  "400 job 0 has invalid stacks: stack 0 frame 0 has an invalid module_offset",
		`{` + maps + `,"stacks":[[` + strings.Repeat("[0,1],", 20) + `[0,1]]]}`: "400 please limit number of frames in a single request to <= 20",
		`{"x":"` + strings.Repeat("x", 2000) + `"}`:                             "413 please limit requests to 2000 bytes",
		strings.Repeat("[", 1999):                                               "400 payload must be an object",
		`{"x":` + strings.Repeat("[", 1900):                                     "400 Payload is not valid JSON: offset ",
	} {
		r := ask(t, s, "POST", "/symbolicate/v5", []byte(ask1))
		var got struct{ Title string }
		text := body(t, r)
		if c := r.Header.Get("Cache-Control"); c != "no-store" {
			t.Errorf("%.100s: Cache-Control %q", ask1, c)
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Errorf("%.100s: %v: %s", ask1, err, text)
		}
		if answered := fmt.Sprint(r.StatusCode, " ", got.Title); answered != want && !(strings.HasSuffix(want, " ") && strings.HasPrefix(answered, want)) {
			t.Errorf("%.100s:\n %s, want\n %s", ask1, answered, want)
		}
	}
	if r := ask(t, s, "POST", "/symbolicate/v4", []byte(`{"jobs":[]}`)); r.StatusCode != 400 {
		t.Errorf("v4 accepts jobs: %d", r.StatusCode)
	}
}

// Each list has a limit for all jobs together.
func TestRequestLimits(t *testing.T) {
	s, _ := newServer(t, Config{Dirs: []string{t.TempDir()}})
	list := func(n int, one string) string { return "[" + strings.TrimSuffix(strings.Repeat(one+",", n), ",") + "]" }
	job := func(modules, stacks int) string {
		return `{"memoryMap":` + list(modules, `["",""]`) + `,"stacks":` + list(stacks, "[]") + `}`
	}
	long := strings.Repeat("a", maxModuleText)
	for ask1, want := range map[string]string{
		job(1, maxStacks):   "",
		job(1, maxStacks+1): "please limit number of stacks in a single request to <= 10000",
		`{"jobs":[` + job(1, maxStacks-1) + "," + job(1, 1) + `]}`: "",
		`{"jobs":[` + job(1, maxStacks) + "," + job(1, 1) + `]}`:   "please limit number of stacks in a single request to <= 10000",
		job(maxModules, 1):   "",
		job(maxModules+1, 1): "please limit number of modules in a single request to <= 10000",
		`{"jobs":[` + job(maxModules, 1) + "," + job(1, 1) + `]}`:       "please limit number of modules in a single request to <= 10000",
		`{"jobs":` + list(maxJobs, job(1, 1)) + `}`:                     "",
		`{"jobs":` + list(maxJobs+1, job(1, 1)) + `}`:                   "please limit number of jobs in a single request to <= 10",
		`{"memoryMap":[["` + long + `","` + long + `"]],"stacks":[[]]}`: "",
		`{"memoryMap":[["` + long + `a","a"]],"stacks":[[]]}`:           "module index 0 has an invalid debug_filename: over 1024 bytes",
		`{"memoryMap":[["a","a"],["a","` + long + `a"]],"stacks":[[]]}`: "module index 1 has an invalid debug_id: over 1024 bytes",
	} {
		r := ask(t, s, "POST", "/symbolicate/v5", []byte(ask1))
		status := map[bool]int{true: 200, false: 400}[want == ""]
		if got := body(t, r); r.StatusCode != status || !strings.Contains(got, want) {
			t.Errorf("%.60s...: %d %.200s, want %q", ask1, r.StatusCode, got, want)
		}
	}
}

// TestAnswersAreResolves compares each frame with a Resolver's answer, at each address of
// each golden symbol file where something begins or ends.
func TestAnswersAreResolves(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(testenv.Root(t), "golden", "dwarf2sym", "*.sym"))
	if err != nil || len(paths) < 50 {
		t.Fatal(len(paths), err)
	}
	dir := t.TempDir()
	s, notes := newServer(t, Config{Dirs: []string{dir}, CacheSize: 200 << 10, MaxBody: 64 << 20, MaxFrames: 1 << 20})
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(notes)
		}
	})
	frames, each := 0, 4
	if testenv.OracleFull() {
		each = 1
	}
	for i, path := range paths {
		if i%each != 0 {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := resolve.Open(context.Background(), path, resolve.OpenOptions{})
		if err != nil {
			continue // such as the golden file of a dump without output
		}
		x := r.Identity()
		if x.ID == "" {
			r.Close()
			continue
		}
		keep(t, dir, x.Name, x.ID, []string{".sym", ".sym.gz", ".sym.zst"}[i%3], text)
		frames += compareAnswers(t, s, r, text)
		r.Close()
	}
	if frames < 20_000/each {
		t.Errorf("only %d frames", frames)
	}
	if used := s.metrics.cacheBytes.Load(); used > 200<<10 || s.metrics.evictions.Load() == 0 {
		t.Errorf("the cache has %d bytes after %d evictions", used, s.metrics.evictions.Load())
	}
	t.Logf("%d frames of %d modules", frames, len(paths)/each)
}

// edges returns the addresses in a symbol file, the ones before them and those in the middle.
func edges(t testing.TB, text []byte) (all []uint64) {
	t.Helper()
	result, err := symfmt.Read(context.Background(), strings.NewReader(string(text)), symfmt.ReadOptions{Tolerant: true})
	if err != nil {
		t.Fatal(err)
	}
	m := result.Module
	add := func(rva symfmt.RVA, size uint64) {
		all = append(all, uint64(rva)-1, uint64(rva), uint64(rva)+size/2, uint64(rva)+size)
	}
	for i := range m.Funcs {
		f := &m.Funcs[i]
		add(f.RVA, f.Size)
		lines := f.LineReader()
		for lines.Next() {
			add(lines.Line.RVA, lines.Line.Size)
		}
	}
	for _, p := range m.Publics {
		add(p.RVA, 8)
	}
	return all
}

type v5Frame struct {
	Frame          int
	Module         string
	ModuleOffset   string `json:"module_offset"`
	Function       *string
	FunctionOffset string `json:"function_offset"`
	File           string
	Line           uint32
	Inlines        []struct {
		Function, File string
		Line           uint32
	}
}

type v5Answer struct {
	Results []struct {
		Stacks [][]v5Frame
		Found  map[string]*bool `json:"found_modules"`
	}
}

// symbolicateAll symbolicates addresses of one module.
func symbolicateAll(t testing.TB, h http.Handler, name, id string, addrs []uint64) []v5Frame {
	t.Helper()
	var b strings.Builder
	for i, a := range addrs {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "[0,%d]", a)
	}
	module, _ := json.Marshal([]string{name, id})
	got := body(t, ask(t, h, "POST", "/symbolicate/v5", []byte(`{"jobs":[{"memoryMap":[`+string(module)+`],"stacks":[[`+b.String()+`]]}]}`)))
	var answer v5Answer
	if err := json.Unmarshal([]byte(got), &answer); err != nil || len(answer.Results) != 1 || len(answer.Results[0].Stacks[0]) != len(addrs) {
		t.Fatalf("%v: %.200s", err, got)
	}
	if found := answer.Results[0].Found[name+"/"+id]; found == nil || !*found {
		t.Fatalf("%s/%s: no symbols", name, id)
	}
	return answer.Results[0].Stacks[0]
}

func compareAnswers(t *testing.T, s *Server, r resolve.Symbols, text []byte) int {
	t.Helper()
	addrs := edges(t, text)
	if len(addrs) == 0 {
		return 0
	}
	frames := symbolicateAll(t, s, r.Identity().Name, r.Identity().ID, addrs)
	var at resolve.Location
	for i, f := range frames {
		found, err := resolve.Find(t.Context(), r, symfmt.RVA(addrs[i]), &at)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := frameText(f), locationText(found, addrs[i], &at); got != want {
			t.Fatalf("%s: %#x:\n%s\nwant\n%s", r.Identity().Path, addrs[i], got, want)
		}
	}
	return len(frames)
}

func frameText(f v5Frame) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", f.ModuleOffset)
	if f.Function == nil {
		return b.String()
	}
	for _, i := range f.Inlines {
		fmt.Fprintf(&b, "\n%s %s:%d", i.Function, i.File, i.Line)
	}
	fmt.Fprintf(&b, "\n%s %s:%d + %s", *f.Function, f.File, f.Line, f.FunctionOffset)
	return b.String()
}

func locationText(found bool, addr uint64, at *resolve.Location) string {
	b := fmt.Sprintf("%#x", addr)
	if !found {
		return b
	}
	for _, f := range at.Frames {
		if f.File == "" {
			f.Line = 0
		}
		b += fmt.Sprintf("\n%s %s:%d", f.Function, f.File, f.Line)
	}
	return b + fmt.Sprintf(" + %#x", addr-uint64(at.Start))
}

// A module is read once, however many requests need it at the same time, and again when its
// file changes; an unusable one is not read for each request.
func TestModulesAreReadOnce(t *testing.T) {
	dir := t.TempDir()
	path := keep(t, dir, "lib.so", "ABC0", ".sym", symbolText("lib.so", "ABC0", 2<<20))
	keep(t, dir, "bad.so", "ABC0", ".sym", []byte("no symbols at all\n"))
	keep(t, dir, "other.so", "ABC0", ".sym", symbolText("other.so", "ABD0", 100))
	s, notes := newServer(t, Config{Dirs: []string{dir}})
	ask1 := func(name string) string {
		return body(t, ask(t, s, "POST", "/symbolicate/v5", []byte(`{"memoryMap":[["`+name+`","ABC0"]],"stacks":[[[0,4100]]]}`)))
	}
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if got := ask1("lib.so"); !strings.Contains(got, `"function": "f0", "function_offset": "0x4"`) {
				t.Error(got)
			}
		})
	}
	wg.Wait()
	if n := s.metrics.cacheMisses.Load(); n != 1 {
		t.Errorf("read %d times", n)
	}
	text := symbolText("lib.so", "ABC0", 2<<20)
	write(t, path, []byte(strings.Replace(string(text), " f0\n", " g0\n", 1)))
	if err := os.Chtimes(path, time.Time{}, time.Unix(1e9, 0)); err != nil {
		t.Fatal(err)
	}
	if got := ask1("lib.so"); !strings.Contains(got, `"function": "g0"`) {
		t.Errorf("the file has changed: %s", got)
	}
	for range 20 {
		for _, name := range []string{"bad.so", "other.so"} {
			if got := ask1(name); !strings.Contains(got, `/ABC0": false}`) {
				t.Error(got)
			}
		}
	}
	if n := s.metrics.cacheMisses.Load(); n != 4 {
		t.Errorf("%d files were read, want 4", n)
	}
	if !strings.Contains(notes.String(), `other.so.sym: not used: it has the symbols of "other.so" ABD0`) || !strings.Contains(notes.String(), "bad.so.sym: not a symbol file") {
		t.Error(notes)
	}
}

// A cancelled request does not wait for a module, and a module that no request waits for is not
// read to its end.
func TestCancelled(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, "lib.so", "ABC0", ".sym", symbolText("lib.so", "ABC0", 8<<20))
	s, _ := newServer(t, Config{Dirs: []string{dir}})
	for range cap(s.modules.loads) {
		s.modules.loads <- struct{}{} // others are at work
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := s.symbolsOf(ctx, moduleName{"lib.so", "ABC0"})
		done <- err
	}()
	testenv.Until(t, "a miss of the cache", func() bool { return s.metrics.cacheMisses.Load() > 0 })
	cancel()
	if err := <-done; err != context.Canceled {
		t.Errorf("%v", err)
	}
	s.modules.mu.Lock()
	left := len(s.modules.entries)
	s.modules.mu.Unlock()
	if left != 0 {
		t.Errorf("%d entries are left", left)
	}
	for range cap(s.modules.loads) {
		<-s.modules.loads
	}
	e, err := s.symbolsOf(t.Context(), moduleName{"lib.so", "ABC0"})
	if err != nil || e == nil {
		t.Fatal(e, err)
	}
	s.modules.release(e)
}

// The cache stays within its bound however modules come and go, and modules in use stay valid.
func TestCacheIsBounded(t *testing.T) {
	dir := t.TempDir()
	const n, limit = 30, 200 << 10
	for i := range n {
		name := fmt.Sprintf("lib%d.so", i)
		keep(t, dir, name, "ABC0", []string{".sym", ".sym.gz"}[i%2], symbolText(name, "ABC0", 40<<10))
	}
	s, notes := newServer(t, Config{Dirs: []string{dir}, CacheSize: limit})
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range n {
				name := fmt.Sprintf("lib%d.so", (i*(g+1))%n)
				got := symbolicateAll(t, s, name, "ABC0", []uint64{4096, 4096 + 160, 4096 + 16*500})
				if *got[1].Function != "f10" || got[1].Line != 11 || got[1].File != "/src/"+name+".c" {
					t.Errorf("%s: %+v", name, got[1])
				}
			}
		})
	}
	wg.Wait()
	m := s.modules
	m.mu.Lock()
	defer m.mu.Unlock()
	sum := int64(0)
	for at := m.recent.Front(); at != nil; at = at.Next() {
		sum += at.Value.(*entry).cost
	}
	if m.used > limit || m.used != sum || s.metrics.evictions.Load() == 0 || len(m.entries) != m.recent.Len() {
		t.Errorf("%d bytes, %d counted again, %d evictions, %d entries, %d in order", m.used, sum, s.metrics.evictions.Load(), len(m.entries), m.recent.Len())
	}
	if notes.String() != "" {
		t.Error(notes)
	}
}

// Requests beyond the limit get 503, except the operator's.
func TestTooMany(t *testing.T) {
	s, _ := newServer(t, Config{Dirs: []string{t.TempDir()}, MaxRequests: 1})
	s.requests <- struct{}{}
	if r := ask(t, s, "GET", "/a/AB/a.sym", nil); r.StatusCode != 503 || r.Header.Get("Retry-After") == "" || body(t, r) != "too many requests at once\n" {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		if r := ask(t, s, "GET", path, nil); r.StatusCode != 200 {
			t.Errorf("%s: %d", path, r.StatusCode)
		}
	}
	<-s.requests
	if r := ask(t, s, "GET", "/a/AB/a.sym", nil); r.StatusCode != 404 || r.Header.Get("Cache-Control") != "public, "+cacheAbsent {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
	if got := body(t, ask(t, s, "GET", "/metrics", nil)); !strings.Contains(got, "\nsymtool_requests_refused_total 1\n") ||
		!strings.Contains(got, `symtool_requests_total{kind="symbols",status="503"} 1`) {
		t.Error(got)
	}
}

func TestMissingList(t *testing.T) {
	var out strings.Builder
	l, err := NewMissingList(strings.NewReader("# of old\na.so/AB0\n"), &out, 4)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range [][2]string{{"a.so", "AB0"}, {"b.so", "ab0"}, {"b.so", "AB0"}, {"#c.so", "AB0"}, {" d.so", "AB0"}, {"MODULE x", "AB0"}, {"debug_file,x", "AB0"}, {"e f,g.so", "AB0"}, {"h.so", "AB0"}, {"i.so", "AB0"}} {
		if err := l.Add(m[0], m[1]); err != nil {
			t.Error(err)
		}
	}
	if want := "b.so/AB0\ne f,g.so/AB0\nh.so/AB0\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	full, err := NewMissingList(strings.NewReader(""), fullDisk{}, 4)
	if err != nil {
		t.Fatal(err)
	}
	if full.Add("a", "AB") == nil || full.Add("b", "AB") != nil {
		t.Error("a full disk is not reported, or more than once")
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, os.ErrClosed }
