package dwarf2sym

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/publics"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/symfmt"
)

// The debug sections of a file in a single sequence of bytes, so that a fuzzer's changes
// reach what comes after the ELF headers: a byte that is 1 for big-endian, then parts. A
// part is a byte, its index in packedParts, a length of 4 bytes, little-endian, and as many
// bytes. ".code" contains pairs of 8-byte addresses, ".symbols" an 8-byte address and size,
// a byte for the length of the name, and the name.
var packedParts = []string{
	".debug_info", ".debug_abbrev", ".debug_line", ".debug_str", ".debug_line_str", ".debug_str_offsets",
	".debug_addr", ".debug_rnglists", ".debug_ranges", ".code", ".symbols",
}

func (c *core) pack() []byte {
	out := []byte{byte(oneIf(c.order == binary.ByteOrder(binary.BigEndian)))}
	var code, symbols []byte
	for _, r := range c.code {
		code = binary.LittleEndian.AppendUint64(code, r.Start)
		code = binary.LittleEndian.AppendUint64(code, r.End)
	}
	for _, s := range c.symbols {
		symbols = binary.LittleEndian.AppendUint64(symbols, uint64(s.RVA))
		symbols = binary.LittleEndian.AppendUint64(symbols, s.Size)
		name := s.Name[:min(len(s.Name), 255)]
		symbols = append(append(symbols, byte(len(name))), name...)
	}
	for i, name := range packedParts {
		data := map[string][]byte{".code": code, ".symbols": symbols}[name]
		if data == nil {
			data = c.sections[name]
		}
		if len(data) > 0 {
			out = binary.LittleEndian.AppendUint32(append(out, byte(i)), uint32(len(data)))
			out = append(out, data...)
		}
	}
	return out
}

// unpackCore is the inverse of pack. It accepts any bytes.
func unpackCore(data []byte) *core {
	c := &core{order: binary.LittleEndian, sections: make(map[string][]byte)}
	if len(data) > 0 && data[0]&1 != 0 {
		c.order = binary.BigEndian
	}
	for data = data[min(1, len(data)):]; len(data) >= 5; {
		name, n := packedParts[int(data[0])%len(packedParts)], binary.LittleEndian.Uint32(data[1:])
		data = data[5:]
		part := data[:min(uint64(n), uint64(len(data)))]
		data = data[len(part):]
		switch name {
		case ".code":
			c.unpackCode(part)
		case ".symbols":
			c.unpackSymbols(part)
		default:
			c.sections[name] = part
		}
	}
	return c
}

// unpackCode guarantees what elfobj does: ranges are sorted and do not touch.
func (c *core) unpackCode(part []byte) {
	at := uint64(0)
	for ; len(part) >= 16; part = part[16:] {
		r := object.Range{Start: binary.LittleEndian.Uint64(part), End: binary.LittleEndian.Uint64(part[8:])}
		if r.Start < r.End && (r.Start > at || len(c.code) == 0) {
			c.code = append(c.code, r)
			at = r.End
		}
	}
}

// unpackSymbols guarantees what publics.Read does: one symbol for each address,
// sorted.
func (c *core) unpackSymbols(part []byte) {
	for len(part) > 17 {
		s := publics.Symbol{RVA: symfmt.RVA(binary.LittleEndian.Uint64(part)), Size: binary.LittleEndian.Uint64(part[8:]), Func: true}
		n := min(int(part[16]), len(part)-17)
		s.Name, part = string(part[17:17+n]), part[17+n:]
		if n > 0 && (len(c.symbols) == 0 || s.RVA > c.symbols[len(c.symbols)-1].RVA) {
			c.symbols = append(c.symbols, s)
		}
	}
}

// coreOfELF extracts the debug sections of a file.
func coreOfELF(t testing.TB, path string) *core {
	t.Helper()
	f := symtest.Open(t, path)
	c := &core{order: f.Order, sections: make(map[string][]byte), code: f.ExecRanges()}
	c.symbols, _ = publics.Read(0, filesOf(f))
	for _, name := range packedParts {
		s := f.Section(name)
		if s == nil || !s.HasData() {
			continue
		}
		data, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		c.sections[name] = data
	}
	return c
}

// Packing loses nothing: reading the result gives the same output as the file.
func TestPackedCore(t *testing.T) {
	for _, path := range fixtures(t) {
		c := coreOfELF(t, path)
		want := c.text(t, Options{}, coreRuns[0])
		if got := unpackCore(c.pack()).text(t, Options{}, coreRuns[0]); got != want {
			t.Errorf("%s: other records", path)
		}
	}
}

// Any bytes as debug sections give a module that keeps the rules of the format, can be read
// again, and is the same for any number of workers.
func FuzzUnits(f *testing.F) {
	for _, path := range fixtures(f) {
		f.Add(coreOfELF(f, path).pack())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 64<<10 {
			t.Skip("longer than any seed")
		}
		c := unpackCore(data)
		m, rep, err := c.read(Options{Demangle: true}, coreRun{jobs: 1, copying: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range rep.Problems {
			if strings.Contains(p.String(), "internal error") {
				t.Fatal(p)
			}
		}
		if err := checkModule(m); err != nil {
			t.Fatal(err)
		}
		one, err := strictText(m)
		if err != nil {
			t.Fatal(err)
		}
		m, _, err = c.read(Options{Demangle: true}, coreRun{jobs: 2, batch: 64})
		if err != nil {
			t.Fatal(err)
		}
		two, err := strictText(m)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one, two) {
			t.Fatalf("one worker:\n%s\ntwo workers:\n%s", one, two)
		}
	})
}
