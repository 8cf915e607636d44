package walk_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/dumpfile"
)

// crashedAt writes a dump, in the given format, of a process whose program was at path, and returns the dump's path.
func crashedAt(t *testing.T, format, path string) string {
	t.Helper()
	f, err := dumpfile.Open(t.Context(), testenv.Input(t, "walk-sources.core.gz"), dumpfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rename := func(m *dump.Module) {
		if filepath.Base(m.Path) == "walk-sources.elf" {
			m.Path = path
		}
	}
	for i := range f.Modules {
		rename(&f.Modules[i])
	}
	for i := range f.Maps {
		if filepath.Base(f.Maps[i].Path) == "walk-sources.elf" {
			f.Maps[i].Path = path
		}
	}
	return writtenDump(t, format, f.Dump)
}

// writtenDump writes a dump in a format, and returns its path.
func writtenDump(t *testing.T, format string, d *dump.Dump) string {
	t.Helper()
	var data bytes.Buffer
	if _, err := dumpfile.Write(&data, format, d); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "crash."+format)
	testenv.WriteFile(t, out, data.Bytes())
	return out
}

// walkedBrief runs walk --brief -v, and returns its outputs.
func walkedBrief(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, messages bytes.Buffer
	status = app.Run(t.Context(), append([]string{"symtool", "walk", "--brief", "-v"}, args...), strings.NewReader(""), &out, &messages)
	return status, out.String(), messages.String()
}

// hereEnv sets the variables that name the sources of symbols.
func hereEnv(t *testing.T, symbols, debuginfod string) {
	t.Setenv("SYMTOOL_SYMBOLS", symbols)
	t.Setenv("DEBUGINFOD_URLS", debuginfod)
	t.Setenv("DEBUGINFOD_CACHE_PATH", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
}

const (
	hereFunction = " 0  walk-sources.elf!" // the first frame with symbols
	hereAddress  = " 0  walk-sources.elf + 0x1f3\n"
	hereBuildID  = "4473f417ae6fd2067ece5a270227ec29589fedc6"
	hereID       = "17F473446FAE06D27ECE5A270227EC290"
)

// TestWalkHere checks that walk without flags finds binaries at the paths in the dump and reports where, that doctor
// agrees, and that flags restrict the search.
func TestWalkHere(t *testing.T) {
	program := testenv.ReadInput(t, "walk-sources.elf")
	for _, format := range []string{dumpfile.Core, dumpfile.Minidump} {
		path := filepath.Join(t.TempDir(), "walk-sources.elf")
		crash := crashedAt(t, format, path)
		hereEnv(t, "", "")
		check := func(what, wantOut, wantErr string, args ...string) {
			t.Helper()
			_, stdout, stderr := walkedBrief(t, append(args, crash)...)
			if !strings.Contains(stdout, wantOut) || !strings.Contains(stderr, wantErr) {
				t.Errorf("%s, %s: printed %q and %q, want %q and %q", format, what, stdout, stderr, wantOut, wantErr)
			}
		}
		check("no file", hereAddress, "no symbols of walk-sources.elf "+hereID+": "+path+": no such file or directory\n")
		testenv.WriteFile(t, path, "")
		check("an empty file", hereAddress, path+": the file is empty\n")
		testenv.WriteFile(t, path, program)
		check("the program", hereFunction, "symbols of walk-sources.elf "+hereID+" from "+path+"\n")
		check("hermetic", hereAddress, "no symbols of walk-sources.elf", "--hermetic")
		check("a named folder", hereAddress, "no symbols of walk-sources.elf", "--symbols", t.TempDir())
		check("a named folder of binaries", hereAddress, "no symbols of walk-sources.elf", "--binaries", t.TempDir())
		check("a named folder and the machine", hereFunction, " from "+path+"\n", "--local", "--symbols", t.TempDir(), "--binaries", t.TempDir())
		check("the machine and only what is named", "", "--local and --hermetic exclude each other", "--local", "--hermetic")
		var out bytes.Buffer
		if status := app.Run(t.Context(), []string{"symtool", "doctor", crash}, nil, &out, &out); status != 0 || !strings.Contains(out.String(), "found") {
			t.Errorf("%s: doctor: status %d, %s", format, status, &out)
		}
		testenv.WriteFile(t, path, bytes.ReplaceAll(program, []byte("\x44\x73\xf4\x17"), []byte("\x44\x73\xf4\x18")))
		check("another build", hereAddress, path+": build-id 4473f418ae6fd2067ece5a270227ec29589fedc6, want "+hereBuildID)
		out.Reset()
		if status := app.Run(t.Context(), []string{"symtool", "doctor", crash}, nil, &out, &out); status != cli.StatusFindings || !strings.Contains(out.String(), "give them with --local --binaries: ") {
			t.Errorf("%s: doctor of another build: status %d, %s", format, status, &out)
		}
	}
}

// TestWalkHereElsewhere checks that symbol files, stores and servers are taken from $SYMTOOL_SYMBOLS, and binaries
// and debug files from $DEBUGINFOD_URLS.
func TestWalkHereElsewhere(t *testing.T) {
	dir := t.TempDir()
	crash := crashedAt(t, dumpfile.Core, filepath.Join(dir, "gone", "walk-sources.elf"))
	sym := filepath.Join(dir, "app.sym")
	symbols := testenv.ReadFile(t, testenv.Root(t), "golden", "dwarf2sym", "walk-sources.sym")
	testenv.WriteFile(t, sym, symbols)
	store := filepath.Join(dir, "store", "walk-sources.elf", hereID)
	served := filepath.Join(dir, "server", "buildid", hereBuildID)
	for _, folder := range []string{store, served} {
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	testenv.WriteFile(t, filepath.Join(store, "walk-sources.elf.sym"), symbols)
	program := testenv.ReadInput(t, "walk-sources.elf")
	stored := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(dir, "store"))))
	defer stored.Close()
	debuginfod := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(dir, "server"))))
	defer debuginfod.Close()
	for _, c := range []struct{ symbols, debuginfod, file, want, stderr string }{
		{"", "", "", hereAddress, "no symbols of walk-sources.elf"},
		{sym, "", "", hereFunction, " from " + sym + "\n"},
		{dir + " " + filepath.Join(dir, "store"), "", "", hereFunction, " from " + store + "/walk-sources.elf.sym\n"},
		{stored.URL, "", "", hereFunction, "asking " + stored.URL},
		{"", debuginfod.URL, "executable", hereFunction, "asking " + debuginfod.URL},
		{"", debuginfod.URL, "debuginfo", hereFunction, "asking " + debuginfod.URL},
		{filepath.Join(dir, "none"), "", "", "", "symtool: SYMTOOL_SYMBOLS: " + filepath.Join(dir, "none") + ": no such file or directory\n"},
		{"gopher://x", "", "", "", `symtool walk: SYMTOOL_SYMBOLS: "gopher://x" is not an http: or https: URL`},
	} {
		hereEnv(t, c.symbols, c.debuginfod)
		os.Remove(filepath.Join(served, "executable"))
		os.Remove(filepath.Join(served, "debuginfo"))
		if c.file != "" {
			testenv.WriteFile(t, filepath.Join(served, c.file), program)
		}
		_, stdout, stderr := walkedBrief(t, crash)
		if !strings.Contains(stdout, c.want) || !strings.Contains(stderr, c.stderr) {
			t.Errorf("%+v: printed %q and %q", c, stdout, stderr)
		}
		if _, stdout, _ := walkedBrief(t, "--hermetic", crash); !strings.Contains(stdout, hereAddress) {
			t.Errorf("%+v, hermetic: printed %q", c, stdout)
		}
	}
}

// TestWalkHereFirst checks that no server is asked for a binary with lines that is on the machine. A server that no
// flag names and that cannot be reached causes only a message.
func TestWalkHereFirst(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "walk-sources.elf")
	testenv.WriteFile(t, program, testenv.ReadInput(t, "walk-sources.elf"))
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		http.NotFound(w, r)
	}))
	hereEnv(t, server.URL, "")
	_, stdout, stderr := walkedBrief(t, crashedAt(t, dumpfile.Core, program))
	if !strings.Contains(stdout, hereFunction) || asked != 0 {
		t.Errorf("%d requests; printed %q and %q", asked, stdout, stderr)
	}
	gone := crashedAt(t, dumpfile.Core, filepath.Join(dir, "gone", "walk-sources.elf"))
	if walkedBrief(t, gone); asked == 0 {
		t.Error("the server was not asked about what is not here")
	}
	server.Close()

	hereEnv(t, "", "")
	without, _, _ := walkedBrief(t, gone)
	hereEnv(t, "", server.URL)
	status, _, stderr := walkedBrief(t, gone)
	if status != without || strings.Count(stderr, "symtool: $DEBUGINFOD_URLS: ") != 1 {
		t.Errorf("status %d, want %d; printed %q", status, without, stderr)
	}
	if status, _, stderr := walkedBrief(t, "--debuginfod", server.URL, gone); status != 3 {
		t.Errorf("named by a flag: status %d; printed %q", status, stderr)
	}
}

// TestWalkHereWithoutID checks that a program without a build-id is found at its path if its headers are those in
// the core and it is older than the core. Messages say what was compared, or why the file is not used, and doctor
// agrees.
func TestWalkHereWithoutID(t *testing.T) {
	hereEnv(t, "", "")
	note := []byte("\x04\x00\x00\x00\x14\x00\x00\x00\x03\x00\x00\x00GNU\x00\x44\x73\xf4\x17")
	other := bytes.Replace(note, []byte("\x14\x00\x00\x00\x03"), []byte("\x14\x00\x00\x00\x77"), 1) // a note of another type
	program := bytes.ReplaceAll(testenv.ReadInput(t, "walk-sources.elf"), note, other)
	path := filepath.Join(t.TempDir(), "walk-sources.elf")
	f, err := dumpfile.Open(t.Context(), crashedAt(t, dumpfile.Core, path), dumpfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i := range f.Memory.Regions {
		f.Memory.Regions[i].Data = bytes.ReplaceAll(f.Memory.Regions[i].Data, note, other)
	}
	for i := range f.Modules {
		if m := &f.Modules[i]; m.Path == path {
			m.BuildID, m.DebugID, m.CodeID = nil, "", ""
		}
	}
	crash := writtenDump(t, dumpfile.Core, f.Dump)
	// A core of the kernel has no note of symtool's with data that the core itself lacks.
	data, err := os.ReadFile(crash)
	if err != nil {
		t.Fatal(err)
	}
	testenv.WriteFile(t, crash, bytes.ReplaceAll(data, []byte(dump.RestOwner), []byte(strings.Repeat("x", len(dump.RestOwner)))))
	written := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	chtimes(t, crash, written)
	check := func(what string, data []byte, changed time.Time, wantOut, wantErr string, wantDoctor int) {
		t.Helper()
		testenv.WriteFile(t, path, data)
		chtimes(t, path, changed)
		if _, stdout, stderr := walkedBrief(t, crash); !strings.Contains(stdout, wantOut) || !strings.Contains(stderr, path+": "+wantErr) {
			t.Errorf("%s: printed %q and %q, want %q and %q", what, stdout, stderr, wantOut, wantErr)
		}
		var out bytes.Buffer
		if status := app.Run(t.Context(), []string{"symtool", "doctor", crash}, nil, &out, &out); status != wantDoctor || !strings.Contains(out.String(), path+": "+wantErr) {
			t.Errorf("%s: doctor: status %d, %s", what, status, &out)
		}
	}
	before := written.Add(-time.Hour)
	check("the program", program, before, hereFunction, "it has no build-id, but the ", 0)
	check("a newer file", program, written.Add(time.Second), hereAddress, "changed at 2026-01-02 03:04:06 UTC, after the dump was written at 2026-01-02 03:04:05 UTC", 1)
	third := bytes.Replace(other, []byte("\x77"), []byte("\x78"), 1)
	check("another file", bytes.ReplaceAll(program, other, third), before, hereAddress, "its first bytes differ from memory", 1)
	check("no program", []byte("#!/bin/sh\n"), before, hereAddress, "", 1)
}

func chtimes(t *testing.T, path string, at time.Time) {
	t.Helper()
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

// TestWalkHereSilentServers checks that servers that accept requests but do not answer cost only seconds, all
// together, if only the environment names them.
func TestWalkHereSilentServers(t *testing.T) {
	gone := crashedAt(t, dumpfile.Core, filepath.Join(t.TempDir(), "gone", "walk-sources.elf"))
	silent := func() string {
		s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		t.Cleanup(s.Close)
		return s.URL
	}
	hereEnv(t, "", silent()+" "+silent())
	defer cli.SetPatience(200 * time.Millisecond)()
	start := time.Now()
	_, _, stderr := walkedBrief(t, gone)
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("took %v", took)
	}
	for _, want := range []string{"waiting for $DEBUGINFOD_URLS; --no-debuginfod", "$DEBUGINFOD_URLS: debuginfod: "} {
		if strings.Count(stderr, want) != 1 {
			t.Errorf("printed %q, want %q once", stderr, want)
		}
	}
	if strings.Count(stderr, "symtool: asking") != 1 || !strings.Contains(stderr, "not asked: the servers that failed took 200ms") {
		t.Errorf("printed %q, want one request", stderr)
	}
}
