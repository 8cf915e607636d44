package elfobj

import (
	"strings"
	"testing"
)

// codeELF returns a file with sections with code, by name, address and size,
// and a build-id unless id is empty.
func codeELF(id string, code ...testSec) testELF {
	e := kinds[0].e
	if id != "" {
		e.secs = []testSec{{name: ".note.gnu.build-id", typ: stNote, data: e.note("GNU\x00", 3, []byte(id), 4)}}
	}
	for _, s := range code {
		s.typ, s.flags = stNobits, 6
		e.secs = append(e.secs, s)
	}
	return e
}

func TestCheckPair(t *testing.T) {
	text := testSec{name: ".text", addr: 0x1000, size: 0x100}
	moved := testSec{name: ".text", addr: 0x33001000, size: 0x100}
	long := testSec{name: ".text", addr: 0x1000, size: 0x101}
	init := testSec{name: ".init", addr: 0x800, size: 0x10}
	initMoved := testSec{name: ".init", addr: 0x33000900, size: 0x10}
	other := codeELF("id", text)
	other.mach++
	segments := func(addr, size uint64) testELF {
		e := kinds[0].e
		e.noSecs = true
		e.segs = []testSeg{{typ: 1, flags: 4, mem: 0x10}, {typ: 1, flags: 5, addr: addr, mem: size}}
		return e
	}
	for name, c := range map[string]struct {
		f, debug testELF
		moved    uint64
		err      string
	}{
		"the same":              {codeELF("id", text), codeELF("id", text), 0, ""},
		"other id":              {codeELF("id", text), codeELF("no", text), 0, "debug: build-id 6e6f, want 6964"},
		"other processor":       {codeELF("id", text), other, 0, "debug: for "},
		"no ids":                {codeELF("", text), codeELF("", text), 0, ""},
		"no ids, other size":    {codeELF("", text), codeELF("", long), 0, "debug: .text of 257 bytes, want 256"},
		"an id, other size":     {codeELF("id", text), codeELF("", long), 0, "debug: .text of 257 bytes, want 256"},
		"ids, other size":       {codeELF("id", text), codeELF("id", long), 0, ""},
		"f moved":               {codeELF("id", moved), codeELF("id", text), 0x33000000, ""},
		"debug moved":           {codeELF("id", text), codeELF("id", moved), 1<<64 - 0x33000000, ""},
		"one section in common": {codeELF("id", init, moved), codeELF("id", text), 0x33000000, ""},
		"two of a name":         {codeELF("id", text, moved), codeELF("id", text, moved), 0, ""},
		"by different amounts": {codeELF("id", moved, initMoved), codeELF("id", text, init), 0,
			"debug: layout of code differs from prog: .text is moved by 0x33000000 bytes, .init by 0x33000100"},
		"segments":                      {segments(0x5000, 0x1000), segments(0x1000, 0x1000), 0x4000, ""},
		"segments of other sizes":       {segments(0x5000, 0x1000), segments(0x1000, 0x1001), 0, ""},
		"no sections in one of the two": {segments(0x5000, 0x1000), codeELF("", text), 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f, debug := mustOpen(t, c.f.build()), mustOpen(t, c.debug.build())
			debug.Path, debug.in.Path = "debug", "debug"
			err := f.CheckDebug(debug.Object())
			if c.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), c.err) {
					t.Errorf("%v, want %q", err, c.err)
				}
				return
			}
			got, more := f.Moved(debug.Object())
			if err != nil || more != nil || got != c.moved {
				t.Errorf("%#x, %v, %v, want %#x", got, err, more, c.moved)
			}
		})
	}
}
