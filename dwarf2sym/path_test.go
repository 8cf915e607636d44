package dwarf2sym

import (
	"testing"

	"github.com/symtool/symtool/symfmt/srcmap"
)

func TestPaths(t *testing.T) {
	// Entries of the file table; the line program uses each of them once.
	program := func(tables string, n int) string {
		b := tables + "\nset_address 0x1000\n"
		for i := range n {
			b += "set_file " + string(rune('0'+i)) + "\ncopy\nadvance_pc 1\nadvance_line 1\n"
		}
		return b + "end_sequence"
	}
	unit := func(compDir, program string) string {
		return `
			.debug_info
				unit 5
					compile_unit language/data1=2 comp_dir/string="` + compDir + `" stmt_list/sec_offset=0
						subprogram name/string="f" low_pc/addr=0x1000 high_pc/data4=9
			.debug_line
			` + program + "\n"
	}
	const lines = `
				FUNC 1000 9 0 f
				1000 1 1 0
				1001 1 2 1
				1002 1 3 2
				1003 1 4 3
				1004 1 5 4
				`
	// Versions 2 to 4 have no file 0.
	const from1 = `
				FUNC 1000 9 0 f
				1001 1 2 0
				1002 1 3 1
				1003 1 4 2
				1004 1 5 3
				! test: .debug_line+0x0: file 0 of a line table that has files 1 to 4 (lost: lines of an unknown file of unit at 0x0)`
	runCoreCases(t, []coreCase{
		{name: "version 4",
			in: unit("/build", program(`program 4
				dir "sub"
				dir "/abs/"
				dir "../up/./x"
				file "one.c" 0
				file "two.c" 1
				file "three.c" 2
				file "../four.c" 3`, 5)),
			want: `
				FILE 0 /build/one.c
				FILE 1 /build/sub/two.c
				FILE 2 /abs/three.c
				FILE 3 /build/../up/./x/../four.c` + from1},
		{name: "version 5, relative unit directory is not doubled",
			in: unit("nptl", program(`program 5
				dirs path/string
				dir "nptl"
				dir "sub"
				dir "/abs"
				files path/string directory_index/udata
				file "one.c" 0
				file "two.c" 1
				file "three.c" 2
				file "/usr/four.c" 1
				file "<built-in>" 0`, 5)),
			want: `
				FILE 0 nptl/one.c
				FILE 1 nptl/sub/two.c
				FILE 2 /abs/three.c
				FILE 3 /usr/four.c
				FILE 4 nptl/<built-in>` + lines},
		{name: "version 5, no unit directory",
			in: unit("", program(`program 5
				dirs path/string
				dir "/b"
				dir "sub"
				files path/string directory_index/udata
				file "one.c" 0
				file "two.c" 1
				file "three.c" 2
				file "" 1
				file "five.c" 0`, 5)),
			want: `
				FILE 0 /b/one.c
				FILE 1 sub/two.c
				FILE 2 three.c
				FILE 3 /b/five.c
				FUNC 1000 9 0 f
				1000 1 1 0
				1001 1 2 1
				1002 1 3 2
				1004 1 5 3
				! test: .debug_line+0x0: file 3 has no name (lost: lines of an unknown file of unit at 0x0)
				! test: .debug_line+0x0: file 2 is in directory 2 of a line table that has directories 0 to 1 (lost: the directory of a file of unit at 0x0)`},
		{name: "Windows",
			in: unit(`C:\\build`, program(`program 5
				dirs path/string
				dir "C:\\build"
				dir "src\\x"
				dir "D:/other"
				files path/string directory_index/udata
				file "one.c" 0
				file "two.c" 1
				file "three.c" 2
				file "d:\\four.c" 1
				file "\\\\server\\five.c" 1`, 5)),
			want: `
				FILE 0 C:\build\one.c
				FILE 1 C:\build\src\x\two.c
				FILE 2 D:/other/three.c
				FILE 3 d:\four.c
				FILE 4 \\server\five.c` + lines},
		{name: "prefix map: the last entry that matches",
			opts: Options{PrefixMap: []srcmap.Prefix{{Old: "/build", New: "/a"}, {Old: "/build/sub", New: "/b"}, {Old: "/nothing", New: "/c"}, {Old: "/abs", New: ""}}},
			in: unit("/build", program(`program 4
				dir "sub"
				dir "/abs"
				dir "subway"
				file "one.c" 0
				file "two.c" 1
				file "three.c" 2
				file "four.c" 3`, 5)),
			want: `
				FILE 0 /a/one.c
				FILE 1 /b/two.c
				FILE 2 /three.c
				FILE 3 /bway/four.c` + from1},
		{name: "lines of files that become one",
			opts: Options{PrefixMap: []srcmap.Prefix{{Old: "/build/sub", New: "/x"}, {Old: "/abs", New: "/x"}}},
			in: unit("/build", `program 4
				dir "sub"
				dir "/abs"
				file "one.c" 1
				file "one.c" 2
				set_address 0x1000
				copy
				advance_pc 1
				set_file 2
				copy
				advance_pc 1
				end_sequence`),
			want: "FILE 0 /x/one.c\nFUNC 1000 9 0 f\n1000 2 1 0"},
		{name: "files that become one",
			opts: Options{PrefixMap: []srcmap.Prefix{{Old: "/build/sub", New: "/x"}, {Old: "/abs", New: "/x"}}},
			in: unit("/build", program(`program 4
				dir "sub"
				dir "/abs"
				file "one.c" 1
				file "one.c" 2
				file "two.c" 1`, 4)),
			want: `
				FILE 0 /x/one.c
				FILE 1 /x/two.c
				FUNC 1000 9 0 f
				1001 1 2 0
				1002 1 3 0
				1003 1 4 1
				! test: .debug_line+0x0: file 0 of a line table that has files 1 to 3 (lost: lines of an unknown file of unit at 0x0)`},
	})
}
