package hostile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
)

// hostileDumpCommands are commands that read m.dmp.
var hostileDumpCommands = []string{
	"walk m.dmp",
	"walk --brief --verify m.dmp",
	"walk --format machine m.dmp",
	"walk --format json --registers m.dmp",
	"walk --format jsonl --trace --verify m.dmp",
	"walk --trace --stack-bytes m.dmp",
	"walk --format html m.dmp",
	"walk --summary --verify m.dmp",
	"inspect --registers --memory --streams m.dmp",
	"inspect --format json m.dmp",
	"convert --to core -o m.core m.dmp",
	"walk m.core",
	"inspect --format json m.core",
	"convert --to minidump -o again.dmp m.core",
	"doctor m.dmp",
}

// Types of streams in a minidump, and addresses in the process.
const (
	mdThreads, mdModules, mdMemory, mdSystem = 3, 4, 5, 7
	mdMemory64, mdHandles, mdUnloaded        = 9, 12, 14
	mdMemoryInfo, mdThreadNames              = 16, 24
	mdMaps, mdCrashpad                       = 0x47670009, 0x43500001

	mdCode  = 0x400000
	mdStack = 0x7fff00000000
)

// hostileDump assembles a minidump for Linux on amd64, in little endian. It has its own
// layouts, so that a mistake in the reader's layouts is noticed.
type hostileDump struct {
	data    []byte
	streams []any // uint32: type, size and offset of each
}

// newDump returns a dump with room for a number of streams.
func newDump(streams int) *hostileDump {
	return &hostileDump{data: make([]byte, 32+12*streams)}
}

// pack returns values as bytes.
func pack(values ...any) []byte {
	var b bytes.Buffer
	for _, v := range values {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}

// repeat returns n packed records.
func repeat(n int, record func(i int) []byte) []byte {
	var b bytes.Buffer
	for i := range n {
		b.Write(record(i))
	}
	return b.Bytes()
}

// add appends bytes, and returns their offset.
func (d *hostileDump) add(data []byte) uint32 {
	for len(d.data)%8 != 0 {
		d.data = append(d.data, 0)
	}
	at := len(d.data)
	d.data = append(d.data, data...)
	return uint32(at)
}

func (d *hostileDump) stream(kind uint32, data []byte) {
	d.streams = append(d.streams, kind, uint32(len(data)), d.add(data))
}

// list adds a stream that begins with the number of its records.
func (d *hostileDump) list(kind uint32, n int, record func(i int) []byte) {
	d.stream(kind, append(pack(uint32(n)), repeat(n, record)...))
}

// bytes returns the bytes of the dump.
func (d *hostileDump) bytes() []byte {
	copy(d.data, pack([]byte("MDMP"), uint32(0xa793), uint32(len(d.streams)/3), uint32(32), uint32(0), uint32(0x5f000000), uint64(0)))
	copy(d.data[32:], pack(d.streams...))
	return d.data
}

// text adds a string in the format of minidumps.
func (d *hostileDump) text(s string) uint32 {
	b := pack(uint32(2 * len(s)))
	for _, c := range []byte(s) {
		b = append(b, c, 0)
	}
	return d.add(append(b, 0, 0))
}

func (d *hostileDump) system() {
	d.stream(mdSystem, pack(uint16(9), uint16(6), uint16(0), uint8(1), uint8(1), uint32(5), uint32(10), uint32(0), uint32(0x8201), d.text(""), uint32(0), make([]byte, 24)))
}

// buildID adds a CodeView record with a build-id.
func (d *hostileDump) buildID() (at, size uint32) {
	id := pack(uint32(0x4270454c), []byte("0123456789abcdef"))
	return d.add(id), uint32(len(id))
}

// modules adds n modules that share one name.
func (d *hostileDump) modules(n int, name string, place func(i int) (base uint64, size uint32)) {
	at, record, size := d.text(name), uint32(0), uint32(0)
	record, size = d.buildID()
	d.list(mdModules, n, func(i int) []byte {
		base, length := place(i)
		return pack(base, length, uint32(0), uint32(0), at, make([]byte, 52), size, record, make([]byte, 24))
	})
}

func oneModule(int) (uint64, uint32) { return mdCode, 0x100000 }

// context adds the registers of a thread.
func (d *hostileDump) context(pc, sp, fp uint64) uint32 {
	c := make([]byte, 1232)
	binary.LittleEndian.PutUint32(c[48:], 0x10001f)
	binary.LittleEndian.PutUint64(c[152:], sp)
	binary.LittleEndian.PutUint64(c[160:], fp)
	binary.LittleEndian.PutUint64(c[248:], pc)
	return d.add(c)
}

// threads adds n threads that share a stack and registers.
func (d *hostileDump) threads(n int, stack []byte, context uint32) {
	at := d.add(stack)
	d.list(mdThreads, n, func(i int) []byte {
		return pack(uint32(i+1), make([]byte, 20), uint64(mdStack), uint32(len(stack)), at, uint32(1232), context)
	})
	d.list(mdMemory, 1, func(int) []byte { return pack(uint64(mdStack), uint32(len(stack)), at) })
}

// framePointers returns a stack of frames of 16 bytes.
func framePointers(frames int) []byte {
	return repeat(frames, func(i int) []byte { return pack(uint64(mdStack+16*(i+1)), uint64(mdCode+0x1010)) })
}

// stackDump returns a dump with threads that share one stack.
func stackDump(threads int, stack []byte, fp uint64) []byte {
	d := newDump(4)
	d.system()
	d.modules(1, "/bin/m", oneModule)
	d.threads(threads, stack, d.context(mdCode+0x1000, mdStack, fp))
	return d.bytes()
}

// smallDumpID is the debug id of the module "m" of smallDump.
const smallDumpID = "333231303534373638396162636465660"

// smallDump returns a dump to walk with hostile symbols.
func smallDump(int) []byte { return stackDump(1, framePointers(64), mdStack) }

// dumpShape describes a kind of minidump.
type dumpShape struct {
	name string
	n    int
	data func(n int) []byte
}

var dumpShapes = []dumpShape{
	{"threads", 64, func(n int) []byte { return stackDump(n, framePointers(1<<16), mdStack) }},
	{"threads-frames", 64, func(n int) []byte { return stackDump(n, framePointers(16*n), mdStack) }},
	{"threads-scan", 64, func(n int) []byte { return stackDump(n, bytes.Repeat([]byte{1}, 1<<20), 0) }},
	{"module-names", 64, func(n int) []byte {
		d := newDump(2)
		d.system()
		d.modules(n, strings.Repeat("a", 1<<12*n/64), func(i int) (uint64, uint32) { return uint64(mdCode + 0x1000*i), 0x1000 })
		return d.bytes()
	}},
	{"modules-overlapping", 4000, func(n int) []byte {
		d := newDump(2)
		d.system()
		d.modules(n, "/bin/m", func(i int) (uint64, uint32) { return uint64(mdCode + i), uint32(max(1, 0x100000-2*i)) })
		return d.bytes()
	}},
	{"memory-overlapping", 10000, func(n int) []byte {
		d := newDump(2)
		d.system()
		size := 16 * n
		at := d.add(make([]byte, size))
		d.list(mdMemory, n, func(i int) []byte { return pack(uint64(0x1000+i), uint32(max(1, size-2*i)), at) })
		return d.bytes()
	}},
	{"memory64-empty", 20000, func(n int) []byte {
		d := newDump(2)
		d.system()
		d.stream(mdMemory64, append(pack(uint64(n), uint64(0)), repeat(n, func(i int) []byte { return pack(uint64(0x1000+i), uint64(0)) })...))
		return d.bytes()
	}},
	{"thread-names", 2000, func(n int) []byte {
		d := newDump(3)
		d.system()
		name, context := d.text(strings.Repeat("t", 8*n)), d.context(0, 0, 0)
		d.list(mdThreads, n, func(i int) []byte { return pack(uint32(i+1), make([]byte, 36), uint32(1232), context) })
		d.list(mdThreadNames, n, func(i int) []byte { return pack(uint32(i+1), uint64(name)) })
		return d.bytes()
	}},
	{"crashpad", 1000, crashpadDump},
	{"maps", 8000, func(n int) []byte {
		d := newDump(2)
		d.system()
		d.stream(mdMaps, repeat(n, func(i int) []byte { return fmt.Appendf(nil, "%x-%x r-xp 00000000 00:00 0 /l\n", 0x1000+i, 0x1000+4*n) }))
		return d.bytes()
	}},
	{"handles", 4000, func(n int) []byte {
		d := newDump(2)
		d.system()
		name := d.text(strings.Repeat("h", 8*n))
		d.stream(mdHandles, append(pack(uint32(16), uint32(32), uint32(n), uint32(0)), repeat(n, func(int) []byte {
			return pack(uint64(1), name, name, make([]byte, 16))
		})...))
		return d.bytes()
	}},
	{"unloaded", 4000, func(n int) []byte {
		d := newDump(2)
		d.system()
		name := d.text(strings.Repeat("h", 8*n))
		d.stream(mdUnloaded, append(pack(uint32(12), uint32(24), uint32(n)), repeat(n, func(i int) []byte {
			return pack(uint64(0x1000+i), uint32(0x1000), uint64(0), name)
		})...))
		return d.bytes()
	}},
	{"memory-info", 8000, func(n int) []byte {
		d := newDump(2)
		d.system()
		d.stream(mdMemoryInfo, append(pack(uint32(16), uint32(48), uint64(n)), repeat(n, func(i int) []byte {
			return pack(uint64(i), uint64(i), uint64(0), uint64(2*n-2*i), uint32(0x1000), uint32(4), uint64(0))
		})...))
		return d.bytes()
	}},
	{"streams", 10000, func(n int) []byte {
		d := newDump(n + 1)
		d.system()
		d.modules(200, "/bin/m", func(i int) (uint64, uint32) { return uint64(mdCode + 0x1000*i), 0x1000 })
		last := d.streams[len(d.streams)-3:]
		for range n - 1 {
			d.streams = append(d.streams, last...)
		}
		return d.bytes()
	}},
}

// crashpadDump returns a dump with n modules that share one record. The lists of the record
// have n entries, which are the same string.
func crashpadDump(n int) []byte {
	d := newDump(3)
	d.system()
	d.modules(n, "/bin/m", func(i int) (uint64, uint32) { return uint64(mdCode + 0x1000*i), 0x1000 })
	value := strings.Repeat("z", 16*n)
	at := d.add(append(pack(uint32(len(value))), append([]byte(value), 0)...))
	list := append(pack(uint32(n)), repeat(n, func(int) []byte { return pack(at) })...)
	pairs := append(pack(uint32(n)), repeat(n, func(int) []byte { return pack(at, at) })...)
	notes := append(pack(uint32(n)), repeat(n, func(int) []byte { return pack(at, uint16(1), uint16(0), at) })...)
	pairsAt := d.add(pairs)
	module := d.add(pack(uint32(1), uint32(len(list)), d.add(list), uint32(len(pairs)), pairsAt, uint32(len(notes)), d.add(notes)))
	modules := append(pack(uint32(n)), repeat(n, func(i int) []byte { return pack(uint32(i), uint32(28), module) })...)
	modulesAt := d.add(modules)
	d.stream(mdCrashpad, pack(uint32(1), make([]byte, 32), uint32(len(pairs)), pairsAt, uint32(len(modules)), modulesAt))
	return d.bytes()
}

// hostileDumps returns the dumps.
func hostileDumps() (kinds []hostileKind) {
	for _, s := range dumpShapes {
		kinds = append(kinds, hostileKind{name: s.name, n: s.n, files: hostileFiles{"m.dmp": s.data}, commands: hostileDumpCommands})
	}
	return kinds
}
