package text

import "testing"

func TestCutClone(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "f": "f", "_Z1fv": "_Z1fv",
		"_Z1fv.cold": "_Z1fv", "_Z1fv.cold.1": "_Z1fv", "_Z1fv.part.0": "_Z1fv", "_Z1fv.isra.0.part.1.cold": "_Z1fv",
		"_Z1fv.constprop.12": "_Z1fv", "_Z1fv.localalias": "_Z1fv", "_Z1fv.lto_priv.0": "_Z1fv", "_Z1fv.lto_priv.0.lto_priv.1": "_Z1fv",
		"_Z1fv.llvm.10650195578168450516": "_Z1fv", "_Z1fv.__part.2": "_Z1fv", "_Z1fv.eh": "_Z1fv", "_Z1fv.specialized.3": "_Z1fv",
		"_Z1fv.memprof.1": "_Z1fv", "_Z1fv.argprom": "_Z1fv", "_Z1fv.warm": "_Z1fv", "_Z1fv.cold.llvm.5": "_Z1fv",
		// other functions
		"_Z1fv.actor": "_Z1fv.actor", "_Z1fv.destroy": "_Z1fv.destroy", "_Z1fv.resume": "_Z1fv.resume", "_Z1fv.cleanup": "_Z1fv.cleanup",
		"_Z1fv.actor.cold": "_Z1fv.actor", "_Z1fv._omp_fn.0": "_Z1fv._omp_fn.0", "_Z1fv._omp_fn.0.cold": "_Z1fv._omp_fn.0",
		"_Z1fv.omp_outlined": "_Z1fv.omp_outlined", "_Z1fv.resolver": "_Z1fv.resolver", "_Z1fv.avx2.0": "_Z1fv.avx2.0",
		"_ZL1fv.__uniq.123": "_ZL1fv.__uniq.123", "_ZL1fv.__uniq.123.llvm.5": "_ZL1fv.__uniq.123", "_Z1fv.5": "_Z1fv.5",
		// dots that are part of the name
		"_ZN12_$LT$a..B$GT$1m17h0123456789abcdefE":               "_ZN12_$LT$a..B$GT$1m17h0123456789abcdefE",
		"_ZN12_$LT$a..B$GT$1m17h0123456789abcdefE.llvm.77":       "_ZN12_$LT$a..B$GT$1m17h0123456789abcdefE",
		"_ZN2ns1C3runEPZNS0_3runEiE20_ZN2ns1C3runEi.Frame.actor": "_ZN2ns1C3runEPZNS0_3runEiE20_ZN2ns1C3runEi.Frame.actor",
		"main.main.func1": "main.main.func1", "f.": "f.", "f.cold.": "f.cold.", "f.cold1": "f.cold1", "f.1.2": "f.1.2",
		"cold": "cold", ".cold": ".cold", ".5": ".5", "5": "5", ".": ".",
	} {
		if got := CutClone(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
		if got := CutClone([]byte(name)); string(got) != want {
			t.Errorf("%q as bytes: %q, want %q", name, got, want)
		}
	}
}
