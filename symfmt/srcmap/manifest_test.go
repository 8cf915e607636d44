package srcmap

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// manifestText returns a manifest in which | stands for the separator.
func manifestText(lines ...string) string {
	return strings.ReplaceAll(strings.Join(lines, "\n"), "|", manifestSeparator) + "\n"
}

func TestManifest(t *testing.T) {
	m, err := ReadManifest(strings.NewReader(manifestText("5",
		"1|mozilla/a.h|/src/mfbt/a.h \t",
		"2|b.h|C:\\src\\b.h\r",
		"3|there.h",
		"4|maybe.h",
		"5|key|/src/idl|*.idl|idl",
		"6|key|/src/gen|**/x/*.h|gen",
		"6|key|/src/all|**|all/",
		"5|key|/src/here|*.here|",
		"5|key|/src/top||",
		"7|pre.h|/src/pre.h.in|.deps/pre|#|{}|0",
		"8|made.h|"+strings.Repeat("x", 100_000),
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
		"/obj/dist/include/a.here":             "/src/here/a.here",
		"/obj/dist/include/there.h":            "/src/top/there.h", // the pattern "" at the top matches everything
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
	for _, path := range []string{"idl/n.h", "idl/a/n.idl.x", "gen/n.h", "gen/y/n.h", "there.h"} {
		if got, ok := m.Origin("/obj/dist/include/" + path); ok {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// The current folder has two names. The relative one does not apply to an
// absolute path, nor to one that leads out of the folder.
func TestManifestHere(t *testing.T) {
	m, err := ReadManifest(strings.NewReader(manifestText("5", "1|a.h|/src/a.h", "5|key|/src/all|**|x", "5|key|/src/top|**|")), "m", ".", "/obj")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"./b/../a.h": "/src/a.h", "/obj/a.h": "/src/a.h", "x/b.h": "/src/all/b.h", "/obj/x/b.h": "/src/all/b.h", "b.h": "/src/top/b.h", "/obj/b.h": "/src/top/b.h",
		"/lib/b.h": "", `C:\lib\b.h`: "", "../a.h": "", "..a.h": "/src/top/..a.h",
	} {
		if got, ok := m.Origin(path); got != want || ok != (want != "") {
			t.Errorf("%s: %q %v, want %q", path, got, ok, want)
		}
	}
	// It does not apply to one that leads further out either.
	m, err = ReadManifest(strings.NewReader(manifestText("5", "5|key|/src/top|**|")), "m", "..")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"../b.h": "/src/top/b.h", "../../b.h": "", "b.h": "", "/b.h": ""} {
		if got, ok := m.Origin(path); got != want || ok != (want != "") {
			t.Errorf("%s: %q %v, want %q", path, got, ok, want)
		}
	}
	// A path may match only one of the names.
	m, err = ReadManifest(strings.NewReader(manifestText("1", "1|a.h|/src/a.h")), "m", "/", "/obj")
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := m.Origin("/obj/a.h"); got != "/src/a.h" || !ok {
		t.Errorf("%q %v", got, ok)
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
		manifestText("5", "2|a"):              "m:2: record of type 2 has 2 fields, want 3",
		manifestText("5", "3"):                "m:2: record of type 3 has 1 fields, want 2",
		manifestText("5", "4"):                "m:2: record of type 4 has 1 fields, want 2",
		manifestText("5", "6|a|b|c"):          "m:2: record of type 6 has 4 fields, want 5",
		manifestText("5", "7|a|b"):            "m:2: record of type 7 has 3 fields, want 4",
		manifestText("5", "8|a"):              "m:2: record of type 8 has 2 fields, want 3",
		manifestText("5", "9|a"):              `m:2: record of type "9", want 1 to 8`,
		manifestText("5", ""):                 `m:2: record of type "", want 1 to 8`,
		manifestText("5", "1|a|b", "2|./a|c"): "m:3: ./a is listed twice",
		manifestText("5", "5|k|b|"+strings.Repeat("a", 20000)+"|d"): "m:2: the regular expression has 20008 instructions, want at most 10000: use smaller repetition counts",
		"5\n" + strings.Repeat("x", maxManifestLine+1):              "m:2: line of more than 1048576 bytes",
	} {
		if _, err := ReadManifest(strings.NewReader(text), "m", "/d"); err == nil || err.Error() != want {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
	r := io.MultiReader(strings.NewReader("5\n"), iotest.ErrReader(errors.New("gone")))
	if _, err := ReadManifest(r, "m", "/d"); err == nil || err.Error() != "m:2: gone" {
		t.Errorf("read error: %v", err)
	}
}
