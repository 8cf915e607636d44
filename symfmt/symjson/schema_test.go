package symjson

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// schemas returns the schemas of a document and of a line.
func schemas(t *testing.T) (document, line *jsonschema.Schema) {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	path := filepath.Join(testenv.Root(t), "golden", "symfmt", "symjson", "schema.json")
	document, err := c.Compile(path)
	if err != nil {
		t.Fatal(err)
	}
	line, err = c.Compile(path + "#/$defs/line")
	if err != nil {
		t.Fatal(err)
	}
	return document, line
}

func valid(t *testing.T, s *jsonschema.Schema, data []byte) error {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return s.Validate(v)
}

// The output matches the schema.
func TestSchema(t *testing.T) {
	document, line := schemas(t)
	check := func(m *symfmt.Module, what any) {
		for _, f := range forms {
			data := write(t, m, f.o)
			if !f.o.Lines {
				if err := valid(t, document, data); err != nil {
					t.Errorf("%v, %s: %v", what, f.name, err)
				}
				continue
			}
			for _, l := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
				if err := valid(t, line, l); err != nil {
					t.Errorf("%v, %s: %v: %s", what, f.name, err, l)
				}
			}
		}
	}
	check(example(), "example")
	check(&symfmt.Module{}, "empty")
	for seed := range uint64(60) {
		check(generate(seed), seed)
	}
	for _, name := range []string{"clang-dwarf5.sym", "cpu-arm.sym"} {
		data, err := os.ReadFile(filepath.Join(testenv.Root(t), "golden", "dwarf2sym", name))
		if err != nil {
			t.Fatal(err)
		}
		check(symtest.Module(t, data), name)
	}
}

// A record that the schema refuses is a problem of the reader, in both forms.
func TestBrokenRecords(t *testing.T) {
	document, line := schemas(t)
	for _, c := range []struct {
		kind   kind
		record string // without its kind
		want   string // problem of JSON Lines: place and message; ok if empty
		lost   string
	}{
		{kindInfo, `"key":"K","value":"v"`, "", ""},
		{kindInfo, `"key":"K"`, `.: "value" is missing`, "record of the kind info"},
		{kindInfo, `"key":7,"value":""`, `.key: found 7, want a string`, "record of the kind info"},
		{kindInfo, `"key":"K","value":"","colour":1`, `.colour: unknown field, which version 1 of the format does not have`, "the field"},
		{kindInfo, `"key":"K","value":"","value_base64":"*"`, `.: found "*", want base64`, "record of the kind info"},
		{kindFile, `"number":0,"name":"a"`, "", ""},
		{kindFile, `"number":4294967295,"name":""`, "", ""},
		{kindFile, `"number":4294967296,"name":"a"`, `.number: found 4294967296, want at most 4294967295`, "record of the kind file"},
		{kindFile, `"number":-1,"name":"a"`, `.number: found -1, want a number of 0 or more, or "0x" and hexadecimal digits`, "record of the kind file"},
		{kindFile, `"number":1.5,"name":"a"`, `.number: found 1.5, want a number of 0 or more, or "0x" and hexadecimal digits`, "record of the kind file"},
		{kindFile, `"number":"0x1","name":"a"`, `.number: found "0x1", want a number of 0 or more`, "record of the kind file"},
		{kindFile, `"number":{"a":1},"name":"a"`, `.number: found an object, want a number of 0 or more`, "record of the kind file"},
		{kindFile, `"name":"a"`, `.: "number" is missing`, "record of the kind file"},
		{kindOrigin, `"number":0,"name":"a","file":-1`, "", ""},
		{kindOrigin, `"number":0,"name":"a","file":1.5`, `.file: found 1.5, want an integer of 64 bits`, "record of the kind inline_origin"},
		{kindOrigin, `"number":0,"name":"a","file":null`, `.file: found null, want an integer`, "record of the kind inline_origin"},
		{kindFunc, `"rva":1,"size":2,"name":"f"`, "", ""},
		{kindFunc, `"rva":"0xfff","size":2,"name":"f"`, "", ""},
		{kindFunc, `"rva":"4096","size":2,"name":"f"`, `.rva: found "4096", want a number of 0 or more, or "0x" and hexadecimal digits`, "record of the kind func"},
		{kindFunc, `"rva":"0x","size":2,"name":"f"`, `.rva: found "0x", want a number of 0 or more, or "0x" and hexadecimal digits`, "record of the kind func"},
		{kindFunc, `"rva":"0x+1","size":2,"name":"f"`, `.rva: found "0x+1", want a number of 0 or more, or "0x" and hexadecimal digits`, "record of the kind func"},
		{kindFunc, `"rva":"0x11112222333344445","size":2,"name":"f"`, `.rva: found "0x11112222333344445", want a number of 0 or more, or "0x" and hexadecimal digits`, "record of the kind func"},
		{kindFunc, `"rva":9007199254740993,"size":2,"name":"f"`, `.rva: 9007199254740993 is over 2^53 and may have been rounded: want a string, "0x20000000000001"`, ""},
		{kindFunc, `"rva":1,"size":2,"name":"f","multiple":0`, `.multiple: found 0, want true or false`, "record of the kind func"},
		{kindFunc, `"rva":1,"size":2,"name":"f","lines":{}`, `.lines: found an object, want a list`, "record of the kind func"},
		{kindFunc, `"rva":1,"size":2,"name":"f","lines":[[1,2,3,4],[1,2,3]]`, `.lines[1]: found 3 elements, want [rva, size, line, file]`, "line record"},
		{kindFunc, `"rva":1,"size":2,"name":"f","lines":[[1,2,3,4,5]]`, `.lines[0]: found more than 4 elements, want [rva, size, line, file]`, "line record"},
		{kindFunc, `"rva":1,"size":2,"name":"f","lines":[[1,2,-3,4]]`, `.lines[0][2]: found -3, want a number of 0 or more, or "0x" and hexadecimal digits`, "line record"},
		{kindFunc, `"rva":1,"size":2,"name":"f","lines":[[1,2,3,4294967296]]`, `.lines[0][3]: found 4294967296, want a number up to 4294967295`, "line record"},
		{kindFunc, `"rva":1,"size":2,"name":"f","lines":[[1,2,"0x3",4]]`, `.lines[0][2]: found "0x3", want a number up to 4294967295`, "line record"},
		{kindFunc, `"rva":1,"size":2,"name":"f","lines":[[1,[2],3,4]]`, `.lines[0][1]: found a list, want a number of 0 or more, or "0x" and hexadecimal digits`, "line record"},
		{kindFunc, `"rva":1,"size":2,"name":"f","lines":[7]`, `.lines[0]: found 7, want [rva, size, line, file]`, "line record"},
		{kindFunc, `"rva":1,"size":2,"name":"f","inlines":[{"depth":0,"origin":1,"call_file":null,"call_line":4,"ranges":[[1,2]]}]`, "", ""},
		{kindFunc, `"rva":1,"size":2,"name":"f","inlines":[{"depth":0,"call_file":2,"call_line":4,"ranges":[[1,2]]}]`, `.inlines[0]: "origin" is missing`, "INLINE record"},
		{kindFunc, `"rva":1,"size":2,"name":"f","inlines":[{"depth":0,"origin":1,"call_file":2,"call_line":4,"ranges":[]}]`, `.inlines[0]: no ranges, want one or more of [rva, size]`, "INLINE record"},
		{kindFunc, `"rva":1,"size":2,"name":"f","inlines":[{"depth":0,"origin":1,"call_file":2,"call_line":4,"ranges":[[1,2],[3]]}]`, `.inlines[0].ranges[1]: found 1 elements, want [rva, size]`, "range of an INLINE record"},
		{kindFunc, `"rva":1,"size":2,"name":"f","inlines":[{"kind":"x","depth":0,"origin":1,"call_file":2,"call_line":4,"ranges":[[1,2]]}]`, `.inlines[0].kind: unknown field, which version 1 of the format does not have`, "the field"},
		{kindFunc, `"rva":1,"size":2,"name":"f","inlines":[3]`, `.inlines[0]: found 3, want an object`, "INLINE record"},
		{kindPublic, `"rva":1,"name":"p"`, "", ""},
		{kindPublic, `"rva":1`, `.: "name" is missing`, "record of the kind public"},
		{kindPublic, `"rva":1,"name":"p","size":3`, `.size: unknown field, which version 1 of the format does not have`, "the field"},
		{kindWin, `"type":0,"rva":1,"size":1`, "", ""},
		{kindWin, `"type":0,"rva":1,"size":1,"program_base64":"AA=="`, `.: "program_base64" without "program"`, "record of the kind stack_win"},
		{kindWin, `"type":true,"rva":1,"size":1`, `.type: found true, want a number of 0 or more`, "record of the kind stack_win"},
		{kindCFI, `"rva":1,"size":1,"init":"x"`, "", ""},
		{kindCFI, `"rva":1,"size":1,"init":"x","rows":[[1]]`, `.rows[0]: found 1 elements, want [rva, rules]`, "STACK CFI record"},
		{kindCFI, `"rva":1,"size":1,"init":"x","rows":[[1,2]]`, `.rows[0][1]: found 2, want a string`, "STACK CFI record"},
		{kindCFI, `"rva":1,"size":1,"init":"x","rows":[[1,"r","?"]]`, `.rows[0][2]: found "?", want base64`, "STACK CFI record"},
		{kindCFI, `"rva":1,"size":1,"init":"x","rows":[[1,"r","cg==","s"]]`, `.rows[0]: found more than 3 elements, want [rva, rules]`, "STACK CFI record"},
	} {
		t.Run(c.record, func(t *testing.T) {
			record := `{"kind":"` + c.kind.String() + `",` + c.record + `}`
			if err := valid(t, line, []byte(record)); (err == nil) != (c.want == "") {
				t.Errorf("the schema of a line: %v", err)
			}
			doc := `{"format":"symtool-symbols","version":1,"module":{"os":"","arch":"","id":"","name":""},"` + listNames[c.kind] + `":[{` + c.record + "}]}"
			if err := valid(t, document, []byte(doc)); (err == nil) != (c.want == "") {
				t.Errorf("the schema of a document: %v", err)
			}
			var want []string
			if c.want != "" {
				want = []string{c.want + lostText(c.lost)}
			}
			wantProblems(t, moduleLine+record+"\n", "x:2:", want)
			for i := range want {
				want[i] = "." + listNames[c.kind] + "[0]" + strings.Replace(want[i], ".: ", ": ", 1)
			}
			wantProblems(t, doc, "x:1:", want)
		})
	}
}

const moduleLine = `{"kind":"module","format":"symtool-symbols","version":1,"os":"","arch":"","id":"","name":""}` + "\n"

func lostText(lost string) string {
	if lost == "" {
		return ""
	}
	return " (lost: " + lost + ")"
}

// wantProblems reads data and compares its problems, each with prefix and a
// column before it.
func wantProblems(t *testing.T, data, prefix string, want []string) *symfmt.Module {
	t.Helper()
	m, problems, err := read(strings.NewReader(data), int64(len(data)), ReadOptions{File: "x"})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range problems {
		got, ok := strings.CutPrefix(p.String(), prefix)
		_, got, ok2 := strings.Cut(got, ": ")
		if !ok || !ok2 || i >= len(want) || got != want[i] {
			t.Errorf("problem %s\nwant %s %q", p, prefix, want)
		}
	}
	if len(problems) < len(want) {
		t.Errorf("%d problems, want %q", len(problems), want)
	}
	return m
}
