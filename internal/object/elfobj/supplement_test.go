package elfobj

import (
	"bytes"
	"strings"
	"testing"
)

// supLink is .debug_sup (DWARF 5, 7.3.6).
func (e *testELF) supLink(version uint16, supplementary byte, name string, id []byte) testSec {
	b := new(bytes.Buffer)
	e.u16(b, version)
	b.WriteByte(supplementary)
	b.WriteString(name + "\x00")
	b.WriteByte(byte(len(id)))
	b.Write(id)
	return testSec{name: ".debug_sup", typ: stProgbits, data: b.Bytes()}
}

func TestDebugSup(t *testing.T) {
	id := []byte{1, 2, 3}
	each(t, func(t *testing.T, e *testELF) {
		e.secs = []testSec{e.supLink(5, 0, "common", id)}
		l, err := openBytes(t, e.build()).Supplement()
		if err != nil || l == nil || l.Section != ".debug_sup" || l.Name != "common" || !bytes.Equal(l.ID, id) {
			t.Errorf("%v, %v", l, err)
		}
		e.secs = []testSec{e.supLink(5, 1, "", id)}
		if l, err := openBytes(t, e.build()).Supplement(); l != nil || err != nil {
			t.Errorf("a supplementary file has the link %v, %v", l, err)
		}
	})
	e := kinds[0].e
	for name, sec := range map[string]testSec{
		"version 6": e.supLink(6, 0, "x", id),
		"no id":     e.supLink(5, 0, "x", nil),
		"cut":       {name: ".debug_sup", typ: stProgbits, data: []byte{5, 0, 0, 'x'}},
	} {
		e.secs = []testSec{sec}
		if l, err := openBytes(t, e.build()).Supplement(); l != nil || err == nil || !strings.Contains(err.Error(), ".debug_sup") {
			t.Errorf("%s: %v, %v", name, l, err)
		}
	}
}
