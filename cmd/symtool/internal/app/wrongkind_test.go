package app_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
)

// The text of messages about the kinds in several rows.
const (
	dumpIt    = ": symtool dump writes its symbol file"
	convertIt = ": convert it with symtool convert --to breakpad"
	walkIt    = ": symtool walk prints its stacks"
	storeIt   = ": symtool dump --store DIR writes the symbol files of all binaries in it"
	lintIt    = ": symtool lint checks it; resolve and walk read it with --symbols"
)

// wrongKinds are files of every kind, with the text that a message of a command that does not read them has about them;
// "" if no command reports it.
var wrongKinds = []struct{ name, class, is string }{
	{"prog.elf", "binary", "an ELF file" + dumpIt},
	{"stripped.elf", "binary", "an ELF file" + dumpIt},
	{"object.o", "binary", "an ELF file" + dumpIt},
	{"prog.dll", "binary", "a PE file" + dumpIt},
	{"prog.macho", "binary", "a Mach-O file" + dumpIt},
	{"prog.dSYM", "bundle", "a Mach-O file" + dumpIt},
	{"fat.macho", "several", "a Mach-O file" + dumpIt},
	{"prog.pdb", "pdb", "a PDB" + dumpIt},
	{"prog.sym", "symbols", "a symbol file" + lintIt},
	{"prog.sym.gz", "symbols", "a symbol file in gzip" + lintIt},
	{"prog.vars", "symbols", "a symbol file" + lintIt},
	{"prog.json", "json", "a JSON document" + convertIt},
	{"prog.gsym", "gsym", "a GSYM file" + convertIt},
	{"prog.sframe", "sframe", "an SFrame section" + convertIt},
	{"crash.dmp", "dump", "a minidump" + walkIt},
	{"crash.core", "dump", "an ELF core" + walkIt},
	{"crash.core.gz", "dump", "an ELF core in gzip" + walkIt},
	{"crash.core.xz", "dump", "a compressed dump" + walkIt},
	{"crash.log", "dump", "a microdump" + walkIt},
	{"walk.json", "walk", "the JSON of a walk: symtool walk --compare compares two of them"},
	{"other.json", "other", "JSON without symbols: want"},
	{"lib.a", "archive", "an ar archive"},
	{"prog.deb", "archive", "a Debian package" + storeIt},
	{"prog.zip", "archive", "a zip archive" + storeIt},
	{"prog.tar.gz", "archive", "a tar archive in gzip" + storeIt},
	{"notes.txt", "text", "text: want"},
	{"nothing", "text", "an empty file: want"},
	{"folder", "folder", "a folder: want"},
	{"pipe", "pipe", "a pipe: want a regular file"},
	{"missing", "missing", ""},
}

// wrongKindCommands are the commands that read files, with what they want and the classes or files that they read. FILE
// stands for the file in args.
var wrongKindCommands = []struct{ args, want, reads string }{
	{"dump --hermetic FILE", "a binary", "binary bundle pdb"},
	{"convert --to breakpad -o out.sym FILE", "symbols or a dump", "binary bundle pdb symbols json gsym sframe pipe"},
	{"sframe FILE", "a binary", "sframe"},
	{"inspect FILE", "a dump", "dump"},
	{"walk --hermetic FILE", "a dump", "dump"},
	{"walk --hermetic --symbols FILE crash.dmp", "a symbol file", "symbols folder bundle"},
	{"resolve --symbols FILE 0x1000", "a symbol file", "symbols folder"},
	{"resolve --binaries FILE 0x1000", "a binary", "binary bundle several pdb folder"},
	{"lint FILE", "a symbol file", "symbols text pipe"},
	{"lint --binary FILE prog.sym", "a binary", "binary bundle"},
	{"diff prog.sym FILE", "a symbol file", "binary bundle pdb symbols pipe"},
	{"store add store FILE", "a symbol file", "prog.dll prog.pdb symbols pipe"},
	{"upload --protocol sym-upload-v1 --dry-run http://localhost:1 FILE", "a symbol file", "symbols pipe"},
	{"doctor --hermetic FILE", "symbols or a dump", "binary bundle pdb symbols json gsym sframe dump"},
}

// wrongKindCases lists the pairs of a command's first words and a class, or a file, that have another message.
var wrongKindCases = map[string]string{
	"dump folder":               "--store DIR writes the symbol files of all binaries in it",
	"dump several":              "a universal file of x86_64, arm64: choose one with --arch, or write all with --store",
	"convert several":           "a universal file of x86_64, arm64: choose one with --arch",
	"convert dump":              " is not converted to breakpad: symtool walk prints its stacks",
	"convert walk":              "not a symtool symbol file in JSON",
	"convert other":             "not a symtool symbol file in JSON",
	"convert folder":            "is a directory, want a file; --to-store takes folders",
	"sframe binary":             "no .sframe section",
	"sframe bundle":             "no .sframe section",
	"sframe several":            "a universal file of x86_64, arm64",
	"walk folder":               "no dumps in this folder: want minidumps, ELF cores or microdumps",
	"walk bundle":               "no dumps in this folder: want minidumps, ELF cores or microdumps",
	"walk --symbols binary":     ": use --binaries",
	"walk --symbols several":    "not a symbol file but a Mach-O file: use --binaries",
	"walk --symbols pdb":        "not a symbol file but a PDB: use --binaries",
	"walk --symbols text":       "not a symbol file: it begins with",
	"walk --symbols pipe":       "not a regular file",
	"resolve --symbols binary":  ": use --binaries",
	"resolve --symbols several": "not a symbol file but a Mach-O file: use --binaries",
	"resolve --symbols pdb":     "not a symbol file but a PDB: use --binaries",
	"resolve --symbols bundle":  "no module",
	"resolve --binaries pipe":   "no module",
	"resolve --symbols text":    "not a symbol file: it begins with",
	"resolve --symbols folder":  "no module",
	"resolve --symbols pipe":    "not a regular file",
	"resolve --binaries folder": "no module",
	"lint folder":               "no symbol files in this folder: want .sym",
	"lint bundle":               "no symbol files in this folder: want .sym",
	"lint crash.core.xz":        "not a symbol file but xz data",
	"lint --binary folder":      "no binary with the id A27E41F938E3932E94FB8368AAFCB6300 of prog.elf",
	"lint --binary several":     "a universal file of x86_64, arm64: none has the id A27E41F938E3932E94FB8368AAFCB6300",
	"diff several":              "a universal file of x86_64, arm64: choose one with --arch",
	"diff text":                 "not a symbol file: no record in it, want MODULE first",
	"diff folder":               "want two files or two folders",
	"store notes.txt":           "no complete MODULE record: its module is unknown",
	"store crash.core.xz":       "not a symbol file but xz data",
	"store nothing":             "is empty",
	"store folder":              "no symbol files in this folder: want .sym",
	"upload notes.txt":          "no complete MODULE record: its module is unknown",
	"upload nothing":            "is empty",
	"upload folder":             "is not a store: it has no symbol files NAME/ID/NAME.sym",
	"upload bundle":             "is not a store: it has no symbol files NAME/ID/NAME.sym",
	"doctor several":            "a universal file of x86_64, arm64: choose one with --arch",
	"doctor walk":               "not a symtool symbol file in JSON",
	"doctor other":              "not a symtool symbol file in JSON",
	"doctor folder":             "is a folder: want files in it, such as binaries or .sym files",
	"doctor pipe":               "not a regular file",
}

// TestWrongKinds checks, for every pair of a command and a file that it does not read, that the message says what the
// file is, and which command reads it.
func TestWrongKinds(t *testing.T) {
	t.Chdir(wrongKindFiles(t))
	t.Setenv("DEBUGINFOD_URLS", "")
	t.Setenv("SYMTOOL_SYMBOLS", "")
	for _, c := range wrongKindCommands {
		reads := strings.Fields(c.reads)
		for _, k := range wrongKinds {
			if k.class == "pipe" && slices.Contains(reads, k.class) {
				continue // it would wait for a writer
			}
			var stdout, stderr bytes.Buffer
			command := strings.ReplaceAll(c.args, "FILE", k.name)
			status := app.Run(t.Context(), strings.Fields("symtool "+command), strings.NewReader(""), &stdout, &stderr)
			first, _, _ := strings.Cut(c.args, " FILE")
			words := strings.Fields(strings.Replace(first, " --hermetic", "", 1))
			if len(words) > 1 && !slices.Contains([]string{"--symbols", "--binary", "--binaries"}, words[1]) {
				words = words[:1]
			}
			start := strings.Join(words, " ") + " "
			want := wrongKindCases[start+k.name]
			switch {
			case want != "":
			case k.class == "missing":
				want = k.name + ": no such file or directory"
			case wrongKindCases[start+k.class] != "":
				want = wrongKindCases[start+k.class]
			case !slices.Contains(reads, k.class) && !slices.Contains(reads, k.name):
				want = k.name + ": not " + c.want + " but " + k.is
			}
			said := stderr.String()
			if want == "" && (status == cli.StatusUsage || strings.Contains(said, ": not ")) {
				t.Errorf("symtool %s: status %d, %q: want it to be read", command, status, said)
			}
			if want != "" && (status == cli.StatusOK || !strings.Contains(said, want)) {
				t.Errorf("symtool %s: status %d, %q\nwant %q", command, status, said, want)
			}
		}
	}
}

// wrongKindFiles returns a folder with the files.
func wrongKindFiles(t *testing.T) string {
	dir := t.TempDir()
	write := func(name string, data []byte) { testenv.WriteFile(t, filepath.Join(dir, name), data) }
	for name, input := range map[string]string{
		"prog.elf": "gcc-dwarf5.elf", "stripped.elf": "nodebug.elf", "object.o": "object-clang5.elf", "prog.dll": "pe-mingw64.dll", "prog.macho": "macho-arm64",
		"fat.macho": "macho-fat", "prog.pdb": "pdb-x64.pdb.gz", "prog.sframe": "sframe-text-v3.sframe", "crash.dmp": "mini-linux.dmp", "crash.core": "walk-sources.core.gz",
	} {
		write(name, testenv.PlainInput(t, input))
	}
	for name, input := range map[string]string{"crash.core.gz": "walk-sources.core.gz", "crash.core.xz": "walk-sources.core.xz"} {
		data, err := os.ReadFile(testenv.Input(t, input))
		if err != nil {
			t.Fatal(err)
		}
		write(name, data)
	}
	const bundle = "prog.dSYM/Contents/Resources/DWARF"
	if err := os.MkdirAll(filepath.Join(dir, bundle), 0o755); err != nil {
		t.Fatal(err)
	}
	write(bundle+"/prog", testenv.PlainInput(t, "macho-arm64.dSYM"))
	elf := testenv.PlainInput(t, "gcc-dwarf5.elf")
	write("lib.a", []byte("!<arch>\n"+fmt.Sprintf("%-48s%-10d`\n", "object.o/", len(elf))+string(elf)))
	write("prog.deb", []byte("!<arch>\n"+fmt.Sprintf("%-48s%-10d`\n", "debian-binary", 4)+"2.0\n"))
	write("prog.zip", zipped(t, "prog", elf))
	write("prog.tar.gz", tarred(t, "prog", elf))
	write("crash.log", []byte("W/google-breakpad( 3745): -----BEGIN BREAKPAD MICRODUMP-----\nW/google-breakpad( 3745): V WebView:48.0\n"+
		"W/google-breakpad( 3745): O A arm 04 armv7l lge/p1:6.0\nW/google-breakpad( 3745): -----END BREAKPAD MICRODUMP-----\n"))
	write("other.json", []byte(`{"a": 1}`+"\n"))
	write("notes.txt", []byte("some notes\nof a person\n"))
	write("nothing", nil)
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		"dump -o prog.sym prog.elf", "dump --gzip -o prog.sym.gz prog.elf", "dump --vars all --store vars prog.elf", "convert -o prog.json prog.sym", "convert -o prog.gsym prog.sym",
		"walk --hermetic --format json -o walk.json crash.dmp",
	} {
		t.Chdir(dir)
		var stderr bytes.Buffer
		if status := app.Run(t.Context(), strings.Fields("symtool "+args), strings.NewReader(""), io.Discard, &stderr); status > cli.StatusFindings {
			t.Fatalf("symtool %s: status %d, want 0 or 1: %s", args, status, stderr.String())
		}
	}
	vars, err := filepath.Glob(filepath.Join(dir, "vars", "*", "*", "*.vars"))
	if err != nil || len(vars) != 1 {
		t.Fatalf("files of variables %v, %v, want one", vars, err)
	}
	if err := os.Rename(vars[0], filepath.Join(dir, "prog.vars")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func zipped(t *testing.T, name string, data []byte) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarred(t *testing.T, name string, data []byte) []byte {
	var b bytes.Buffer
	g := gzip.NewWriter(&b)
	w := tar.NewWriter(g)
	err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(data))})
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = g.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
