package show

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/vars"
)

// float formats a floating-point number of a type, or one part of a complex number.
func (s *showing) float(t *vars.Type, lo, hi uint64, size int) string {
	switch {
	case size == 2 && (strings.Contains(t.Name, "bf16") || strings.Contains(t.Name, "bfloat16")):
		return strconv.FormatFloat(float64(math.Float32frombits(uint32(lo)<<16)), 'g', -1, 32)
	case size == 2:
		return strconv.FormatFloat(half(lo), 'g', -1, 32)
	case size == 4:
		return strconv.FormatFloat(float64(math.Float32frombits(uint32(lo))), 'g', -1, 32)
	case size == 8:
		return strconv.FormatFloat(math.Float64frombits(lo), 'g', -1, 64)
	case size == 16 && (t.IsQuad() || !s.isX86() && s.f.Arch != arch.PPC && s.f.Arch != arch.PPC64): // on PowerPC, long double is a pair of doubles
		return quad(lo, hi)
	case size >= x87Size && s.isX86():
		return x87(lo, hi)
	}
	return "0x" + strconv.FormatUint(hi, 16) + strings.Repeat("0", (bits.LeadingZeros64(lo|1))/4) + strconv.FormatUint(lo, 16)
}

func (s *showing) isX86() bool { return s.f.Arch == arch.X86 || s.f.Arch == arch.X86_64 }

// x87Size is the number of bytes of a number in the x87 format, whatever the size of its type.
const x87Size = 10

// isX87 reports whether the numbers of a type have the x87 format.
func (s *showing) isX87(t *vars.Type) bool {
	return t.Kind == vars.Base && t.Encoding == vars.Float && t.Size >= x87Size && s.isX86() && !t.IsQuad()
}

// half returns the number in the format binary16 of IEEE 754.
func half(v uint64) float64 {
	fraction, exponent, sign := float64(v&0x3ff)/0x400, int(v>>10&0x1f), 1-2*float64(v>>15&1)
	switch {
	case exponent == 0x1f && fraction != 0:
		return math.NaN()
	case exponent == 0x1f:
		return math.Inf(int(sign))
	case exponent == 0:
		return math.Copysign(math.Ldexp(fraction, -14), sign)
	}
	return sign * math.Ldexp(1+fraction, exponent-15)
}

// quad formats a number in the format binary128 of IEEE 754.
func quad(lo, hi uint64) string {
	exponent, fraction := int(hi>>48&0x7fff), hi&(1<<48-1)
	if exponent == 0x7fff {
		return infinite(hi>>63 != 0, fraction|lo == 0)
	}
	n := new(big.Int).SetUint64(fraction)
	if exponent == 0 {
		exponent = 1
	} else {
		n.SetBit(n, 48, 1)
	}
	n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(lo))
	f := new(big.Float).SetPrec(113).SetInt(n)
	return decimal(f, exponent-16383-112, hi>>63 != 0)
}

// x87 formats a number in the x87 format.
func x87(lo, hi uint64) string {
	negative, exponent := hi>>15&1 != 0, int(hi&0x7fff)
	if exponent == 0x7fff {
		return infinite(negative, lo<<1 == 0)
	}
	return decimal(new(big.Float).SetPrec(64).SetUint64(lo), max(exponent, 1)-16383-63, negative)
}

// decimal formats f times a power of 2.
func decimal(f *big.Float, exponent int, negative bool) string {
	if f.SetMantExp(f, exponent); negative {
		f.Neg(f)
	}
	return f.Text('g', -1)
}

// infinite returns the text of a number with the largest exponent.
func infinite(negative, is bool) string {
	switch {
	case !is:
		return "NaN"
	case negative:
		return "-Inf"
	}
	return "+Inf"
}
