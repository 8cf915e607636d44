package code

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// subjectFile is a binary whose table is taken away.
type subjectFile struct {
	path, name, version string
	always              bool // not only in the full comparison
}

// installed are the libraries and programs of Debian, by what they were compiled from.
var installed = []struct {
	files  string // patterns below /usr
	always bool
}{
	{"libc.so.6 libm.so.6 libgcc_s.so.1 libstdc++.so.6.* libcrypto.so.3 libxml2.so.2.*", true}, // C, C++, assembly
	{"libmvec.so.1 libssl.so.3 libz.so.1.* libzstd.so.1.* liblzma.so.5.* libsqlite3.so.0.* libglib-2.0.so.0.* libgcrypt.so.20.* libgmp.so.10.* libicuuc.so.72.* libperl.so.5.* libavcodec.so.59.* libgomp.so.1.* libobjc.so.4.*", false},
	{"libgnat-12.so libgnarl-12.so libgfortran.so.5.* libquadmath.so.0.* libgphobos.so.3.* libm2pim.so.17.* libstd-*.so librsvg-2.so.2.*", false}, // Ada, Fortran, D, Modula-2, Rust
	{"/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so", false},
	{"/bin/bash /bin/python3.11 /bin/git /bin/x86_64-linux-gnu-readelf", true},
	{"/bin/make /bin/busybox /bin/zsh /bin/tmux /bin/fish /bin/ninja /bin/gdb /bin/x86_64-linux-gnu-as /bin/x86_64-linux-gnu-ld.bfd /bin/eu-nm /bin/nim /bin/nimsuggest /bin/ocamllex.opt", false},
}

// binaries returns the binaries of the comparison that are installed, and what gcc and clang make of sources.
func binaries(t *testing.T) (all []subjectFile) {
	for _, group := range installed {
		for _, pattern := range strings.Fields(group.files) {
			if !strings.HasPrefix(pattern, "/") {
				pattern = "/lib/x86_64-linux-gnu/" + pattern
			}
			paths, _ := filepath.Glob("/usr" + pattern)
			for _, path := range paths {
				if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
					all = append(all, subjectFile{path, filepath.Base(path), packageOf(path), group.always})
				}
			}
		}
	}
	return append(all, compiled(t)...)
}

// packageOf returns the version of the Debian package that a file belongs to, or "".
func packageOf(path string) string {
	for _, p := range []string{path, strings.TrimPrefix(path, "/usr")} {
		out, err := exec.Command("dpkg-query", "-S", p).Output()
		if name, _, ok := strings.Cut(string(out), ": "); err == nil && ok {
			version, _ := exec.Command("dpkg-query", "-W", "-f", "${Version}", name).Output()
			return string(version)
		}
	}
	return ""
}

// compiled returns libraries made of the same sources by both compilers, with each kind of optimization.
func compiled(t *testing.T) (all []subjectFile) {
	t.Helper()
	dir := t.TempDir()
	for _, cc := range []string{"gcc", "clang-22"} {
		out, err := exec.Command(testenv.Tool(t, cc), "-dumpfullversion", "-dumpversion").Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, level := range []string{"-O0", "-O1", "-O2", "-O3", "-Os"} {
			always := level == "-O2"
			if !always && !testenv.OracleFull() {
				continue
			}
			for _, source := range []string{"headers.c", "templates.cc"} {
				name := strings.TrimSuffix(cc, "-22") + " " + level + " " + source
				path := filepath.Join(dir, strings.ReplaceAll(name, " ", ""))
				cmd := exec.Command(testenv.Tool(t, cc), level, "-w", "-fPIC", "-shared", "-o", path, filepath.Join("testdata", source), "-lstdc++", "-lm")
				if text, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", name, err, text)
				}
				all = append(all, subjectFile{path, name, strings.TrimSpace(string(out)), always})
			}
		}
	}
	return all
}

// tableFile is where the figures are kept, behind tableRule.
const (
	tableFile = "docs/derived-rules.md"
	tableRule = "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n"
)

// line returns a line of the table.
func (r *removed) line(b *subjectFile, alone uint64) string {
	share := func(n, of uint64) float64 { return 100 * float64(n) / float64(max(of, 1)) }
	rows := r.rows()
	return fmt.Sprintf("| `%s` | %s | %d | %.2f | %.2f | %.2f | %.3f | %.3f | %.3f | %.3f |", b.name, b.version, r.total(), share(r.reached(), r.total()), share(r.reached()-r.missing(), r.reached()), share(alone, r.reached()),
		share(r.verdicts[right], rows), share(r.verdicts[late], rows), share(r.verdicts[loose]+r.verdicts[unproven], rows), share(r.explained, rows))
}

// TestOracleDerivedTable takes the tables of some libraries and programs away, and compares the figures with the document's,
// where the versions agree. GOLDIE_UPDATE=1 with SYMTOOL_ORACLE=full writes them.
func TestOracleDerivedTable(t *testing.T) {
	testenv.Oracle(t)
	file := filepath.Join(testenv.Root(t), filepath.FromSlash(tableFile))
	text := testenv.ReadFile(t, file)
	head, rest, ok := strings.Cut(string(text), tableRule)
	if !ok {
		t.Fatalf("%s has no table", tableFile)
	}
	known, tail := rest, ""
	if i := strings.Index("\n"+rest, "\n\n"); i >= 0 {
		known, tail = rest[:i], rest[i:]
	}
	var all removed
	var lines []string
	sum, astray := uint64(0), uint64(0)
	for _, b := range binaries(t) {
		if !b.always && !testenv.OracleFull() {
			continue
		}
		r, alone, wrongAlone := removeAlone(t, b.path, 20)
		all.add(&r)
		sum += alone
		astray += wrongAlone
		line := r.line(&b, alone)
		lines = append(lines, line)
		t.Log(line)
		if r.verdicts[wrong] > 0 {
			t.Errorf("%s: %d bytes of rows differ from a table that is not known to be wrong", b.name, r.verdicts[wrong])
		}
		if prefix := fmt.Sprintf("| `%s` | %s |", b.name, b.version); !testenv.Updating() && strings.Contains(known, prefix) && !strings.Contains(known, line+"\n") {
			t.Errorf("%s differs from the measured line:\n%s", tableFile, line)
		}
	}
	if t.Logf("%d bytes of rows differ without symbols", astray); astray*1_000_000 > sum {
		t.Errorf("%d of %d bytes of rows are wrong without symbols", astray, sum)
	}
	t.Log(all.line(&subjectFile{name: "all"}, sum))
	if testenv.Updating() && testenv.OracleFull() {
		known = strings.Join(lines, "\n") + "\n"
		if err := os.WriteFile(file, []byte(head+tableRule+known+tail), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
