package oracle_test

import (
	"testing"

	"github.com/symtool/symtool/internal/oracle"
)

func TestOracleEmulator(t *testing.T) {
	e := oracle.StartEmulator(t, "aarch64")
	e.Load(t, []uint32{0xa9bf07e1, 0xf940001f}) // stp x1, x1, [sp, #-16]!; ldr xzr, [x0]
	const sp = 31
	var r oracle.EmulatorRegisters
	r[oracle.EmulatorPC], r[sp], r[1] = oracle.EmulatorCode, oracle.EmulatorHigh-64, 5
	if ok := e.Run(t, &r); !ok || r[oracle.EmulatorPC] != oracle.EmulatorCode+4 || r[sp] != oracle.EmulatorHigh-80 || e.Word(t, oracle.EmulatorHigh-80) != 5 {
		t.Errorf("%v %#x %#x", ok, r, e.Word(t, oracle.EmulatorHigh-80))
	}
	if ok := e.Run(t, &r); ok {
		t.Error("a load from 0 ran")
	}
	if ok := e.Run(t, &r); ok {
		t.Error("a load from 0 ran")
	}
}
