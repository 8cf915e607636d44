package hostile

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// packedText compresses a head followed by many copies of a piece of text. The result
// inflates 1,000- to 10,000-fold.
func packedText(format, head, piece string, unpacked int) []byte {
	var b bytes.Buffer
	var w io.WriteCloser
	if format == "zst" {
		z, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
		if err != nil {
			panic(err)
		}
		w = z
	} else {
		w, _ = gzip.NewWriterLevel(&b, gzip.BestSpeed)
	}
	fmt.Fprint(w, head)
	many := strings.Repeat(piece, 1<<20/len(piece))
	for n := 0; n < unpacked; n += len(many) {
		fmt.Fprint(w, many)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// hostilePacked returns files of n MB that inflate to a gigabyte.
func hostilePacked() (kinds []hostileKind) {
	const function = symInline + "FUNC 1000 10 0 f\n"
	for name, text := range map[string][2]string{
		"func": {symLinux, "FUNC 1000 10 0 f\n"}, "line": {symLinux + function, "1000 10 1 0\n"},
		"inline": {symLinux + function, "INLINE 0 1 0 0 1000 10\n"}, "file": {symLinux, "FILE 0 a\n"}, "info": {symLinux, "INFO URL x\n"},
		"public": {symLinux, "PUBLIC 1000 0 p\n"}, "cfi": {symLinux, "STACK CFI INIT 1000 10 .cfa: $rsp 8 + .ra: .cfa 8 - ^\n"},
	} {
		for _, format := range []string{"gz", "zst"} {
			file := "m.sym." + format
			kinds = append(kinds, hostileKind{name: name + "-" + format, n: 64, files: hostileFiles{
				file:    func(n int) []byte { return packedText(format, text[0], text[1], n<<20) },
				"m.dmp": smallDump,
			}, commands: []string{
				"resolve -s " + file + " 1000", "walk -s " + file + " m.dmp", "lint " + file, "doctor " + file,
				"convert --to breakpad -o out.sym " + file, "convert --to gsym -o out.gsym " + file, "convert --to json -o out.json " + file,
				"store add store " + file,
			}})
		}
	}
	dump := hostileKind{name: "dump-gz", n: 16, files: hostileFiles{"m.dmp.gz": func(n int) []byte {
		return packedText("gz", string(stackDump(64, framePointers(1<<12), mdStack)), strings.Repeat("\x00", 1<<20), n<<20)
	}}, commands: []string{"walk m.dmp.gz", "inspect m.dmp.gz", "convert --to core -o m.core m.dmp.gz"}}
	core := hostileKind{name: "core-gz", n: 8, files: hostileFiles{"m.core.gz": func(n int) []byte {
		memory := uint64(n << 20)
		head := coreOf(coreThread(0), []elfSegment{{1, 6, 0, mdStack, memory, memory}}, nil)
		return packedText("gz", string(head), strings.Repeat("\x00", 1<<20), n<<20)
	}}, commands: []string{"walk m.core.gz", "walk - < m.core.gz", "inspect m.core.gz", "convert --to minidump -o m.dmp m.core.gz"}}
	return append(kinds, dump, core)
}
