package hostile

// hostileSFrameCommands are commands that read m.sframe.
var hostileSFrameCommands = []string{
	"sframe m.sframe",
	"sframe --format json m.sframe",
	"sframe --pc 1000 --format json m.sframe",
	"sframe --check spec m.sframe",
	"sframe --check binutils --format json m.sframe",
	"sframe --check kernel m.sframe",
	"convert --from sframe --to sframe -o again.sframe m.sframe",
	"convert --from sframe --to breakpad -o m.sym m.sframe",
	"doctor m.sframe",
}

// sframeShape assembles a section for amd64. It has its own layouts.
type sframeShape struct {
	version   uint8
	functions int
	rows      int
	shared    bool  // all functions share all of the rows
	info      uint8 // of a function: its kind, and the width of the start addresses of its rows
	size      uint32
}

func (s sframeShape) bytes() []byte {
	row := pack(uint8(0), uint8(3), uint8(8)) // start, one offset from sp, one byte each
	area := repeat(s.rows, func(int) []byte { return row })
	each, perRow := s.rows, 0
	if !s.shared {
		each, perRow = s.rows/s.functions, len(row)
	}
	at := func(i int) uint32 { return uint32(i * each * perRow) }
	var functions []byte
	switch s.version {
	case 1:
		functions = repeat(s.functions, func(i int) []byte {
			return pack(int32(0x1000+i*int(s.size)), s.size, at(i), uint32(each), s.info)
		})
	case 2:
		functions = repeat(s.functions, func(i int) []byte {
			return pack(int32(0x1000+i*int(s.size)), s.size, at(i), uint32(each), s.info, uint8(16), uint16(0))
		})
	default:
		// The description of a function precedes its rows.
		attributes := func() []byte { return pack(uint16(min(each, 0xffff)), s.info, uint8(0), uint8(16)) }
		if s.shared {
			area = append(attributes(), area...)
		} else {
			area = repeat(s.functions, func(int) []byte {
				return append(attributes(), repeat(each, func(int) []byte { return row })...)
			})
		}
		functions = repeat(s.functions, func(i int) []byte {
			offset := uint32(0)
			if !s.shared {
				offset = uint32(i * (each*len(row) + len(attributes())))
			}
			return pack(int64(0x1000+i*int(s.size)), s.size, offset)
		})
	}
	head := pack(uint16(0xdee2), s.version, uint8(1), uint8(3), int8(0), int8(-8), uint8(0), uint32(s.functions), uint32(s.rows), uint32(len(area)), uint32(0), uint32(len(functions)))
	return append(append(head, functions...), area...)
}

// hostileSFrame returns sections of each version: with functions that share all rows, and with
// functions that repeat their rows over gigabytes of code.
func hostileSFrame() (kinds []hostileKind) {
	add := func(name string, n int, data func(n int) []byte) {
		kinds = append(kinds, hostileKind{name: name, n: n, files: hostileFiles{"m.sframe": data}, commands: hostileSFrameCommands})
	}
	for version, name := range map[uint8]string{1: "v1", 2: "v2", 3: "v3"} {
		add(name+"-shared-rows", 8000, func(n int) []byte {
			return sframeShape{version: version, functions: n, rows: n, shared: true, size: 0x10000}.bytes()
		})
		add(name+"-functions", 8000, func(n int) []byte {
			return sframeShape{version: version, functions: n, rows: n, size: 16}.bytes()
		})
		add(name+"-same-start", 8000, func(n int) []byte {
			return sframeShape{version: version, functions: n, rows: n, size: 0}.bytes()
		})
		add(name+"-repeated", 2000, func(n int) []byte {
			return sframeShape{version: version, functions: n, rows: n, info: 1 << 4, size: 1 << 20}.bytes()
		})
	}
	return kinds
}
