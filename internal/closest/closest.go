// Package closest finds the word that was meant by one that is misspelt.
package closest

import (
	"strings"

	"github.com/xrash/smetrics"
)

// Meant returns the end of a message that lists the words that are known: a question with the one that is most like a
// word that is none of them, or "".
func Meant(word string, known []string) string {
	if best := Word(word, known); best != "" {
		return "; did you mean " + best + "?"
	}
	return ""
}

// likeness is how alike two words must be for one to be taken for a misspelling of the other, from
// 0 to 1. Of two letters exchanged, missing or wrong in a word of five, all are above it; "store"
// and "serve" are below.
const likeness = 0.85

// Word returns the word of known that word is most likely a misspelling of, or "". A word of one
// or two letters is like too many.
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
