package verify

import (
	"fmt"
	"strings"
	"testing"
)

func verdictOf(counted, byCFI int, findings ...Finding) *Verdict {
	return &Verdict{Holds: len(findings) == 0, Counted: counted, CountedCFI: byCFI, Findings: findings}
}

func missing(module string) Finding {
	return Finding{Severity: SeverityError, Kind: KindMissing, Blame: BlameSymbols, Module: module, Text: module + " has no symbols"}
}

func TestTally(t *testing.T) {
	var all Tally
	all.Add("a", verdictOf(10, 10))
	all.Add("b", verdictOf(5, 1, missing("libc.so"), missing("libc.so"), missing("liba\x1b.so"), Finding{Severity: SeverityNote, Kind: KindNoFunction}))
	all.Add("c", verdictOf(5, 4, Finding{Severity: SeverityError, Kind: KindBroken, Text: "broken", Follows: []Finding{missing("x")}}, missing("libc.so")))
	var b strings.Builder
	if err := WriteTally(&b, all.Document(), 2); err != nil {
		t.Fatal(err)
	}
	want := `Verdict on the symbols in 3 dumps
  they hold in 1
  counted callers: 15 of 20 by CFI, 75.0%

  dumps  errors  kind             blame    module       example
  2      3       missing-symbols  symbols  libc.so      b
  1      1       missing-symbols  symbols  liba\x1b.so  b
  and 1 more

the symbols hold in 1 of 3 dumps: 15 of 20 caller frames by CFI; symbols to blame: missing-symbols of libc.so in 2 dumps
`
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
}

func TestTallyConclusion(t *testing.T) {
	for want, d := range map[string]*TallyDocument{
		"no verdict: no dump could be read":                             {},
		"the symbols hold in 2 dumps: 7 of 7 caller frames by CFI":      {Dumps: 2, Hold: 2, Counted: 7, CountedCFI: 7},
		"the symbols hold in 1 of 2 dumps: 1 of 7 caller frames by CFI": {Dumps: 2, Hold: 1, Counted: 7, CountedCFI: 1},
		"the symbols hold in 0 of 1 dump: 0 of 1 caller frame by CFI; not decided: broken-stack in 1 dump": {
			Dumps: 1, Counted: 1, Findings: []TallyRow{{Kind: KindBroken, Dumps: 1}},
		},
	} {
		if got := d.conclude(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Each hostile dump has a module with a different name.
func TestTallyLimit(t *testing.T) {
	var all Tally
	for i := range maxTally + 5 {
		all.Add("a", verdictOf(0, 0, missing(fmt.Sprint(i))))
	}
	if d := all.Document(); len(d.Findings) != maxTally || d.Omitted != 5 || d.Dumps != maxTally+5 {
		t.Errorf("%d findings, %d omitted", len(d.Findings), d.Omitted)
	}
}
