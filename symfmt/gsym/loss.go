package gsym

import "github.com/symtool/symtool/symfmt"

// counts counts what GSYM cannot hold and what is written differently.
type counts struct {
	emptyFuncs    int
	farFuncs      int
	farPublics    int
	insidePublics int
	lostPieces    int
	merged        int // FUNCs in another's FunctionInfo; not lost
	pieces        int // extra pieces of FUNCs in which others begin; not lost

	emptyLines    int
	outsideLines  int
	overlapLines  int
	cutLines      int
	emptyRanges   int
	outsideRanges int
	cutRanges     int
	treeless      int // FUNCs whose INLINEs do not form a tree
	noFile        int // INLINEs without a call file
}

func (c *counts) addBody(o *counts) {
	c.emptyLines += o.emptyLines
	c.outsideLines += o.outsideLines
	c.overlapLines += o.overlapLines
	c.cutLines += o.cutLines
	c.emptyRanges += o.emptyRanges
	c.outsideRanges += o.outsideRanges
	c.cutRanges += o.cutRanges
	c.treeless += o.treeless
	c.noFile += o.noFile
}

// Losses returns what Write would leave out of m or change.
func Losses(m *symfmt.Module, o Options) []symfmt.Loss {
	p := newPlan(m, o.Base)
	c := &p.counts
	var s scratch
	for _, i := range p.funcs {
		s.collect(&m.Funcs[i])
	}
	c.addBody(&s.counts)
	losses := moduleLosses(m, o)
	losses.AddVars(m)
	add := losses.Add
	addRecordLosses(m, add)
	losses.AddWhole(symfmt.KindFunc, "of size 0", c.emptyFuncs, "GSYM takes a function of size 0 for a symbol with an unknown end: they are left out")
	add("FUNC records larger than 4294967295 bytes", countFuncs(m, func(f *symfmt.Func) bool { return f.Size > maxSize }), "sizes have 32 bits: they are cut")
	add("ends of FUNC records inside other FUNC records", c.lostPieces, "what follows them is not found: at most 32 are tracked in one FUNC")
	losses.AddWhole(symfmt.KindFunc, "", c.farFuncs, "beyond the last address, counted from the base")
	losses.AddWhole(symfmt.KindPublic, "", c.farPublics, "beyond the last address, counted from the base")
	losses.AddWhole(symfmt.KindPublic, "inside a FUNC", c.insidePublics, "readers would take them for the end of the FUNC")
	add("line records of size 0", c.emptyLines, "")
	add("line records outside their FUNC", c.outsideLines, "")
	add("line records at the address of another", c.overlapLines, "the last one in the file is kept")
	add("line records cut short", c.cutLines, "GSYM's lines end where the next begins, or the FUNC ends")
	add("ranges of INLINE records outside their FUNC", c.outsideRanges, "")
	add("ranges of INLINE records of size 0", c.emptyRanges, "")
	add("ranges of INLINE records cut short", c.cutRanges, "they end where the FUNC does")
	add("FUNC records whose INLINE records do not form a tree", c.treeless, "only the part of them that answers for addresses is written")
	add("INLINE records without a call file", c.noFile, "they get the file of the calling function, or "+symfmt.NoFile)
	return losses
}

// moduleLosses returns the losses of MODULE and INFO.
func moduleLosses(m *symfmt.Module, o Options) (losses symfmt.LossList) {
	one := func(what, why string) { losses.Add(what, 1, why) }
	if m.OS != "" || m.Arch != "" || m.Name != "" {
		one("MODULE records", "GSYM records only the id")
	}
	id := identify(m)
	switch version, _ := o.version(); {
	case m.ID != "" && id.uuid == nil:
		one("ids of MODULE", "not a GUID, and GSYM holds bytes")
	case version == 1 && len(id.uuid) > maxUUID1:
		one("build ids of more than 20 bytes", "version 1 has 20 bytes for them: they are cut")
	}
	if id.age != "" && id.age != "0" {
		one("ages in MODULE's id", "GSYM has no place for it")
	}
	infos := 0
	for i := range m.Infos {
		if m.Infos[i].CodeID() == "" || id.uuid == nil || len(id.uuid)*2 != len(m.Infos[i].Value) {
			infos++
		}
	}
	losses.Add("INFO records", infos, "GSYM has no place for them")
	return append(losses, m.LossOf("GSYM has no call frame information", symfmt.KindStackWin, symfmt.KindCFIInit, symfmt.KindCFI)...)
}

// addRecordLosses counts the fields of records that GSYM cannot hold.
func addRecordLosses(m *symfmt.Module, add func(what string, count int, why string)) {
	const why = "GSYM has no place for them"
	params := countFuncs(m, func(f *symfmt.Func) bool { return f.ParamSize != 0 })
	multiple := countFuncs(m, func(f *symfmt.Func) bool { return f.Multiple })
	for i := range m.Publics {
		if m.Publics[i].ParamSize != 0 {
			params++
		}
		if m.Publics[i].Multiple {
			multiple++
		}
	}
	origins := 0
	for i := range m.Origins {
		if m.Origins[i].HasFile && m.Origins[i].File >= 0 {
			origins++
		}
	}
	add("sizes of parameters", params, why)
	add(`"m" marks`, multiple, why)
	add("files of INLINE_ORIGIN records", origins, why)
}

func countFuncs(m *symfmt.Module, is func(*symfmt.Func) bool) (n int) {
	for i := range m.Funcs {
		if is(&m.Funcs[i]) {
			n++
		}
	}
	return n
}
