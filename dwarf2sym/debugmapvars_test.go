package dwarf2sym_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// varsText returns the functions and variables of a program, read with its dSYM if debug is not empty and otherwise
// with its objects, and the problems.
func varsText(t *testing.T, file, debug string, jobs int) (text, problems string) {
	t.Helper()
	o := dwarf2sym.Options{Jobs: jobs, Demangle: true, NoCFI: true, Vars: dwarf2sym.VarOptions{Params: true, Locals: true, FullTypes: true}}
	if debug != "" {
		o.Debug = symtest.Open(t, debug)
	}
	report, err := dwarf2sym.Read(t.Context(), symtest.Open(t, file), o)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := symfmt.Write(&out, report.Module, symfmt.WriteOptions{Jobs: jobs}); err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Problems {
		problems += p.String() + "\n"
	}
	return out.String(), problems
}

// The variables of a program without a dSYM are the same as with the dSYM, with all types, for any number of workers.
func TestDebugMapVariables(t *testing.T) {
	for _, name := range []string{"macho-vars", "macho-map"} {
		path := testenv.Input(t, name)
		want, _ := varsText(t, path, path+".dSYM", 1)
		for _, jobs := range []int{1, 2, 5} {
			if got, problems := varsText(t, path, "", jobs); got != want || problems != "" {
				t.Errorf("%s, %d workers: from the objects\n%s%s\nwant, from the dSYM\n%s", name, jobs, got, problems, want)
			}
		}
	}
	text, _ := varsText(t, testenv.Input(t, "macho-vars"), "", 1)
	for _, record := range []string{ // types that differ between objects, a static variable, a thread-local one
		"s#18 \"Opaque .12:x .12@8:y", "s#18 \"Opaque .1:a .1b@4:name", " a:80e0 ", " c:100008018,tls ",
	} {
		if !strings.Contains(text, record) {
			t.Errorf("no %q in\n%s", record, text)
		}
	}
}

// A missing object costs the variables of its functions.
func TestDebugMapVariablesMissing(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"macho-vars", "macho-vars-more.o"} {
		writeFile(t, filepath.Join(dir, name), testenv.ReadInput(t, name))
	}
	text, problems := varsText(t, filepath.Join(dir, "macho-vars"), "", 2)
	if n := strings.Count(text, "\nINFO VAR F "); n != 7 || !strings.Contains(problems, "lines of macho-vars-main.o") {
		t.Errorf("%d functions with variables, want 7\n%s%s", n, problems, text)
	}
	if err := os.Remove(filepath.Join(dir, "macho-vars-more.o")); err != nil {
		t.Fatal(err)
	}
	if text, _ := varsText(t, filepath.Join(dir, "macho-vars"), "", 2); strings.Contains(text, "INFO VAR F") {
		t.Errorf("variables without objects:\n%s", text)
	}
}

// varsFlags are the flags with which the programs of TestOracleDebugMapVariables are compiled.
var varsFlags = []string{"-O0", "-O2", "-O1 -gdwarf-2", "-O2 -gdwarf-5", "-Oz -gdwarf-5"}

// The same for programs that are compiled now.
func TestOracleDebugMapVariables(t *testing.T) {
	testenv.Oracle(t)
	for _, cpu := range []string{"x86_64", "arm64"} {
		for _, flags := range varsFlags {
			t.Run(cpu+"/"+flags, func(t *testing.T) {
				dir := t.TempDir()
				program := filepath.Join(dir, "program")
				link := []string{"-arch", cpu, "-platform_version", "macos", "13", "13", "-undefined", "dynamic_lookup", "-dead_strip", "-o", program}
				for _, source := range []string{"macho_vars.cpp", "macho_vars_more.cpp"} {
					object := filepath.Join(dir, source+".o")
					run(t, testenv.Tool(t, "clang-22"), append(strings.Fields(flags), "-g", "--target="+cpu+"-apple-macos13", "-w", "-ffreestanding",
						"-fno-stack-protector", "-fno-threadsafe-statics", "-c", testenv.Input(t, "src", source), "-o", object)...)
					link = append(link, object)
				}
				run(t, testenv.Tool(t, "ld64.lld-22"), link...)
				run(t, testenv.Tool(t, "dsymutil-22"), "--flat", "-o", program+".debug", program)
				want, _ := varsText(t, program, program+".debug", 1)
				got, problems := varsText(t, program, "", 2)
				if got != want || problems != "" {
					t.Errorf("from the objects\n%s%s\nwant, from the dSYM\n%s", got, problems, want)
				}
				if n := strings.Count(got, "\nINFO VAR F "); n < 5 {
					t.Errorf("%d functions with variables", n)
				}
			})
		}
	}
}
