package regset

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

var le = binary.LittleEndian

// full returns a context of a CPU whose registers of a set are all known.
func full(a *arch.Arch, words map[string]uint64, prefix string, sizes ...int) *dump.Context {
	c := dump.NewContext(a)
	for name, v := range words {
		c.Set(name, v)
	}
	values := map[int][]byte{}
	for i, size := range sizes {
		reg, _ := a.RegIndex(numbered(prefix, i))
		for k := range size {
			values[reg] = append(values[reg], byte(i*7+k+1))
		}
	}
	c.SetBytes(values)
	return c
}

// same reports the registers of got that differ from those of want.
func same(t *testing.T, got, want *dump.Context) {
	t.Helper()
	for i, reg := range want.Arch.Regs {
		v, ok := got.At(i)
		w, has := want.At(i)
		if v != w || ok != has || !bytes.Equal(got.Bytes(i), want.Bytes(i)) {
			t.Errorf("%s: %#x, %v, % x, want %#x, %v, % x", reg.Name, v, ok, got.Bytes(i), w, has, want.Bytes(i))
		}
	}
}

func xsaveContext(a *arch.Arch, wide int) *dump.Context {
	words := map[string]uint64{"$pkru": 0x55555554}
	for i := range 8 {
		words[numbered("$k", i)] = 0x1000 + uint64(i)
		words[numbered("$r", 16+i)], words[numbered("$r", 24+i)] = uint64(i), uint64(i+8)
	}
	sizes := slices.Repeat([]int{wide}, 32)
	if a == arch.X86 {
		sizes = sizes[:8]
	}
	c := full(a, words, "$xmm", sizes...)
	c.Vector = make([]byte, fxsaveSize)
	for i := range min(16, len(sizes)) {
		reg, _ := a.RegIndex(numbered("$xmm", i))
		copy(c.Vector[160+16*i:][:16], c.Bytes(reg))
	}
	return c
}

// place is a layout that neither Intel nor AMD has.
var place = XSave{xAVX: {600, 256}, xMask: {3000, 64}, xUpper: {4000, 512}, xHigh: {1000, 1024}, xPKRU: {900, 8}, xAPX: {5000, 128}}

func TestXSaveRoundTrip(t *testing.T) {
	for _, a := range []*arch.Arch{arch.X86, arch.X86_64} {
		want := xsaveContext(a, 64)
		area := EncodeXSave(want)
		got := dump.NewContext(a)
		got.Vector = want.Vector
		var r XSaveReader
		if err := r.Read(got, area, 0); err != nil {
			t.Fatal(err)
		}
		same(t, got, want)
	}
	c := dump.NewContext(arch.X86_64)
	if c.Vector = make([]byte, fxsaveSize); EncodeXSave(c) != nil {
		t.Error("an area without more than FXSAVE's")
	}
}

// An area in another layout, whole and without FXSAVE's part, as in contexts of minidumps, and compacted.
func TestXSaveLayouts(t *testing.T) {
	want := xsaveContext(arch.X86_64, 64)
	var text []byte
	area, packed := make([]byte, 6000), make([]byte, 6000)
	mask := uint64(3)
	at := xPartsAt
	for _, part := range components {
		var s, p Set
		s.component(want.Arch, part.n, place[part.n].At)
		s.write(want, area, le)
		p.component(want.Arch, part.n, at)
		p.write(want, packed, le)
		at += part.size
		mask |= 1 << part.n
		for _, v := range []int{part.n, part.size, place[part.n].At, 0} {
			text = le.AppendUint32(text, uint32(v))
		}
	}
	le.PutUint64(area[xbvAt:], mask)
	copy(packed[xbvAt:], area[xbvAt:][:8])
	le.PutUint64(packed[xcompAt:], mask|1<<compact)
	layout, err := ParseLayout(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		area []byte
		base int
	}{{area, 0}, {area[fxsaveSize:], fxsaveSize}, {packed, 0}, {packed[fxsaveSize:], fxsaveSize}} {
		got := dump.NewContext(want.Arch)
		got.Vector = want.Vector
		r := XSaveReader{Layout: layout}
		if err := r.Read(got, c.area, c.base); err != nil {
			t.Fatal(err)
		}
		same(t, got, want)
	}
}

// A component whose bit in XSTATE_BV is not set is 0, whatever the area has in its place.
func TestXSaveInitial(t *testing.T) {
	want := xsaveContext(arch.X86_64, 64)
	area := EncodeXSave(want)
	le.PutUint64(area[xbvAt:], le.Uint64(area[xbvAt:])&^(1<<xUpper|1<<xMask))
	got := dump.NewContext(want.Arch)
	got.Vector = want.Vector
	var r XSaveReader
	if err := r.Read(got, area, 0); err != nil {
		t.Fatal(err)
	}
	xmm1, _ := want.Arch.RegIndex("$xmm1")
	if b := got.Bytes(xmm1); !bytes.Equal(b[:32], want.Bytes(xmm1)[:32]) || !bytes.Equal(b[32:], make([]byte, 32)) {
		t.Errorf("xmm1: % x", b)
	}
	if v, ok := got.Get("$k3"); v != 0 || !ok {
		t.Errorf("k3: %#x, %v, want 0", v, ok)
	}
}

func TestGuess(t *testing.T) {
	for _, c := range []struct {
		xcr0 uint64
		size int
		want int // offset of zmm16, or of PKRU without AVX-512
	}{
		{0x2e7, 2696, 1664}, {0x602e7, 11008, 1664}, {0x2e7, 2440, 1408}, {0xe7, 2432, 1408}, {0xe7, 2688, 1664}, {0x207, 840, 832}, {0x207, 2696, 2688},
	} {
		area := make([]byte, c.size)
		le.PutUint64(area[xcr0At:], c.xcr0)
		x := guess(area)
		if n := map[bool]int{true: xHigh, false: xPKRU}[c.xcr0>>xHigh&1 != 0]; x[n].At != c.want {
			t.Errorf("%#x with %d bytes: %d at %d, want %d", c.xcr0, c.size, n, x[n].At, c.want)
		}
	}
}

func sveContext(vl int) *dump.Context {
	words := map[string]uint64{"vg": uint64(vl / 8)}
	c := full(arch.ARM64, words, "z", slices.Repeat([]int{vl}, 32)...)
	values := map[int][]byte{}
	for i := range 32 {
		z, _ := c.Arch.RegIndex(numbered("z", i))
		v, _ := c.Arch.RegIndex(numbered("v", i))
		values[v] = c.Bytes(z)
	}
	for _, name := range append(names("p", 16), "ffr") {
		reg, _ := c.Arch.RegIndex(name)
		values[reg] = bytes.Repeat([]byte{byte(reg)}, vl/8)
	}
	c.SetBytes(values)
	return c
}

func names(prefix string, n int) (list []string) {
	for i := range n {
		list = append(list, numbered(prefix, i))
	}
	return list
}

func TestVectorsRoundTrip(t *testing.T) {
	for _, vl := range []int{16, 64, 256, maxVL} {
		want, got := sveContext(vl), dump.NewContext(arch.ARM64)
		if err := ReadSVE(got, EncodeSVE(want, le), le, false); err != nil {
			t.Fatal(err)
		}
		same(t, got, want)
	}
	// Without SVE's registers, only the length of vectors is known.
	want := dump.NewContext(arch.ARM64)
	want.Set("vg", 8)
	got := dump.NewContext(arch.ARM64)
	if err := ReadSVE(got, EncodeSVE(want, le), le, false); err != nil {
		t.Fatal(err)
	}
	same(t, got, want)
	for _, a := range []*arch.Arch{arch.RISCV, arch.RISCV64} {
		want := full(a, map[string]uint64{"vstart": 1, "vl": 2, "vtype": 3, "vcsr": 4, "vlenb": 32}, "v", slices.Repeat([]int{32}, 32)...)
		got := dump.NewContext(a)
		if err := ReadRVV(got, EncodeRVV(want, le), le); err != nil {
			t.Fatal(err)
		}
		same(t, got, want)
	}
}

// In streaming mode, NT_ARM_SSVE has the registers in use; otherwise it changes nothing.
func TestStreaming(t *testing.T) {
	for _, streaming := range []bool{true, false} {
		c := dump.NewContext(arch.ARM64)
		sve, ssve := EncodeSVE(sveContext(16), le), EncodeSVE(sveContext(64), le)
		want := sveContext(64)
		if !streaming {
			want = sveContext(16)
			le.PutUint16(ssve[sveFlagsAt:], 0)
		}
		if err := ReadSVE(c, sve, le, false); err != nil {
			t.Fatal(err)
		}
		if err := ReadSVE(c, ssve, le, true); err != nil {
			t.Fatal(err)
		}
		same(t, c, want)
	}
}

func TestDamage(t *testing.T) {
	sve := EncodeSVE(sveContext(64), le)
	rvv := EncodeRVV(full(arch.RISCV64, map[string]uint64{"vlenb": 32}, "v", slices.Repeat([]int{32}, 32)...), le)
	xsave := EncodeXSave(xsaveContext(arch.X86_64, 64))
	with := func(b []byte, at int, v uint16) []byte {
		b = slices.Clone(b)
		le.PutUint16(b[at:], v)
		return b
	}
	readSVE := func(b []byte) error { return ReadSVE(dump.NewContext(arch.ARM64), b, le, false) }
	readRVV := func(b []byte) error { return ReadRVV(dump.NewContext(arch.RISCV64), b, le) }
	readXSave := func(b []byte) error { return new(XSaveReader).Read(dump.NewContext(arch.X86_64), b, 0) }
	parse := func(b []byte) error { _, err := ParseLayout(b); return err }
	entry := func(v ...uint32) (b []byte) {
		for _, v := range v {
			b = le.AppendUint32(b, v)
		}
		return b
	}
	for _, c := range []struct {
		read func([]byte) error
		data []byte
		want string
	}{
		{readSVE, sve[:15], "15 bytes, want at least 16"},
		{readSVE, sve[:2000], "2000 bytes, want 2200 for vectors of 64 bytes"},
		{readSVE, with(sve, sveVLAt, 0), "vectors of 0 bytes, want a multiple of 16 up to 8192"},
		{readSVE, with(sve, sveVLAt, 24), "vectors of 24 bytes, want a multiple of 16 up to 8192"},
		{readSVE, with(sve, sveVLAt, 0xfff0), "vectors of 65520 bytes, want a multiple of 16 up to 8192"},
		{readRVV, rvv[:39], "39 bytes, want at least 40"},
		{readRVV, rvv[:1000], "1000 bytes, want 1064 for vectors of 32 bytes"},
		{readRVV, with(rvv, 32, 0), "vectors of 0 bytes, want a power of 2 up to 8192"},
		{readRVV, with(rvv, 36, 0xffff), "vectors of 281470681743392 bytes, want a power of 2 up to 8192"},
		{readXSave, xsave[:575], "575 bytes, want at least 576"},
		{readXSave, xsave[:1200], "1200 bytes, which end before 3 of its components"},
		{parse, nil, "0 bytes, want a multiple of 16"},
		{parse, make([]byte, 17), "17 bytes, want a multiple of 16"},
		{parse, entry(2, 256, 512, 0), "component 2 has 256 bytes at 512, want a place from 576 to 1048576"},
		{parse, entry(63, 256, 576, 0), "component 63 has 256 bytes at 576, want a place from 576 to 1048576"},
		{parse, entry(2, 1<<31, 1<<31, 0), "component 2 has 2147483648 bytes at 2147483648, want a place from 576 to 1048576"},
	} {
		if err := c.read(c.data); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(EncodeSVE(sveContext(32), le), []byte{})
	f.Add(EncodeRVV(full(arch.RISCV64, map[string]uint64{"vlenb": 16}, "v", slices.Repeat([]int{16}, 32)...), le), []byte{})
	f.Add(EncodeXSave(xsaveContext(arch.X86_64, 64)), []byte("\x02\x00\x00\x00\x00\x01\x00\x00\x40\x02\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data, layout []byte) {
		for _, a := range []*arch.Arch{arch.ARM64, arch.RISCV, arch.RISCV64, arch.X86, arch.X86_64} {
			c := dump.NewContext(a)
			c.Vector = make([]byte, fxsaveSize)
			var r XSaveReader
			r.Layout, _ = ParseLayout(layout)
			switch a {
			case arch.ARM64:
				_ = ReadSVE(c, data, le, false)
				_ = ReadSVE(c, data, binary.BigEndian, true)
			case arch.RISCV, arch.RISCV64:
				_ = ReadRVV(c, data, le)
			default:
				_ = r.Read(c, data, 0)
				_ = r.Read(c, data, fxsaveSize)
				EncodeXSave(c)
			}
			for i := range a.Regs {
				if n := len(c.Bytes(i)); n > maxVL {
					t.Fatalf("%s has %d bytes", a.Regs[i].Name, n)
				}
			}
		}
	})
}
