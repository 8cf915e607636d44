package house

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"

	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/internal/version"
)

// TestDistOracle checks that the output of make dist has the same bytes in two folders that have only
// the commit and the downloaded modules in common, and that its parts are what they claim to be.
func TestDistOracle(t *testing.T) {
	if testenv.Oracle(t); !testenv.OracleFull() {
		t.Skip("two builds for two CPUs without a cache take minutes: SYMTOOL_ORACLE=full runs them")
	}
	one := distFrom(t, "one", "UTC", "022")
	two := distFrom(t, "other/folder", "Asia/Kathmandu", "077")
	names, err := filepath.Glob(filepath.Join(one, "*"))
	if err != nil || len(names) != 9 {
		t.Fatalf("%d files, want 9: %q, %v", len(names), names, err)
	}
	for _, name := range names {
		if !bytes.Equal(testenv.ReadFile(t, name), testenv.ReadFile(t, filepath.Join(two, filepath.Base(name)))) {
			t.Errorf("%s: the two differ", filepath.Base(name))
		}
	}
	check := exec.Command(testenv.Tool(t, "sha256sum"), "-c", "--strict", "SHA256SUMS")
	check.Dir = one
	if out, err := check.CombinedOutput(); err != nil || bytes.Count(out, []byte(": OK\n")) != 8 {
		t.Errorf("sha256sum: %v\n%s", err, out)
	}
	programs := map[string]string{}
	for _, cpu := range []string{"amd64", "arm64"} {
		base := filepath.Join(one, "symtool-"+version.Version+"-linux-"+cpu)
		programs[cpu] = unpackDist(t, base+".tar.gz")
		checkBOM(t, base+".cdx.json", programs[cpu])
	}
	checkRelease(t, programs["amd64"])
	for _, cpu := range []string{"amd64", "arm64"} {
		checkDeb(t, filepath.Join(one, "symtool_"+strings.ReplaceAll(version.Version, "-", "~")+"_"+cpu+".deb"), programs[cpu])
	}
	compareCPUs(t, programs["amd64"], programs["arm64"])
}

// checkRelease checks that a released program is static, and that it names its commit and how it was
// built.
func checkRelease(t *testing.T, program string) {
	t.Helper()
	if lines := strings.Join(oracle.Readelf(t, program, "-lW"), "\n"); !strings.Contains(lines, "LOAD") || strings.Contains(lines, "INTERP") {
		t.Errorf("not static:\n%s", lines)
	}
	out, err := exec.Command(program, "version", "--format", "json").Output()
	if err != nil || !bytes.Contains(out, []byte("-trimpath=true")) || !bytes.Contains(out, []byte(`"revision": "`)) {
		t.Errorf("version: %v\n%s", err, out)
	}
}

// checkDeb checks that lintian finds nothing in a Debian package, that the package has the released
// program, and that the program runs in a root folder with only the package in it.
func checkDeb(t *testing.T, name, program string) {
	t.Helper()
	// There is no Debian bug to close.
	lint := exec.Command(testenv.Tool(t, "lintian"), "--allow-root", "--fail-on", "error,warning", "--suppress-tags", "initial-upload-closes-no-bugs", name)
	if out, err := lint.CombinedOutput(); err != nil {
		t.Errorf("lintian: %v\n%s", err, out)
	}
	about, err := exec.Command(testenv.Tool(t, "dpkg-deb"), "-f", name, "Maintainer", "Homepage").Output()
	if want := "Maintainer: " + distMaintainer + "\nHomepage: " + distHomepage + "\n"; err != nil || string(about) != want {
		t.Errorf("dpkg-deb -f: %q, %v; want %q", about, err, want)
	}
	root := t.TempDir()
	if out, err := exec.Command(testenv.Tool(t, "dpkg-deb"), "-x", name, root).CombinedOutput(); err != nil {
		t.Fatalf("dpkg-deb: %v\n%s", err, out)
	}
	if !bytes.Equal(testenv.ReadFile(t, filepath.Join(root, "usr/bin/symtool")), testenv.ReadFile(t, program)) {
		t.Errorf("%s: not the program of the archive", name)
	}
	for _, file := range []string{"man/man1/symtool-dump.1.gz", "bash-completion/completions/symtool", "zsh/vendor-completions/_symtool", "fish/vendor_completions.d/symtool.fish", "doc/symtool/copyright", "doc/symtool/docs/dump.md"} {
		testenv.ReadFile(t, filepath.Join(root, "usr/share", file))
	}
	if !strings.HasSuffix(name, runtime.GOARCH+".deb") || os.Getuid() != 0 {
		return
	}
	want, err := exec.Command(program, "dump", "--no-debuginfod", program).Output()
	got, inside := exec.Command("chroot", root, "/usr/bin/symtool", "dump", "--no-debuginfod", "/usr/bin/symtool").Output()
	if fmt.Sprint(err) != fmt.Sprint(inside) || len(want) == 0 || !bytes.Equal(got, want) {
		t.Errorf("in a bare root: %d bytes, %v; want %d, %v", len(got), inside, len(want), err)
	}
}

// TestDistDocuments checks that links in the documents of a release's archive lead to files in the
// archive.
func TestDistDocuments(t *testing.T) {
	cmd := exec.Command("go", "run", "./.ci/dist", "-list")
	cmd.Dir = testenv.Root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(string(out))
	checkDistLinks(t, testenv.Root(t), names)
	for _, name := range []string{
		"README.md", "docs/README.md", "docs/reference.md", "docs/dump.md", "docs/json.md", "docs/stacks.md", "docs/convert.md", "docs/stores.md", "docs/checks.md",
		"docs/benchmarks.md", "docs/comparison.md", "docs/terminal.svg", "CONTRIBUTING.md", "golden/lint/rules.md", "LICENSE",
	} {
		if !slices.Contains(names, name) {
			t.Errorf("the archive has no %s", name)
		}
	}
}

// checkDistLinks checks that links in the documents among names, in a folder, lead to files among
// names.
func checkDistLinks(t *testing.T, dir string, names []string) {
	t.Helper()
	links := 0
	for _, name := range names {
		if filepath.Ext(name) != ".md" {
			continue
		}
		text := docCode.ReplaceAllString(string(testenv.ReadFile(t, filepath.Join(dir, name))), "")
		for _, m := range docLink.FindAllStringSubmatch(text, -1) {
			target, _, _ := strings.Cut(m[1], "#")
			if target == "" || strings.Contains(target, "://") {
				continue
			}
			links++
			target = filepath.Join(filepath.Dir(name), target)
			if !slices.ContainsFunc(names, func(n string) bool { return n == target || strings.HasPrefix(n, target+"/") }) {
				t.Errorf("%s links to %s, which the archive does not have", name, target)
			}
		}
	}
	if links < 30 {
		t.Errorf("only %d links", links)
	}
}

// The releaser in the packages of a test.
const (
	distMaintainer = "The Releasers <releases@symtool.example.org>"
	distHomepage   = "https://symtool.example.org/home"
)

// distFrom runs make dist in a clone in a folder, with its own environment.
func distFrom(t *testing.T, folder, zone, umask string) string {
	t.Helper()
	dir := t.TempDir()
	clone := filepath.Join(dir, folder)
	if out, err := exec.Command("git", "clone", "-q", testenv.Root(t), clone).CombinedOutput(); err != nil {
		t.Fatalf("git clone: %v\n%s", err, out)
	}
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	modules, proxy, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	cmd := exec.Command("sh", "-c", "umask "+umask+" && make -s dist MAINTAINER='"+distMaintainer+"' HOMEPAGE="+distHomepage)
	cmd.Dir = clone
	cmd.Env = append(os.Environ(), "TZ="+zone, "LC_ALL=C", "GOPATH="+dir+"/gopath", "GOMODCACHE="+dir+"/gopath/mod", "GOCACHE="+dir+"/cache",
		"GOPROXY=file://"+modules+"/cache/download,"+proxy, "GONOSUMDB=*", "GOAMD64=v3", "GOFLAGS=-modcacherw -mod=readonly",
		"SOURCE_DATE_EPOCH=")
	// .ci/dist sets GOFLAGS, so the modules are downloaded first. That needs the go.mod files of
	// modules that no build needs, which the cache may lack.
	if out, err := runs(cmd, "go", "mod", "download"); err != nil {
		t.Fatalf("go mod download: %v\n%s", err, out)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make dist: %v\n%s", err, out)
	}
	return filepath.Join(clone, "build/dist")
}

// runs runs another command in the folder and environment of cmd.
func runs(cmd *exec.Cmd, name string, args ...string) ([]byte, error) {
	other := exec.Command(name, args...)
	other.Dir, other.Env = cmd.Dir, cmd.Env
	return other.CombinedOutput()
}

// unpackDist unpacks an archive with tar, checks its contents, and returns the path of the program.
func unpackDist(t *testing.T, archive string) string {
	t.Helper()
	tar := testenv.Tool(t, "tar")
	list, err := exec.Command(tar, "-tvzf", archive, "--numeric-owner").Output()
	if err != nil {
		t.Fatal(err)
	}
	var dates, order []string
	for line := range strings.Lines(string(list)) {
		fields := strings.Fields(line)
		if fields[1] != "0/0" {
			t.Errorf("%s: owner in %s", archive, line)
		}
		dates, order = append(dates, fields[3]+" "+fields[4]), append(order, fields[5])
	}
	if dates = slices.Compact(dates); len(dates) != 1 || !slices.IsSorted(order) {
		t.Errorf("%s: dates %q, sorted: %v", archive, dates, slices.IsSorted(order))
	}
	dir := t.TempDir()
	if out, err := exec.Command(tar, "-xzf", archive, "--strip-components=1", "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var names []string
	for _, name := range order {
		if _, name, _ = strings.Cut(name, "/"); name != "" {
			names = append(names, name)
		}
	}
	checkDistLinks(t, dir, names)
	for name, want := range map[string]string{
		"LICENSE": "Apache License", "README.md": "# symtool", "CHANGELOG.md": "#", "docs/reference.md": "symtool dump",
		"share/man/man1/symtool-dump.1": ".TH", "share/bash-completion/completions/symtool": "complete",
		"share/zsh/site-functions/_symtool": "#compdef symtool", "share/fish/vendor_completions.d/symtool.fish": "complete",
		"THIRD-PARTY-LICENSES": "Copyright (c) 2009 The Go Authors",
	} {
		if data := testenv.ReadFile(t, filepath.Join(dir, name)); !bytes.Contains(data, []byte(want)) {
			t.Errorf("%s: %s has no %q", archive, name, want)
		}
	}
	info, err := buildinfo.ReadFile(filepath.Join(dir, "symtool"))
	if err != nil {
		t.Fatal(err)
	}
	notices := testenv.ReadFile(t, filepath.Join(dir, "THIRD-PARTY-LICENSES"))
	for _, d := range info.Deps {
		if !bytes.Contains(notices, []byte("\n"+d.Path+" "+d.Version+", ")) {
			t.Errorf("%s: no licence of %s", archive, d.Path)
		}
	}
	return filepath.Join(dir, "symtool")
}

// checkBOM checks an SBOM by CycloneDX's schema and its Go library, and against what
// `go version -m` reads from the program.
func checkBOM(t *testing.T, name, program string) {
	t.Helper()
	data := testenv.ReadFile(t, name)
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	schema := bomSchema(t, filepath.Join(strings.TrimSpace(string(dir)), "schema"))
	if err := testenv.Validate(t, data, schema...); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	bad := bytes.Replace(data, []byte(`"type": "library"`), []byte(`"type": "book"`), 1)
	if err := testenv.Validate(t, bad, schema...); err == nil {
		t.Error("the schema accepts a component of type book")
	}
	var bom cyclonedx.BOM
	if err := cyclonedx.NewBOMDecoder(bytes.NewReader(data), cyclonedx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range *bom.Components {
		sum := ""
		if c.Properties != nil {
			sum = (*c.Properties)[0].Value
		}
		if c.Licenses == nil || len(*c.Licenses) == 0 {
			t.Errorf("%s: %s has no licence", name, c.Name)
		}
		got = append(got, strings.TrimSpace(c.Name+" "+c.Version+" "+sum))
	}
	out, err := exec.Command("go", "version", "-m", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	want := []string{"std " + strings.TrimPrefix(lines[0][strings.LastIndex(lines[0], " ")+1:], "go")}
	for _, line := range lines[1:] {
		if fields := strings.Fields(line); fields[0] == "dep" {
			want = append(want, strings.Join(fields[1:], " "))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: components\n%q, go version -m has\n%q", name, got, want)
	}
}

// bomSchema returns the arguments of .ci/validate for CycloneDX's schema, including the schemas that it
// refers to.
func bomSchema(t *testing.T, dir string) (args []string) {
	t.Helper()
	const url = "http://cyclonedx.org/schema/"
	for name, file := range map[string]string{
		"bom-1.6.schema.json": "bom-1.6.schema.json", "spdx.schema.json": "spdx.schema.json", "jsf-0.82.schema.json": "jsf-0.82.schemax.json",
	} {
		path := filepath.Join(dir, file)
		if _, err := os.Stat(path); err != nil {
			path = filepath.Join(dir, name) // in another version of the library, the name may be correct
		}
		args = append(args, "-as", url+name+"="+path)
	}
	return append(args, url+"bom-1.6.schema.json")
}

// compareCPUs checks that the programs for both CPUs write the same output.
func compareCPUs(t *testing.T, amd64, arm64 string) {
	t.Helper()
	qemu := testenv.Tool(t, "qemu-aarch64-static")
	out, err := exec.Command(qemu, arm64, "--version").Output()
	if err != nil || !strings.HasPrefix(string(out), fmt.Sprintf("symtool %s (go", version.Version)) || !bytes.Contains(out, []byte("linux/arm64")) {
		t.Fatalf("%q, %v", out, err)
	}
	inputs, n := filepath.Join(testenv.Root(t), "golden/input"), 0
	err = filepath.WalkDir(inputs, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if head, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(head, []byte("\x7fELF")) {
			return err
		}
		want, wantErr := exec.Command(amd64, "dump", "--no-debuginfod", path).Output()
		got, gotErr := exec.Command(qemu, arm64, "dump", "--no-debuginfod", path).Output()
		if !bytes.Equal(got, want) || fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
			t.Errorf("%s: %d bytes (%v) on arm64, %d (%v) on amd64", path, len(got), gotErr, len(want), wantErr)
		}
		if len(want) > 0 {
			n++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files dumped on both CPUs", n)
	if n < 50 {
		t.Errorf("%d files dumped, want at least 50", n)
	}
}
