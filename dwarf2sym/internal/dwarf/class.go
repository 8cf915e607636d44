package dwarf

import (
	"github.com/symtool/symtool/internal/dw"
)

// kinds is a set of kinds of values, for one or more classes of DWARF 5, 7.5.5.
type kinds uint32

func setOf(all ...Kind) (s kinds) {
	for _, k := range all {
		s |= 1 << k
	}
	return s
}

var (
	constants = setOf(Const)                                 // flags, too
	offsets   = setOf(SecOff, Const)                         // DWARF 2 and 3 have data4 and data8 for them
	addresses = setOf(Addr, Addrx, AddrxOff, Expr)           // LLVM writes expressions to save entries of .debug_addr
	refs      = setOf(Ref, RefSup, RefSig)                   //
	texts     = setOf(Strp, StrpSup, LineStrp, Strx, Inline) //
	exprs     = setOf(Expr, Elsewhere)                       // DWARF 2 and 3 have blocks for them
)

// attribute is the name of an attribute and what its values may be, in words and as kinds.
type attribute struct {
	name string
	want string
	kinds
}

// attributes lists the attributes that are read and that may not have values of every class. Attributes of DWARF 2 to
// 5 and of GNU's and LLVM's extensions are allowed in every version.
var attributes = map[uint64]attribute{
	dw.AtName:            {"name", "a string", texts},
	dw.AtLinkageName:     {"linkage_name", "a string", texts},
	dw.AtMIPSLinkageName: {"MIPS_linkage_name", "a string", texts},
	dw.AtProducer:        {"producer", "a string", texts},
	dw.AtCompDir:         {"comp_dir", "a string", texts},
	dw.AtDwoName:         {"dwo_name", "a string", texts},
	dw.AtGNUDwoName:      {"GNU_dwo_name", "a string", texts},

	dw.AtLowPC:        {"low_pc", "an address", addresses},
	dw.AtHighPC:       {"high_pc", "an address or a length", addresses | constants},
	dw.AtRanges:       {"ranges", "a list of ranges", offsets | setOf(Rnglistx)},
	dw.AtCallReturnPC: {"call_return_pc", "an address", addresses},
	dw.AtCallPC:       {"call_pc", "an address", addresses},

	dw.AtSpecification:  {"specification", "a reference", refs},
	dw.AtAbstractOrigin: {"abstract_origin", "a reference", refs},
	dw.AtExtension:      {"extension", "a reference", refs},
	dw.AtSignature:      {"signature", "a reference", refs},
	dw.AtType:           {"type", "a reference", refs},
	dw.AtContainingType: {"containing_type", "a reference", refs},
	dw.AtCallParameter:  {"call_parameter", "a reference", refs},
	dw.AtDiscr:          {"discr", "a reference", refs},

	dw.AtCallFile:         {"call_file", "a number", constants},
	dw.AtCallLine:         {"call_line", "a number", constants},
	dw.AtCallColumn:       {"call_column", "a number", constants},
	dw.AtGNUDiscriminator: {"GNU_discriminator", "a number", constants},
	dw.AtDeclFile:         {"decl_file", "a number", constants},
	dw.AtDeclLine:         {"decl_line", "a number", constants},
	dw.AtLanguage:         {"language", "a number", constants},
	dw.AtGNUDwoID:         {"GNU_dwo_id", "a number", constants},
	dw.AtEncoding:         {"encoding", "a number", constants},
	dw.AtDataBitOffset:    {"data_bit_offset", "a number or an expression", constants | exprs},
	dw.AtDeclaration:      {"declaration", "a flag", constants},
	dw.AtExternal:         {"external", "a flag", constants},
	dw.AtArtificial:       {"artificial", "a flag", constants},

	dw.AtStmtList:       {"stmt_list", "an offset", offsets},
	dw.AtStrOffsetsBase: {"str_offsets_base", "an offset", offsets},
	dw.AtAddrBase:       {"addr_base", "an offset", offsets},
	dw.AtGNUAddrBase:    {"GNU_addr_base", "an offset", offsets},
	dw.AtRnglistsBase:   {"rnglists_base", "an offset", offsets},
	dw.AtGNURangesBase:  {"GNU_ranges_base", "an offset", offsets},
	dw.AtLoclistsBase:   {"loclists_base", "an offset", offsets},

	dw.AtLocation:           {"location", "a location", offsets | exprs},
	dw.AtFrameBase:          {"frame_base", "a location", offsets | exprs},
	dw.AtDataMemberLocation: {"data_member_location", "a number or a location", offsets | exprs},
	dw.AtCallTarget:         {"call_target", "an expression", exprs},
	dw.AtCallValue:          {"call_value", "an expression", exprs},
	dw.AtGNUCallSiteTarget:  {"GNU_call_site_target", "an expression", exprs},
	dw.AtGNUCallSiteValue:   {"GNU_call_site_value", "an expression", exprs},
}

// fewAttributes is above all attribute numbers of DWARF 5.
const fewAttributes = 0x90

// allowedKinds holds the kinds of the attributes below fewAttributes, for the parser of abbreviations.
var allowedKinds = func() (all [fewAttributes]kinds) {
	for at := range all {
		if all[at] = ^kinds(0); attributes[uint64(at)].kinds != 0 {
			all[at] = attributes[uint64(at)].kinds
		}
	}
	return all
}()

// fits reports whether values of an attribute may be of kind k.
func fits(at uint64, k Kind) bool {
	allowed := ^kinds(0)
	if at < fewAttributes {
		allowed = allowedKinds[at]
	} else if a, ok := attributes[at]; ok {
		allowed = a.kinds
	}
	return allowed>>k&1 != 0
}

// Misfit is an attribute with a form of a class that it cannot have. The DIE is read as if the attribute were missing.
type Misfit struct{ At, Form uint16 }

// Is reports whether m describes such an attribute.
func (m Misfit) Is() bool { return m.At != 0 }

// Name returns the name of the attribute.
func (m Misfit) Name() string { return "DW_AT_" + attributes[uint64(m.At)].name }

// Misfit returns the attribute of a value that is Unfit.
func (v Value) Misfit() Misfit { return Misfit{uint16(v.U >> 16), uint16(v.U)} }

// MisfitError returns the error for misfit m of the DIE at pos.
func (u *Unit) MisfitError(pos int, m Misfit) error {
	return u.Errorf(pos, "%s of form %#x, want %s", m.Name(), m.Form, attributes[uint64(m.At)].want)
}
