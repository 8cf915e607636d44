package dwarf2sym

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	elfobj "github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/internal/testenv"
)

// What the package does not support is reported: by an error, or by a problem that names the loss.
func TestSaysWhatIsNotRead(t *testing.T) {
	data := testenv.ReadInput(t, "gcc-dwarf5.elf")
	open := func(data []byte) *object.File {
		f, err := elfobj.NewFile(bytes.NewReader(data), int64(len(data)), "a.out", object.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		return f.Object()
	}

	object := bytes.Clone(data)
	binary.LittleEndian.PutUint16(object[16:], uint16(elf.ET_REL))
	const want = "a.out: offset 0x10: debug information of type ET_REL for a.out of type ET_DYN"
	if _, err := Read(context.Background(), open(data), Options{Debug: open(object)}); err == nil || err.Error() != want {
		t.Errorf("a relocatable debug file: error %v, want %s", err, want)
	}

	// A section is renamed to that of dwz's link, which has the same length.
	linked := bytes.Replace(data, []byte(".note.gnu.build-id\x00"), []byte(".gnu_debugaltlink\x00\x00"), 1)
	rep, err := Read(context.Background(), open(linked), Options{})
	if err != nil || len(rep.Problems) == 0 || !strings.Contains(rep.Problems[0].String(), "a.out: .gnu_debugaltlink") {
		t.Errorf("supplementary file: error %v, report %v", err, rep)
	}
}
