package symdiff

import (
	"cmp"
	"slices"
)

// keyed is a function and the key it is matched by.
type keyed struct {
	key hash
	i   int32
}

// keys returns the unmatched functions in order.
func keys(funcs []funcEntry, other []int32, key func(*funcEntry) hash) []keyed {
	n := 0
	for _, j := range other {
		n += int(flag(j == None))
	}
	out := make([]keyed, 0, n)
	for i := range funcs {
		if other[i] != None {
			continue
		}
		if k := key(&funcs[i]); k != 0 {
			out = append(out, keyed{k, int32(i)})
		}
	}
	sortKeys(out, funcs)
	return out
}

// sortKeys sorts by key and then by address.
func sortKeys(s []keyed, funcs []funcEntry) {
	slices.SortFunc(s, func(x, y keyed) int {
		if x.key != y.key {
			return cmp.Compare(x.key, y.key)
		}
		return cmp.Or(cmp.Compare(funcs[x.i].RVA, funcs[y.i].RVA), cmp.Compare(x.i, y.i))
	})
}

// step matches functions with equal keys: group is called with those of each
// key on either side, by address.
func (m *matcher) step(how matchKind, key func(*funcEntry) hash, group func(a, b []keyed)) {
	m.how = how
	groups(keys(m.a, m.p.old, key), keys(m.b, m.p.new, key), group)
}

// groups calls group for each key that occurs on both sides.
func groups(as, bs []keyed, group func(a, b []keyed)) {
	for len(as) > 0 && len(bs) > 0 {
		switch c := cmp.Compare(as[0].key, bs[0].key); {
		case c < 0:
			as = as[run(as):]
		case c > 0:
			bs = bs[run(bs):]
		default:
			n, k := run(as), run(bs)
			group(as[:n], bs[:k])
			as, bs = as[n:], bs[k:]
		}
	}
}

// run returns how many entries at the start of s have the same key.
func run(s []keyed) int {
	n := 1
	for n < len(s) && s[n].key == s[0].key {
		n++
	}
	return n
}

// single matches entries whose key is unique on both sides.
func (m *matcher) single(a, b []keyed) {
	if len(a) == 1 && len(b) == 1 {
		m.pair(a[0].i, b[0].i)
	}
}

// inOrder matches entries pairwise in order.
func (m *matcher) inOrder(a, b []keyed) {
	for i := range min(len(a), len(b)) {
		m.pair(a[i].i, b[i].i)
	}
}
