package hostile

import (
	"archive/zip"
	"bytes"
	"fmt"
	"math"
)

// frameRows lists the instructions of an FDE for all code, n times each, and the instructions that precede them in the
// CIE.
var frameRows = map[string]struct {
	n       int
	initial func(i int) []byte
	row     func(i int) []byte
}{
	"remembered":     {20000, nil, func(int) []byte { return []byte("\x0a\x41\x0e\x10\x0b") }},
	"only-remembers": {80000, nil, func(int) []byte { return []byte("\x0a") }},
	"only-restores":  {80000, nil, func(int) []byte { return []byte("\x0b") }},
	"far-advances":   {20000, nil, func(int) []byte { return []byte("\x04\xff\xff\xff\xff\x0e\x10") }},
	"registers": {4000, func(i int) []byte { return (&die{}).u8(5).uleb(20 + i).uleb(i + 1).Bytes() },
		func(i int) []byte { return (&die{}).u8(0x41, 0x0e).uleb(16 + 8*(i%3)).Bytes() }},
	"restored-registers": {4000, func(i int) []byte { return (&die{}).u8(5).uleb(20 + i).uleb(i + 1).Bytes() },
		func(i int) []byte { return (&die{}).u8(0x41, 5).uleb(20+i).u8(3, 6).uleb(20 + i).Bytes() }},
}

// hostileFrames returns call frame information that takes many steps for each byte.
func hostileFrames() (kinds []hostileKind) {
	commands := append([]string{"dump --check-cfi -o checked.sym m.elf"}, hostileELFCommands...)
	add := func(name string, n int, section func(n int) elfSec) {
		kinds = append(kinds, hostileKind{name: name, n: n, files: hostileFiles{"m.elf": func(n int) []byte { return elfOf(section(n)) }}, commands: commands})
	}
	for name, r := range frameRows {
		add(name, r.n, func(n int) elfSec {
			var initial []byte
			if r.initial != nil {
				initial = repeat(n, r.initial)
			}
			return framesOf(".debug_frame", initial, 1, func(int) (int, int, []byte) { return 0, hostileCode, repeat(n, r.row) })
		})
	}
	add("of-all-addresses", 8000, func(n int) elfSec {
		return framesOf(".debug_frame", nil, n, func(i int) (int, int, []byte) { return i - hostileText, math.MaxInt64 - i, []byte("\x41\x0e\x10") })
	})
	return kinds
}

// frameOfZstd returns a zstd frame that requests a window of 1<<log bytes. It is empty, or has one block of a byte
// repeated 128 K times.
func frameOfZstd(log int, block string) []byte {
	return append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0, byte(log-10) << 3}, block+"\x01\x00\x00"...)
}

// hostileWindow is the memory that a zstd frame may take in addition, whatever its size (TestWindow).
const hostileWindow = 32 << 20

// hostileMembers returns compressed data with many parts, and archives with many members, that take hardly any bytes
// each.
func hostileMembers() (kinds []hostileKind) {
	const text = symLinux + symFile + "FUNC 1000 10 0 f\n1000 10 1 0\n"
	add := func(file, name string, n int, part func(i int) []byte) {
		whole := func() []byte { return packedText(file[len("m.sym."):], text, "INFO URL x\n", 1) } // not computed before it is requested
		kinds = append(kinds, hostileKind{name: name, n: n, more: hostileWindow, files: hostileFiles{file: func(n int) []byte { return append(repeat(n, part), whole()...) }, "m.dmp": smallDump},
			commands: []string{"resolve -s " + file + " 1000", "lint " + file, "doctor " + file, "convert --to gsym -o out.gsym " + file, "store add store " + file, "walk -s " + file + " m.dmp"}})
	}
	for _, log := range []int{20, 25, 27, 41} {
		frame := frameOfZstd(log, "")
		add("m.sym.zst", fmt.Sprint("windows-", log), 5000, func(int) []byte { return frame })
	}
	add("m.sym.zst", "skippable-frames", 50000, func(int) []byte { return []byte("\x50\x2a\x4d\x18\x00\x00\x00\x00") })
	add("m.sym.zst", "skippable-gigabytes", 10000, func(int) []byte { return []byte("\x50\x2a\x4d\x18\xff\xff\xff\xff") })
	add("m.sym.zst", "frames-of-any-size", 5000, func(int) []byte { return []byte("\x28\xb5\x2f\xfd\xe0\x00\x00\x00\x00\x00\x00\x00\x40\x01\x00\x00") })
	add("m.sym.zst", "repeated-bytes", 2000, func(int) []byte { return frameOfZstd(20, "\x02\x00\x10\n") })
	const member = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	add("m.sym.gz", "members", 20000, func(int) []byte { return []byte(member) })
	add("m.sym.gz", "names-of-members", 1000, func(int) []byte {
		return append(append([]byte("\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\x03"), bytes.Repeat([]byte("x"), 1000)...), "\x00"+member[10:]...)
	})
	add("m.sym.gz", "fields-of-members", 20, func(int) []byte {
		return append(append([]byte("\x1f\x8b\x08\x04\x00\x00\x00\x00\x00\x03\xff\xff"), bytes.Repeat([]byte("x"), 65535)...), member[10:]...)
	})

	archive := func(name string, n int, data func(n int) []byte) {
		kinds = append(kinds, hostileKind{name: name, n: n, files: hostileFiles{"p.archive": data}, commands: []string{"dump --no-debuginfod --store out p.archive"}})
	}
	archive("zip-one-file", 1000, func(n int) []byte { return zipOfOneFile(n, zip.Store, nil) })
	header := func(name string, size int) []byte {
		return fmt.Appendf(nil, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", name, 0, 0, 0, "644", size)
	}
	archive("ar-thin", 5000, func(n int) []byte {
		return append([]byte("!<thin>\n"), repeat(n, func(int) []byte { return header("p.archive/", 9999) })...)
	})
	archive("ar-names", 5000, func(n int) []byte {
		names := append(bytes.Repeat([]byte("x"), n-n%2), "/\n"...)
		members := repeat(n, func(i int) []byte { return header(fmt.Sprint("/", i%n), 0) })
		return append(append(append([]byte("!<arch>\n"), header("//", len(names))...), names...), members...)
	})
	archive("ar-nested", 50, func(n int) []byte {
		inner := []byte(packedELF(0, []byte{0x90, 0xc3}))
		for range n {
			inner = append(append([]byte("!<arch>\n"), header("b.a/", len(inner))...), inner...)
		}
		return inner
	})
	cpio := func(name string, data string) []byte {
		b := []byte("070701")
		for _, v := range []int{1, 0o100644, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0} {
			b = fmt.Appendf(b, "%08X", v)
		}
		b = append(append(b, name...), make([]byte, 1+(-(len(name)+1+110))&3)...)
		return append(append(b, data...), make([]byte, -len(data)&3)...)
	}
	archive("cpio-links", 20000, func(n int) []byte {
		return append(repeat(n, func(i int) []byte { return cpio(fmt.Sprint("a", i), "") }), cpio("TRAILER!!!", "")...)
	})
	archive("cpio-name", 1000000, func(n int) []byte {
		return append(cpio(string(bytes.Repeat([]byte("a"), n)), "text"), cpio("TRAILER!!!", "")...)
	})
	return kinds
}

// zipOfOneFile returns a zip archive whose n entries all refer to the same local file, an ELF file followed by more
// bytes.
func zipOfOneFile(n int, method uint16, more []byte) []byte {
	one := zipWith(1, method, packedELF(0, []byte{0x90, 0xc3})+string(more))
	at := bytes.LastIndex(one, []byte("PK\x01\x02"))
	end := bytes.LastIndex(one, []byte("PK\x05\x06"))
	entries := bytes.Repeat(one[at:end], n)
	count := min(n, math.MaxUint16-1)
	return append(append(bytes.Clone(one[:at]), entries...), pack([]byte("PK\x05\x06"), uint32(0), uint16(count), uint16(count), uint32(len(entries)), uint32(at), uint16(0))...)
}
