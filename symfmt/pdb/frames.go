package pdb

import (
	"bytes"

	"github.com/symtool/symtool/symfmt"
)

// Types of STACK WIN records.
const (
	winFPO       = 0
	winFrameData = 4
)

// noFrame is a size from which on a frame is not valid: some tools write
// negative differences.
const noFrame = 1 << 31

// frames reads the frames of x86: frame data, and older FPO records.
func (d *database) frames() (wins []symfmt.StackWin, err error) {
	data, err := d.stream(d.opt[optNewFPO]).all()
	if err != nil {
		return nil, err
	}
	programs := map[uint32]string{} // by offset; many frames share one
	for ; len(data) >= 32; data = data[32:] {
		if w, ok := d.frameData(data, programs); ok && (len(wins) == 0 || !sameWin(&wins[len(wins)-1], &w)) {
			wins = append(wins, w)
		}
	}
	if data, err = d.stream(d.opt[optFPO]).all(); err != nil {
		return wins, err
	}
	for ; len(data) >= 16; data = data[16:] {
		if w, ok := oldFPO(data); ok {
			wins = append(wins, w)
		}
	}
	return wins, nil
}

// sameWin reports whether b repeats a.
func sameWin(a, b *symfmt.StackWin) bool {
	return a.RVA == b.RVA && a.CodeSize == b.CodeSize && a.PrologueSize == b.PrologueSize
}

// frameData decodes FRAMEDATA (cvinfo.h).
func (d *database) frameData(b []byte, programs map[uint32]string) (symfmt.StackWin, bool) {
	w := symfmt.StackWin{
		Type: winFrameData, RVA: symfmt.RVA(u32(b)), CodeSize: uint64(u32(b[4:])),
		LocalSize: uint64(u32(b[8:])), ParameterSize: uint64(u32(b[12:])), MaxStackSize: uint64(u32(b[16:])),
		PrologueSize: uint64(u16(b[24:])), SavedRegisterSize: uint64(u16(b[26:])),
		HasProgram: true,
	}
	text := bytes.TrimSpace(d.nameAt(u32(b[20:])))
	if w.CodeSize == 0 || w.CodeSize >= noFrame || len(text) == 0 || !d.isCode(w.RVA) {
		return w, false
	}
	program, known := programs[u32(b[20:])]
	if !known {
		program = string(text)
		programs[u32(b[20:])] = program
	}
	w.Program = program
	return w, true
}

// oldFPO decodes FPO_DATA (winnt.h), which counts 4-byte words.
func oldFPO(b []byte) (symfmt.StackWin, bool) {
	bits := u16(b[14:])
	w := symfmt.StackWin{
		Type: winFPO, RVA: symfmt.RVA(u32(b)), CodeSize: uint64(u32(b[4:])),
		LocalSize: 4 * uint64(u32(b[8:])), ParameterSize: 4 * uint64(u16(b[12:])),
		PrologueSize: uint64(bits & 0xff), SavedRegisterSize: 4 * uint64(bits>>8&7), AllocatesBasePtr: bits>>12&1 != 0,
	}
	const kindFPO = 0
	return w, w.CodeSize > 0 && w.CodeSize < noFrame && bits>>14 == kindFPO
}

// isCode reports whether an address is in code.
func (d *database) isCode(rva symfmt.RVA) bool {
	s, ok := d.placed.at(rva)
	return ok && s.exec
}
