package varjoin

import (
	"encoding/binary"

	"github.com/symtool/symtool/symfmt/vars"
)

// appendType appends the contents of a type that is not a structure.
func appendType(k []byte, t *vars.Type) []byte {
	k = append(k, 0x80|byte(t.Kind), byte(t.Encoding), byte(t.Order), btob(t.HasSize))
	k = binary.AppendUvarint(k, t.Size)
	k = binary.AppendUvarint(k, uint64(t.Elem))
	k = binary.AppendUvarint(k, uint64(t.Class))
	for _, p := range t.Params() {
		k = binary.AppendUvarint(k, uint64(p)+1)
	}
	k = append(k, 0)
	bound := func(b vars.Bound) {
		k = binary.AppendVarint(append(k, byte(b.Kind)), b.Value)
		k = binary.AppendUvarint(k, uint64(b.Expr))
	}
	for i := range t.Dims() {
		d := &t.Dims()[i]
		k = append(k, 1)
		bound(d.Lower)
		bound(d.Upper)
		bound(d.Count)
		bound(d.Step)
	}
	k = append(k, 0)
	if x := t.Extra; x != nil {
		k = binary.AppendUvarint(k, x.BitSize)
		k = binary.AppendUvarint(k, x.BitOffset)
		k = binary.AppendUvarint(k, uint64(x.Data))
		k = binary.AppendUvarint(k, uint64(x.Allocated))
		k = binary.AppendUvarint(k, uint64(x.Associated))
		bound(x.Stride)
		bound(x.Length)
	}
	return append(k, t.Name...)
}

// appendWhole appends the contents of any type, without the contents of the types that it
// refers to.
func appendWhole(k []byte, t *vars.Type) []byte {
	apart := *t
	apart.Elem, apart.Class = 0, 0
	if len(t.Params()) > 0 { // a function type has no other parts
		apart.Parts = nil
	}
	k = append(appendType(k, &apart), 0, btob(t.Incomplete))
	k = binary.AppendUvarint(k, uint64(len(t.Params())))
	k = appendMembers(k, t.Members)
	for i := range t.Variants() {
		p := &t.Variants()[i]
		k = appendMembers(append(k, 1), []vars.Member{p.Discr})
		for n := range p.Variants {
			k = append(k, 2)
			for _, r := range p.Variants[n].Ranges {
				k = binary.AppendUvarint(append(k, 3), r.Low)
				k = binary.AppendUvarint(k, r.High)
			}
			k = appendMembers(k, p.Variants[n].Members)
		}
	}
	for i := range t.Enumerators() {
		k = append(append(k, t.Enumerators()[i].Name...), 0)
		k = binary.AppendVarint(k, t.Enumerators()[i].Value)
	}
	return k
}

func appendMembers(k []byte, members []vars.Member) []byte {
	k = binary.AppendUvarint(k, uint64(len(members)))
	for i := range members {
		m := &members[i]
		k = append(append(k, m.Name...), 0, m.BitOffset, btob(m.Base), btob(m.Artificial))
		k = binary.AppendUvarint(k, m.Offset)
		k = binary.AppendUvarint(k, uint64(m.At))
		k = binary.AppendUvarint(k, uint64(m.BitSize))
	}
	return k
}

func btob(b bool) byte {
	if b {
		return 1
	}
	return 0
}
