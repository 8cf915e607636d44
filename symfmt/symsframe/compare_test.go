package symsframe

import (
	"context"
	"strings"
	"testing"

	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

const compareCFI = `MODULE Linux x86_64 0 x
STACK CFI INIT 900 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa 8 - ^
STACK CFI 1004 $rbx: .cfa -24 + ^
STACK CFI 1008 .cfa: 16 $rsp +
STACK CFI 1018 $rbp: .cfa -16 + ^
STACK CFI INIT 1040 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI INIT 2000 10 .cfa: $rsp 8 + .ra: 0
`

const compareText = `          functions       rows   code bytes  section bytes
.sframe           3          4           68            102
CFI               4          6           80              0

36 bytes of code equal, 12 different
20 bytes and 1 functions only in .sframe
32 bytes and 2 functions only in CFI

0x1008, 4 bytes, different:
  .sframe  .cfa: $rsp 8 + .ra: .cfa -8 + ^
  CFI      .cfa: 16 $rsp + .ra: .cfa 8 - ^

0x1018, 8 bytes, different:
  .sframe  .cfa: $rsp 16 + .ra: .cfa -8 + ^
  CFI      .cfa: 16 $rsp + .ra: .cfa 8 - ^ $rbp: .cfa -16 + ^

Only in .sframe:
  0x3000, 16 bytes

Only in CFI:
  0x900, 16 bytes
  0x1040, 16 bytes
`

const compareJSON = `{
  "sframe": {
    "functions": 3,
    "rows": 4,
    "code_bytes": 68,
    "section_bytes": 102
  },
  "cfi": {
    "functions": 4,
    "rows": 6,
    "code_bytes": 80,
    "section_bytes": 0
  },
  "equal_bytes": 36,
  "different_bytes": 12,
  "only_sframe_bytes": 20,
  "only_cfi_bytes": 32,
  "differences": [
    {
      "start": "0x1008",
      "size": 4,
      "sframe": ".cfa: $rsp 8 + .ra: .cfa -8 + ^",
      "cfi": ".cfa: 16 $rsp + .ra: .cfa 8 - ^"
    },
    {
      "start": "0x1018",
      "size": 8,
      "sframe": ".cfa: $rsp 16 + .ra: .cfa -8 + ^",
      "cfi": ".cfa: 16 $rsp + .ra: .cfa 8 - ^ $rbp: .cfa -16 + ^"
    }
  ],
  "only_sframe_functions": [
    {
      "start": "0x3000",
      "size": 16
    }
  ],
  "only_cfi_functions": [
    {
      "start": "0x900",
      "size": 16
    },
    {
      "start": "0x1040",
      "size": 16
    }
  ]
}
`

// A row that differs, one that begins later, other forms of the same rules, and
// code that only one side has: whole functions and parts of them.
func TestCompare(t *testing.T) {
	none := sframe.Rule{}
	s := encode(t, sframe.AMD64, 3,
		sframe.Func{Start: 0x1000, Size: 0x24, Rows: []sframe.Row{amd64(0, val(7, 8), none), amd64(12, val(7, 16), none)}},
		sframe.Func{Start: 0x2000, Size: 0x10, Rows: []sframe.Row{{RA: sframe.Rule{Kind: sframe.Undefined}}}},
		simple(0x3000, 0x10, 8))
	result, err := symfmt.Read(context.Background(), strings.NewReader(compareCFI), symfmt.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m := result.Module
	c := Compare(s, &m.CFI, arch.X86_64, ToOptions{})
	var text, json strings.Builder
	if err := c.WriteText(&text); err != nil || text.String() != compareText {
		t.Errorf("%v\n%s", err, text.String())
	}
	if err := c.WriteJSON(&json); err != nil || json.String() != compareJSON {
		t.Errorf("%v\n%s", err, json.String())
	}
}

// Blocks of a symbol file may overlap: the one that starts last wins.
func TestCompareOverlaps(t *testing.T) {
	result, err := symfmt.Read(context.Background(), strings.NewReader(`MODULE Linux x86_64 0 x
STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI INIT 1010 10 .cfa: $rsp 16 + .ra: .cfa -8 + ^
`), symfmt.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m := result.Module
	c := Compare(encode(t, sframe.AMD64, 3, simple(0x1000, 0x10, 8), simple(0x1010, 0x10, 16)), &m.CFI, arch.X86_64, ToOptions{})
	if c.Equal != 0x20 || c.Different+c.OnlySFrame+c.OnlyCFI != 0 {
		t.Errorf("%+v", c)
	}
}
