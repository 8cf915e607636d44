package walk

import (
	"context"
	"testing"
	"time"

	"github.com/symtool/symtool/walk/dump"
)

// walkDump walks a dump, and fails the test if that takes long.
func walkDump(t testing.TB, s *Sources, d *dump.Dump, c Config) *Result {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	res, err := NewWalker(s, c).Walk(ctx, d)
	if err != nil {
		t.Fatal(err)
	}
	return res
}
