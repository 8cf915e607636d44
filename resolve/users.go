package resolve

import "sync/atomic"

// users counts the users of Symbols. Whoever opens them is the first.
type users struct {
	others atomic.Int32 // users beside one; negative after the last has closed them
}

// Share implements Symbols.
func (u *users) Share() bool {
	for {
		n := u.others.Load()
		if n < 0 {
			return false
		}
		if u.others.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Shared implements Symbols.
func (u *users) Shared() bool { return u.others.Load() > 0 }

// leave ends a use, and reports whether it was the last.
func (u *users) leave() bool { return u.others.Add(-1) < 0 }
