// Package sorting sorts slices that are short, or seldom sorted.
//
// slices.SortFunc and slices.SortStableFunc are compiled anew for every type, 8 and
// 11 KB each: 800 KB in symtool. Here all types share package sort's code. Its order
// is the same, also of elements that compare as equal; it takes two to three times
// as long.
package sorting

import "sort"

// Func is slices.SortFunc.
func Func[E any](s []E, cmp func(a, b E) int) {
	sort.Slice(s, func(i, j int) bool { return cmp(s[i], s[j]) < 0 })
}

// StableFunc is slices.SortStableFunc.
func StableFunc[E any](s []E, cmp func(a, b E) int) {
	sort.SliceStable(s, func(i, j int) bool { return cmp(s[i], s[j]) < 0 })
}
