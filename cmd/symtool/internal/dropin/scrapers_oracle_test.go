package dropin

import (
	"bytes"
	"encoding/hex"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
)

// scraper makes the same calls as Mozilla's symbol-scrapers (debian/script.sh, common.sh): it unpacks
// a package and its debug package, finds the debug file of each binary by its build-id, dumps both,
// and copies the symbol file to the names of the file and of its SONAME.
const scraper = `
set -u
unpack() {
  data=$(ar t "$1" | grep ^data)
  ar x "$1" "$data" && tar -C packages -x -a -f "$data"
  rm -f "$data"
}
mkdir -p packages symbols tmp
for package in downloads/*.deb; do unpack "$package"; done
find packages -type f | grep -v debug | while read path; do
  eu-readelf -h "$path" >/dev/null 2>&1 || continue
  buildid=$(eu-readelf -n "$path" | grep "^    Build ID:" | cut -b15-)
  debuginfo=$(find packages -path "*/$(echo $buildid | cut -b1-2)/$(echo $buildid | cut -b3-)*.debug" | head -n1)
  tmpfile=$(mktemp --tmpdir=tmp)
  if [ -n "$debuginfo" ]; then
    ${DUMP_SYMS} --inlines "$path" "$debuginfo" 1> "$tmpfile" 2>> error.log
  else
    ${DUMP_SYMS} --inlines "$path" 1> "$tmpfile" 2>> error.log
  fi
  debugid=$(head -n 1 "$tmpfile" | cut -d' ' -f4)
  filename="$(basename "$path")"
  mkdir -p "symbols/$filename/$debugid"
  cp "$tmpfile" "symbols/$filename/$debugid/$filename.sym"
  soname=$(objdump -p "$path" | grep "^  SONAME *" | cut -b24-)
  if [ -n "$soname" ] && [ "$soname" != "$filename" ]; then
    mkdir -p "symbols/$soname/$debugid"
    cp "$tmpfile" "symbols/$soname/$debugid/$soname.sym"
  fi
  rm -f "$tmpfile"
done
`

// TestOracleScrapers checks that the script makes the same store as dump --store --both-names. The
// script's copies keep the name of the first one in MODULE.
func TestOracleScrapers(t *testing.T) {
	testenv.Oracle(t)
	for _, tool := range []string{"bash", "objdump", "eu-readelf"} {
		testenv.Tool(t, tool)
	}
	symtool, dir := testenv.Symtool(t), t.TempDir()
	shell := func(script string) {
		t.Helper()
		cmd := exec.Command("bash", "-c", script)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "DUMP_SYMS="+symtool+" as dump_syms", "LC_ALL=C")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	for from, to := range map[string]string{
		"soname.elf": "lib/usr/lib/libnest.so.1.2.3", "gcc-dwarf5.elf": "lib/usr/bin/nest", "eu-strip.elf": "lib/usr/bin/stripped", "README.md": "lib/usr/share/doc/README",
		"soname.debug": debugPath(t, "soname.elf"), "eu-strip.debug": debugPath(t, "eu-strip.elf"),
	} {
		copyFile(t, testenv.Input(t, from), filepath.Join(dir, to))
	}
	shell(`mkdir downloads && for p in lib dbg; do tar -C $p -cJf data.tar.xz . && echo 2.0 >debian-binary && ar rc downloads/$p.deb debian-binary data.tar.xz; done`)
	shell(scraper)
	shell(symtool + ` dump --store ours --digest=false --both-names --debug-dir packages/usr/lib/debug packages/usr/lib/libnest.so.1.2.3 packages/usr/bin/*`)
	if log, err := os.ReadFile(filepath.Join(dir, "error.log")); err != nil || len(log) > 0 {
		t.Errorf("%v, messages: %s", err, log)
	}
	theirs, ours := storeOf(t, filepath.Join(dir, "symbols")), storeOf(t, filepath.Join(dir, "ours"))
	if len(theirs) != 4 || len(ours) != 4 {
		t.Errorf("%d and %d symbol files, want 4", len(theirs), len(ours))
	}
	for path, text := range ours {
		if theirs[path] != text {
			t.Errorf("%s: %d bytes, the script's has %d", path, len(text), len(theirs[path]))
		}
	}
}

// debugPath returns the path of a binary's debug file in a debug package.
func debugPath(t *testing.T, binary string) string {
	t.Helper()
	f, err := objfile.Open(testenv.Input(t, binary), object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	id := hex.EncodeToString(f.BuildID())
	return filepath.Join("dbg", "usr", "lib", "debug", ".build-id", id[:2], id[2:]+".debug")
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o777)
	}
	if err == nil {
		err = os.WriteFile(to, data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// storeOf returns the symbol files of a store without their MODULE records, by path.
func storeOf(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		_, rest, _ := bytes.Cut(data, []byte("\n"))
		all[strings.TrimPrefix(path, root)] = string(rest)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
