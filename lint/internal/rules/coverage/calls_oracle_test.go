package coverage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/coderange"
	"github.com/symtool/symtool/internal/insn"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// callsOf returns the last bytes of the calls that lint sees in a binary.
func callsOf(t *testing.T, text []byte, f *object.File) (p *check.Pass, sites map[uint64]bool, took time.Duration) {
	t.Helper()
	p = check.New(check.Options{})
	p.Open(f, false)
	p.Begin()
	for rd := symfmt.NewReader(bytes.NewReader(text), symfmt.ReadOptions{}); ; {
		r, err := rd.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		p.See(r)
	}
	p.EndRecords()
	c, b := Measure(p, false), p.Image
	sites = map[uint64]bool{}
	n, covered, last := uint64(0), uint64(0), uint64(0)
	code := codeShare(p, p.Covered(), func(*coverage.Gap) {}).counted
	eachCall(p, b, code, func(site uint64) {
		if site <= last {
			t.Fatalf("0x%x after 0x%x", site, last)
		}
		last = site
		sites[site] = true
		n++
		if coderange.In(c.Known, b.RVA(site), 1) == 1 {
			covered++
		}
	})
	start := time.Now()
	eachCall(p, b, code, func(uint64) {})
	if c.Calls == nil || *c.Calls != (coverage.Share{Covered: covered, Total: n}) {
		t.Fatalf("%v, one by one %d of %d", c.Calls, covered, n)
	}
	return p, sites, time.Since(start)
}

// isCall reports whether a line of objdump's output is a call.
func isCall(text string) bool {
	for _, word := range strings.Fields(text) {
		switch strings.TrimSuffix(word, ",pt") {
		case "data16", "rex.W", "notrack", "bnd", "addr32", "cs", "ds", "es", "fs", "gs", "lock", "rex", "repz", "repnz":
			continue
		case "call", "callq", "callw", "lcall", "bl", "blr", "blx", "blraa", "blrab", "blraaz", "blrabz":
			return true
		}
		if name, ok := strings.CutPrefix(word, "bl"); ok && len(name) == 2 { // conditional: bleq
			return strings.Contains("eqnecscchsloomiplvsvchilsgegtlt", name) && name != "e." && name != "t."
		}
		return strings.HasPrefix(word, "blx") && len(word) == 5
	}
	return false
}

// lint finds exactly the calls that objdump shows in the functions.
func TestCallsOracle(t *testing.T) {
	testenv.Oracle(t)
	const lib = "/usr/lib/x86_64-linux-gnu/"
	type binary struct{ path, pkg, objdump string }
	binaries := []binary{
		{lib + "libc.so.6", "libc6", "objdump"},
		{lib + "libstdc++.so.6", "libstdc++6", "objdump"},
		{lib + "libstd-a5a48102fbd58791.so", "libstd-rust-1.63", "objdump"},
		{"/usr/aarch64-linux-gnu/lib/libc.so.6", "libc6-arm64-cross", "aarch64-linux-gnu-objdump"},
		{"/usr/aarch64-linux-gnu/lib/libstdc++.so.6", "libstdc++6-arm64-cross", "aarch64-linux-gnu-objdump"},
		{"/usr/i686-linux-gnu/lib/libc.so.6", "libc6-i386-cross", "objdump"},
	}
	if testenv.OracleFull() { // large ones
		binaries = append(binaries, binary{lib + "libcrypto.so.3", "libssl3", "objdump"}, binary{"/usr/bin/gdb", "gdb", "objdump"}, binary{testenv.Symtool(t), "", "objdump"})
	}
	for _, c := range binaries {
		t.Run(strings.TrimPrefix(c.path, "/"), func(t *testing.T) {
			path := testenv.File(t, c.path, c.pkg)
			f := symtest.Open(t, path)
			p, sites, took := callsOf(t, testenv.Dump(t, path), f)
			compareCalls(t, p, sites, c.objdump, path, took)
		})
	}
}

// 32-bit Arm code, in which only mapping symbols separate T32 from A32.
func TestCallsOracleARM(t *testing.T) {
	testenv.Oracle(t)
	for _, flags := range []string{"-O2 -static -mthumb", "-O2 -static -marm", "-O0 -g -mthumb"} {
		path := filepath.Join(t.TempDir(), "calls")
		args := append(strings.Fields(flags), "-w", "-o", path, filepath.Join(testenv.Root(t), "lint", "testdata", "follow.c"))
		if text, err := exec.Command(testenv.Tool(t, "arm-linux-gnueabihf-gcc"), args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		p, sites, took := callsOf(t, testenv.Dump(t, path), symtest.Open(t, path))
		compareCalls(t, p, sites, "arm-linux-gnueabihf-objdump", path, took)
	}
}

// callOracle classifies the calls that objdump shows and lint does not see.
type callOracle struct {
	image                   *check.Image
	starts                  []symfmt.RVA
	bad                     bool // bytes after a (bad), up to the next start, may be data
	own, none, data, missed int
	wrong                   []string
}

func (o *callOracle) see(addr uint64, code []byte, text string) {
	for len(o.starts) > 0 && o.image.Addr(o.starts[0]) <= addr {
		o.starts, o.bad = o.starts[1:], false
	}
	if n, _, _ := insn.AMD64(append(code[:len(code):len(code)], make([]byte, 15)...), addr); o.image.Arch == arch.X86_64 && n != len(code) || strings.Contains(text, "(bad)") {
		o.bad = true
	}
}

func (o *callOracle) miss(addr uint64, code []byte, text string) {
	fields := strings.Fields(text)
	target, err := strconv.ParseUint(fields[min(1, len(fields)-1)], 16, 64)
	switch {
	case err == nil && target == addr+uint64(len(code)):
		o.own++ // call of the next instruction, to push its address
	case err == nil && !o.image.Executable(target):
		o.none++ // target outside code
	case o.bad:
		o.data++ // after bytes that do not decode
	default:
		o.missed++
		o.wrong = append(o.wrong, fmt.Sprintf("missed %x %s", o.image.RVA(addr), text))
	}
}

func compareCalls(t *testing.T, p *check.Pass, sites map[uint64]bool, objdump, path string, took time.Duration) {
	t.Helper()
	ranges := codeShare(p, p.Covered(), func(*coverage.Gap) {}).counted
	both, bytes := 0, uint64(0)
	for _, r := range ranges {
		bytes += r.End - r.Start
	}
	compared := 0
	o := callOracle{image: p.Image, starts: codeStarts(p.Facts)}
	testenv.Disassemble(t, objdump, path, func(addr uint64, code []byte, text string) {
		for len(ranges) > 0 && ranges[0].End <= addr {
			ranges = ranges[1:]
		}
		if len(ranges) == 0 || ranges[0].Start > addr {
			return
		}
		compared++
		o.see(addr, code, text)
		site := addr + uint64(len(code)) - 1
		switch call := isCall(text); {
		case call && sites[site]:
			both++
			delete(sites, site)
		case call:
			o.miss(addr, code, text)
		case sites[site]:
			o.wrong = append(o.wrong, fmt.Sprintf("no call %x %s", o.image.RVA(addr), text))
			delete(sites, site)
		}
	})
	t.Logf("%s: %d bytes of functions in %v; %d instructions, %d calls the same; of objdump's only: %d of the next instruction, %d of what is no code, %d in or behind data, others %d; lint's only: %d",
		filepath.Base(path), bytes, took, compared, both, o.own, o.none, o.data, o.missed, len(o.wrong)-o.missed+len(sites))
	for _, w := range o.wrong[:min(len(o.wrong), 20)] {
		t.Error(w)
	}
	for site := range sites {
		t.Errorf("0x%x is the end of no instruction", site)
	}
	if both == 0 {
		t.Error("no calls")
	}
}
