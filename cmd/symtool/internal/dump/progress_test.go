package dump

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve/store"
)

func TestTerminals(t *testing.T) {
	_, terminal := testenv.Terminal(t)
	var other bytes.Buffer
	for _, c := range []struct {
		name           string
		stdout, stderr io.Writer
		cfg            dumpConfig
		want           bool
	}{
		{"to a file", &other, terminal, dumpConfig{output: "x"}, true},
		{"to a pipe", &other, terminal, dumpConfig{output: "-"}, true},
		{"to the terminal", terminal, terminal, dumpConfig{output: "-"}, false},
		{"no terminal", &other, &other, dumpConfig{output: "x"}, false},
		{"quiet", &other, terminal, dumpConfig{output: "x", quiet: true}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &dumper{dumpConfig: &c.cfg, stdout: c.stdout, msgs: cli.NewMessages(c.stderr)}
			stop := d.startProgress()
			defer stop()
			if got := d.progress != nil; got != c.want {
				t.Errorf("bar: %v, want %v", got, c.want)
			}
		})
	}
}

func TestNoGzipToTerminal(t *testing.T) {
	_, terminal := testenv.Terminal(t)
	d := &dumper{dumpConfig: &dumpConfig{output: "-", compression: &store.Compressions[0]}, stdout: terminal, msgs: cli.NewMessages(terminal)}
	if err := d.openSingle(); err == nil || !strings.Contains(err.Error(), "terminal") {
		t.Errorf("error %v", err)
	}
}
