package hostile

import (
	"bytes"
	"fmt"
	"strings"
)

// Streams in minidumps that only Linux, Mozilla or Breakpad write, or that tools seldom read.
const (
	mdException, mdComment, mdThreadInfo = 6, 10, 17
	mdCPUInfo, mdStatus, mdRelease       = 0x47670003, 0x47670004, 0x47670005
	mdEnvironment, mdLinkMaps            = 0x47670007, 0x4767000a
	mdSoftErrors                         = 0x4d7a0004
)

// oneStream returns a dump with one more stream, which consists of pieces.
func oneStream(kind uint32, piece string) func(n int) []byte {
	return func(n int) []byte {
		return streamsDump(1, func(d *hostileDump) { d.stream(kind, []byte(strings.Repeat(piece, n))) })
	}
}

// streamsDump returns a dump of a thread whose stack leads through a module, with other streams.
func streamsDump(streams int, add func(d *hostileDump)) []byte {
	d := newDump(4 + streams)
	d.system()
	d.modules(1, "/bin/m", oneModule)
	d.threads(1, framePointers(64), d.context(mdCode+0x1000, mdStack, mdStack))
	add(d)
	return d.bytes()
}

var streamShapes = []dumpShape{
	{"soft-errors-nested", 100000, func(n int) []byte {
		return streamsDump(1, func(d *hostileDump) {
			d.stream(mdSoftErrors, []byte(strings.Repeat("[", n)+strings.Repeat("]", n)))
		})
	}},
	{"soft-errors", 20000, oneStream(mdSoftErrors, `[{"a":[1]},{"b":2}]`)},
	{"environment", 50000, oneStream(mdEnvironment, "A=B\x00")},
	{"cpu-info", 50000, oneStream(mdCPUInfo, "processor : 1\nmodel name : x\n")},
	{"release", 50000, oneStream(mdRelease, "DISTRIB_ID=x\n")},
	{"status", 50000, oneStream(mdStatus, "Uid:\t1\t1\n")},
	{"maps-of-digits", 1000000, oneStream(mdMaps, "1")},
	{"maps-of-one-name", 200000, func(n int) []byte {
		return streamsDump(1, func(d *hostileDump) { d.stream(mdMaps, []byte("1000-2000 r-xp 0 0:0 0 "+strings.Repeat("/a", n))) })
	}},
	{"comments", 20000, func(n int) []byte {
		return streamsDump(n, func(d *hostileDump) {
			d.stream(mdComment, bytes.Repeat([]byte("c"), 1000))
			last := d.streams[len(d.streams)-3:]
			for range n - 1 {
				d.streams = append(d.streams, last...)
			}
		})
	}},
	{"handle-objects-in-a-circle", 2000, func(n int) []byte {
		return streamsDump(1, func(d *hostileDump) {
			first := d.add(nil)
			d.data = append(d.data, repeat(n, func(i int) []byte { return pack(first+uint32(12*((i+1)%n)), uint32(1), uint32(0)) })...)
			d.stream(mdHandles, append(pack(uint32(16), uint32(40), uint32(n), uint32(0)), repeat(n, func(int) []byte {
				return pack(uint64(1), make([]byte, 24), first, uint32(0))
			})...))
		})
	}},
	{"link-maps-of-one-name", 5000, func(n int) []byte { return linkMaps(n, uint32(n)) }},
	{"link-maps-without-end", 5000, func(n int) []byte { return linkMaps(n, 1<<32-1) }},
	{"one-long-record", 5000, func(n int) []byte {
		d := newDump(2)
		d.system()
		record := append(append(pack([]byte("RSDS0123456789abcdef"), uint32(1)), bytes.Repeat([]byte("p"), 60000)...), 0)
		at, name := d.add(record), d.text("m")
		d.list(mdModules, n, func(i int) []byte {
			return pack(uint64(mdCode+0x1000*i), uint32(0x1000), uint32(0), uint32(0), name, make([]byte, 52), uint32(len(record)), at, make([]byte, 24))
		})
		return d.bytes()
	}},
	{"unloaded-over-frames", 4000, func(n int) []byte {
		return streamsDump(1, func(d *hostileDump) {
			name := d.text(strings.Repeat("u", 1000))
			d.stream(mdUnloaded, append(pack(uint32(12), uint32(24), uint32(n)), repeat(n, func(i int) []byte {
				return pack(uint64(0x1000+i), uint32(0x7fffffff), uint64(0), name)
			})...))
		})
	}},
	{"exceptions", 4000, func(n int) []byte {
		return streamsDump(n, func(d *hostileDump) {
			context := d.context(0, 0, 0)
			for i := range n {
				d.stream(mdException, pack(uint32(i), uint32(0), make([]byte, 152), uint32(1232), context))
			}
		})
	}},
	{"names-of-one-thread", 10000, func(n int) []byte {
		return streamsDump(2, func(d *hostileDump) {
			name := d.text("t")
			d.list(mdThreadNames, n, func(int) []byte { return pack(uint32(1), uint64(name)) })
			d.stream(mdThreadInfo, append(pack(uint32(12), uint32(64), uint32(n)), bytes.Repeat([]byte{1, 0, 0, 0}, 16*n)...))
		})
	}},
	{"memory64-of-all", 8000, func(n int) []byte {
		return streamsDump(1, func(d *hostileDump) {
			d.stream(mdMemory64, append(pack(uint64(n), uint64(0)), repeat(n, func(i int) []byte { return pack(uint64(0x1000*i), uint64(1)<<62) })...))
		})
	}},
}

// linkMaps returns a dump whose list of loaded libraries has n entries of the same name, and claims to have count.
func linkMaps(n int, count uint32) []byte {
	return streamsDump(1, func(d *hostileDump) {
		name := d.text(strings.Repeat("x", 2000))
		list := d.add(repeat(n, func(i int) []byte { return pack(uint64(mdCode+4096*i), name, uint64(0x5000)) }))
		d.stream(mdLinkMaps, pack(uint32(1), list, count, uint64(0), uint64(0), uint64(0)))
	})
}

// hostileStreams returns minidumps with streams of systems and programs, and cores with shared notes and images.
func hostileStreams() (kinds []hostileKind) {
	for _, s := range streamShapes {
		kinds = append(kinds, hostileKind{name: s.name, n: s.n, files: hostileFiles{"m.dmp": s.data}, commands: hostileDumpCommands})
	}
	for _, s := range coreShapes {
		kinds = append(kinds, hostileKind{name: "core-" + s.name, n: s.n, files: hostileFiles{"m.core": s.data}, commands: hostileCoreCommands})
	}
	return kinds
}

// coreShapes are cores whose segments are an image, or that have many notes.
var coreShapes = []dumpShape{
	{"images-of-headers", 500, func(n int) []byte {
		return imagesCore(n, imageOf(n, repeat(n, func(int) []byte { return imageHeader(4, 64, 56*n) })))
	}},
	{"images-of-notes", 1000, func(n int) []byte {
		note := append(pack(uint32(4), uint32(4), uint32(9)), "XYZ\x00abcd"...)
		return imagesCore(n, imageOf(1, append(imageHeader(4, 120, len(note)*n), bytes.Repeat(note, n)...)))
	}},
	{"files-in-turn", 20000, func(n int) []byte {
		place := func(i int) (uint64, uint64) { return uint64(mdCode + 0x1000*i), uint64(mdCode + 0x1000*i + 0x1000) }
		return coreOf(append(coreThread(0), coreFiles(n, place, repeat(n, func(i int) []byte { return fmt.Appendf(nil, "/%d\x00", i%2) }))...), nil, nil)
	}},
	{"lists-of-files", 5000, func(n int) []byte {
		place := func(i int) (uint64, uint64) { return uint64(mdCode + 0x1000*i), uint64(mdCode + 0x1000*i + 0x1000) }
		return coreOf(append(coreThread(0), bytes.Repeat(coreFiles(4, place, []byte("/x\x00/x\x00/x\x00/x\x00")), n)...), nil, nil)
	}},
	{"files-of-long-names", 500, func(n int) []byte {
		place := func(i int) (uint64, uint64) { return uint64(mdCode + 0x1000*i), uint64(mdCode + 0x1000*i + 0x1000) }
		return coreOf(append(coreThread(0), coreFiles(n, place, bytes.Repeat(append(bytes.Repeat([]byte("/d"), 2000), 0), n))...), nil, nil)
	}},
	{"one-thread", 3000, func(n int) []byte { return coreOf(bytes.Repeat(coreThread(0), n), nil, nil) }},
	{"processes", 5000, func(n int) []byte {
		notes := append(append(coreNote(3, make([]byte, 136)), coreNote(0x53494749, make([]byte, 128))...), coreNote(6, make([]byte, 32))...)
		return coreOf(append(coreThread(0), bytes.Repeat(notes, n)...), nil, nil)
	}},
	{"states-of-one-thread", 500, func(n int) []byte {
		return coreOf(append(coreThread(0), bytes.Repeat(coreNote(0x202, make([]byte, 2696)), n)...), nil, nil)
	}},
	{"link-maps-in-a-circle", 5000, func(n int) []byte { return linkedCore(n, true) }},
	{"link-maps-of-one-name", 2000, func(n int) []byte { return linkedCore(n, false) }},
	{"headers-that-are-missing", 5000, func(n int) []byte {
		core := coreOf(coreThread(0), make([]elfSegment, n), nil)
		copy(core[56:], "\xff\xff")
		return core
	}},
}

// imageHeader returns a program header whose contents are both in the file and in memory.
func imageHeader(kind uint32, at, size int) []byte {
	return pack(kind, uint32(4), uint64(at), uint64(at), uint64(at), uint64(size), uint64(size), uint64(4))
}

// imageOf returns the beginning of a program with headers.
func imageOf(headers int, rest []byte) []byte {
	return append(pack([]byte("\x7fELF\x02\x01\x01"), make([]byte, 9), uint16(3), uint16(62), uint32(1), uint64(0), uint64(64), uint64(0), uint32(0),
		uint16(64), uint16(56), uint16(min(headers, 65534)), uint16(0), uint16(0), uint16(0)), rest...)
}

// imagesCore returns a core with n segments that are all the same image.
func imagesCore(n int, image []byte) []byte {
	segments := make([]elfSegment, n)
	for i := range segments {
		segments[i] = elfSegment{1, 5, 0, mdCode + 0x100000*uint64(i), uint64(len(image)), uint64(len(image))}
	}
	return coreOf(coreThread(0), segments, image)
}

// linkedCore returns a core of a program whose list of libraries has n entries, and either ends or is a circle. Their
// names begin at each byte of one name.
func linkedCore(n int, circle bool) []byte {
	const dynamic, debug, entries, nameSize = 0x1000, 0x2000, 0x10000, 4000
	image := imageOf(2, append(imageHeader(6, 64, 112), imageHeader(2, dynamic, 64)...))
	for _, at := range []int{64 + 16, 64 + 24, 64 + 56 + 16, 64 + 56 + 24} { // addresses
		image[at+2] = mdCode >> 16
	}
	image = append(image, make([]byte, entries-len(image))...)
	copy(image[dynamic:], pack(uint64(21), uint64(mdCode+debug), uint64(0), uint64(0)))
	copy(image[debug:], pack(uint64(1), uint64(mdCode+entries), uint64(0), uint64(0), uint64(0)))
	names := mdCode + entries + 40*n
	image = append(image, repeat(n, func(i int) []byte {
		next := uint64(mdCode + entries + 40*((i+1)%n))
		if i+1 == n && !circle {
			next = 0
		}
		return pack(uint64(0x1000*i), uint64(names+i%nameSize), uint64(mdCode+dynamic), next, uint64(0))
	})...)
	image = append(append(image, "/"+strings.Repeat("x", nameSize)...), 0)
	auxv := coreNote(6, pack(uint64(3), uint64(mdCode+64), uint64(4), uint64(56), uint64(5), uint64(2), uint64(0), uint64(0)))
	segment := elfSegment{1, 5, 0, mdCode, uint64(len(image)), uint64(len(image))}
	return coreOf(append(coreThread(0), auxv...), []elfSegment{segment}, image)
}
