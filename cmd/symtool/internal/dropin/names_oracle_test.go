package dropin

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// specialNames are names in every mangling scheme that LLVM's demangler knows,
// above all names that compilers make up; names that it leaves unchanged; and
// truncated names.
const specialNames = `
_ZTW1x
_ZTWN2ns1yE
_ZTH1x
_ZTHN2ns1yE
_ZTV3Foo
_ZTT3Foo
_ZTI3Foo
_ZTS3Foo
_ZTC3Foo0_3Bar
_ZTCN2ns3FooE16_NS_3BarE
_ZGVZ1fvE1x
_ZGVN2ns1xE
_ZGR1x_
_ZGR1x0_
_ZGRN2ns1xE_
_ZThn16_N3Foo3barEv
_ZThn16_NK3Foo3barEv
_ZTv0_n24_N3Foo3barEv
_ZTch0_h16_N3Foo3barEv
_ZTchn8_v0_n24_N3Foo3barEv
_ZTcv0_n24_v0_n32_N3Foo3barEv
_ZGA1fv
_ZGTt1fv
_ZGTn1fv
_ZTA1x
_ZTF1x
_ZTJ1x
_ZTE1x
_ZGI3foo
_ZGIW3foo
_ZTAXtl1xEE
_Dmain
_D3foo3barFZv
_D4test3fooAa
_D8demangle4testFaZv
_D8demangle4testFbZv
_D3std5stdio8writelnFZv
_D8demangle4test6__ctorMFZv
_D8demangle4test6__initZ
_D8demangle4test6__vtblZ
_D8demangle4test7__ClassZ
_D8demangle4test11__InterfaceZ
_D8demangle4test12__ModuleInfoZ
_D8demangle4testFAbZv
_D8demangle4test
_D88
_D
_D3
_D1a
_D4core9exception
_RNvC1a4main
_RNvCs1234_7mycrate3foo
_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3newCs15kBYyAo9fc_7mycrate
_RINvNtC3std3mem8align_ofjdE
_RNvC1a4main.llvm.123
_RNvC1a4main.cold
_RNCNvC1a4main0B3_
_RNvC6_123foo3bar
_RNvXs_C1aNtB2_3FooNtB2_3Bar3baz
_RIC1aKj7b_E
_ZN3foo3bar17h05af221e174051e9E
_ZN4core3fmt9Formatter3pad17h0123456789abcdefE.llvm.999
?f@@YAXXZ
?f@S@@QEAAXXZ
??0S@@QEAA@XZ
??1S@@UEAA@XZ
??_7S@@6B@
??_R0?AVS@@@8
??_R1A@?0A@EA@S@@8
??_R4S@@6B@
?x@@3HA
?x@ns@@3HA
??__Ex@@YAXXZ
??__Fx@@YAXXZ
??_C@_02PCEFGMJL@hi?$AA@
?$TSS0@?1??f@@YAXXZ@4HA
??_B?1??f@@YAHXZ@51
??$f@H@@YAXH@Z
?f@S@@WBA@EAAXXZ
?f@?A0x12345678@@YAXXZ
??_GS@@UEAAPEAXI@Z
??_9S@@$BA@AA
?f@@$$J0YAXXZ
_Z1fv
_Z1fv.cold
_Z1fv.part.0
_Z1fv.constprop.0.isra.0
_ZN1AC1Ev
_ZN1AD0Ev
_ZN1AC2ERKS_
_Z1fILi3EEvv
_ZNKSt3__16vectorIiNS_9allocatorIiEEE4sizeEv
_ZZ1fvENKUlvE_clEv
_ZZ1fvE1x_0
_ZN12_GLOBAL__N_11fEv
_GLOBAL__sub_I_main.cc
_GLOBAL__I_a
_GLOBAL__D_a
_ZL1x
__Z1fv
___Z1fv_block_invoke
____Z1fv_block_invoke
_ZUlvE_
___ZN3foo3barEv_block_invoke_2
_Z1fDv4_f
_ZDaSt
_ZTIDn
_ZW3foo1fv
_ZGVbN2v_acos
main
_ZN3fooIiEC2EOS0_
_ZNSt6vectorIiSaIiEED2Ev
_ZdlPv
_ZnwmSt11align_val_t
_ZTh
_ZTW
_ZTv0_n24_
_ZTc
_Z
_ZN
_ZN1AB5cxx111fEv
_Z1fB3abiv
_ZN1AcviEv
_Zli2_xy
_ZL1f.1
_ZTWN12_GLOBAL__N_11xE
_ZTWZ1fvE1x
_ZTHL1x
@feh_func@8
_f@8
`

// TestOracleSpecialNames checks that mangled names are printed as by llvm-symbolizer.
func TestOracleSpecialNames(t *testing.T) {
	testenv.Oracle(t)
	dir := t.TempDir()
	source, object := filepath.Join(dir, "names.s"), filepath.Join(dir, "names.o")
	var assembly, questions strings.Builder
	for i, name := range strings.Fields(specialNames) {
		fmt.Fprintf(&assembly, ".globl %[1]q\n.type %[1]q, @function\n%[1]q: .fill 16, 1, 0x90\n.size %[1]q, 16\n", name)
		fmt.Fprintf(&questions, "%#x\n", 16*i)
	}
	if err := os.WriteFile(source, []byte(assembly.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(testenv.Tool(t, "clang-22"), "--target=x86_64-linux-gnu", "-c", source, "-o", object).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	compareAnswers(t, "special names", asked(t, questions.String(), testenv.Tool(t, "llvm-symbolizer-22"), "-e", object),
		asked(t, questions.String(), testenv.Symtool(t), "as", "llvm-symbolizer", "-e", object))
}
