package show

import (
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/vars"
)

// A pattern that names a type hides its values however they are reached.
func TestRedactTypes(t *testing.T) {
	f := testFrame()
	in := f.Info
	add := func(x vars.Type) vars.TypeID {
		in.Types = append(in.Types, x)
		return vars.TypeID(len(in.Types) - 1)
	}
	member := func(name string, id vars.TypeID, at uint64) vars.Member {
		return vars.Member{Name: name, Type: id, Offset: at}
	}
	secret := add(vars.Type{Kind: vars.Struct, Name: "app::Secret<char>", Size: 8, HasSize: true, Members: []vars.Member{member("text", tText, 0)}})
	constant := add(vars.Type{Kind: vars.Const, Elem: secret})
	alias := add(vars.Type{Kind: vars.Typedef, Name: "Key", Elem: constant})
	goType := add(vars.Type{Kind: vars.Struct, Name: "example.com/app.Secret[int]", Size: 8, HasSize: true, Members: []vars.Member{member("text", tText, 0)}})
	union := add(vars.Type{Kind: vars.Union, Name: "U", Size: 8, HasSize: true, Members: []vars.Member{member("inner", secret, 0), member("plain", tText, 0)}})
	holder := add(vars.Type{Kind: vars.Struct, Name: "Holder", Size: 16, HasSize: true, Members: []vars.Member{member("n", tPoint, 0), member("u", union, 8)}})
	reference := add(vars.Type{Kind: vars.Reference, Elem: constant})
	value := []byte("hunter2\x00")
	hex := strings.Repeat("..", 8)
	for _, tt := range []struct {
		pattern     string
		id          vars.TypeID
		bytes       []byte
		text, nodes string
	}{
		{"app::Secret<char>", secret, value, redacted, hex},
		{"secret<char>", secret, value, redacted, hex},
		{"struct Secret", secret, value, redacted, hex},
		{"Secret", constant, value, redacted, hex},
		{"Secret", alias, value, redacted, hex},
		{"Secret", goType, value, redacted, hex},
		{"Secret", union, value, redacted, hex},
		{"inner", union, value, redacted, hex},
		{"text", union, value, redacted, hex},
		{"Secret", holder, append(make([]byte, 8), value...), "{n = {x = 0, y = 0}, u = <redacted>}", strings.Repeat("00", 8) + hex},
		{"Secret", reference, words(0x1000), "@0x1000: <redacted>", "0010000000000000"},
		{"secre", secret, value, `{text = "hunter2"}`, "68756e7465723200"},
		{"other", union, value, `{inner = {text = "hunter2"}, plain = "hunter2"}`, "68756e7465723200"},
	} {
		p := New(Options{Redact: []string{tt.pattern}})
		if got := p.Text(f, variable(tt.id, "v", tt.bytes)); got != tt.text {
			t.Errorf("%s of %s: got %s, want %s", tt.pattern, in.TypeName(tt.id), got, tt.text)
		}
		if got := p.Tree(f, variable(tt.id, "v", tt.bytes)); got.Bytes != tt.nodes || strings.Contains(got.Value, "hunter2") != strings.Contains(tt.text, "hunter2") {
			t.Errorf("%s of %s: got %+v", tt.pattern, in.TypeName(tt.id), got)
		}
	}
}

// A key of a map counts as a name, too.
func TestRedactKeys(t *testing.T) {
	texts := shown(t, []byte(nodeTypes), nodeMemory(), "20", "3")
	for _, want := range []string{"{[10] = 1, [20] = <redacted>, [30] = 3}", "map[1:10 3:<redacted>]"} {
		if !slices.Contains(texts, want) {
			t.Errorf("no %s in %q", want, texts)
		}
	}
}
