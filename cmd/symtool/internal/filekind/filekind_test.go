package filekind

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// TestNot checks that the kind of a file is recognized by the beginning of the file, even if the file is
// compressed, and that there is no message for a file about which nothing is known.
func TestNot(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte("MODULE Linux x86_64 0 x\n")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	damaged := func(text string) string { return string(testenv.DamagedGzip(t, text)) }
	dir := t.TempDir()
	for name, c := range map[string]struct{ contents, want string }{
		"core":     {"\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + "\x04\x00", "not a thing but an ELF core: symtool walk prints its stacks"},
		"sym.gz":   {packed.String(), "not a thing but a symbol file in gzip: " + Breakpad.Use},
		"cut.gz":   {packed.String()[:5], ""},
		"bad.gz":   {damaged("MODULE Linux x86_64 0 x\n"), "not a thing but a symbol file in gzip: " + Breakpad.Use},
		"text.gz":  {damaged("some text\n"), ""}, // reading it says more
		"walk":     {`{"crash_info": {}}`, "not a thing but the JSON of a walk: symtool walk --compare compares two of them"},
		"json":     {"{\n  \"a\": 1}", "not a thing but JSON without symbols: want this"},
		"brace":    {"{ a }", "not a thing but text: want this"},
		"tar":      {tarHeader(t), "not a thing but a tar archive: " + useStore},
		"deb":      {"!<arch>\ndebian-binary   ", "not a thing but a Debian package: " + useStore},
		"rpm":      {"\xed\xab\xee\xdb", "not a thing but an RPM package: " + useStore},
		"apk":      {"PK\x03\x04", "not a thing but a zip archive: " + useStore},
		"cpio":     {"070701", "not a thing but a cpio archive: " + useStore},
		"snap":     {"hsqs", "not a thing but a squashfs file system: unpack it with unsquashfs, and name the folder"},
		"app":      {"\x7fELF\x02\x01\x01\x00AI\x02" + strings.Repeat("\x00", 9) + "\x02\x00", "not a thing but an ELF file: " + useDump},
		"iso":      {strings.Repeat("\x00", 32769) + "CD001", "not a thing but an ISO 9660 image: unpack it with 7z or bsdtar, and name the folder"},
		"dmg":      {strings.Repeat("\x01", 1024) + "koly" + strings.Repeat("\x00", 508), "not a thing but a disk image of macOS: unpack it with 7z, and name the folder"},
		"zeros":    {strings.Repeat("\x00", 70000), ""},
		"short":    {strings.Repeat("\x01", 257), ""},
		"empty":    {"", "not a thing but an empty file: want this"},
		"garbage":  {"\x01\x02\x03\x04", ""},
		"archive":  {"!<arch>\n", "not a thing but an ar archive (a static library): take its members out (ar x) and name those"},
		"portable": {"BSJB", "not a thing but a portable PDB of .NET, which describes no native code: want this"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.contents), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := Not(path, "a thing", "want this"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for _, path := range []string{filepath.Join(dir, "missing"), ""} {
		if got := Not(path, "a thing", "want this"); got != "" {
			t.Errorf("%q: %q, want nothing", path, got)
		}
	}
	if got, want := Not(dir, "a thing", "want this"), "not a thing but a folder: want this"; got != want {
		t.Errorf("a folder: %q, want %q", got, want)
	}
}

// tarHeader returns the first header of a tar archive.
func tarHeader(t *testing.T) string {
	var b bytes.Buffer
	if err := tar.NewWriter(&b).WriteHeader(&tar.Header{Name: "x", Size: 1}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestNotSymbols checks that there is no error for a symbol file or a text, since its readers say more about it.
func TestNotSymbols(t *testing.T) {
	for head, want := range map[string]string{
		"MODULE Linux x86_64 0 x\n": "", "some text\n": "", "": "", "\x01\x02": "", "\x1f\x8b": "",
		"MDMP\x93\xa7": "not a symbol file but a minidump: symtool walk prints its stacks",
		"PK\x03\x04":   "not a symbol file but a zip archive: " + useStore,
	} {
		got := ""
		if err := NotSymbols([]byte(head)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", head, got, want)
		}
	}
	path := testenv.Input(t, "walk-sources.core.xz")
	if err, want := NotSymbolFile(path), "not a symbol file but a compressed dump: symtool walk prints its stacks"; err == nil || err.Error() != want {
		t.Errorf("a compressed core: %v, want %q", err, want)
	}
	for _, path := range []string{t.TempDir(), "missing", os.DevNull} {
		if err := NotSymbolFile(path); err != nil {
			t.Errorf("%s: %v, want no error: opening it says more", path, err)
		}
	}
}
