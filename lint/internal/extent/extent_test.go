package extent

import (
	"fmt"
	"slices"
	"testing"

	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/symfmt"
)

func TestOf(t *testing.T) {
	const last = ^symfmt.RVA(0)
	if e := Of(0x10, 0x20); e != Between(0x10, 0x30) || e.Size() != 0x20 {
		t.Errorf("%+v", e)
	}
	if e := Of(last-1, 8); e.End != last {
		t.Errorf("beyond the last address: %+v", e)
	}
}

func TestJoinAndMissing(t *testing.T) {
	list := Join([]coverage.Extent{Between(8, 10), Between(1, 3), Between(9, 12), Between(3, 4), Between(20, 20)})
	if got, want := fmt.Sprint(list), "[{1 4} {8 12}]"; got != want {
		t.Fatalf("joined %s, want %s", got, want)
	}
	for in, want := range map[coverage.Extent]string{
		Between(0, 20): "[{0 1} {4 8} {12 20}]", Between(2, 9): "[{4 8}]", Between(1, 4): "[]", Between(5, 6): "[{5 6}]", Between(12, 13): "[{12 13}]",
	} {
		if got := slices.Collect(Missing(in, list)); fmt.Sprint(got) != want {
			t.Errorf("%v lacks %v, want %s", in, got, want)
		}
	}
	if i := EndsBehind(list, 4); i != 1 {
		t.Errorf("the first that ends after 4 is %d", i)
	}
}
