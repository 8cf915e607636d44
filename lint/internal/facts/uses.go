package facts

import "github.com/symtool/symtool/symfmt"

// forwardUse is the first use of a FILE or INLINE_ORIGIN number that was not declared before the use.
type forwardUse struct {
	ID   uint32
	Kind symfmt.Kind // kind of the record that uses it
	Pos  symfmt.Pos
}

// maxForward is how many forward uses are kept. Only damaged files have many.
const maxForward = 1 << 14

// use records that field i of a record refers to id.
func (s *IDs) use(r *symfmt.Record, i int, id uint32) {
	if s.Has(id) {
		s.Use(id)
		return
	}
	if len(s.ForwardUses) >= maxForward || s.forward[id] {
		return
	}
	if s.forward == nil {
		s.forward = map[uint32]bool{}
	}
	s.forward[id] = true
	s.ForwardUses = append(s.ForwardUses, forwardUse{id, r.Kind, r.FieldPos(i)})
}

// UsedForward reports whether a number was used before it was declared.
func (s *IDs) UsedForward(id uint32) bool { return s.forward[id] || len(s.ForwardUses) >= maxForward }

// Unused returns how many numbers were declared but never used, and the lowest of them. used
// reports uses that s does not know about.
func (s *IDs) Unused(used func(id uint32) bool) (n int, least uint32) {
	count := func(id uint32) {
		if s.Used(id) || s.UsedForward(id) || used(id) {
			return
		}
		if n == 0 || id < least {
			least = id
		}
		n++
	}
	for i, word := range s.declared {
		for b := range 64 {
			if word>>b&1 != 0 {
				count(uint32(i<<6 | b))
			}
		}
	}
	for id := range s.far {
		count(id)
	}
	return n, least
}

// inlineForms counts the forms of a file's INLINE records. The old form has no call file, and its
// INLINE_ORIGINs have the number of a FILE before the name. The form of an INLINE_ORIGIN is
// ambiguous by itself: a name may begin with a number.
type inlineForms struct {
	Old, New int // numbers of INLINE records

	Origins  IDs          // numbers of the files that INLINE_ORIGINs refer to, if they have the old form
	Nameless []symfmt.Pos // positions of names that are empty in the old form; at most maxForward
}

func (x *inlineForms) inline(r *symfmt.Record) {
	if r.OldForm {
		x.Old++
	} else {
		x.New++
	}
}

func (x *inlineForms) origin(r *symfmt.Record) {
	if x.New > 0 {
		return
	}
	file, name, ok := r.OldOrigin()
	if !ok {
		return
	}
	if file >= 0 {
		x.Origins.use(r, 2, uint32(file))
	}
	if len(name) == 0 && len(x.Nameless) < maxForward {
		x.Nameless = append(x.Nameless, r.FieldPos(2))
	}
}

// OldOrigins reports whether the file's INLINE_ORIGINs have the old form.
func (x *inlineForms) OldOrigins() bool { return x.Old > 0 && x.New == 0 }
