package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
)

// Reports show the CPU on which a kernel panicked and the end of its log, or what the dump lacks for that.
func TestKernel(t *testing.T) {
	schema := documentSchema(t)
	for _, c := range []struct {
		k          dump.Kernel
		text, json string
	}{
		{dump.Kernel{PanicCPU: 1, Log: []string{"[    1.500000] a\x1b[1m", "[    2.000000] b"}},
			"Panic on CPU 1\nKernel log:\n    [    1.500000] a\\x1b[1m\n    [    2.000000] b\n",
			`"kernel":{"log":["[    1.500000] a\u001b[1m","[    2.000000] b"],"missing":[],"panic_cpu":1}`},
		{dump.Kernel{PanicCPU: -1, CPUMissing: "no variable", LogMissing: "no buffer"},
			"Panic on a CPU that is not known: no variable\nKernel log: not read: no buffer\n",
			`"kernel":{"log":[],"missing":["no variable","no buffer"],"panic_cpu":null}`},
		{dump.Kernel{PanicCPU: 0}, "Panic on CPU 0\nKernel log: empty\n", `"kernel":{"log":[],"missing":[],"panic_cpu":0}`},
	} {
		d := &dump.Dump{Format: "ELF core", Arch: arch.X86_64, Main: -1, Kernel: &c.k, Threads: make([]dump.Thread, 2)}
		r := &walk.Result{Dump: d, Stacks: []walk.Stack{{}, {Thread: 1}}}
		var text, doc bytes.Buffer
		if err := WriteText(&text, r, TextOptions{}); err != nil || !strings.Contains(text.String(), c.text) {
			t.Errorf("%v, text %s\nwant %s", err, &text, c.text)
		}
		document := NewDocument(r, DocumentOptions{})
		validate(t, schema, document)
		if err := document.Write(&doc, WriteOptions{}); err != nil || !strings.Contains(doc.String(), c.json) {
			t.Errorf("%v, document %s\nwant %s", err, &doc, c.json)
		}
	}
}
