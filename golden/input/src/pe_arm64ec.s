// The load configuration of a program of ARM64EC, with the metadata by which the system finds its arm64 code
// (IMAGE_LOAD_CONFIG_DIRECTORY64, IMAGE_ARM64EC_METADATA in winnt.h). The linker defines what they refer to.
	.section .rdata,"dr"
	.globl _load_config_used
	.p2align 3
_load_config_used:
	.long 0x140
	.fill 0xc4, 1, 0
	.quad metadata // at 0xc8
	.fill 0x70, 1, 0
metadata:
	.long 1
	.rva __hybrid_code_map
	.long __hybrid_code_map_count
	.rva __x64_code_ranges_to_entry_points
	.rva __arm64x_redirection_metadata
	.fill 7, 4, 0
	.long __x64_code_ranges_to_entry_points_count
	.long __arm64x_redirection_metadata_count
	.fill 2, 4, 0
	.rva __arm64x_extra_rfe_table // at 0x40
	.long __arm64x_extra_rfe_table_size
	.fill 0x40, 1, 0
