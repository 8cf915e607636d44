package serve

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/symtool/symtool/resolve/symserver"
)

// TestAccessLogEscapes checks that a client cannot reverse the text of the log, begin
// another line, or write to the terminal, and that programs that read the log get what
// the client sent.
func TestAccessLogEscapes(t *testing.T) {
	const evil = "/a\u202e\u2066\n\x1b[31m\u3164.so"
	var out bytes.Buffer
	l := &accessLog{w: &out, failed: func(err error) { t.Error(err) }}
	l.add(&symserver.Access{Path: evil, Agent: evil, Range: evil, Method: evil, Remote: evil, Token: evil})
	line := out.String()
	if at := strings.IndexFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool { return !unicode.IsPrint(r) || r == '\u3164' }); at >= 0 {
		t.Errorf("%+q", line)
	}
	var got symserver.Access
	if err := json.Unmarshal([]byte(line), &got); err != nil || got.Path != evil || got.Remote != evil {
		t.Errorf("%v: read %+q, want %+q", err, got.Path, evil)
	}
}
