package object

import "sort"

// JoinPieces returns a Piece with the contents of parts concatenated without gaps. Their total
// length must be at most math.MaxInt64.
func JoinPieces(in *Input, name string, parts []*Piece) *Piece {
	j := &Piece{in: in, name: name, parts: parts}
	for _, part := range parts {
		j.packed += part.packed
		j.size += part.size
	}
	return j
}

// loadParts returns the contents of all parts.
func (p *Piece) loadParts() ([]byte, error) {
	data := make([]byte, 0, p.size)
	for _, part := range p.parts {
		b, err := part.Data()
		if err != nil {
			return nil, err
		}
		data = append(data, b...)
		part.Release()
	}
	return data, nil
}

// openParts returns a Source over all parts.
func (p *Piece) openParts() (Source, error) {
	j := &joinedSource{p: p}
	end := int64(0)
	for _, part := range p.parts {
		src, err := part.Open()
		if err != nil {
			return nil, err
		}
		end += src.Size()
		j.parts, j.ends = append(j.parts, src), append(j.ends, end)
	}
	return j, nil
}

// joinedSource is the concatenation of several Sources.
type joinedSource struct {
	p     *Piece
	parts []Source
	ends  []int64
}

func (j *joinedSource) Size() int64 { return j.p.size }

func (j *joinedSource) Bytes(off, n int64, buf []byte) ([]byte, error) {
	if err := j.p.checkPart(off, n); err != nil {
		return nil, err
	}
	var out []byte
	first := sort.Search(len(j.parts), func(i int) bool { return j.ends[i] > off })
	for i := first; i < len(j.parts); i++ {
		src, start := j.parts[i], j.ends[i]-j.parts[i].Size()
		from, to := max(off, start), min(off+n, j.ends[i])
		switch {
		case from >= to:
			return out, nil
		case to-from == n:
			return src.Bytes(from-start, n, buf)
		default:
			if out == nil {
				out = make([]byte, 0, n)
			}
			b, err := src.Bytes(from-start, to-from, buf)
			if err != nil {
				return nil, err
			}
			out = append(out, b...)
		}
	}
	return out, nil
}
