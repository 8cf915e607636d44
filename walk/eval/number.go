package eval

import (
	"math"
	"math/big"
	"math/bits"
)

// class says how the bits of a number are interpreted.
type class uint8

const (
	generic  class = iota // an integer of the size of an address, without a type
	unsigned              // also characters, booleans and addresses
	signed
	float // IEEE 754 of 4 and 8 bytes, x87 of 10 bytes and more
	opaque
)

// number is an entry of the stack: up to 16 bytes, with the least significant 8 in lo.
type number struct {
	class  class
	size   int // in bytes
	lo, hi uint64
}

// x87Size is the number of bytes of the x87 format that hold the value, whatever the size of the
// type.
const x87Size = 10

// mask truncates the number to its size.
func (n number) mask() number {
	switch {
	case n.size < 8:
		n.lo &= 1<<(8*n.size) - 1
		n.hi = 0
	case n.size == 8:
		n.hi = 0
	case n.size < 16:
		n.hi &= 1<<(8*(n.size-8)) - 1
	}
	return n
}

// negative reports whether the number's highest bit is set.
func (n number) negative() bool {
	if n.size == 0 {
		return false
	}
	if n.size > 8 {
		return n.hi>>(8*(min(n.size, 16)-8)-1)&1 != 0
	}
	return n.lo>>(8*n.size-1)&1 != 0
}

// extend returns the number with a larger or smaller size, sign-extended if withSign is set.
func (n number) extend(size int, withSign bool) number {
	if withSign && n.negative() && size > n.size {
		ones := number{size: 16, lo: ^uint64(0), hi: ^uint64(0)}
		if n.size < 8 {
			n.lo |= ones.lo << (8 * n.size)
			n.hi = ones.hi
		} else if n.size < 16 {
			n.hi |= ones.hi << (8 * (n.size - 8))
		}
	}
	n.size = size
	return n.mask()
}

// int64 returns a signed integer, truncated to 64 bits.
func (n number) int64() int64 { return int64(n.extend(8, true).lo) }

// isZero reports whether the number is 0, of either sign if it is floating-point.
func (n number) isZero() bool {
	if n.class == float {
		f, ok := n.float64()
		return ok && f == 0
	}
	return n.lo|n.hi == 0
}

// bytes returns the number as it is in memory.
func (n number) bytes(bigEndian bool) []byte {
	b := make([]byte, n.size)
	for i := range b {
		v := byte(0)
		switch {
		case i < 8:
			v = byte(n.lo >> (8 * i))
		case i < 16:
			v = byte(n.hi >> (8 * (i - 8)))
		}
		if bigEndian {
			b[n.size-1-i] = v
		} else {
			b[i] = v
		}
	}
	return b
}

// numberOf returns the number whose representation in memory is b, of at most 16 bytes.
func numberOf(c class, b []byte, bigEndian bool) number {
	n := number{class: c, size: len(b)}
	for i := range b {
		v := uint64(b[i])
		if bigEndian {
			v = uint64(b[len(b)-1-i])
		}
		if i < 8 {
			n.lo |= v << (8 * i)
		} else if i < 16 {
			n.hi |= v << (8 * (i - 8))
		}
	}
	return n
}

// float64 returns a floating-point number of a known format, rounded to 64 bits.
func (n number) float64() (float64, bool) {
	switch {
	case n.size == 4:
		return float64(math.Float32frombits(uint32(n.lo))), true
	case n.size == 8:
		return math.Float64frombits(n.lo), true
	case n.size >= x87Size:
		f, ok := n.extended()
		if !ok {
			return 0, false
		}
		v, _ := f.Float64()
		return v, true
	}
	return 0, false
}

// extended returns the exact value of a finite number in the x87 format.
func (n number) extended() (*big.Float, bool) {
	exponent := int(n.hi & 0x7fff)
	if exponent == 0x7fff {
		return nil, false
	}
	f := new(big.Float).SetPrec(64).SetUint64(n.lo)
	f.SetMantExp(f, exponent-16383-63)
	if n.hi>>15&1 != 0 {
		f.Neg(f)
	}
	return f, true
}

// floatOf returns v in a format of size bytes.
func floatOf(v *big.Float, size int) (number, bool) {
	n := number{class: float, size: size}
	switch {
	case size == 4:
		f, _ := v.Float32()
		n.lo = uint64(math.Float32bits(f))
	case size == 8:
		f, _ := v.Float64()
		n.lo = math.Float64bits(f)
	case size >= x87Size:
		return n.setExtended(v)
	default:
		return n, false
	}
	return n, true
}

// setExtended returns v in the x87 format.
func (n number) setExtended(v *big.Float) (number, bool) {
	if v.Signbit() {
		n.hi = 1 << 15
	}
	if v.Sign() == 0 {
		return n, true
	}
	m := new(big.Float).SetPrec(64)
	exponent := new(big.Float).SetPrec(64).Set(v).MantExp(m) // 0.5 <= |m| < 1
	biased := exponent - 1 + 16383
	if biased <= 0 || biased >= 0x7fff {
		return n, false // denormal or infinite, which are not supported
	}
	m.Abs(m)
	m.SetMantExp(m, 64)
	n.lo, _ = m.Uint64()
	n.hi |= uint64(biased)
	return n, true
}

// asFloat converts any number to a floating-point one.
func (n number) asFloat() (*big.Float, bool) {
	f := new(big.Float).SetPrec(128)
	switch {
	case n.class == opaque:
		return nil, false
	case n.class == float && n.size >= x87Size:
		return n.extended()
	case n.class == float:
		v, ok := n.float64()
		if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, false
		}
		return f.SetFloat64(v), true
	}
	return f.SetInt(n.asInt()), true
}

// asInt returns an integer with its sign.
func (n number) asInt() *big.Int {
	v := new(big.Int).SetUint64(n.hi)
	v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(n.lo))
	if n.class != unsigned && n.negative() {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*n.size)))
	}
	return v
}

// intOf returns the low bits of v.
func intOf(v *big.Int, c class, size int) number {
	mod := new(big.Int).Lsh(big.NewInt(1), 128)
	v = new(big.Int).Mod(v, mod) // in [0, mod)
	n := number{class: c, size: size, lo: new(big.Int).And(v, new(big.Int).SetUint64(math.MaxUint64)).Uint64()}
	n.hi = new(big.Int).Rsh(v, 64).Uint64()
	return n.mask()
}

// convert converts the number to another class and size, by value.
func (n number) convert(c class, size int) (number, bool) {
	switch {
	case n.class == opaque || c == opaque:
		return number{}, false
	case c == float && n.class == float && n.size == size:
		return n, true
	case c == float:
		f, ok := n.asFloat()
		if !ok {
			return number{}, false
		}
		return floatOf(f, size)
	case n.class == float:
		f, ok := n.asFloat()
		if !ok {
			return number{}, false
		}
		v, _ := f.Int(nil)
		return intOf(v, c, size), true
	}
	out := n.extend(size, n.class == signed)
	out.class = c
	return out, true
}

// reinterpret returns the same bits with another class. The size may differ only to and from the
// generic type, which has the size of an address.
func (n number) reinterpret(c class, size int) number {
	n.class, n.size = c, size
	return n.mask()
}

// mul128 returns the low 128 bits of a product.
func mul128(a, b number) (lo, hi uint64) {
	hi, lo = bits.Mul64(a.lo, b.lo)
	return lo, hi + a.lo*b.hi + a.hi*b.lo
}
