package store

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPathIn(t *testing.T) {
	const id, build = "0DE4A1D7C0B14C4CB5CF5A5F22C4DD590", "D7A1E40DB1C04C4CB5CF5A5F22C4DD59AABBCCDD"
	symbols := File{Contents: Symbols, OS: "Linux", Name: "libc.so.6", ID: id, BuildID: build, Ext: ".sym"}
	executable, debug := File{Contents: Executable, BuildID: build}, File{Contents: DebugInfo, BuildID: build}
	with := func(f File, change func(*File)) File { change(&f); return f }
	lower := strings.ToLower
	for _, c := range []struct {
		layout     string
		file       File
		path, fail string
	}{
		{"breakpad", symbols, "libc.so.6/" + id + "/libc.so.6.sym", ""},
		{"breakpad", with(symbols, func(f *File) { f.Name, f.Ext = `C:\x\a.PDB`, ".sym.gz" }), "a.PDB/" + id + "/a.sym.gz", ""},
		{"breakpad", with(symbols, func(f *File) { f.Name = ".." }), "", `MODULE name "..": is not the name of a file`},
		{"breakpad", with(symbols, func(f *File) { f.ID = "../../x" }), "", `MODULE id "../../x": is not hexadecimal`},
		{"breakpad", with(symbols, func(f *File) { f.Name, f.Ext = strings.Repeat("n", 250), ".sym.zst" }), "", `nnn": 250 bytes, want at most 247`},
		{"breakpad", executable, "", "an executable has no place in a store of layout breakpad"},
		{"build-id", executable, ".build-id/d7/" + lower(build[2:]), ""},
		{"build-id", debug, ".build-id/d7/" + lower(build[2:]) + ".debug", ""},
		{"build-id", symbols, "", "a symbol file has no place in a store of layout build-id"},
		{"build-id", File{Contents: DebugInfo}, "", "no build-id"},
		{"build-id", File{Contents: DebugInfo, BuildID: "../.."}, "", `build-id "../..": is not hexadecimal`},
		{"build-id", File{Contents: DebugInfo, BuildID: "ab"}, "", `build-id "ab": want two bytes or more`},
		{"build-id", File{Contents: Executable, BuildID: strings.Repeat("ab", 127)}, ".build-id/ab/" + strings.Repeat("ab", 126), ""},
		{"build-id", File{Contents: DebugInfo, BuildID: strings.Repeat("ab", 127)}, "", "254 digits, which are too many for a file name"},
		{"build-id", File{Contents: DebugInfo, BuildID: strings.Repeat("ab", 1<<20)}, "", "want at most 255"},
		{"debuginfod", executable, "buildid/" + lower(build) + "/executable", ""},
		{"debuginfod", debug, "buildid/" + lower(build) + "/debuginfo", ""},
		{"debuginfod", symbols, "", "a symbol file has no place in a store of layout debuginfod"},
		{"debuginfod", File{Contents: Executable, BuildID: "xy"}, "", `build-id "xy": is not hexadecimal`},
		{"unified", executable, "d7/" + lower(build[2:]) + "/executable", ""},
		{"unified", debug, "d7/" + lower(build[2:]) + "/debuginfo", ""},
		{"unified", symbols, "d7/" + lower(build[2:]) + "/breakpad", ""},
		{"unified", with(symbols, func(f *File) { f.BuildID = "" }), "0d/" + lower(id[2:]) + "/breakpad", ""},
		{"unified", with(symbols, func(f *File) { f.OS, f.BuildID = "windows", "5F0A1234B0000" }), "0d/" + lower(id[2:]) + "/breakpad", ""},
		{"unified", with(symbols, func(f *File) { f.OS, f.BuildID = "mac", "" }), "0d/" + lower(id[2:32]) + "/breakpad", ""},
		{"unified", with(symbols, func(f *File) { f.OS = "ios" }), "0d/" + lower(id[2:32]) + "/breakpad", ""},
		{"unified", with(symbols, func(f *File) { f.OS, f.ID, f.BuildID = "mac", "AB", "" }), "", `build-id "AB": want two bytes or more`},
		{"unified", with(symbols, func(f *File) { f.BuildID, f.ID = "", "" }), "", "no build-id"},
		{"flat", symbols, "", `no layout "flat"`},
	} {
		path, err := PathIn(c.layout, &c.file)
		if filepath.ToSlash(path) != c.path || (err == nil) != (c.fail == "") || err != nil && !strings.Contains(err.Error(), c.fail) {
			t.Errorf("%s, %+v: %q, %v; want %q, %q", c.layout, c.file, path, err, c.path, c.fail)
		}
	}
}

func TestLayouts(t *testing.T) {
	if got := Layouts(); !slices.Equal(got, []string{"breakpad", "build-id", "debuginfod", "unified"}) {
		t.Errorf("%q", got)
	}
	for _, l := range Layouts() {
		_, symbols := PathIn(l, &File{Contents: Symbols, Name: "a", ID: "ABCD0", Ext: ".sym"})
		_, elf := PathIn(l, &File{Contents: Executable, BuildID: "abcdef"})
		if TakesSymbols(l) != (symbols == nil) || TakesELF(l) != (elf == nil) {
			t.Errorf("%s: %v, %v", l, symbols, elf)
		}
	}
}

// FuzzPathIn: no name and no id leads out of the store.
func FuzzPathIn(f *testing.F) {
	f.Add(uint8(0), uint8(0), "Linux", "a", "AB0", "abcdef")
	f.Add(uint8(3), uint8(0), "mac", "../x", strings.Repeat("A", 33), "..")
	f.Fuzz(func(t *testing.T, layout, contents uint8, os, name, id, build string) {
		file := &File{Contents: Contents(contents % 3), OS: os, Name: name, ID: id, BuildID: build, Ext: ".sym.zst"}
		path, err := PathIn(Layouts()[int(layout)%len(Layouts())], file)
		if err != nil {
			return
		}
		if !filepath.IsLocal(path) || path != filepath.Clean(path) {
			t.Fatalf("%q", path)
		}
		for _, part := range strings.Split(filepath.ToSlash(path), "/") {
			if part == "" || len(part) > maxName || strings.ContainsAny(part, "\x00\n\x1b") {
				t.Fatalf("%q of %q", part, path)
			}
		}
	})
}
