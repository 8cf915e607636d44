# What Swift's compiler writes of names: linkage names of several kinds ($s, and _T0 of old ones), a type with a method
# that has none, and a closure.
	.text
	.macro code name, size=8
	.globl "\name"
	.type "\name", @function
"\name":
	.fill \size, 1, 0x90
	.size "\name", \size
	.endm
	code "$s6shapes5PointV4areaSiyF"
	code "$s6shapes4bestyxx_xtSLRzlF"
	code "$s6shapes5PointV1xSivg"
	code "$s6shapes3runyySiXEFyycfU_"
	code "_T06shapes3oldSiyF"
	code "method"

	.section .debug_abbrev,"",@progbits
	.uleb128 1, 0x11            # compile_unit
	.byte 1
	.uleb128 0x03, 0x08, 0x13, 0x0b, 0, 0
	.uleb128 2, 0x2e            # subprogram with a linkage name
	.byte 0
	.uleb128 0x03, 0x08, 0x6e, 0x08, 0x11, 0x01, 0x12, 0x0b, 0, 0
	.uleb128 3, 0x39            # namespace
	.byte 1
	.uleb128 0x03, 0x08, 0, 0
	.uleb128 4, 0x13            # structure_type
	.byte 1
	.uleb128 0x03, 0x08, 0, 0
	.uleb128 5, 0x2e            # subprogram without one
	.byte 0
	.uleb128 0x03, 0x08, 0x11, 0x01, 0x12, 0x0b, 0, 0
	.byte 0

	.section .debug_info,"",@progbits
	.long 2f-1f
1:	.short 4
	.long 0
	.byte 8
	.uleb128 1
	.asciz "shapes.swift"
	.byte 0x1e                  # DW_LANG_Swift
	.macro function plain, linkage
	.uleb128 2
	.asciz "\plain"
	.asciz "\linkage"
	.quad "\linkage"
	.byte 8
	.endm
	.uleb128 3
	.asciz "shapes"
	function "best", "$s6shapes4bestyxx_xtSLRzlF"
	function "run", "$s6shapes3runyySiXEFyycfU_"
	function "old", "_T06shapes3oldSiyF"
	.uleb128 4
	.asciz "Point"
	function "area", "$s6shapes5PointV4areaSiyF"
	function "x.get", "$s6shapes5PointV1xSivg"
	.uleb128 5
	.asciz "method"
	.quad method
	.byte 8
	.byte 0, 0, 0
2:
	.section .note.GNU-stack,"",@progbits
