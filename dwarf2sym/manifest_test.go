package dwarf2sym

import (
	"strings"
	"testing"
)

// manifestText is a manifest with | in place of its separator.
func manifestText(lines ...string) string {
	return strings.ReplaceAll(strings.Join(lines, "\n"), "|", manifestSeparator) + "\n"
}

func TestManifest(t *testing.T) {
	m, err := ReadManifest(strings.NewReader(manifestText("5",
		"1|mozilla/a.h|/src/mfbt/a.h",
		"2|b.h|C:\\src\\b.h\r",
		"3|there.h",
		"4|maybe.h",
		"5|key|/src/idl|*.idl|idl",
		"6|key|/src/gen|**/x/*.h|gen",
		"6|key|/src/all|**|all/",
		"5|key|/src/top||",
		"7|pre.h|/src/pre.h.in|.deps/pre|#|{}|0",
		"8|made.h|\"text\"",
		"-1|whatever",
	)), "m", "x/../rel/", "/obj/dist//include/")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/obj/dist/include/mozilla/a.h":        "/src/mfbt/a.h",
		"/obj/x/../dist/./include/mozilla/a.h": "/src/mfbt/a.h",
		`/obj/dist/include\mozilla\a.h`:        "/src/mfbt/a.h",
		"/obj/dist/include/b.h":                `C:\src\b.h`,
		"/obj/dist/include/pre.h":              "/src/pre.h.in",
		"/obj/dist/include/idl/n.idl":          "/src/idl/n.idl",
		"/obj/dist/include/gen/x/n.h":          "/src/gen/x/n.h",
		"/obj/dist/include/gen/a/b/x/n.h":      "/src/gen/a/b/x/n.h",
		"/obj/dist/include/all/a/b.h":          "/src/all/a/b.h",
		"/obj/dist/include/there.h":            "/src/top/there.h", // the pattern "" at the top has all
		"/obj/dist/includes/b.h":               "",
		"/obj/dist/b.h":                        "",
		"rel/./b.h":                            `C:\src\b.h`,
		"b.h":                                  "",
	} {
		if got, ok := m.Origin(path); got != want || ok != (want != "") {
			t.Errorf("%s: %q %v, want %q", path, got, ok, want)
		}
	}
	m.patterns = m.patterns[:2]
	if m, err := ReadManifest(strings.NewReader(manifestText("1", "1|a.h|/a.h")), "m", "."); err != nil {
		t.Error(err)
	} else if got, ok := m.Origin("./b/../a.h"); got != "/a.h" || !ok {
		t.Errorf("in the current folder: %q %v", got, ok)
	}
	for _, path := range []string{"idl/n.h", "idl/a/n.idl.x", "gen/n.h", "gen/y/n.h", "there.h"} {
		if got, ok := m.Origin("/obj/dist/include/" + path); ok {
			t.Errorf("%s: %s", path, got)
		}
	}
}

func TestManifestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "m: empty, want an install manifest",
		"6\n":                                 `m:1: version of an install manifest is "6", want 1 to 5`,
		"0\n":                                 `m:1: version of an install manifest is "0", want 1 to 5`,
		manifestText("1|a|b"):                 `m:1: version of an install manifest is "1\x1fa\x1fb", want 1 to 5`,
		manifestText("1", "1|a"):              "m:2: record of type 1 has 2 fields, want 3",
		manifestText("5", "5|a|b|c"):          "m:2: record of type 5 has 4 fields, want 5",
		manifestText("5", "9|a"):              `m:2: record of type "9", want 1 to 8`,
		manifestText("5", ""):                 `m:2: record of type "", want 1 to 8`,
		manifestText("5", "1|a|b", "2|./a|c"): "m:3: ./a is there twice",
		manifestText("5", "5|k|b|"+strings.Repeat("a", 20000)+"|d"): "m:2: the regular expression has 20008 instructions, want at most 10000: it counts too far",
		"5\n" + strings.Repeat("x", maxManifestLine+1):              "m:2: line of more than 1048576 bytes",
	} {
		if _, err := ReadManifest(strings.NewReader(text), "m", "/d"); err == nil || err.Error() != want {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}
