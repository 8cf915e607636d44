package show

import (
	"slices"
	"testing"
)

// interfaces has variables that are Go interfaces. Types are described at 0x1100 to 0x1120.
const interfaces = `INFO VAR 1 all full
INFO VAR T b#8 "int %5
INFO VAR T s#8 "main.Dog .1:Age
INFO VAR T p2#8 "*main.Dog
INFO VAR T s#10 "internal/abi.ITab .5:Inter .5@8:Type
INFO VAR T p1#8 "*internal/abi.Type
INFO VAR T p4#8 "*internal/abi.ITab
INFO VAR T p#8 "unsafe.Pointer
INFO VAR T s#10 "runtime.iface .6:tab .7@8:data
INFO VAR T s#10 "runtime.eface .5:_type .7@8:data
INFO VAR T s#8 "main.Held .3:dog
INFO VAR E a:0 a:10 a:20 a:30 a:50 a:60 a:70
INFO VAR V l9:number l9:pointer l8:table l9:other l9:none l9:direct l8:absent
INFO VAR G 1,,,,,,
INFO VAR R 100:1 10:3 10:2 10:a
INFO VAR L g
INFO VAR F 0 40 0 1=1=2=3=4=5=6=7
`

// A Go interface is shown by the value that it holds or, if no type is described, by its two words.
func TestInterfaces(t *testing.T) {
	memory := words(
		0x1100, 0x1080,
		0x1110, 0x1080,
		0x1040, 0x1080,
		0x1999, 0x1080,
		0, 0x1120, // an itab that the program made
		0, 0,
		0x1130, 0x1080,
		0x1120, 0x9000, // an itab that the linker made; its address alone gives the type
		42)
	want := []string{
		"(int) 42", "(*main.Dog) 0x1080 <sym>: {Age:42}", "(main.Dog) {Age:42}", "{_type:0x1999 <sym> data:0x1080 <sym>}", "nil",
		"(main.Held) {dog:0x1080 <sym>}", "(main.Dog) <unavailable: the dump does not have the memory at 0x9000>",
	}
	var got []string
	for i, text := range shown(t, []byte(interfaces), memory) {
		if i%2 == 1 && len(got) < len(want) { // depth 0 has all of them
			got = append(got, text)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, text := range shown(t, []byte(interfaces), memory, "main.dog") {
		if text == "(main.Dog) {Age:42}" {
			t.Error("a redacted type is shown")
		}
	}
}
