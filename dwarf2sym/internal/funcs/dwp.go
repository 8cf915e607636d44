package funcs

import (
	"fmt"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/bin"
)

// packedSplitUnits reads split units from a package.
func (w *Worker) packedSplitUnits(j *SplitJob) {
	p := j.pkg
	x := units.Unpacker{P: p, M: w.Meter, Locations: w.Vars != nil}
	var buf []byte // for .debug_info.dwo
	for i := range j.skeletons {
		sk := &j.skeletons[i]
		if w.Exhausted {
			return
		}
		s := w.newFileState(nil)
		s.places, s.info = w.Names.Pool(p), buf
		ok := false
		h, err := w.unpack(&x, sk, &s)
		if err == nil {
			ok = w.readSplitUnit(sk, h, &s)
			buf = s.info
		} else if !w.Exhausted {
			skel := &w.d.Units[sk.unit]
			w.damage().Next()
			w.problem(skel.Off, fmt.Sprintf("unit at %#x", skel.Off), err)
		}
		if !ok && !w.Exhausted {
			w.skeletonAlone(sk)
		}
	}
}

// unpack finds a skeleton's split unit and its header.
func (w *Worker) unpack(x *units.Unpacker, sk *skeleton, s *fileState) (*dwarf.Header, error) {
	d, err := x.Unit(w.d, sk.row)
	if err != nil {
		return nil, err
	}
	s.d = d
	main := w.turnTo(*s)
	defer func() { *s = w.turnTo(main) }()
	var other uint64
	for i := range d.Units {
		h := &d.Units[i].Header
		if h.IsType() {
			continue
		}
		id, ok := w.splitIDOf(h)
		if !ok {
			continue
		}
		if other = id; id == sk.id {
			return h, nil
		}
	}
	if len(d.Problems.Kept) > 0 {
		return nil, d.Problems.Kept[0].Err
	}
	return nil, &bin.Error{File: d.File, Section: dwarf.SectNames[dwarf.SectInfo], Offset: x.P.Units.Part(sk.row, dwarf.SectInfo).Off,
		Msg: fmt.Sprintf("the unit that %s gives the dwo id %#x has the id %#x", dwarf.CUIndex, sk.id, other)}
}
