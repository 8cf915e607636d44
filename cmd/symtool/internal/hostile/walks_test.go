package hostile

import "fmt"

// hostileWalkCommands are commands that walk m.dmp with the symbols in m.sym.
var hostileWalkCommands = []string{
	"walk -s m.sym m.dmp",
	"walk -s m.sym --brief m.dmp",
	"walk -s m.sym --format machine m.dmp",
	"walk -s m.sym --format json --registers m.dmp",
	"walk -s m.sym --format jsonl --verify m.dmp",
	"walk -s m.sym --trace m.dmp",
	"walk -s m.sym --stack-bytes m.dmp",
	"walk -s m.sym --symbols-b m.sym m.dmp",
	"walk -s m.sym --format html --verify m.dmp",
	"walk -s m.sym --summary m.dmp",
}

// rulesOf returns symbols with one function that covers all of the code, and
// rules.
func rulesOf(rules string) func(int) []byte {
	return func(int) []byte {
		return []byte(symLinux + "FUNC 0 100000 0 f\nSTACK CFI INIT 0 100000 " + rules + "\n")
	}
}

// hostileWalks returns dumps with matching symbols.
func hostileWalks() (kinds []hostileKind) {
	add := func(name string, n int, symbols, dump func(n int) []byte) {
		kinds = append(kinds, hostileKind{name: name, n: n, files: hostileFiles{"m.sym": symbols, "m.dmp": dump}, commands: hostileWalkCommands})
	}
	oneThread := func(n int) []byte { return stackDump(1, framePointers(n), mdStack) }
	manyThreads := func(n int) []byte { return stackDump(n, framePointers(256), mdStack) }
	add("cfa-by-one", 1000, rulesOf(".cfa: $rsp 1 + .ra: 4198416"), oneThread)
	add("cfa-by-word", 1000, rulesOf(".cfa: $rsp 8 + .ra: 4198416"), manyThreads)
	add("cfa-same-word", 1000, rulesOf(".cfa: $rsp 8 + .ra: 140733193388040 ^"), manyThreads)
	add("inline-frames", 1000, func(n int) []byte {
		w := symText{}
		w.f("%s%sFUNC 0 100000 0 f\n", symLinux, symInline)
		for i := range min(n/10, 250) {
			w.f("INLINE %d %d 0 0 0 100000\n", i, i+1)
		}
		w.f("STACK CFI INIT 0 100000 .cfa: $rsp 16 + .ra: .cfa 8 - ^\n")
		return w.Bytes()
	}, oneThread)
	add("inline-many-places", 2000, func(n int) []byte {
		w := symText{}
		w.f("%s%s", symLinux, symInline)
		for i := range n {
			w.f("FUNC %x 10 0 f%d\n", 16*i, i)
			for k := range 20 {
				w.f("INLINE %d %d 0 0 %x 10\n", k, k+1, 16*i)
			}
		}
		return w.Bytes()
	}, func(n int) []byte {
		return stackDump(1, repeat(n, func(i int) []byte { return pack(uint64(mdStack+16*(i+1)), uint64(mdCode+16*i+8)) }), mdStack)
	})
	add("registers", 1000, func(n int) []byte {
		w := symText{}
		w.f("%sSTACK CFI INIT 0 100000 .cfa: $rsp 16 + .ra: .cfa 8 - ^", symLinux)
		for i := range n {
			w.f(" $q%d: .cfa 8 -", i)
		}
		w.f("\n")
		return w.Bytes()
	}, func(n int) []byte {
		return stackDump(1, repeat(n, func(i int) []byte { return pack(uint64(0), uint64(mdCode+16*i+8)) }), mdStack)
	})
	manyPlaces := func(n int) []byte {
		return stackDump(1, repeat(n, func(i int) []byte { return pack(uint64(0), uint64(mdCode+16*i+8)) }), mdStack)
	}
	add("rows-many-places", 4000, func(n int) []byte {
		w := symText{}
		w.f("%sSTACK CFI INIT 0 100000 .cfa: $rsp 16 + .ra: .cfa 8 - ^\n", symLinux)
		for i := range n {
			w.f("STACK CFI %x $rbx: .cfa 16 - ^\n", 16*i+1)
		}
		return w.Bytes()
	}, manyPlaces)
	add("lines-many-places", 4000, func(n int) []byte {
		w := symText{}
		w.f("%s%sFUNC 0 100000 0 f\n", symLinux, symFile)
		for i := range n {
			w.f("%x 10 %d 0\n", 16*i, i+1)
		}
		w.f("STACK CFI INIT 0 100000 .cfa: $rsp 16 + .ra: .cfa 8 - ^\n")
		return w.Bytes()
	}, manyPlaces)
	return kinds
}

// hostileLists returns lists of names and other formats that convert reads.
func hostileLists() (kinds []hostileKind) {
	line := func(format string, args func(i, n int) []any) func(n int) []byte {
		return func(n int) []byte {
			return repeat(n, func(i int) []byte { return fmt.Appendf(nil, format, args(i, n)...) })
		}
	}
	commands := func(from, file string) (all []string) {
		for _, to := range []string{"breakpad", "gsym", "symcache", "elf", "json"} {
			all = append(all, fmt.Sprintf("convert --from %s --to %s -o out.%s %s", from, to, to, file))
		}
		return append(all, "doctor "+file)
	}
	add := func(name, from, file string, n int, data func(n int) []byte) {
		kinds = append(kinds, hostileKind{name: name, n: n, files: hostileFiles{file: data}, commands: commands(from, file)})
	}
	add("perfmap-nested", "perfmap", "perf-1.map", 20000, line("%x %x f%d\n", func(i, n int) []any { return []any{0x1000 + i, 2*n - 2*i, i} }))
	add("perfmap-same", "perfmap", "perf-1.map", 20000, line("1000 10 f%d\n", func(i, _ int) []any { return []any{i} }))
	add("perfmap-far", "perfmap", "perf-1.map", 20000, line("%x 10 f\n", func(i, _ int) []any { return []any{uint64(i) << 40} }))
	add("nm-same", "nm", "m.nm", 20000, line("0000000000001000 T f%d\n", func(i, _ int) []any { return []any{i} }))
	add("nm-reversed", "nm", "m.nm", 20000, line("%016x T f%d\n", func(i, n int) []any { return []any{0x1000 + 16*(n-i), i} }))
	return kinds
}
