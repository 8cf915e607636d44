package resolve

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// oddText returns a symbol file that no compiler would produce: nested FUNCs, PUBLICs in
// them, lines and INLINEs that overlap, are out of order or outside.
func oddText(rng *rand.Rand, old bool) string {
	var b strings.Builder
	b.WriteString("MODULE Linux x86_64 000102030405060708090A0B0C0D0E0F0 odd\n")
	for i := range 5 {
		fmt.Fprintf(&b, "FILE %d %s\n", i, []string{"/a/b.c", "x.c", "/y.c", `C:\a\b.c`, `C:\a/b.c`}[i])
	}
	for i := range 6 {
		if old {
			fmt.Fprintf(&b, "INLINE_ORIGIN %d %d inline%d\n", i, i-1, i)
		} else {
			fmt.Fprintf(&b, "INLINE_ORIGIN %d inline%d\n", i, i)
		}
	}
	n := 1 + rng.IntN(12)
	for i := range n {
		start, size := 0x1000+rng.IntN(0x200), rng.IntN(0x80)
		if rng.IntN(8) == 0 {
			size *= 8
		}
		fmt.Fprintf(&b, "FUNC %x %x 0 func%d\n", start, size, rng.IntN(n)+i/100)
		for range rng.IntN(8) {
			form := "INLINE %d %d %d %d"
			args := []any{rng.IntN(4), rng.IntN(50), rng.IntN(5), rng.IntN(6)}
			if old {
				form, args = "INLINE %d %d %d", []any{args[0], args[1], args[3]}
			}
			fmt.Fprintf(&b, form, args...)
			for range 1 + rng.IntN(3) {
				fmt.Fprintf(&b, " %x %x", max(0, start+rng.IntN(size+4)-2), 1+rng.IntN(size/2+1))
			}
			b.WriteByte('\n')
		}
		for range rng.IntN(12) {
			fmt.Fprintf(&b, "%x %x %d %d\n", start+rng.IntN(size+4)-2, rng.IntN(16), rng.IntN(1000), rng.IntN(5))
		}
	}
	for i := range rng.IntN(6) {
		fmt.Fprintf(&b, "PUBLIC %x 0 public%d\n", 0x1000+rng.IntN(0x300), i)
	}
	return b.String()
}

// TestOracleGSYMOfOddModules compares at every address of modules that no compiler would
// produce.
func TestOracleGSYMOfOddModules(t *testing.T) {
	testenv.Oracle(t)
	rounds := 60
	if testenv.OracleFull() {
		rounds = 1000
	}
	asked, all := 0, make(map[string]int)
	for round := range rounds {
		old := round%2 == 1
		text := oddText(rand.New(rand.NewPCG(uint64(round), 9)), old)
		result, err := symfmt.Read(context.Background(), strings.NewReader(text), symfmt.ReadOptions{Tolerant: true})
		if err != nil {
			t.Fatal(err)
		}
		m := result.Module
		var canonical bytes.Buffer
		if err := symfmt.Write(&canonical, m, symfmt.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		n, rules := checkOdd(t, m, writeFile(t, "x.sym", canonical.Bytes()))
		asked += n
		for rule, n := range rules {
			all[rule] += n
		}
		if t.Failed() {
			t.Fatalf("round %d:\n%s", round, text)
		}
	}
	t.Logf("%d addresses of %d modules, differences: %v", asked, rounds, all)
}
