package compare

import "slices"

// framePair is a pair of frames, by their indices in two stacks.
type framePair struct{ a, b int }

// maxAlign limits the pairs of frames that are examined to align two stacks. Beyond it, only
// frames within alignWindow of each other are examined.
const (
	maxAlign    = 4 << 20
	alignWindow = 64
)

// alignFrames pairs the frames of two stacks that have the same address and, if both have one, the
// same stack pointer: as many as possible without crossing. Between these pairs, frames with the
// same address and different stack pointers are paired, too.
func alignFrames(a, b []OutlineFrame) (pairs []framePair) {
	at := func(i, k int) bool {
		return a[i].Addr == b[k].Addr && (a[i].SP == b[k].SP || a[i].SP == 0 || b[k].SP == 0)
	}
	head := 0
	for head < len(a) && head < len(b) && at(head, head) {
		pairs = append(pairs, framePair{head, head})
		head++
	}
	endA, endB := len(a), len(b)
	for endA > head && endB > head && at(endA-1, endB-1) {
		endA--
		endB--
	}
	middle := alignMiddle(head, endA, endB, at)
	i, k := head, head
	for _, p := range append(middle, framePair{endA, endB}) {
		pairs = alignLoose(pairs, a, b, i, p.a, k, p.b)
		if p.a < endA {
			pairs = append(pairs, p)
		}
		i, k = p.a+1, p.b+1
	}
	for i, k := endA, endB; i < len(a); i, k = i+1, k+1 {
		pairs = append(pairs, framePair{i, k})
	}
	return pairs
}

// alignLoose pairs frames by address alone.
func alignLoose(pairs []framePair, a, b []OutlineFrame, fromA, toA, fromB, toB int) []framePair {
	for i := fromA; i < toA; i++ {
		for k := fromB; k < min(toB, fromB+alignWindow); k++ {
			if a[i].Addr == b[k].Addr {
				pairs = append(pairs, framePair{i, k})
				fromB = k + 1
				break
			}
		}
	}
	return pairs
}

// alignMiddle pairs the frames between the common head and the common tail.
func alignMiddle(head, endA, endB int, at func(i, k int) bool) []framePair {
	n, m := endA-head, endB-head
	if n == 0 || m == 0 {
		return nil
	}
	if m > maxAlign/n {
		return alignNear(head, endA, endB, at)
	}
	// length[i*(m+1)+k] is the largest number of pairs from a[i:] and b[k:].
	length := make([]int32, (n+1)*(m+1))
	for i := n - 1; i >= 0; i-- {
		for k := m - 1; k >= 0; k-- {
			best := max(length[(i+1)*(m+1)+k], length[i*(m+1)+k+1])
			if at(head+i, head+k) {
				best = max(best, length[(i+1)*(m+1)+k+1]+1)
			}
			length[i*(m+1)+k] = best
		}
	}
	var pairs []framePair
	for i, k := 0, 0; i < n && k < m; {
		now := length[i*(m+1)+k]
		switch {
		case at(head+i, head+k) && now == length[(i+1)*(m+1)+k+1]+1:
			pairs = append(pairs, framePair{head + i, head + k})
			i++
			k++
		case now == length[(i+1)*(m+1)+k]:
			i++
		default:
			k++
		}
	}
	return slices.Clip(pairs)
}

// alignNear is alignMiddle for long stacks: it takes the pair that skips the fewest frames, if one
// is near.
func alignNear(head, endA, endB int, at func(i, k int) bool) (pairs []framePair) {
	for i, k := head, head; i < endA && k < endB; {
		di, dk, found := 0, 0, false
	search:
		for skip := 0; skip <= 2*alignWindow; skip++ {
			for di = max(0, skip-alignWindow); di <= min(skip, alignWindow); di++ {
				if dk = skip - di; i+di < endA && k+dk < endB && at(i+di, k+dk) {
					found = true
					break search
				}
			}
		}
		if !found {
			i, k = i+alignWindow, k+alignWindow
			continue
		}
		pairs = append(pairs, framePair{i + di, k + dk})
		i, k = i+di+1, k+dk+1
	}
	return pairs
}
