package unwind

import (
	"debug/macho"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
)

// listed is an entry of a listing that framehop's author recorded: "0x00000cb0: CFA=reg6+16: reg6=[CFA-16], ...".
var listed = regexp.MustCompile(`^  0x([0-9a-f]+): (?:CFA=reg(\d+)(?:\+(\d+))?(?:: (.*))?|\(check eh_frame FDE 0x[0-9a-f]+\)|(\(uncovered\)))$`)

// listedSave matches a saved register, listedSP the caller's stack pointer. An older listing is relative to the
// frame pointer, which it calls the CFA.
var (
	listedSave = regexp.MustCompile(`reg(\d+)=\[CFA(?:[-+](\d+))?\]`)
	listedSP   = regexp.MustCompile(`reg31=reg29\+(\d+)`)
)

// entryText returns an entry in the form of the listing.
func entryText(c *compactReader, e *pdataEntry) (string, error) {
	b, ok, err := c.decode(e)
	if err != nil || !ok {
		return fmt.Sprintf("%x DWARF", e.lo), err
	}
	if b.none {
		return fmt.Sprintf("%x none", e.lo), nil
	}
	var saves []string
	for reg := range 32 {
		if b.saved>>reg&1 != 0 {
			saves = append(saves, c.saveText(reg, b.at[reg]))
		}
	}
	if c.r.in.Arch == arch.X86_64 {
		saves = append(saves, c.saveText(16, -8))
	} else if b.ra != 0 {
		saves = append(saves, c.saveText(30, b.ra))
	}
	return fmt.Sprintf("%x %d+%d %s", e.lo, b.base, b.off, c.join(saves, b.base)), nil
}

// saveText returns a saved register in the form of entryText. On arm64 it omits the place, and vector registers: the
// listings use other bits than the format for pairs of vector registers, and so have those in the wrong places.
func (c *compactReader) saveText(reg int, at int64) string {
	switch {
	case c.r.in.Arch != arch.ARM64:
		return fmt.Sprintf("%d@%d", reg, at)
	case reg < 19:
		return ""
	}
	return strconv.Itoa(reg)
}

// join joins saved registers. For arm64 without a frame pointer, the listings have none.
func (c *compactReader) join(saves []string, base uint8) string {
	if base == arm64SP {
		return ""
	}
	slices.Sort(saves)
	return strings.TrimSpace(strings.Join(saves, " "))
}

// listing returns the entries of a recorded listing, as entryText does.
func listing(t *testing.T, c *compactReader, path string) (all []string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		m := listed.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil {
			if strings.HasPrefix(line, "  ") {
				t.Fatalf("%s: %q", path, line)
			}
			continue
		}
		lo, _ := strconv.ParseUint(m[1], 16, 64)
		switch {
		case m[5] != "":
			all = append(all, fmt.Sprintf("%x none", lo))
			continue
		case m[2] == "":
			all = append(all, fmt.Sprintf("%x DWARF", lo))
			continue
		}
		if sp := listedSP.FindStringSubmatch(m[4]); sp != nil {
			m[3] = sp[1]
		}
		off, _ := strconv.Atoi(m[3])
		var saves []string
		for _, s := range listedSave.FindAllStringSubmatch(m[4], -1) {
			reg, _ := strconv.Atoi(s[1])
			at, _ := strconv.ParseInt(s[2], 10, 64)
			saves = append(saves, c.saveText(reg, -at))
		}
		base, _ := strconv.ParseUint(m[2], 10, 8)
		all = append(all, fmt.Sprintf("%x %d+%d %s", lo, base, off, c.join(saves, uint8(base))))
	}
	return all
}

// unwindInfo returns the __unwind_info of a file, or the whole file if it is just that.
func unwindInfo(t *testing.T, path string) []byte {
	t.Helper()
	var data []byte
	var err error
	if filepath.Ext(path) == ".__unwind_info" {
		data, err = os.ReadFile(path)
	} else if f, failed := macho.Open(path); failed != nil {
		err = failed
	} else {
		defer f.Close()
		data, err = f.Section("__unwind_info").Data()
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Every entry of real tables has the mode, the CFA and the registers that framehop's author recorded.
func TestCompactListings(t *testing.T) {
	dir := testenv.Shared(t, "data", "macho", "real", "framehop")
	for _, l := range []struct {
		file, listing string
		cpu           *arch.Arch
		entries       int
	}{
		{"x86_64-fp-libmozglue.dylib", "x86_64-fp-libmozglue", arch.X86_64, 500},
		{"arm64-fp-query-api", "arm64-fp-query-api", arch.ARM64, 2500},
		{"arm64-nofp-rustup.__unwind_info", "arm64-nofp-rustup", arch.ARM64, 5000},
	} {
		in := compactInput(unwindInfo(t, filepath.Join(dir, l.file)), nil, l.cpu)
		in.Base = 0
		c := newReader(t.Context(), in).newCompact()
		c.section = &in.Index[0]
		c.data = c.section.Data
		if err := c.readPages(); err != nil {
			t.Fatal(err)
		}
		want := listing(t, c, filepath.Join(dir, l.listing+"-unwindinfodump.txt"))
		if len(c.entries) != len(want) || len(want) < l.entries {
			t.Errorf("%s: %d entries, want %d, at least %d", l.file, len(c.entries), len(want), l.entries)
		}
		wrong := 0
		for i := range min(len(want), len(c.entries)) {
			got, err := entryText(c, &c.entries[i])
			if got != want[i] || err != nil {
				if wrong++; wrong <= 5 {
					t.Errorf("%s: entry %d, encoding %#x: %s, want %s; %v", l.file, i, c.entries[i].info, got, want[i], err)
				}
			}
		}
		t.Logf("%s: %d entries, %d differ", l.file, len(want), wrong)
	}
}
