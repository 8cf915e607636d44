package symdiff

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// dropCopies drops exact copies of earlier records, which mean nothing to readers.
// Records still counts them.
func (o *Outline) dropCopies() {
	o.Infos = uniqueInfos(o.Infos)
	o.Funcs = unique(o.Funcs, func(f *funcEntry) symfmt.RVA { return f.RVA }, func(f *funcEntry) hash {
		h := mix(mix(hashNumber(uint64(f.RVA)), f.Size), uint64(f.Name))
		h = mix(mix(h, uint64(f.Lines)), uint64(f.Inlines))
		return mix(mix(h, uint64(f.Paths)), uint64(f.ParamSize)<<1|flag(f.Multiple))
	})
	o.Publics = unique(o.Publics, func(p *publicEntry) symfmt.RVA { return p.RVA }, func(p *publicEntry) hash {
		return mix(mix(hashNumber(uint64(p.RVA)), uint64(p.Name)), uint64(p.ParamSize)<<1|flag(p.Multiple))
	})
	o.Wins = unique(o.Wins, func(w *winEntry) symfmt.RVA { return w.RVA }, func(w *winEntry) hash {
		return mix(hashNumber(uint64(w.RVA)), uint64(w.Contents))
	})
}

func uniqueInfos(infos []symfmt.Info) []symfmt.Info {
	have := map[symfmt.Info]bool{}
	return slices.DeleteFunc(infos, func(in symfmt.Info) bool {
		again := have[in]
		have[in] = true
		return again
	})
}

// unique keeps only the first of the entries at the same address with equal keys.
// s is sorted by address; entries without neighbours there are not examined.
func unique[T any](s []T, rva func(*T) symfmt.RVA, key func(*T) hash) []T {
	grows := true
	for i := 1; i < len(s) && grows; i++ {
		grows = rva(&s[i-1]) < rva(&s[i])
	}
	if grows {
		return s
	}
	order := make([]keyed, len(s))
	for i := range s {
		order[i] = keyed{key(&s[i]), int32(i)}
	}
	slices.SortFunc(order, func(x, y keyed) int { return cmp.Or(cmp.Compare(x.key, y.key), cmp.Compare(x.i, y.i)) })
	copies := make([]bool, len(s))
	for k := 1; k < len(order); k++ {
		copies[order[k].i] = order[k].key == order[k-1].key
	}
	out := s[:0]
	for i := range s {
		if !copies[i] {
			out = append(out, s[i])
		}
	}
	return out
}
