package closest

import "testing"

func TestWord(t *testing.T) {
	known := []string{"dump", "convert", "resolve", "walk", "lint", "store", "serve", "symbols", "symbol-url", "json", "jsonl"}
	for word, want := range map[string]string{
		"dmup": "dump", "DUMP": "dump", "covert": "convert", "stroe": "store", "serv": "serve", "walks": "walk",
		"lnit": "lint", "symbol": "symbols", "symbols-url": "symbol-url", "jsno": "json", "jsonlines": "jsonl",
		"": "", "x": "", "wa": "", "exit": "", "formats": "", "human": "", "rsync": "", "dmup\x00\xff": "",
	} {
		if got := Word(word, known); got != want {
			t.Errorf("Word(%q) = %q, want %q", word, got, want)
		}
	}
}
