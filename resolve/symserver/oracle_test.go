package symserver

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// run runs a program, with variables of its environment.
func run(t testing.TB, env []string, stdin []byte, name string, args ...string) ([]byte, error) {
	t.Helper()
	c := exec.Command(name, args...)
	c.Env = append(os.Environ(), env...)
	c.Stdin = bytes.NewReader(stdin)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", filepath.Base(name), err, stderr.Bytes())
	}
	return out, err
}

func mustRun(t testing.TB, env []string, stdin []byte, name string, args ...string) []byte {
	t.Helper()
	out, err := run(t, env, stdin, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// get returns a plain GET.
func get(t testing.TB, url string) (status int, data []byte, h http.Header) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if data, err = io.ReadAll(r.Body); err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, data, r.Header
}

// elfutilsServer starts debuginfod for a folder, and waits until it has scanned all files.
func elfutilsServer(t *testing.T, dir string) (url string) {
	t.Helper()
	port := testenv.FreePort(t)
	c := exec.Command(testenv.Tool(t, "debuginfod"), "-p", fmt.Sprint(port), "-d", ":memory:", "-F", dir)
	c.Env = append(os.Environ(), "DEBUGINFOD_URLS=")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	url = fmt.Sprintf("http://127.0.0.1:%d", port)
	idle := 0 // consecutive times: it is idle for a moment between two files
	testenv.Until(t, "debuginfod to know its files", func() bool {
		idle++
		r, err := http.Get(url + "/metrics")
		if err != nil {
			idle = 0
			return false
		}
		defer r.Body.Close()
		text, _ := io.ReadAll(r.Body)
		for _, is := range []string{`thread_work_total{role="traverse"} 1`, `thread_work_pending{role="scan"} 0`, `thread_busy{role="scan"} 0`} {
			if !bytes.Contains(text, []byte(is)) {
				idle = 0
			}
		}
		return idle == 10
	})
	return url
}

// sections gets sections through elfutils' library, because no program in Debian 12 does.
const sections = `
import ctypes, os, sys
lib = ctypes.CDLL("libdebuginfod.so.1")
lib.debuginfod_begin.restype = ctypes.c_void_p
lib.debuginfod_find_section.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p]
client = lib.debuginfod_begin()
for line in sys.stdin:
    id, name = line.split()
    fd = lib.debuginfod_find_section(client, id.encode(), 0, name.encode(), None)
    if fd < 0:
        print(-1)
        continue
    data = os.pread(fd, 1 << 26, 0)
    import hashlib
    print(len(data), hashlib.sha256(data).hexdigest())
    os.close(fd)
`

// TestOracleDebuginfod gets the same files from this server and from elfutils' own with
// elfutils' clients: executables, debug files, sections and sources have the same bytes, and
// the same files are missing.
func TestOracleDebuginfod(t *testing.T) {
	testenv.Oracle(t)
	find := testenv.Tool(t, "debuginfod-find")
	dir := t.TempDir()
	var ids []string
	for _, pair := range [][2]string{{"pair.elf", "pair.debug"}, {"eu-strip.elf", "eu-strip.debug"}, {"gcc-dwarf5.elf", ""}, {"nodebug.elf", ""}, {"compressed-zlib.elf", ""}} {
		program := testenv.Input(t, pair[0])
		id := buildIDOf(t, program)
		if id == "" {
			t.Fatalf("%s: no build-id", pair[0])
		}
		ids = append(ids, id)
		write(t, filepath.Join(dir, ".build-id", id[:2], id[2:]), read(t, program))
		if pair[1] != "" {
			write(t, filepath.Join(dir, ".build-id", id[:2], id[2:]+".debug"), read(t, testenv.Input(t, pair[1])))
		}
	}
	s, notes := newServer(t, Config{Dirs: []string{dir}})
	ours := httptest.NewServer(s)
	defer ours.Close()
	theirs := elfutilsServer(t, dir)
	files, missed := 0, 0
	var questions strings.Builder
	for _, id := range append(ids, "0123456789abcdef") {
		for _, kind := range []string{"debuginfo", "executable"} {
			status, want, header := get(t, theirs+"/buildid/"+id+"/"+kind)
			out, err := run(t, []string{"DEBUGINFOD_URLS=" + ours.URL, "DEBUGINFOD_CACHE_PATH=" + t.TempDir()}, nil, find, kind, id)
			if (err == nil) != (status == 200) {
				t.Errorf("%s of %s: %v, from elfutils %d", kind, id, err, status)
				continue
			}
			if err != nil {
				missed++
				continue
			}
			files++
			if got := read(t, strings.TrimSpace(string(out))); !bytes.Equal(got, want) {
				t.Errorf("%s of %s: %d bytes, want %d", kind, id, len(got), len(want))
			}
			_, _, h := get(t, ours.URL+"/buildid/"+id+"/"+kind)
			if h.Get("X-Debuginfod-Size") != header.Get("X-Debuginfod-Size") || h.Get("X-Debuginfod-Size") == "" {
				t.Errorf("%s of %s: X-DEBUGINFOD-SIZE %q, want %q", kind, id, h.Get("X-Debuginfod-Size"), header.Get("X-Debuginfod-Size"))
			}
		}
		for _, name := range []string{".text", ".debug_info", ".debug_line", ".symtab", ".note.gnu.build-id", ".bss", ".nothing", ".shstrtab"} {
			fmt.Fprintln(&questions, id, name)
		}
	}
	python := testenv.Tool(t, "python3")
	asked := strings.Split(strings.TrimSpace(questions.String()), "\n")
	answers := [2][]string{}
	for i, url := range []string{ours.URL, theirs} {
		env := []string{"DEBUGINFOD_URLS=" + url, "DEBUGINFOD_CACHE_PATH=" + t.TempDir()}
		answers[i] = strings.Split(strings.TrimSpace(string(mustRun(t, env, []byte(questions.String()), python, "-c", sections))), "\n")
	}
	found := 0
	for i, q := range asked {
		if answers[0][i] != answers[1][i] {
			t.Errorf("section %s: %s, from elfutils %s", q, answers[0][i], answers[1][i])
		}
		if answers[0][i] != "-1" {
			found++
		}
	}
	if files < 8 || missed < 2 || found < 15 || found == len(asked) {
		t.Errorf("%d files, %d misses, %d of %d sections: too few for a comparison", files, missed, found, len(asked))
	}
	if notes.String() != "" {
		t.Error(notes)
	}
	t.Logf("%d files, %d misses, %d of %d sections", files, missed, found, len(asked))
}

// gdb finds the debug file of a stripped program, and a source, through the server.
func TestOracleGDB(t *testing.T) {
	testenv.Oracle(t)
	gcc, objcopy := testenv.Tool(t, "gcc"), testenv.Tool(t, "objcopy")
	dir, work := t.TempDir(), t.TempDir()
	source := write(t, filepath.Join(work, "far away+1.c"), []byte("int twice(int x)\n{\n\treturn 2 * x; /* here */\n}\nint main(void) { return twice(0); }\n"))
	program, debug := filepath.Join(work, "program"), filepath.Join(work, "debug")
	mustRun(t, nil, nil, gcc, "-g", "-Wl,--build-id", "-ffile-prefix-map="+work+"=/gone/src", "-o", program, source)
	mustRun(t, nil, nil, objcopy, "--only-keep-debug", program, debug)
	mustRun(t, nil, nil, objcopy, "--strip-all", program)
	id := buildIDOf(t, program)
	write(t, filepath.Join(dir, ".build-id", id[:2], id[2:]+".debug"), read(t, debug))
	write(t, filepath.Join(dir, "buildid", id, "source", "gone", "src", "far away+1.c"), read(t, source))
	var log []string
	s, _ := newServer(t, Config{Dirs: []string{dir}, Access: func(a *Access) { log = append(log, fmt.Sprint(a.Status, " ", a.Kind)) }})
	live := httptest.NewServer(s)
	defer live.Close()
	for name, value := range map[string]string{"DEBUGINFOD_URLS": live.URL, "DEBUGINFOD_CACHE_PATH": t.TempDir(), "HOME": work} {
		t.Setenv(name, value)
	}
	out := oracle.GDB(t, "-iex", "set debuginfod enabled on", "-ex", "info line twice", "-ex", "list twice", program)
	if !strings.Contains(out, `Line 2 of "/gone/src/far away+1.c"`) || !strings.Contains(out, "return 2 * x; /* here */") {
		t.Errorf("%s\n%q", out, log)
	}
	if !slices.Contains(log, "200 debuginfo") || !slices.Contains(log, "200 source") {
		t.Errorf("%q", log)
	}
}

// oneOfTwo gives the complete-object and base-object variants of a constructor or destructor the
// same name.
var oneOfTwo = strings.NewReplacer("C1E", "C2E", "D1E", "D2E")

// TestOracleSymbolicate compares each frame that the API returns for a program of templates
// with llvm-symbolizer's from the binary.
func TestOracleSymbolicate(t *testing.T) {
	testenv.Oracle(t)
	work, dir := t.TempDir(), t.TempDir()
	program, bare := testenv.Templates(t), filepath.Join(work, "bare")
	mustRun(t, nil, nil, testenv.Tool(t, "objcopy"), "--wildcard", "--strip-symbol=*", program, bare)
	f, err := objfile.Open(program, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	result, err := dwarf2sym.Read(context.Background(), f, dwarf2sym.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := result.Module
	var text bytes.Buffer
	if err := symfmt.Write(&text, m, symfmt.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	keep(t, dir, m.Name, m.ID, ".sym.zst", text.Bytes())
	s, _ := newServer(t, Config{Dirs: []string{dir}, MaxBody: 64 << 20, MaxFrames: 1 << 20})
	var addrs []uint64
	for i := range m.Funcs {
		fn := &m.Funcs[i]
		for a := fn.RVA; a < fn.RVA+symfmt.RVA(fn.Size); a++ {
			addrs = append(addrs, uint64(a))
		}
	}
	each := 30
	if testenv.OracleFull() {
		each = 3
	}
	var asked []uint64
	for i := 0; i < len(addrs); i += each {
		asked = append(asked, addrs[i])
	}
	answers := oracle.LLVM(t, bare, asked, oracle.Linkage...)
	frames := symbolicateAll(t, s, m.Name, m.ID, asked)
	inlined, local, twins, wrong := 0, 0, 0, 0
	for i, got := range frames {
		inlined += len(got.Inlines)
		b := fmt.Sprintf("%#x", asked[i])
		var names []string
		for _, inline := range got.Inlines {
			names = append(names, inline.Function)
		}
		if got.Function != nil {
			names = append(names, *got.Function)
		}
		for k, w := range answers[i] {
			// A function of a type that is local to another function has no linkage name in the
			// debug information: llvm-symbolizer gives its name alone, symtool all of it.
			name, _, _ := strings.Cut(strings.TrimPrefix(w.Function, "~"), "<") // arguments of templates
			if k < len(names) && !strings.HasPrefix(w.Function, "_Z") && names[k] != w.Function &&
				(strings.HasSuffix(names[k], w.Function) || name != "" && strings.Contains(names[k], name)) {
				w.Function = names[k]
				local++
			}
			// Either of a constructor's or destructor's two names for one piece of code is right.
			if k < len(names) && names[k] != w.Function && oneOfTwo.Replace(names[k]) == oneOfTwo.Replace(w.Function) {
				w.Function = names[k]
				twins++
			}
			b += fmt.Sprintf("\n%s %s:%d", w.Function, w.File, w.Line)
		}
		if text := strings.TrimSuffix(frameText(got), " + "+got.FunctionOffset); text != b {
			if wrong++; wrong < 10 {
				t.Errorf("%s\nwant\n%s", text, b)
			}
		}
	}
	if len(frames) < 3000 || inlined < 1000 {
		t.Errorf("%d frames, %d inlined: too few for a comparison", len(frames), inlined)
	}
	t.Logf("%d frames, %d inlined functions, %d names by the rule of local types, %d by that of twins, %d differences", len(frames), inlined, local, twins, wrong)
}

// promtool finds nothing wrong with the metrics.
func TestOracleMetrics(t *testing.T) {
	testenv.Oracle(t)
	promtool := testenv.Tool(t, "promtool")
	s := inlineServer(t)
	for _, path := range []string{"/app.pdb/ABC1/app.sym", "/libc.so/ABD0/libc.so.sym", "/x/AB/x.sym", "/nothing", "/readyz", "/buildid/abcd/debuginfo"} {
		ask(t, s, "GET", path, nil)
	}
	ask(t, s, "POST", "/symbolicate/v5", []byte(`{"memoryMap":[["app.pdb","ABC1"]],"stacks":[[[0,31303]]]}`))
	text := body(t, ask(t, s, "GET", "/metrics", nil))
	if out, err := run(t, nil, []byte(text), promtool, "check", "metrics"); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s\n%s", err, out, text)
	}
}
