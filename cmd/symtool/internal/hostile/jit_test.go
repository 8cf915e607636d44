package hostile

import (
	"fmt"
	"strings"
)

// hostileJIT returns cores whose thread is in generated code, with perf maps and jitdump files.
func hostileJIT() (kinds []hostileKind) {
	const page = 1 << 16
	core := func(int) []byte {
		memory := append(make([]byte, page), framePointers(1<<12)...)
		stack := uint64(len(memory) - page)
		return coreOf(coreThread(0), []elfSegment{{1, 5, 0, mdCode, page, page}, {1, 6, page, mdStack, stack, stack}}, memory)
	}
	add := func(name, file string, n int, data func(n int) []byte) {
		kinds = append(kinds, hostileKind{name: name, n: n, files: hostileFiles{"m.core": core, file: data}, commands: []string{"walk --jit " + file + " m.core", "walk --format json --jit " + file + " m.core"}})
	}
	lines := func(format string, args func(i, n int) []any) func(n int) []byte {
		return func(n int) []byte {
			return repeat(n, func(i int) []byte { return fmt.Appendf(nil, format, args(i, n)...) })
		}
	}
	add("jit-map-nested", "perf-1.map", 20000, lines("%x %x f%d\n", func(i, n int) []any { return []any{mdCode + i, 2*n - 2*i, i} }))
	add("jit-map-overlapping", "perf-1.map", 20000, lines("%x 100 f%d\n", func(i, _ int) []any { return []any{mdCode + i, i} }))
	add("jit-map-same", "perf-1.map", 20000, lines("%x 2000 f%d\n", func(i, _ int) []any { return []any{mdCode, i} }))

	records := func(record func(i, n int) []byte) func(n int) []byte {
		return func(n int) []byte {
			head := pack(uint32(0x4a695444), uint32(1), uint32(40), uint32(62), uint32(0), uint32(1), uint64(1), uint64(0))
			return append(head, repeat(n, func(i int) []byte { return record(i, n) })...)
		}
	}
	record := func(kind uint32, parts ...any) []byte {
		body := pack(parts...)
		return append(pack(kind, uint32(16+len(body)), uint64(1)), body...)
	}
	load := func(addr, size, index uint64) []byte {
		return record(0, uint32(1), uint32(1), addr, addr, size, index, []byte("f\x00"), make([]byte, size))
	}
	add("jit-same", "jit-1.dump", 10000, records(func(i, _ int) []byte { return load(mdCode+0x1000, 16, uint64(i)) }))
	add("jit-overlapping", "jit-1.dump", 10000, records(func(i, _ int) []byte { return load(mdCode+uint64(i), 64, uint64(i)) }))
	add("jit-moves", "jit-1.dump", 10000, records(func(i, _ int) []byte {
		if i == 0 {
			return load(mdCode, 16, 1)
		}
		at := uint64(mdCode + 16*i)
		return record(1, uint32(1), uint32(1), at, at-16, at, uint64(16), uint64(1))
	}))
	add("jit-lines", "jit-1.dump", 500, records(func(i, _ int) []byte {
		const n = 200
		at := uint64(mdCode + 256*i)
		entries := repeat(n, func(k int) []byte {
			return append(pack(at+uint64(n-k), uint32(k), uint32(0)), fmt.Sprintf("%d\x00", k%7)...)
		})
		return append(record(2, at, uint64(n), entries), load(at, 256, uint64(i))...)
	}))
	add("jit-moved-lines", "jit-1.dump", 2000, records(func(i, n int) []byte { // each move has the lines of the code again
		if i == 0 {
			entries := repeat(n, func(k int) []byte { return append(pack(uint64(mdCode+k), uint32(k), uint32(0)), "a\x00"...) })
			return append(record(2, uint64(mdCode), uint64(n), entries), load(mdCode, uint64(n), 1)...)
		}
		from := uint64(mdCode) + uint64(i-1)*uint64(n)
		return record(1, uint32(1), uint32(1), from, from, from+uint64(n), uint64(n), uint64(1))
	}))
	add("jit-rules", "jit-1.dump", 2000, records(func(i, _ int) []byte {
		frame := []byte(strings.Repeat("\x10\x00\x00\x00\x00\x00\x00\x00\x01zR\x00\x01\x78\x10\x01\x1b\x0c\x07\x08", 4))
		return append(record(4, uint64(len(frame)), uint64(0), uint64(0), frame), load(uint64(mdCode+64*i), 64, uint64(i))...)
	}))
	add("jit-bad", "jit-1.dump", 20000, records(func(int, int) []byte { return record(0, uint32(1)) }))
	return kinds
}
