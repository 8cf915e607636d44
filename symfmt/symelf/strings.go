package symelf

// stringTable is a string section: each string once, NUL-terminated.
type stringTable struct {
	b  []byte
	at map[string]uint32
}

// add returns the offset of s. Strings have no NUL: symfmt.CleanName took them out.
func (t *stringTable) add(s string) uint32 {
	if off, ok := t.at[s]; ok {
		return off
	}
	if t.at == nil {
		t.at = make(map[string]uint32)
	}
	off := uint32(len(t.b))
	t.b = append(append(t.b, s...), 0)
	t.at[s] = off
	return off
}
