package symdiff

// byNumber holds values by the numbers of FILE or INLINE_ORIGIN records. Writers
// count from 0; other numbers go into a map.
type byNumber[T any] struct {
	dense []T
	have  []bool
	far   map[uint32]T
}

// add adds a value unless the number already has one: of two records the first counts.
func (b *byNumber[T]) add(id uint32, value func() T) {
	if _, ok := b.get(id); ok {
		return
	}
	if int(id) > 2*len(b.dense)+1024 {
		if b.far == nil {
			b.far = map[uint32]T{}
		}
		b.far[id] = value()
		return
	}
	for int(id) >= len(b.dense) {
		var none T
		b.dense, b.have = append(b.dense, none), append(b.have, false)
	}
	b.dense[id], b.have[id] = value(), true
}

func (b *byNumber[T]) get(id uint32) (value T, ok bool) {
	if int(id) < len(b.dense) && b.have[id] {
		return b.dense[id], true
	}
	value, ok = b.far[id]
	return value, ok
}

// each calls f for all values, those with low numbers first.
func (b *byNumber[T]) each(f func(id uint32, value T)) {
	for i, ok := range b.have {
		if ok {
			f(uint32(i), b.dense[i])
		}
	}
	for id, value := range b.far {
		f(id, value)
	}
}
