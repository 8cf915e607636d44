package oracle

import "testing"

func TestOracleEmulator(t *testing.T) {
	e := StartEmulator(t, "aarch64")
	e.Load(t, []uint32{0xa9bf07e1, 0xf940001f}) // stp x1, x1, [sp, #-16]!; ldr xzr, [x0]
	const sp = 31
	var r EmulatorRegisters
	r[EmulatorPC], r[sp], r[1] = EmulatorCode, EmulatorHigh-64, 5
	if ok := e.Run(t, &r); !ok || r[EmulatorPC] != EmulatorCode+4 || r[sp] != EmulatorHigh-80 || e.Word(t, EmulatorHigh-80) != 5 {
		t.Errorf("%v %#x %#x", ok, r, e.Word(t, EmulatorHigh-80))
	}
	if ok := e.Run(t, &r); ok {
		t.Error("a load from 0 ran")
	}
	if ok := e.Run(t, &r); ok {
		t.Error("a load from 0 ran")
	}
}
