package walktest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// Truth is gdb's output for all variables of all frames of a crash: the truth.json of a case of
// variables, whose README describes the fields.
type Truth struct {
	Threads []struct {
		ID     uint32       `json:"id"`
		Frames []TruthFrame `json:"frames"`
	} `json:"threads"`
}

// TruthFrame is a frame, or a function that was inlined into the next.
type TruthFrame struct {
	Function  string          `json:"function"`
	PC        string          `json:"pc"`
	Module    string          `json:"module"`
	Inline    bool            `json:"inline"`
	TailCall  bool            `json:"tailcall"`
	Variables []TruthVariable `json:"variables"`
}

// Addr returns the frame's program counter.
func (f *TruthFrame) Addr() uint64 {
	pc, _ := strconv.ParseUint(f.PC, 0, 64)
	return pc
}

// TruthVariable is a variable.
type TruthVariable struct {
	Name           string        `json:"name"`
	Type           string        `json:"type"`
	Kind           string        `json:"kind"`
	Line           int           `json:"line"`
	Depth          int           `json:"depth"`
	Shadow         int           `json:"shadow"`
	Status         string        `json:"status"`
	Size           int           `json:"size"`
	Bytes          string        `json:"bytes"`
	Address        string        `json:"address"`
	Value          string        `json:"value"`
	Target         string        `json:"target"`
	Synthetic      bool          `json:"synthetic"`
	Clobbered      []string      `json:"clobbered"` // registers
	ConstAggregate bool          `json:"const_aggregate"`
	Members        []TruthMember `json:"members"`
	Loc            struct {
		Form string   `json:"form"`
		Ops  []string `json:"ops"`
		Regs []string `json:"regs"`
	} `json:"loc"`
}

// TruthMember is a scalar within a variable.
type TruthMember struct {
	Path      string `json:"path"`
	Type      string `json:"type"`
	Offset    int    `json:"offset"`
	BitOffset *int   `json:"bit_offset"`
	BitSize   *int   `json:"bit_size"`
	Value     string `json:"value"`
	Bytes     string `json:"bytes"`
	Status    string `json:"status"`
	Synthetic bool   `json:"synthetic"`
}

// VarCases returns the names of the cases of variables in the shared test data.
func VarCases(t testing.TB) (names []string) {
	t.Helper()
	testenv.Shared(t, "data", "vars")
	for _, path := range testenv.SharedGlob(t, "data", "vars", "*", "truth.json") {
		names = append(names, filepath.Base(filepath.Dir(path)))
	}
	return names
}

// ReadTruth reads the truth.json of a case.
func ReadTruth(t testing.TB, name string) *Truth {
	t.Helper()
	data, err := os.ReadFile(testenv.Shared(t, "data", "vars", name, "truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	truth := &Truth{}
	if err := json.Unmarshal(data, truth); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return truth
}
