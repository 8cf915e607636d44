package fleet

import (
	"sync"

	"github.com/symtool/symtool/walk"
)

// lender lends a SymbolSet to walks. Symbols cannot be closed while the result of a walk may need them, so when they take
// too much memory, later walks get a SymbolSet that has nothing open yet. The last walk that uses the old one closes it.
type lender struct {
	mu  sync.Mutex
	now *loan
}

// loan is a SymbolSet with the number of walks that use them.
type loan struct {
	sources *walk.SymbolSet
	users   int
}

// borrow returns the SymbolSet for a walk, which looks in the places of from. Their symbols take up to limit bytes when
// the walk begins; 0 means no limit.
func (l *lender) borrow(from *walk.SymbolSet, limit int64) (*loan, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.now
	switch {
	case old == nil && limit <= 0:
		l.now = &loan{sources: from}
	case old == nil || limit > 0 && old.sources.Memory() > limit:
		l.now = &loan{sources: from.Renew()}
	}
	l.now.users++
	if old != nil && old != l.now && old.users == 0 {
		return l.now, old.sources.Close()
	}
	return l.now, nil
}

// giveBack ends a walk's use of its SymbolSet.
func (l *lender) giveBack(x *loan) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x.users--; x.users == 0 && x != l.now {
		return x.sources.Close()
	}
	return nil
}
