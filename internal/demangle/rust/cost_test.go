package rust

import (
	"fmt"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/demangle/mangled"
)

// references is a name of n tuples, each of which contains the one before twice.
func references(n int) string {
	name, at := "INvC1a1f", 8
	name += "TuuE"
	for range n {
		next := len(name)
		name += "TB" + base62(at) + "B" + base62(at) + "E"
		at = next
	}
	return "_R" + name + "E"
}

// base62 returns a number in the base 62 of Rust's mangling.
func base62(n int) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if n == 0 {
		return "_"
	}
	text := "_"
	for n--; ; n /= 62 {
		text = digits[n%62:n%62+1] + text
		if n < 62 {
			return text
		}
	}
}

// A name that would become far longer than its length allows is refused, and a small one of
// its shape is printed.
func TestCost(t *testing.T) {
	out, err := Append([]byte("x"), references(2))
	if want := "xa::f::<((), ()), (((), ()), ((), ())), ((((), ()), ((), ())), (((), ()), ((), ())))>"; err != nil || string(out) != want {
		t.Errorf("%s, %v; want %s", out, err, want)
	}
	for _, n := range []int{20, 30} {
		if _, err := Append(nil, references(n)); err != mangled.ErrCostly {
			t.Errorf("%d references: %v, want ErrCostly", n, err)
		}
	}
	if _, err := Append(nil, "_RINvC1a1f"+strings.Repeat("R", 1000)+"uE"); err != mangled.ErrNotMangled {
		t.Errorf("1000 references nested: %v", err)
	}
}

// Decoding Punycode takes the square of its length in the worst case: long identifiers are refused.
func TestLongPunycode(t *testing.T) {
	name := func(n int) string { return fmt.Sprintf("_RNvC1au%d%s", n, strings.Repeat("b", n)) }
	if out, err := Append(nil, name(maxPunycode)); err != nil || len(out) < maxPunycode {
		t.Errorf("%d bytes: %d bytes, %v", maxPunycode, len(out), err)
	}
	if _, err := Append(nil, name(maxPunycode+1)); err != mangled.ErrNotMangled {
		t.Errorf("one byte more: %v, want ErrNotMangled", err)
	}
}

// Names of neither mangling are refused.
func TestNotMangled(t *testing.T) {
	for _, raw := range []string{"_RNvC6_123foo3ba", "_RNvC1au4ete_9qbad", "_R"} {
		if out, err := Append(nil, raw); err != mangled.ErrNotMangled {
			t.Errorf("%s: %s, %v", raw, out, err)
		}
	}
	for _, raw := range []string{"_ZN3foo3barEv", "_ZN3foo3bar17h1111111111111111E", "_ZN3fo17h0123456789abcdefE", "_ZN17h0123456789abcdefE", "_Z"} {
		if out, err := AppendLegacy(nil, raw); err != mangled.ErrNotMangled {
			t.Errorf("%s: %s, %v", raw, out, err)
		}
	}
}
