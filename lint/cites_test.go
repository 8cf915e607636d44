package lint

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// elsewhere lists, by subject, the threads that the reference cites in its sections about defects
// and that no rule can find in a symbol file.
var elsewhere = map[string]string{
	// inputs of dumpers, and what dumpers write for them: dwarf2sym's tests
	"seastar#2842": "dump", "llvm-project#62941": "dump", "llvm-project#155334": "dump",
	"llvm-project#58641": "dump", "llvm-project#205691": "dump", "drgn#317": "dump", "blazesym#208": "dump",
	"libbacktrace#76": "dump", "DIVA#2": "dump", "libdwarf-code#254": "dump", "binaryninja-api#5758": "dump", "bloaty#42": "dump",
	"coz#292": "dump", "pyelftools#102": "dump", "golang/go#59208": "dump", "symbolic#843": "dump", "llvm-project#201701": "dump",
	"llvm-project#71431": "dump", "facebookarchive/BOLT#236": "dump", "symbolic#961": "dump", "gimli#667": "dump", "golang/go#35100": "dump",
	"symbolic#218": "dump", "symbolicator#328": "dump", "profiler#1253": "dump", "rust#46453": "dump",
	// demanglers differ: the file does not show which name is right
	"mold#371": "names", "async-profiler#1070": "names",
	// walkers
	"rust-minidump#1138": "walk", "rust-minidump#605": "walk", "rust-minidump#460": "walk", "rust-minidump#1155": "walk",
	// other formats, servers and clients, and what a whole tool must do
	"llvm-project#115515": "GSYM", "llvm-project#57040": "diff", "parca-agent#792": "other tables", "socorro#5222": "walk --compare",
	"umacapture#142": "upload", "MuseScore#33433": "upload", "dotnet/arcade#1874": "upload", "dump_syms#658": "the module in memory",
	"symbolicator#1746": "the reader's own parse: SYM101 and the rules that say what rust-minidump refuses",
}

// Every thread that the reference cites about defects of lines, inlined calls, names,
// unusual binaries and verification is a case of a rule, or is listed above.
func TestFieldCitations(t *testing.T) {
	field, err := os.ReadFile(testenv.Shared(t, "FIELD.md"))
	if err != nil {
		t.Fatal(err)
	}
	cited := map[string]string{}
	for _, rule := range Rules() {
		for _, c := range rule.Cites {
			cited[c] = rule.ID
		}
	}
	seen := 0
	thread := regexp.MustCompile(`[A-Za-z0-9_./-]*[A-Za-z]#[0-9]+|Mozilla bug [0-9]+`)
	for _, section := range strings.Split(string(field), "\n### ") {
		if !slices.Contains([]string{"2.1", "2.2", "2.3", "2.6"}, section[:min(3, len(section))]) {
			continue
		}
		section, _, _ = strings.Cut(section, "\n## ")
		for _, ref := range thread.FindAllString(section, -1) {
			seen++
			if cited[ref] == "" && elsewhere[ref] == "" {
				t.Errorf("%s is neither a case of a rule nor listed as another matter", ref)
			}
		}
	}
	if seen < 70 {
		t.Errorf("%d threads, want those of four sections", seen)
	}
	for ref := range elsewhere {
		if !strings.Contains(string(field), ref) {
			t.Errorf("%s is listed, but not cited", ref)
		}
		if cited[ref] != "" && elsewhere[ref] != "" {
			t.Errorf("%s is listed, and a case of %s", ref, cited[ref])
		}
	}
}
