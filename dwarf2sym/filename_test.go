package dwarf2sym

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/srcmap"
)

// mapping returns a Mapping of rules in the syntax of --map.
func mapping(t testing.TB, vars map[string]string, rules ...string) *srcmap.Mapping {
	t.Helper()
	m := &srcmap.Mapping{}
	for _, text := range rules {
		r, err := srcmap.ParseRule(text, vars)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		m.Rules = append(m.Rules, r)
	}
	return m
}

// {md5} is the sum in the file table's entry, and two files with the same path but different
// contents stay two.
func TestMapMD5(t *testing.T) {
	const body = `
				set_address 0x1000
				copy
				advance_pc 4
				set_file 2
				copy
				advance_pc 4
				end_sequence`
	unit := func(files string) string {
		return lineUnit("", "8", "program 5\ndirs path/string\ndir \"/src\"\n"+files+body)
	}
	with := Options{Mapping: mapping(t, nil, `^/src/(.*)$=s3:b:{md5}/{1}:`)}
	runCoreCases(t, []coreCase{
		{name: "each its own", opts: with,
			in: unit(`files path/string directory_index/udata MD5/data16
				file "0.c" 0 <000102030405060708090a0b0c0d0e0f>
				file "1.c" 0 <f00102030405060708090a0b0c0d0e0f>
				file "1.c" 0 <ff0102030405060708090a0b0c0d0e0f>`),
			want: `
				FILE 0 s3:b:f00102030405060708090a0b0c0d0e0f/1.c:
				FILE 1 s3:b:ff0102030405060708090a0b0c0d0e0f/1.c:
				FUNC 1000 8 0 f
				1000 4 1 0
				1004 4 1 1`},
		// Of two functions at the same address, the first stays, and the other one is dropped
		// together with its file.
		{name: "a file that is not in the symbols", opts: Options{Mapping: mapping(t, nil, `^/(.*)$={md5}`)},
			in: `
			.debug_info
				unit 4
					compile_unit language/data1=2 name/string="a.c" comp_dir/string="/one" stmt_list/sec_offset=0
						subprogram name/string="f" low_pc/addr=0x1000 high_pc/data4=4
				unit 4
					compile_unit language/data1=2 name/string="a.c" comp_dir/string="/two" stmt_list/sec_offset=0
						subprogram name/string="f" low_pc/addr=0x1000 high_pc/data4=4
			.debug_line
				program 4
				file "a.c" 0
				set_address 0x1000
				copy
				advance_pc 4
				end_sequence`,
			want: `
				FILE 0 /one/a.c
				FUNC 1000 4 0 f
				1000 4 1 0
				! {md5}: the debug information has none for this file (lost: mapping of /one/a.c)`},
		{name: "in a form that is no digest", opts: with,
			in: unit(`files MD5/data8 path/string
				file 1 "0.c"
				file 1 "1.c"
				file 1 "2.c"`),
			want: `
				FILE 0 /src/1.c
				FILE 1 /src/2.c
				FUNC 1000 8 0 f
				1000 4 1 0
				1004 4 1 1
				! {md5}: the debug information has none for this file (lost: mapping of /src/1.c)
				! {md5}: the debug information has none for this file (lost: mapping of /src/2.c)`},
	})
}

// If many files cannot be mapped, the first ones are reported, with the number of the rest.
func TestMapManyProblems(t *testing.T) {
	for _, files := range []int{units.AllProblems, units.AllProblems + 1, units.AllProblems + 3} {
		var names, rows, want strings.Builder
		for i := 1; i <= files; i++ {
			fmt.Fprintf(&names, "file \"%05d.c\" 0\n", i)
			fmt.Fprintf(&rows, "set_file %d\ncopy\nadvance_pc 1\n", i)
			if i <= units.AllProblems {
				fmt.Fprintf(&want, "{md5}: the debug information has none for this file (lost: mapping of /src/%05d.c)\n", i)
			}
		}
		if more := files - units.AllProblems; more > 0 {
			fmt.Fprintf(&want, "test: %d more files are not mapped\n", more)
		}
		in := coreOf(t, lineUnit("", fmt.Sprint(files), "program 4\n"+names.String()+"set_address 0x1000\n"+rows.String()+"end_sequence"))
		var got strings.Builder
		for _, line := range strings.Split(in.text(t, Options{Mapping: mapping(t, nil, `^/src/(.*)$={md5}`)}, coreRuns[0]), "\n") {
			if problem, ok := strings.CutPrefix(line, "! "); ok {
				got.WriteString(problem + "\n")
			}
		}
		if got.String() != want.String() {
			t.Errorf("%d files:\n%s\nwant\n%s", files, got.String(), want.String())
		}
	}
}

// The report lists exactly the files whose content is in a name, sorted, whatever the number of
// workers.
func TestMapReport(t *testing.T) {
	src := testenv.Input(t, "src")
	var first []srcmap.File
	for _, jobs := range []int{1, 4} {
		file, err := objfile.Open(testenv.Input(t, "clang-dwarf5.elf"), object.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		m := mapping(t, nil, `/second\.c$=hg:second.c`, `([^/]*)$=s3:b:{digest}/{1}:`)
		report, err := Read(context.Background(), file, Options{Jobs: jobs, PrefixMap: []srcmap.Prefix{{Old: "/src", New: src}}, Mapping: m})
		if err != nil || len(report.Problems) > 0 {
			t.Fatal(err, report.Problems)
		}
		module := report.Module
		var names, files []string
		for _, f := range module.Files {
			names = append(names, f.Name)
		}
		for _, f := range report.Mapped {
			files = append(files, filepath.Clean(f.File))
			if !slices.Contains(names, f.Name) || f.Name != "s3:b:"+f.SHA512+"/"+filepath.Base(f.Path)+":" {
				t.Errorf("%+v, not among %q", f, names)
			}
		}
		if want := []string{filepath.Join(src, "nest.h"), filepath.Join(src, "nest.c")}; !slices.Equal(files, want) {
			t.Errorf("%q, want %q", files, want)
		}
		if first == nil {
			first = report.Mapped
		} else if !slices.Equal(first, report.Mapped) {
			t.Errorf("with other workers %+v, not %+v", report.Mapped, first)
		}
	}
}
