package demangle

import (
	"testing"
	"time"

	"github.com/symtool/symtool/internal/demangle/mangled"
	"github.com/symtool/symtool/internal/testenv"
)

func FuzzAppend(f *testing.F) {
	for _, s := range []string{
		"_ZN4llvm4yaml7yamlizeIbEENSt9enable_ifIXsr16has_ScalarTraitsIT_EE5valueEvE4typeERNS0_2IOERS3_bRNS0_12EmptyContextE",
		"_ZZ3foovENKUlvE_clEv.cold", "_GLOBAL__I__Z3foov", "___Z3foov_block_invoke_2", "._Z3foov",
		"_RINvC1a1fFG0_RL1_hRL0_tEuDG_INtC1b1TL0_Ep1OhEL_E", "_RINvC1a1fKo10000000000000000_Kan5_Kb1_Kc41_Kca_KpE",
		"_Z2f6I1SiEN1EIXsr2ns1PI1GIT_EN2ns1HIT0_EEEE1vEE4typeEPS3_PS7_PSB_PSC_", "_Z2f1I1SEN1EIXsr1GIT_E1vEE4typeES3_PS3_PS4_",
		"_Z2f4I1SEN1EIXsrNT_1KIS2_E1LIS2_EE1nEE4typeES2_PS2_PS5_", "_Z1fIXsrsrsr1A1BEEvv", "_Z1fL5colorsr1_A_0sr",
		"_RNvC1au8gdel_5qa", "_RNCNCNvCs1_1a4main00B5_.llvm.1", "_RNvXCs_1aNtB2_1SNtB2_1T1f",
		"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE",
	} {
		f.Add(s)
	}
	f.Add(costly[:600] + "i")
	f.Add(costly)
	f.Fuzz(func(t *testing.T, raw string) {
		watch := testenv.StartWatch()
		out, err := Append([]byte("x"), raw)
		name := string(out[1:])
		if err != nil && name != "" || err == nil && name == "" || out[0] != 'x' {
			t.Errorf("%q: %q, %v", raw, out, err)
		}
		if took := watch.Took(); took > time.Second {
			t.Errorf("%v for %d bytes", took, len(raw))
		}
		if len(name) > max(mangled.MaxDemangled, len(raw)) {
			t.Errorf("%d bytes from %d", len(name), len(raw))
		}
	})
}
