package resolve_test

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
)

// mappedTree is a build like Firefox's: sources in tree, from which the build links one header into
// obj/dist/include and copies another; a generated header in obj/gen; and paths relative to the
// compiler's folder.
type mappedTree struct{ root, bin string }

var mappedFiles = map[string]string{
	"tree/app/main.c": `#include "mozilla/Assertions.h"
#include "mozilla/Copied.h"
#include "table.h"
int main(int argc, char **argv) { return linked(argc) + copied(argc) + generated(argc); }
`,
	"tree/mfbt/Assertions.h":            "static int linked(int n) { return n + 1; }\n",
	"tree/mfbt/Copied.h":                "static int copied(int n) { return n + 2; }\n",
	"obj/dist/include/mozilla/Copied.h": "static int copied(int n) { return n + 2; }\n",
	"obj/gen/table.h":                   "static int generated(int n) { return n + 3; }\n",
	"obj/manifest": "5\n1\x1fmozilla/Assertions.h\x1fROOT/tree/mfbt/Assertions.h\n" +
		"2\x1fmozilla/Copied.h\x1fROOT/tree/mfbt/Copied.h\n",
}

func buildMappedTree(t *testing.T, compiler ...string) mappedTree {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range mappedFiles {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(strings.ReplaceAll(text, "ROOT", root)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../../../../tree/mfbt/Assertions.h", filepath.Join(root, "obj/dist/include/mozilla/Assertions.h")); err != nil {
		t.Fatal(err)
	}
	args := append(compiler[1:], "-g", "-O0", "-w", "-Idist/include", "-I./gen", "../tree/app/main.c", "-o", "main.elf")
	cmd := exec.Command(testenv.Tool(t, compiler[0]), args...)
	cmd.Dir = filepath.Join(root, "obj")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v: %s", cmd.Args, err, out)
	}
	return mappedTree{root, filepath.Join(root, "obj/main.elf")}
}

// files returns the FILE names that dump writes.
func files(t *testing.T, args ...string) (names []string) {
	t.Helper()
	var out, said bytes.Buffer
	if status := app.Run(t.Context(), append([]string{"symtool", "dump"}, args...), nil, &out, &said); status != cli.StatusOK {
		t.Fatalf("%q: status %d: %s", args, status, said.String())
	}
	for line := range strings.Lines(out.String()) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "FILE "); ok {
			_, name, _ := strings.Cut(rest, " ")
			names = append(names, name)
		}
	}
	return names
}

func mapToolOutput(t *testing.T, tool string, args ...string) string {
	t.Helper()
	out, err := exec.Command(testenv.Tool(t, tool), args...).Output()
	if err != nil {
		t.Fatalf("%s %q: %v", tool, args, err)
	}
	return strings.TrimSpace(string(out))
}

// TestOracleMapNeeds checks the four needs of mozilla/dump_syms#37, which symbolstore.py in Firefox's
// build meets after dump_syms, each on a compiled program. The expected names come from realpath and
// sha512sum for each path that dump writes without --map.
//
//  1. A header that the build put into dist/include is named after the file in the
//     tree that it comes from. The build's install manifests have that file or, for
//     links, the links lead to it.
//  2. A generated file is in no repository. It is named after the copy in a bucket,
//     to which the build uploads it: the key has its SHA-512.
//  3. A file of the tree is named after the file in the repository, in the revision
//     of the build.
//  4. A file of Rust's standard library, whose path rustc replaced by /rustc/ and
//     its revision, is named after the file in Rust's own repository.
func TestOracleMapNeeds(t *testing.T) {
	testenv.Oracle(t)
	const hg = "hg:hg.mozilla.org/mozilla-central:"
	for _, compiler := range [][]string{{"gcc", "-gdwarf-4"}, {"gcc", "-gdwarf-5"}, {"clang-22", "-gdwarf-4"}, {"clang-22", "-gdwarf-5"}} {
		tree := buildMappedTree(t, compiler...)
		plain := files(t, tree.bin)
		if len(plain) != 4 {
			t.Fatalf("%q: %q", compiler, plain)
		}
		inTree := regexp.QuoteMeta(tree.root) + "/tree/(.*)$=" + hg + "{1}:{rev}"
		generated := regexp.QuoteMeta(tree.root) + "/obj/gen/(.*)$=s3:gecko-generated-sources:{digest}/{1}:"
		list := filepath.Join(t.TempDir(), "list")
		manifest := filepath.Join(tree.root, "obj/manifest") + "," + filepath.Join(tree.root, "obj/dist/include")
		for _, c := range []struct {
			need string
			args []string
			want func(path, real string) string // "" for no change
		}{
			{"1, by links", []string{"--map-links", "--map", inTree}, func(_, real string) string {
				if rel, ok := strings.CutPrefix(real, tree.root+"/tree/"); ok {
					return hg + rel + ":abc"
				}
				return ""
			}},
			{"1, by manifest", []string{"--map-manifest", manifest, "--map", inTree}, func(path, real string) string {
				if filepath.Base(path) == "Copied.h" {
					return hg + "mfbt/Copied.h:abc"
				}
				if rel, ok := strings.CutPrefix(real, tree.root+"/tree/"); ok {
					return hg + rel + ":abc"
				}
				return ""
			}},
			{"2", []string{"--map", generated, "--map-list", list}, func(path, real string) string {
				if rel, ok := strings.CutPrefix(real, tree.root+"/obj/gen/"); ok {
					sum, _, _ := strings.Cut(mapToolOutput(t, "sha512sum", path), " ")
					return "s3:gecko-generated-sources:" + sum + "/" + rel + ":"
				}
				return ""
			}},
			{"3", []string{"--map", inTree}, func(path, _ string) string {
				if filepath.Base(path) == "main.c" {
					return hg + "app/main.c:abc"
				}
				return ""
			}},
		} {
			got := files(t, append(c.args, "--map-var", "rev=abc", tree.bin)...)
			mapped := 0
			for i, path := range plain {
				want := c.want(path, mapToolOutput(t, "realpath", "-e", path))
				if want == "" {
					want = path
				} else {
					mapped++
				}
				if i >= len(got) || got[i] != want {
					t.Errorf("%q, need %s: %s is %q, want %s", compiler, c.need, path, got, want)
				}
			}
			if want := map[string]int{"1, by links": 2, "1, by manifest": 3, "2": 1, "3": 1}[c.need]; mapped != want {
				t.Errorf("%q, need %s: %d of %d mapped, want %d", compiler, c.need, mapped, len(plain), want)
			}
		}
		checkUploads(t, list)
	}
	got := files(t, testenv.Input(t, "rust-v0.elf"), "--map", "rust")
	want := regexp.MustCompile(`^git:github\.com/rust-lang/rust:library/core/src/ptr/mod\.rs:[0-9a-f]{40}$`)
	if len(got) != 2 || got[0] != "/src/lib.rs" || !want.MatchString(got[1]) {
		t.Errorf("need 4: %q", got)
	}
}

// checkUploads checks the list for the uploader with sha512sum.
func checkUploads(t *testing.T, list string) {
	t.Helper()
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	sums := ""
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 3 || !strings.Contains(f[0], ":"+f[1]+"/") {
			t.Fatalf("%q", line)
		}
		sums += f[1] + "  " + f[2] + "\n"
	}
	file := filepath.Join(t.TempDir(), "sums")
	if err := os.WriteFile(file, []byte(sums), 0o666); err != nil {
		t.Fatal(err)
	}
	if out := mapToolOutput(t, "sha512sum", "--strict", "-c", file); strings.Count(out, ": OK") != 1 {
		t.Errorf("%q: %s", text, out)
	}
}

// TestOracleMapMD5 checks that {md5} of each FILE is what llvm-dwarfdump prints for a file of this name.
func TestOracleMapMD5(t *testing.T) {
	testenv.Oracle(t)
	entry := regexp.MustCompile(`file_names\[ *\d+\]:\s+name: "([^"]*)"\s+dir_index: \d+\s+md5_checksum: ([0-9a-f]{32})`)
	compared, noNames := map[string]int{}, 0
	all, err := filepath.Glob(testenv.Input(t, "") + "/*.elf")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		// The status is 1 for relocations that it does not know (CREL of i686). It goes on, but with
		// other names, so only the digests are compared for these.
		printed, err := exec.Command(testenv.Tool(t, "llvm-dwarfdump-22"), "--debug-line", file).Output()
		known := map[string]bool{}
		for _, m := range entry.FindAllStringSubmatch(string(printed), -1) {
			known[m[2]+" "+m[1][strings.LastIndex(m[1], "/")+1:]] = true
			known[m[2]] = err != nil
		}
		if len(known) == 0 {
			continue
		}
		if err != nil {
			noNames++
		}
		var out, said bytes.Buffer
		app.Run(t.Context(), []string{"symtool", "dump", file, "--no-debuginfod", "--map", `([^/\\]*)$=<{md5} {1}>`}, nil, &out, &said)
		for _, m := range regexp.MustCompile(`(?m)^FILE \d+ <(.*)>$`).FindAllStringSubmatch(out.String(), -1) {
			compared[filepath.Base(file)]++
			if !known[m[1]] && !known[m[1][:32]] {
				t.Errorf("%s: %s, want one of %q", file, m[1], slices.Sorted(maps.Keys(known)))
			}
		}
	}
	total := 0
	for _, n := range compared {
		total += n
	}
	if len(compared) < 25 || total < 53 || noNames > 1 {
		t.Errorf("only %d FILEs of %d binaries, %d without names", total, len(compared), noNames)
	}
	t.Logf("%d FILEs of %d binaries", total, len(compared))
}
