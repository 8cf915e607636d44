package config

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestManyUnknownKeys reads configurations that contain only unknown keys: the first is reported, and the others take
// no memory.
func TestManyUnknownKeys(t *testing.T) {
	deep := strings.Repeat(".a", 250)
	for name, line := range map[string]string{
		"keys": "k%d = 1\n", "tables": "[t%d" + deep + "]\n", "suppressions": "[[suppress]]\nk%d = 1\n", "lists": "k%d = [\n1,\n2]\n", "inside": "[t%d]\na = 1\n",
	} {
		var text strings.Builder
		text.WriteString("# a comment\nselect = [\"SYM601\",\n\"SYM602\"]\n\n")
		for i := 0; text.Len() < maxConfig*9/10; i++ {
			fmt.Fprintf(&text, line, i)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read(strings.NewReader(text.String()), "m.toml")
		runtime.ReadMemStats(&after)
		if err == nil || !strings.HasPrefix(err.Error(), "m.toml:") || !strings.Contains(err.Error(), "unknown key") {
			t.Errorf("%s: %v", name, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 8*maxConfig {
			t.Errorf("%s: %d bytes of memory for %d", name, used, text.Len())
		}
	}
}
