package jit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

const (
	outer  = 0x7ffff7fbe000 // functions of the fixtures
	middle = 0x7ffff7fbe080
)

// nameAt returns the function at an address.
func nameAt(c Code, addr uint64) string {
	var at resolve.Location
	if ok, err := resolve.Find(context.Background(), c.Symbols, symfmt.RVA(addr), &at); !ok || err != nil {
		return fmt.Sprint(err)
	}
	return at.Frames[len(at.Frames)-1].Function
}

// Files that are named are read as they are.
func TestNamed(t *testing.T) {
	dumped, mapped := testenv.Input(t, "crashes", "jitcode.jitdump"), testenv.Input(t, "crashes", "jitcode.map")
	f := Finder{Files: []string{dumped, mapped, "/nonexistent/perf-1.map", testenv.Input(t, "crashes", "jitcode.elf")}}
	all, problems := f.Find(t.Context(), &dump.Dump{Arch: arch.X86_64})
	if len(all) != 2 || all[0].Path != dumped || all[1].Path != mapped || len(problems) < 2 || !strings.Contains(problems[0].String(), "no such file") {
		t.Fatalf("%v, problems %v", all, problems)
	}
	for _, c := range all {
		if a, b := nameAt(c, outer), nameAt(c, middle+8); a != "outer" || b != "middle" {
			t.Errorf("%s: %s, %s", c.Path, a, b)
		}
	}
	all, problems = f.Find(t.Context(), &dump.Dump{Arch: arch.ARM64})
	if len(all) != 1 || !strings.Contains(fmt.Sprint(problems), "the code is that of x86_64, the dump's CPU is arm64") {
		t.Errorf("%v, problems %v", all, problems)
	}
}

// A jitdump file is found by its mapping.
func TestMapped(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "jit-7.dump")
	if err := os.WriteFile(path, testenv.ReadInput(t, "crashes", "jitcode.jitdump"), 0o644); err != nil {
		t.Fatal(err)
	}
	d := &dump.Dump{Arch: arch.X86_64, System: dump.System{OS: dump.Linux}}
	for _, p := range []string{path, path, filepath.Join(folder, "jit-8.dump"), filepath.Join(folder, "jit-x.dump"), "jit-7.dump", filepath.Join(folder, "libjit-7.dump")} {
		d.Maps = append(d.Maps, dump.Mapping{Path: p})
	}
	if all, problems := (&Finder{AtPaths: true}).Find(t.Context(), d); len(all) != 1 || all[0].Path != path || len(problems) > 0 {
		t.Errorf("%v, problems %v", all, problems)
	}
	d.System.OS = dump.Windows // where such a path means nothing
	if all, problems := (&Finder{AtPaths: true}).Find(t.Context(), d); len(all)+len(problems) > 0 {
		t.Errorf("%v, problems %v, want nothing", all, problems)
	}
	d.System.OS = dump.Linux
	if all, problems := (&Finder{}).Find(t.Context(), d); len(all)+len(problems) > 0 {
		t.Errorf("%v, problems %v, want nothing", all, problems)
	}
}

// A perf map that only its name assigns to a process counts if it can be of that process.
func TestPerfMapTimes(t *testing.T) {
	began, now := time.Unix(1000, 0), time.Unix(2000, 0)
	for _, c := range []struct {
		name     string
		c        candidate
		d        dump.Dump
		modified time.Time
		want     string
	}{
		{"in time", candidate{began: began}, dump.Dump{Time: now}, time.Unix(1500, 0), ""},
		{"times with seconds", candidate{began: began}, dump.Dump{Time: now}, time.Unix(2001, 0), ""},
		{"old", candidate{began: began}, dump.Dump{Time: now}, time.Unix(900, 0), "before the process began at 1970-01-01 00:16:40 UTC: it is another process's"},
		{"of a core", candidate{}, dump.Dump{Modified: now}, time.Unix(1500, 0), ""},
		{"new", candidate{}, dump.Dump{Modified: now}, time.Unix(2100, 0), "after the dump at 1970-01-01 00:33:20 UTC: it may be another process's; name it with --jit if it is not"},
		{"live", candidate{began: began, live: true}, dump.Dump{Time: now}, time.Unix(2100, 0), ""},
		{"old, live", candidate{began: began, live: true}, dump.Dump{Time: now}, time.Unix(900, 0), "it is another process's"},
		{"named", candidate{began: began, named: true}, dump.Dump{Time: now}, time.Unix(900, 0), ""},
	} {
		err := c.c.checkMap(&c.d, c.modified)
		if got := fmt.Sprint(err); c.want == "" && err != nil || !strings.Contains(got, c.want) && c.want != "" {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// This process runs in some container, since some time.
func TestProcess(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc")
	}
	pid := os.Getpid()
	if n := inContainer(pid); n != pid { // its own number is what it has in its container
		t.Errorf("%d, want %d", n, pid)
	}
	if age := time.Since(beganAt(pid)); age < -2*time.Second || age > time.Hour {
		t.Errorf("the process is %v old", age)
	}
	if n, at := inContainer(-1), beganAt(-1); n != -1 || !at.IsZero() {
		t.Errorf("%d, %v", n, at)
	}
}
