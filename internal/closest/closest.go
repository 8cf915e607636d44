// Package closest finds the word that a misspelt one most likely stands for.
package closest

import (
	"strings"

	"github.com/xrash/smetrics"
)

// Meant returns the end of a message about an unknown word: a question that suggests the known word most like it, or
// "".
func Meant(word string, known []string) string {
	if best := Word(word, known); best != "" {
		return "; did you mean " + best + "?"
	}
	return ""
}

// likeness is the minimum similarity, from 0 to 1, at which one word is taken for a misspelling of
// another. A word of five letters with two letters exchanged, or with one missing or wrong, is
// above it; "store" and "serve" are below.
const likeness = 0.85

// Word returns the known word of which word is most likely a misspelling, or "". Words of one or
// two letters have none: they are similar to too many.
func Word(word string, known []string) string {
	if len(word) < 3 {
		return ""
	}
	best, most := "", likeness
	word = strings.ToLower(word)
	for _, k := range known {
		if score := smetrics.JaroWinkler(word, strings.ToLower(k), 0.7, 4); score > most {
			best, most = k, score
		}
	}
	return best
}
