package jitdump_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"strings"

	"github.com/symtool/symtool/symfmt/jitdump"
)

// The code that a file has.
func ExampleRead() {
	const name, code = "add\x00", "\x8d\x04\x37\xc3"
	le := binary.LittleEndian
	var b []byte
	for _, v := range []uint32{0x4a695444, 1, 40, 62 /* EM_X86_64 */, 0, 4711, 0, 0, 0, 0} { // the header
		b = le.AppendUint32(b, v)
	}
	b = le.AppendUint32(b, 0) // JIT_CODE_LOAD
	b = le.AppendUint32(b, uint32(56+len(name)+len(code)))
	b = le.AppendUint64(b, 1)                           // time
	b = le.AppendUint32(le.AppendUint32(b, 4711), 4711) // process and thread
	for _, v := range []uint64{0x7f00, 0x7f00, 4, 1} {  // addresses, size and index
		b = le.AppendUint64(b, v)
	}
	file := string(b) + name + code

	result, err := jitdump.Read(context.Background(), strings.NewReader(file), int64(len(file)), jitdump.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range result.Module.Funcs {
		fmt.Printf("%s: %s at %#x, %d bytes\n", result.Module.Arch, f.Name, f.RVA, f.Size)
	}
	// Output:
	// x86_64: add at 0x7f00, 4 bytes
}
