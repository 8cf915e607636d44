package pdb

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// imageFor writes a PE file that has the section headers of a PDB and names it; llvm-symbolizer requires such
// a file.
func imageFor(t *testing.T, d *database, pdb string) string {
	t.Helper()
	headers, err := d.stream(d.opt[optSections]).all()
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	count, size := len(headers)/40, 240
	wide := d.machine != 0x14c
	if !wide {
		size = 224
	}
	out := make([]byte, 0x80)
	copy(out, "MZ")
	le.PutUint32(out[0x3c:], 0x80)
	out = append(out, "PE\x00\x00"...)
	out = le.AppendUint16(le.AppendUint16(out, d.machine), uint16(count+1))
	out = append(out, make([]byte, 12)...)
	out = le.AppendUint16(le.AppendUint16(out, uint16(size)), 0x2022)
	opt := make([]byte, size)
	le.PutUint16(opt, 0x10b)
	directories := 96
	if wide {
		le.PutUint16(opt, 0x20b)
		directories = 112
	}
	end := uint32(0x1000)
	for h := headers; len(h) >= 40; h = h[40:] {
		end = max(end, (le.Uint32(h[12:])+le.Uint32(h[8:])+0xfff)&^0xfff)
	}
	le.PutUint32(opt[32:], 0x1000)
	le.PutUint32(opt[36:], 0x200)
	le.PutUint32(opt[56:], end+0x1000)
	le.PutUint32(opt[60:], 0x4000)
	le.PutUint32(opt[directories-4:], 16)
	le.PutUint32(opt[directories+6*8:], end)
	le.PutUint32(opt[directories+6*8+4:], 28)
	out = append(out, opt...)
	for h := headers; len(h) >= 40; h = h[40:] {
		entry := slices.Clone(h[:40])
		le.PutUint32(entry[16:], 0)
		le.PutUint32(entry[20:], 0)
		out = append(out, entry...)
	}
	codeView := append([]byte("RSDS"), d.rawGUID()...)
	codeView = append(append(le.AppendUint32(codeView, d.age), pdb...), 0)
	debug := make([]byte, 28)
	le.PutUint32(debug[12:], 2)
	le.PutUint32(debug[16:], uint32(len(codeView)))
	le.PutUint32(debug[20:], end+28)
	le.PutUint32(debug[24:], 0x4000+28)
	debug = append(debug, codeView...)
	last := make([]byte, 40)
	copy(last, ".debug")
	le.PutUint32(last[8:], uint32(len(debug)))
	le.PutUint32(last[12:], end)
	le.PutUint32(last[16:], uint32(len(debug)))
	le.PutUint32(last[20:], 0x4000)
	le.PutUint32(last[36:], 0x40000040)
	out = append(out, last...)
	out = append(out, make([]byte, 0x4000-len(out))...)
	path := filepath.Join(t.TempDir(), "image.exe")
	if err := os.WriteFile(path, append(out, debug...), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// rawGUID returns the GUID in the order of the file.
func (d *database) rawGUID() []byte {
	g := slices.Clone(d.guid[:])
	slices.Reverse(g[:4])
	slices.Reverse(g[4:6])
	slices.Reverse(g[6:8])
	return g
}

// edges returns the addresses where a row, a call or a function begins or ends.
func (v *llvmView) edges() []symfmt.RVA {
	all := map[symfmt.RVA]bool{}
	for i := range v.modules {
		m := &v.modules[i]
		for _, b := range m.blocks {
			for _, r := range b.rows {
				all[r.at] = true
			}
		}
		for k := range m.procs {
			p := &m.procs[k]
			end := p.rva + symfmt.RVA(p.size)
			all[p.rva], all[end-1] = true, true
			for s := range p.sites {
				for _, r := range m.lines.expand(p, &p.sites[s]) {
					all[r.lo] = true
					all[r.hi] = all[r.hi] || r.hi < end
				}
			}
		}
	}
	var list []symfmt.RVA
	for at, is := range all {
		if is && v.d.isCode(at) {
			list = append(list, at)
		}
	}
	slices.Sort(list)
	return list
}

// ask calls fn with llvm-symbolizer's frames at addresses. It returns how often the program crashed.
func ask(t *testing.T, program, image string, addresses []symfmt.RVA, fn func(at symfmt.RVA, frames []frame)) (crashes int) {
	t.Helper()
	for len(addresses) > 0 {
		cmd := exec.Command(program, "--output-style=JSON", "--relative-address", "--no-debuginfod", "--obj="+image)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		go func(addresses []symfmt.RVA) {
			w := bufio.NewWriter(in)
			for _, a := range addresses {
				fmt.Fprintf(w, "%#x\n", uint64(a))
			}
			w.Flush()
			in.Close()
		}(addresses)
		lines, n := bufio.NewScanner(out), 0
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var answer struct {
				Address string
				Error   *struct{ Message string }
				Symbol  []struct {
					FileName string
					Line     uint32
				}
			}
			if err := json.Unmarshal(lines.Bytes(), &answer); err != nil {
				break
			}
			if answer.Error != nil {
				t.Fatal(answer.Error.Message)
			}
			n++
			at, _ := strconv.ParseUint(answer.Address, 0, 64)
			var frames []frame
			for _, s := range answer.Symbol {
				frames = append(frames, frame{s.FileName, s.Line})
			}
			fn(symfmt.RVA(at), frames)
		}
		in.Close()
		_ = cmd.Wait()
		if addresses = addresses[n:]; len(addresses) > 0 {
			crashes++
			addresses = addresses[1:]
		}
	}
	return crashes
}

// TestOracleSymbolizer is like TestSymbolizer, for PDBs that clang and lld make here, and for those in the
// folder named by SYMTOOL_PDBS.
func TestOracleSymbolizer(t *testing.T) {
	program := testenv.Tool(t, "llvm-symbolizer-22")
	paths := builtPDBs(t)
	if dir := os.Getenv("SYMTOOL_PDBS"); dir != "" {
		more, err := filepath.Glob(filepath.Join(dir, "*.pdb"))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, more...)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		reasons := map[string]int{}
		c := newFrameComparison(t, path, data, reasons)
		crashes := ask(t, program, imageFor(t, c.view.d, path), c.view.edges(), func(at symfmt.RVA, want []frame) { c.compare(at, at, want) })
		if reasons["the same"] == 0 {
			t.Errorf("%s: no address is the same", path)
		}
		for why, n := range reasons {
			t.Logf("%s %6d %s", c.file, n, why)
		}
		if crashes > 0 {
			t.Logf("%s %6d crashes of llvm-symbolizer", c.file, crashes)
		}
	}
}

// builtPDBs builds PDBs from the repository's sources, for several CPUs and with several options.
func builtPDBs(t *testing.T) (paths []string) {
	t.Helper()
	clang, link := testenv.Tool(t, "clang-22"), testenv.Tool(t, "lld-link-22")
	dir := t.TempDir()
	for i, c := range []struct{ target, flags, link, source string }{
		{"x86_64-pc-windows-msvc", "-O0", "/opt:noref", "pdb_names.cc"},
		{"x86_64-pc-windows-msvc", "-O1 -ffunction-sections", "/opt:ref,icf", "pdb_names.cc"},
		{"x86_64-pc-windows-msvc", "-O2 -ffunction-sections", "/opt:ref,icf /debug:ghash", "pdb_names.cc"},
		{"x86_64-pc-windows-msvc", "-O2 -flto", "/opt:noref", "pdb_names.cc"},
		{"x86_64-pc-windows-msvc", "-Oz", "/opt:noref /pdbpagesize:8192", "pdb_names.cc"},
		{"x86_64-pc-windows-msvc", "-O2 -gline-tables-only", "/opt:noref", "pdb_names.cc"},
		{"i686-pc-windows-msvc", "-O1 -fno-omit-frame-pointer", "/safeseh:no /opt:noref", "pdb_names.cc"},
		{"i686-pc-windows-msvc", "-O3 -fomit-frame-pointer", "/safeseh:no /opt:noref", "pdb_names.cc"},
		{"i686-pc-windows-msvc", "-O2 -fomit-frame-pointer", "/safeseh:no /opt:noref", "pdb_frames.c"},
		{"aarch64-pc-windows-msvc", "-O0", "/opt:noref", "pdb_names.cc"},
		{"aarch64-pc-windows-msvc", "-O3", "/opt:noref", "pdb_names.cc"},
	} {
		base := filepath.Join(dir, fmt.Sprintf("%d-%s", i, strings.Fields(c.target)[0]))
		objects := []string{}
		for _, source := range []string{c.source, "pdb_start.c"} {
			out := base + "-" + source + ".obj"
			args := append([]string{"--target=" + c.target, "-w", "-g", "-gcodeview", "-ffreestanding", "-fno-stack-protector", "-fno-builtin"}, strings.Fields(c.flags)...)
			if strings.HasSuffix(source, ".cc") {
				args = append(args, "-std=c++17", "-fno-rtti", "-fno-threadsafe-statics")
			}
			run(t, clang, append(args, "-c", testenv.Input(t, "src", source), "-o", out)...)
			objects = append(objects, out)
		}
		args := []string{"/nologo", "/debug", "/entry:start", "/subsystem:console", "/nodefaultlib", "/force:unresolved", "/noimplib", "/out:" + base + ".exe", "/pdb:" + base + ".pdb"}
		run(t, link, append(append(args, strings.Fields(c.link)...), objects...)...)
		paths = append(paths, base+".pdb")
	}
	return paths
}

func run(t *testing.T, program string, args ...string) {
	t.Helper()
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", program, args, err, out)
	}
}
