package hostile

import (
	"bytes"
	"fmt"
	"strings"
)

// hostileCacheCommands returns commands that read a symcache or a GSYM file, m.x.
func hostileCacheCommands(from string) (all []string) {
	for _, to := range []string{"breakpad", "json", "elf", "gsym", "symcache"} {
		all = append(all, fmt.Sprintf("convert --from %s --to %s -o out.%s m.x", from, to, to))
	}
	return append(all, "doctor m.x")
}

// symcacheOf assembles a symcache of version 7. It computes the numbers of functions,
// locations and ranges from the rows.
func symcacheOf(functions, locations, ranges, strings []byte) []byte {
	var w bytes.Buffer
	pad := func() { w.Write(make([]byte, -w.Len()&7)) }
	w.Write(pack([]byte("SYMC"), uint32(7), make([]byte, 32), uint32(201), uint32(1), uint32(len(functions)/16), uint32(len(locations)/16), uint32(len(ranges)/4), uint32(len(strings))))
	w.Write(make([]byte, 80-w.Len()))
	for _, part := range [][]byte{pack(uint32(0), uint32(0), uint32(0)), functions, locations, ranges, strings} {
		pad()
		w.Write(part)
	}
	return w.Bytes()
}

// gsymOf assembles a GSYM file of version 1 with n addresses of four bytes, which share the
// information of one function or each have their own.
func gsymOf(n int, each bool, names string, info func(i int) []byte) []byte {
	var infos bytes.Buffer
	infoAt := 48 + 8*n + 4 + 2*8
	namesAt := infoAt
	infoAt += len(names)
	var offsets []uint32
	for i := range n {
		if i == 0 || each {
			infos.Write(make([]byte, -(infoAt+infos.Len())&3))
			offsets = append(offsets, uint32(infoAt+infos.Len()))
			infos.Write(info(i))
		} else {
			offsets = append(offsets, offsets[0])
		}
	}
	head := pack([]byte("MYSG"), uint16(1), uint8(4), uint8(16), uint64(0x1000), uint32(n), uint32(namesAt), uint32(len(names)), []byte("0123456789abcdef\x00\x00\x00\x00"))
	addresses := repeat(n, func(i int) []byte { return pack(uint32(4 * i)) })
	files := pack(uint32(2), uint32(0), uint32(0), uint32(0), uint32(1))
	return append(append(append(append(append(head, addresses...), pack(offsets)...), files...), names...), infos.Bytes()...)
}

// hostileCaches returns symcaches and GSYM files that no writer produces.
func hostileCaches() (kinds []hostileKind) {
	add := func(from, name string, n int, data func(n int) []byte) {
		kinds = append(kinds, hostileKind{name: from + "-" + name, n: n, more: hostileRows, files: hostileFiles{"m.x": data}, commands: hostileCacheCommands(from)})
	}
	const none = ^uint32(0)
	function := func(i int) []byte { return pack(uint32(0), uint32(0), uint32(0x1000+i), none) }
	ranges := func(n int) []byte { return repeat(n, func(i int) []byte { return pack(uint32(0x1000 + i)) }) }
	add("symcache", "chain", 8000, func(n int) []byte {
		locations := repeat(n, func(i int) []byte { return pack(uint32(0), uint32(i), uint32(i), uint32(i+1)) })
		return symcacheOf(repeat(n, function), locations, ranges(n), pack(uint32(1), []byte("f")))
	})
	add("symcache", "cycle", 20000, func(n int) []byte {
		locations := repeat(n, func(i int) []byte { return pack(uint32(0), uint32(i), uint32(i), uint32((i+1)%n)) })
		return symcacheOf(repeat(n, function), locations, ranges(n), pack(uint32(1), []byte("f")))
	})
	add("symcache", "alternating", 20000, func(n int) []byte {
		locations := repeat(n, func(i int) []byte { return pack(uint32(0), uint32(i), uint32(i%2), none) })
		return symcacheOf(repeat(2, function), locations, ranges(n), pack(uint32(1), []byte("f")))
	})
	add("symcache", "one-name", 8000, func(n int) []byte {
		locations := repeat(n, func(i int) []byte { return pack(uint32(0), uint32(1), uint32(i), none) })
		return symcacheOf(repeat(n, function), locations, ranges(n), pack(uint32(16*n), []byte(strings.Repeat("n", 16*n))))
	})
	add("symcache", "names-within", 8000, func(n int) []byte {
		functions := repeat(n, func(i int) []byte { return pack(uint32(4*i), uint32(0), uint32(0x1000+i), none) })
		locations := repeat(n, func(i int) []byte { return pack(uint32(0), uint32(1), uint32(i), none) })
		return symcacheOf(functions, locations, ranges(n), repeat(8*n, func(i int) []byte { return pack(uint32(max(1, 4*(n-i)))) }))
	})

	lines := func(n int) []byte {
		program := append([]byte{0, 1, 1}, bytes.Repeat([]byte{2, 1, 3, 1}, n)...) // deltas 0 and 1, line 1, rows
		program = append(program, 0)
		return append(pack(uint32(1), uint32(len(program))), program...)
	}
	// inline returns a node that covers the whole function.
	inline := func(children byte) []byte { return []byte{1, 0, 64, children, 1, 0, 0, 0, 1, 1} }
	info := func(parts ...[]byte) []byte {
		return append(append(pack(uint32(1<<20), uint32(1)), bytes.Join(parts, nil)...), make([]byte, 8)...)
	}
	add("gsym", "one-function", 20000, func(n int) []byte {
		return gsymOf(n, false, "\x00f\x00", func(int) []byte { return info(lines(n)) })
	})
	add("gsym", "functions-over-each-other", 20000, func(n int) []byte {
		return gsymOf(n, true, "\x00f\x00", func(int) []byte { return info() })
	})
	add("gsym", "one-name", 10000, func(n int) []byte {
		return gsymOf(n, true, "\x00"+strings.Repeat("n", 16*n)+"\x00", func(int) []byte { return info() })
	})
	add("gsym", "inlines-nested", 20000, func(n int) []byte {
		tree := append(bytes.Repeat(inline(1), n), make([]byte, n)...)
		return gsymOf(1, true, "\x00f\x00", func(int) []byte { return info(pack(uint32(2), uint32(len(tree))), tree) })
	})
	add("gsym", "inlines-beside", 20000, func(n int) []byte {
		tree := append(append(inline(1), bytes.Repeat(inline(0), n)...), 0)
		return gsymOf(1, true, "\x00f\x00", func(int) []byte { return info(pack(uint32(2), uint32(len(tree))), tree) })
	})
	add("gsym", "merged", 10000, func(n int) []byte {
		one := info()
		merged := append(pack(uint32(n)), repeat(n, func(int) []byte { return append(pack(uint32(len(one))), one...) })...)
		return gsymOf(1, true, "\x00f\x00", func(int) []byte { return info(pack(uint32(3), uint32(len(merged))), merged) })
	})
	add("gsym", "merged-nested", 200, func(n int) []byte {
		one := info()
		for range n {
			merged := append(pack(uint32(1), uint32(len(one))), one...)
			one = info(pack(uint32(3), uint32(len(merged))), merged)
		}
		return gsymOf(1, true, "\x00f\x00", func(int) []byte { return one })
	})
	return kinds
}
