package varjoin

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"math/bits"
	"slices"

	"github.com/symtool/symtool/symfmt/vars"
)

// orderExprs numbers the expressions that functions use. Frequent ones come first, so that most numbers have one or
// two digits; those with the same number of digits are in order of their contents, where neighbours have much in
// common. Neither depends on which reader met an expression first. The counts include all functions that were read,
// and so a few uses for code that no FUNC has.
func (j *joiner) orderExprs() {
	uses := make([]uint32, len(j.info.Exprs))
	for r, v := range j.readers {
		for i, n := range v.uses {
			uses[j.exprs[r][i]] += n
		}
		v.uses = nil
	}
	for e, n := range uses {
		if n > 0 && e > 0 {
			j.inUse = append(j.inUse, vars.ExprID(e))
		}
	}
	j.sortByContent(j.inUse)
	place := make([]uint32, len(uses))
	for i, e := range j.inUse {
		place[e] = uint32(i)
	}
	byPlace := func(a, b vars.ExprID) int { return cmp.Compare(place[a], place[b]) }
	slices.SortFunc(j.inUse, func(a, b vars.ExprID) int { return cmp.Or(cmp.Compare(uses[b], uses[a]), byPlace(a, b)) })
	for first, end := 1, 0; first <= len(j.inUse); first = end {
		end = 1 << (bits.Len(uint(first)) + 3) &^ 1
		slices.SortFunc(j.inUse[first-1:min(end-1, len(j.inUse))], byPlace)
	}
	numbers := make([]vars.ExprID, len(uses))
	for i, e := range j.inUse {
		numbers[e] = vars.ExprID(i + 1)
	}
	for _, ids := range j.exprs {
		for i, e := range ids {
			ids[i] = numbers[e]
		}
	}
}

// sortByContent sorts expressions by their operations, and those with equal operations by the types and expressions
// that they refer to.
func (j *joiner) sortByContent(all []vars.ExprID) {
	plain := make([]vars.Expr, j.allExprs.Len())
	refs := map[vars.ExprID]string{}
	for i := range plain { // an expression refers only to lower numbers
		var key []byte
		plain[i] = j.allExprs.At(vars.ExprID(i)).Renumber(func(id vars.TypeID) vars.TypeID {
			key = append(append(key, j.baseKeys[id]...), 0)
			return 0
		}, func(e vars.ExprID) vars.ExprID {
			h := fnv.New64a() // not the whole key, which may double with each expression
			h.Write([]byte(plain[e].String() + "\x00" + refs[e]))
			key = binary.BigEndian.AppendUint64(key, h.Sum64())
			return 0
		})
		if key != nil {
			refs[vars.ExprID(i)] = string(key)
		}
	}
	slices.SortFunc(all, func(a, b vars.ExprID) int {
		if c := plain[a].Compare(plain[b]); c != 0 {
			return c
		}
		return cmp.Compare(refs[a], refs[b])
	})
}
