package dwarf2sym

import "testing"

// In Haskell, the code of a function is that of its DIE and of the lexical blocks below it, wherever they are. In
// other languages, a block outside its function does not belong to it.
func TestBlocksOutsideOfFunctions(t *testing.T) {
	const unit = `
						subprogram name/string="f" low_pc/addr=0x1000 high_pc/addr=0x1008
							lexical_block low_pc/addr=0x1008 high_pc/addr=0x1010
								lexical_block low_pc/addr=0x1030 high_pc/addr=0x1038
							lexical_block
						subprogram name/string="g" low_pc/addr=0x1010 high_pc/addr=0x1014
							lexical_block low_pc/addr=0x1020 high_pc/addr=0x1028
						subprogram name/string="h" low_pc/addr=0x1040 high_pc/addr=0x1044
						lexical_block low_pc/addr=0x1050 high_pc/addr=0x1058`
	runCoreCases(t, []coreCase{
		{name: "Haskell",
			in: `
			.debug_info
				unit 3
					compile_unit language/data1=0x18` + unit,
			want: `
				FUNC 1000 10 0 f
				FUNC 1010 4 0 g
				FUNC 1020 8 0 g
				FUNC 1030 8 0 f
				FUNC 1040 4 0 h`},
		{name: "C",
			in: `
			.debug_info
				unit 3
					compile_unit language/data1=2` + unit,
			want: `
				FUNC 1000 8 0 f
				FUNC 1010 4 0 g
				FUNC 1040 4 0 h`},
	})
}
