package callframe_test

import (
	"fmt"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/frame"

	"github.com/symtool/symtool/dwarf2sym/internal/callframe/cfitest"
	"github.com/symtool/symtool/dwarf2sym/unwind"
	"github.com/symtool/symtool/symfmt/arch"
)

// TestCFIDelve compares with delve's frame package on every row of ours: .cfa, .ra
// and the callee-saved registers. It does not distinguish undefined registers from
// those without a rule, and only checks whether a rule is an expression.
func TestCFIDelve(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	for _, c := range []struct {
		name string
		path func(testing.TB) string
	}{
		{"libc", cfitest.Libc},
		{"libstdc++", cfitest.Libstdcxx},
		{"go", cfitest.GoProgram},
	} {
		t.Run(c.name, func(t *testing.T) {
			all, _ := cfitest.Open(t, c.path(t))
			for _, s := range all.Sections {
				in := *all
				in.Sections = []unwind.Section{s}
				table, _, _ := cfitest.Read(&in)
				d := &cfiDelve{in: &in, t: t}
				d.compare(cfitest.Flatten(&table, in.Base))
				t.Logf("%s: %d rows equal, %d different, delve failed on %d", s.Name, d.equal, d.wrong, d.failed)
				if d.equal == 0 || d.failed > 0 {
					t.Errorf("%d rows compared, delve failed on %d", d.equal, d.failed)
				}
			}
		})
	}
}

type cfiDelve struct {
	t                    *testing.T
	in                   *unwind.Input
	equal, wrong, failed int
}

func (d *cfiDelve) compare(ours []cfitest.Row) {
	s := d.in.Sections[0]
	addr := s.Addr
	if !s.EH {
		addr = 0
	}
	fdes, err := frame.Parse(s.Data, d.in.Order, 0, d.in.PtrSize, addr)
	if err != nil {
		d.t.Fatal(err)
	}
	fdes = frame.FrameDescriptionEntries(nil).Append(fdes) // sorted
	for _, o := range ours {
		theirs, err := cfiDelveRow(fdes, o.Addr, d.in.Arch)
		if err != nil {
			d.failed++
			continue
		}
		bad := ""
		for _, name := range append([]string{".cfa", ".ra"}, d.in.Arch.CalleeSaved...) {
			got, want := o.Forms[name], theirs[name]
			if got == "same" || got == "undefined" {
				got = ""
			}
			if got != want && want != "expr" {
				bad += fmt.Sprintf(" %s is %q here, %q there", name, got, want)
			}
		}
		if bad == "" {
			d.equal++
		} else if d.wrong++; d.wrong <= 5 {
			d.t.Errorf("%#x:%s", o.Addr, bad)
		}
	}
}

// cfiDelveRow returns delve's rules at pc.
func cfiDelveRow(fdes frame.FrameDescriptionEntries, pc uint64, a *arch.Arch) (forms cfitest.Forms, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("delve panicked: %v", r)
		}
	}()
	fde, err := fdes.FDEForPC(pc)
	if err != nil {
		return nil, err
	}
	f, err := fde.EstablishFrame(pc)
	if err != nil {
		return nil, err
	}
	forms = cfitest.Forms{".cfa": "expr"}
	if f.CFA.Rule == frame.RuleCFA {
		name, _ := a.RegName(f.CFA.Reg)
		forms[".cfa"] = fmt.Sprintf("%s%+d", name, f.CFA.Offset)
	}
	for col, r := range f.Regs {
		name, _ := a.RegName(col)
		if col == f.RetAddrReg {
			name = ".ra"
		}
		switch r.Rule {
		case frame.RuleOffset:
			forms[name] = fmt.Sprintf("[CFA%+d]", r.Offset)
		case frame.RuleValOffset:
			forms[name] = fmt.Sprintf("CFA%+d", r.Offset)
		case frame.RuleRegister:
			forms[name], _ = a.RegName(r.Reg)
		case frame.RuleExpression, frame.RuleValExpression:
			forms[name] = "expr"
		}
	}
	return forms, nil
}
