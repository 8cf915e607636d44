package symfmt

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strconv"
)

// maxLineText is the size of the longest line record (two numbers of 64 bits,
// two of 32, three spaces and the end: 56 bytes), with room for what putHex
// writes past a number.
// past a number.
const maxLineText = 72

// lineText is the buffer for a line record: an array, so that the compiler
// knows its size.
type lineText [maxLineText]byte

// appendLine appends a line record: address size line filenum.
func appendLine(dst []byte, l *Line) []byte {
	n := len(dst)
	if cap(dst)-n < maxLineText {
		dst = slices.Grow(dst, max(maxLineText, n/2))
	}
	p := (*lineText)(dst[n : n+maxLineText])
	i := p.putHex(0, uint64(l.RVA))
	i = p.putHex(i, l.Size)
	i = p.putDec(i, l.Num)
	i = p.putDec(i, uint32(l.File))
	p[i-1] = '\n'
	return dst[:n+i]
}

// putHex writes v in hexadecimal and a space at i, and returns the index after them.
func (p *lineText) putHex(i int, v uint64) int {
	if v >= 1<<32 {
		i = p.putHex(i, v>>32) - 1
		binary.BigEndian.PutUint64(p[i:], hexDigits(uint32(v)))
		i += 8
	} else {
		n := (bits.Len32(uint32(v)|1) + 3) / 4
		binary.BigEndian.PutUint64(p[i:], hexDigits(uint32(v))<<(64-8*n))
		i += n
	}
	p[i] = ' '
	return i + 1
}

// hexDigits returns the eight digits of v, the first in the highest byte.
func hexDigits(v uint32) uint64 {
	const ones = 0x0101010101010101
	x := uint64(v)
	x = (x<<16 | x) & 0x0000ffff0000ffff
	x = (x<<8 | x) & 0x00ff00ff00ff00ff
	x = (x<<4 | x) & 0x0f0f0f0f0f0f0f0f
	letters := (x + 6*ones) >> 4 & ones // 1 for each digit above 9
	return x + '0'*ones + letters*('a'-'9'-1)
}

// decPairs are the digits of the numbers below 100, in pairs.
var decPairs = func() (t [100]uint16) {
	for i := range t {
		t[i] = uint16('0'+i/10) | uint16('0'+i%10)<<8
	}
	return t
}()

// putDec writes v in decimal and a space at i, and returns the index after them.
func (p *lineText) putDec(i int, v uint32) int {
	switch {
	case v < 10:
		p[i] = '0' + byte(v)
		i++
	case v < 100:
		p.putPair(i, v)
		i += 2
	case v < 1000:
		p[i] = '0' + byte(v/100)
		p.putPair(i+1, v%100)
		i += 3
	default:
		if v < 10_000 {
			p.putPair(i, v/100)
			i += 2
		} else {
			i = p.putDec(i, v/100) - 1
		}
		p.putPair(i, v%100)
		i += 2
	}
	p[i] = ' '
	return i + 1
}

func (p *lineText) putPair(i int, v uint32) {
	binary.LittleEndian.PutUint16(p[i:], decPairs[v])
}

// appendHex is strconv.AppendUint with base 16, in half the time.
func appendHex(dst []byte, v uint64) []byte {
	if v >= 1<<32 {
		dst = appendHex(dst, v>>32)
		return binary.BigEndian.AppendUint64(dst, hexDigits(uint32(v)))
	}
	n := (bits.Len32(uint32(v)|1) + 3) / 4
	dst = binary.BigEndian.AppendUint64(dst, hexDigits(uint32(v))<<(64-8*n))
	return dst[:len(dst)-8+n]
}

func appendDec(dst []byte, v uint32) []byte { return strconv.AppendUint(dst, uint64(v), 10) }

func spaceHex(dst []byte, v uint64) []byte { return appendHex(append(dst, ' '), v) }
func spaceDec(dst []byte, v uint32) []byte { return appendDec(append(dst, ' '), v) }

// appendName appends the name at the end of a record.
func appendName(dst []byte, name, instead string) []byte {
	dst = append(dst, ' ')
	dst = append(dst, CleanName(name, instead)...)
	return append(dst, '\n')
}

func appendModule(dst []byte, m *Module) []byte {
	dst = append(dst, "MODULE "...)
	dst = append(dst, cleanWord(m.OS, noModule)...)
	dst = append(dst, ' ')
	dst = append(dst, cleanWord(m.Arch, noModule)...)
	dst = append(dst, ' ')
	dst = append(dst, cleanID(m.ID)...)
	return appendName(dst, m.Name, noModule)
}

func appendInfo(dst []byte, in *Info) []byte {
	dst = append(dst, "INFO "...)
	dst = append(dst, cleanWord(in.Key, noKey)...)
	if value := CleanName(in.Value, ""); value != "" {
		dst = append(dst, ' ')
		dst = append(dst, value...)
	}
	return append(dst, '\n')
}

func appendFile(dst []byte, f *File) []byte {
	dst = spaceDec(append(dst, "FILE"...), uint32(f.ID))
	return appendName(dst, f.Name, NoFile)
}

// appendOrigin appends an INLINE_ORIGIN in the form that the module's INLINE records require.
func appendOrigin(dst []byte, o *InlineOrigin, old bool) []byte {
	return appendOriginText(appendOriginNumber(dst, o.ID), o, old, nil)
}

func appendOriginNumber(dst []byte, id OriginID) []byte {
	return spaceDec(append(dst, "INLINE_ORIGIN"...), uint32(id))
}

// appendOriginText appends the part after the number.
func appendOriginText(dst []byte, o *InlineOrigin, old bool, late *LateNames) []byte {
	if old {
		dst = strconv.AppendInt(append(dst, ' '), originFile(o), 10)
	}
	return late.appendName(dst, o.Name, NoName)
}

// originFile returns the file of an origin of the old form, or -1 if there is none.
func originFile(o *InlineOrigin) int64 {
	if !o.HasFile || o.File < 0 || o.File > maxID {
		return -1
	}
	return o.File
}

func appendMultiple(dst []byte, multiple bool) []byte {
	if multiple {
		dst = append(dst, " m"...)
	}
	return dst
}

func appendFunc(dst []byte, f *Func, late *LateNames) []byte {
	dst = appendMultiple(append(dst, "FUNC"...), f.Multiple)
	dst = spaceHex(dst, uint64(f.RVA))
	dst = spaceHex(dst, f.Size)
	dst = spaceHex(dst, f.ParamSize)
	return late.appendName(dst, f.Name, NoName)
}

func appendPublic(dst []byte, p *Public, late *LateNames) []byte {
	dst = appendMultiple(append(dst, "PUBLIC"...), p.Multiple)
	dst = spaceHex(dst, uint64(p.RVA))
	dst = spaceHex(dst, p.ParamSize)
	return late.appendName(dst, p.Name, NoName)
}

// appendInline appends an INLINE. In a module of the new form, file stands for
// an unknown call file.
func appendInline(dst []byte, in *Inline, old bool, file FileID) []byte {
	dst = spaceDec(append(dst, "INLINE"...), in.Depth)
	dst = spaceDec(dst, in.CallLine)
	if !old {
		if !in.NoFile {
			file = in.CallFile
		}
		dst = spaceDec(dst, uint32(file))
	}
	dst = spaceDec(dst, uint32(in.Origin))
	for _, r := range in.Ranges {
		dst = spaceHex(dst, uint64(r.RVA))
		dst = spaceHex(dst, r.Size)
	}
	return append(dst, '\n')
}

func appendWin(dst []byte, w *StackWin) []byte {
	dst = spaceHex(append(dst, "STACK WIN"...), uint64(w.Type))
	for _, v := range [...]uint64{
		uint64(w.RVA), w.CodeSize, w.PrologueSize, w.EpilogueSize,
		w.ParameterSize, w.SavedRegisterSize, w.LocalSize, w.MaxStackSize,
	} {
		dst = spaceHex(dst, v)
	}
	switch {
	case w.HasProgram:
		return appendName(append(dst, " 1"...), w.Program, "")
	case w.AllocatesBasePtr:
		return append(dst, " 0 1\n"...)
	}
	return append(dst, " 0 0\n"...)
}

// SaysNothing reports whether w lacks the program that it announces. Such a
// record has no text form.
func (w *StackWin) SaysNothing() bool { return w.HasProgram && CleanName(w.Program, "") == "" }

func appendBlock(dst []byte, b *CFIBlock, rules string) []byte {
	dst = spaceHex(append(dst, "STACK CFI INIT"...), uint64(b.RVA))
	dst = spaceHex(dst, b.Size)
	return appendName(dst, rules, noRules)
}

func appendRow(dst []byte, row *CFIRow, rules string) []byte {
	dst = spaceHex(append(dst, "STACK CFI"...), uint64(row.RVA))
	return appendName(dst, rules, noRules)
}
