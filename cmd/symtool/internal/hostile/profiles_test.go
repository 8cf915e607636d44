package hostile

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"strings"
)

// field encodes a field of a protocol buffers message: a number, or bytes.
func field(tag int, value any) []byte {
	switch v := value.(type) {
	case int:
		return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(tag)<<3), uint64(v))
	case []byte:
		b := binary.AppendUvarint(nil, uint64(tag)<<3|2)
		return append(binary.AppendUvarint(b, uint64(len(v))), v...)
	}
	panic(value)
}

// message encodes a message from tags, each followed by a number or bytes.
func message(fields ...any) (b []byte) {
	for i := 0; i < len(fields); i += 2 {
		b = append(b, field(fields[i].(int), fields[i+1])...)
	}
	return b
}

// Fields of Profile in profile.proto, and of its submessages.
const (
	profileType, profileSample, profileMapping = 1, 2, 3
	profileLocation, profileFunction           = 4, 5
	profileString                              = 6
)

// hostileProfile returns a profile with n mappings at the given places. Each has a location, which is in
// its own sample. rest is appended.
func hostileProfile(n int, place func(i int) (from, to int), rest ...[]byte) []byte {
	b := field(profileType, message(1, 1, 2, 2))
	for i := range n {
		from, to := place(i)
		b = append(b, field(profileSample, message(1, i+1, 2, 1))...)
		b = append(b, field(profileMapping, message(1, i+1, 2, from, 3, to, 5, 3, 6, 4))...)
		b = append(b, field(profileLocation, message(1, i+1, 2, i+1, 3, from+0x1f3))...)
	}
	for _, s := range []string{"", "cpu", "ns", "/bin/m.elf", "00"} {
		b = append(b, field(profileString, []byte(s))...)
	}
	return append(b, bytes.Join(rest, nil)...)
}

func oneMapping(int) (from, to int) { return hostileText, hostileText + hostileCode }

// gzipped returns data compressed with gzip, in a form that inflates fast.
func gzipped(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}

// bombOf returns a compressed profile with piece n times.
func bombOf(n int, piece string) []byte {
	return packedText("gz", string(hostileProfile(1, oneMapping)), strings.Repeat(piece, 64), n)
}

// hostileProfiles returns pprof profiles.
func hostileProfiles() (kinds []hostileKind) {
	add := func(name string, n int, profile func(n int) []byte) {
		kinds = append(kinds, hostileKind{name: name, n: n, files: hostileFiles{"m.pprof": profile, "m.elf": func(int) []byte { return elfOf() }},
			commands: []string{
				"resolve --no-debuginfod --binaries m.elf --format pprof -o out.pprof m.pprof",
				"resolve --no-debuginfod --no-inlines --binaries m.elf --format pprof -o out.pprof m.pprof",
			}})
	}
	add("mappings-over-each-other", 10000, func(n int) []byte {
		return gzipped(hostileProfile(n, func(i int) (int, int) { return hostileText + i, hostileText + hostileCode - i }))
	})
	add("mappings", 10000, func(n int) []byte {
		return gzipped(hostileProfile(n, func(i int) (int, int) { return hostileText + 0x1000*i, hostileText + 0x1000*i + 0x1000 }))
	})
	add("plain", 10000, func(n int) []byte {
		return hostileProfile(n, func(i int) (int, int) { return hostileText + 0x1000*i, hostileText + 0x1000*i + 0x1000 })
	})
	sample := func(n int) []byte { return bytes.Repeat(field(1, 1), n) }
	add("deep-sample", 400000, func(n int) []byte {
		return hostileProfile(1, oneMapping, field(profileSample, append(sample(n), field(2, 1)...)))
	})
	add("locations-of-one-id", 50000, func(n int) []byte {
		return hostileProfile(1, oneMapping, bytes.Repeat(field(profileLocation, message(1, 1, 2, 1, 3, hostileText)), n))
	})
	add("functions-of-one-id", 50000, func(n int) []byte {
		return hostileProfile(1, oneMapping, bytes.Repeat(field(profileFunction, message(1, 1, 2, 3)), n))
	})
	add("ids-far-apart", 20000, func(n int) []byte {
		return hostileProfile(1, oneMapping, repeat(n, func(i int) []byte {
			return append(field(profileMapping, message(1, 1<<60+i<<32, 2, i<<20, 3, i<<20+1)), field(profileLocation, message(1, 1<<60+i<<32, 2, 1<<60+i<<32, 3, i<<20))...)
		}))
	})
	add("bomb", 4<<20, func(n int) []byte {
		return gzipped(append(hostileProfile(1, oneMapping), field(profileString, bytes.Repeat([]byte("z"), n))...))
	})
	add("bomb-of-strings", 16<<20, func(n int) []byte { return bombOf(n, "\x32\x00") })
	add("bomb-of-samples", 16<<20, func(n int) []byte { return bombOf(n, "\x12\x00") })
	add("bomb-of-locations", 16<<20, func(n int) []byte { return bombOf(n, "\x22\x00") })
	add("long-number", 1000000, func(n int) []byte {
		return append(append([]byte{8}, bytes.Repeat([]byte{0x80}, n)...), 1)
	})
	add("lengths-beyond-the-end", 100000, func(n int) []byte { return bytes.Repeat([]byte("\x12\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), n) })
	add("nested", 40, func(n int) []byte {
		b := hostileProfile(1, oneMapping)
		for range n {
			b = gzipped(b)
		}
		return b
	})
	return kinds
}
