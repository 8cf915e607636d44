package elfcore

import (
	"debug/elf"
	"encoding/hex"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/dump"
)

var (
	loadLine = regexp.MustCompile(`^  LOAD +0x([0-9a-f]+) 0x([0-9a-f]+) 0x[0-9a-f]+ 0x([0-9a-f]+) 0x([0-9a-f]+) ([RWE ]{3}) `)
	noteLine = regexp.MustCompile(`^  (\w+) +0x([0-9a-f]+)\t(\w+)`)
)

const xsaveLayout = 0x205 // newer than readelf 2.40

// TestOracleReadelf compares segments with memory and mappings, and the list of
// notes, with readelf's.
func TestOracleReadelf(t *testing.T) {
	testenv.Oracle(t)
	segments, bytes, notes := 0, uint64(0), 0
	for _, c := range append(append([]string{n32Core}, fixtureCores...), realCores...) {
		d, core, _ := anyCore(t, c)
		var parts []dump.Part
		for _, line := range oracle.Readelf(t, core, "-lnW") {
			if m := loadLine.FindStringSubmatch(line); m != nil {
				segments++
				bytes += compareLoad(t, c, d, core, m)
			}
			if m := noteLine.FindStringSubmatch(line); m != nil {
				size, _ := strconv.ParseUint(m[2], 16, 64)
				parts = append(parts, dump.Part{Name: m[3], Size: size})
			}
		}
		for i, p := range d.Parts {
			if len(parts) == len(d.Parts) && p.Type == xsaveLayout && parts[i].Name == "Unknown" {
				parts[i].Name = p.Name
			}
			if len(parts) != len(d.Parts) || parts[i].Name != p.Name || parts[i].Size != p.Size {
				t.Errorf("%s: note %d is %+v, readelf has %+v", c, i, p, parts)
				break
			}
			notes++
		}
	}
	t.Logf("%d segments with %d bytes, %d notes", segments, bytes, notes)
	if segments < 550 || notes < 130 {
		t.Error("too few")
	}
}

// compareLoad finds a segment among the mappings, which the files' names cut, and
// its bytes in memory, at both ends.
func compareLoad(t *testing.T, name string, d *dump.Dump, core string, m []string) uint64 {
	t.Helper()
	var v [5]uint64 // offset, address, size in the file and in memory
	for i := 1; i < 5; i++ {
		v[i], _ = strconv.ParseUint(m[i], 16, 64)
	}
	addr, inFile, inMemory := v[2], v[3], v[4]
	for at := addr; at < addr+inMemory; {
		i := -1
		for k := range d.Maps {
			if d.Maps[k].Contains(at) {
				i = k
			}
		}
		if i < 0 {
			t.Errorf("%s: no mapping at %#x, of the segment at %#x", name, at, addr)
			break
		}
		k := &d.Maps[i]
		if got := flagsOf(k); got != flagsIn(m[5]) && k.Addr == at {
			t.Errorf("%s: mapping at %#x has %v, readelf has %q", name, at, got, m[5])
		}
		at = k.Addr + k.Size
	}
	if got := d.Memory.Bytes(addr, int(inFile)); uint64(len(got)) != inFile {
		t.Errorf("%s: %d bytes of memory at %#x, readelf has %d", name, len(got), addr, inFile)
	}
	return inFile
}

func flagsIn(text string) (f elf.ProgFlag) {
	for i, flag := range []elf.ProgFlag{elf.PF_R, elf.PF_W, elf.PF_X} {
		if text[i] != ' ' {
			f |= flag
		}
	}
	return f
}

var unstripLine = regexp.MustCompile(`^0x([0-9a-f]+)\+0x[0-9a-f]+ ([0-9a-f]+)@0x[0-9a-f]+ \S+ \S+ (\S+)`)

// TestOracleUnstrip compares modules and their build-ids with those that eu-unstrip finds in cores.
// It finds none in cores of QEMU and gdb.
func TestOracleUnstrip(t *testing.T) {
	testenv.Oracle(t)
	tool := testenv.Tool(t, "eu-unstrip")
	modules := 0
	for _, c := range realCores {
		d, core, _ := anyCore(t, c)
		out, _ := exec.Command(tool, "-n", "--core="+core).Output()
		n := 0
		for line := range strings.Lines(string(out)) {
			m := unstripLine.FindStringSubmatch(line)
			if m == nil {
				t.Errorf("%s: %s", c, line)
				continue
			}
			n++
			addr, _ := strconv.ParseUint(m[1], 16, 64)
			i := d.ModuleAt(addr)
			if i < 0 || d.Modules[i].Addr != addr || hex.EncodeToString(d.Modules[i].BuildID) != m[2] {
				t.Errorf("%s: eu-unstrip has %s, in module %d", c, line, i)
				continue
			}
			// It names libraries by their DT_SONAME.
			if name := filepath.Base(m[3]); !strings.HasPrefix(filepath.Base(d.Modules[i].Path), strings.TrimSuffix(strings.Replace(name, "linux-vdso", "linux-gate", 1), ".1")) {
				t.Errorf("%s: module %s, eu-unstrip has %s", c, d.Modules[i].Path, name)
			}
		}
		if kernel := strings.HasPrefix(c, "crashes/") || c == "arch/x86"; kernel && n != len(d.Modules) || !kernel && n != 0 {
			t.Errorf("%s: %d modules, eu-unstrip has %d", c, len(d.Modules), n)
		}
		modules += n
	}
	t.Logf("%d modules", modules)
	if modules < 70 {
		t.Error("too few")
	}
}
