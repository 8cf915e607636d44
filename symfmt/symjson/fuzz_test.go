package symjson

import (
	"bytes"
	"testing"

	"github.com/symtool/symtool/symfmt"
)

// Any bytes are read without panic; what was read is written, read and written
// again as the same.
func FuzzRead(f *testing.F) {
	for _, form := range forms {
		f.Add(write(f, example(), form.o))
	}
	for _, s := range []string{
		module + fileA + funcF, document + "}", document + `,"files":[7]}x`, "{\n\"kind\":\n\"file\"\n}\n", `{"funcs":[{"inlines":[{"ranges":[[1,"0x2"]]}],"lines":[[1e3,2.0,3,4]]}]}`,
		`{"rows":[[1,"\ud800","AA=="]],"kind":"stack_cfi","rva":18446744073709551615,"size":9007199254740993,"init":"\u0000"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, problems, err := read(bytes.NewReader(data), int64(len(data)), ReadOptions{File: "x"})
		if err != nil {
			if m != nil || len(problems) > 0 || err.Error() == "" {
				t.Fatal("an error and a module")
			}
			return
		}
		for _, p := range problems {
			if e := p.Err.(*Error); e.Line < 1 || e.Col < 1 || e.Line > bytes.Count(data, []byte("\n"))+1 {
				if !symfmt.IsCompressed(data) {
					t.Fatalf("%s: not a place in %d bytes", p, len(data))
				}
			}
		}
		for _, f := range forms {
			roundTripForm(t, m, f.o)
		}
	})
}

// Any module is the same after it is written, read and written again, in one of the forms.
func FuzzWrite(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, "name", []byte("x"))
	}
	f.Fuzz(func(t *testing.T, seed uint64, name string, rules []byte) {
		m := generate(seed)
		m.Name = name
		if len(m.CFI.Rows) > 0 {
			m.CFI.Rows[0].Rules = m.CFI.Rules.Parse(rules)
		}
		for i := range m.Funcs {
			m.Funcs[i].Name += name
		}
		roundTripForm(t, m, forms[seed%uint64(len(forms))].o)
	})
}
