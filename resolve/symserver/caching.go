package symserver

import (
	"net/http"
	"strings"
)

// freshness is how long an answer holds. Handlers set it; what caches may do with the answer is
// decided only here.
type freshness uint8

const (
	fleeting freshness = iota // pages, errors, answers to uploads: nobody keeps them
	lasting                   // an id names one build: what was found changes only if its symbols are made again
	unfound                   // it may be uploaded at any time
)

// The values of Cache-Control, without who may keep the answer.
const (
	cacheLasting = "max-age=604800, immutable"
	cacheAbsent  = "max-age=60"
	cacheNothing = "no-store"
)

// guards are the fields of a request that can hold a token; ?key= is a part of the URL, by which caches distinguish
// answers anyway.
const guards = "Authorization, Auth-Token"

// setCaching sets the fields by which caches decide. An answer that needs a token is only for the client that
// has it: a shared cache in front of the server would give it to everybody.
func (w *recorder) setCaching(status int) {
	h := w.Header()
	who := "public, "
	if w.guarded {
		who = "private, "
		h.Set("Vary", strings.Join(append(h.Values("Vary"), guards), ", "))
	}
	switch {
	case w.fresh == lasting && (status == http.StatusOK || status == http.StatusPartialContent || status == http.StatusNotModified):
		h.Set("Cache-Control", who+cacheLasting)
	case w.fresh == unfound && status == http.StatusNotFound:
		h.Set("Cache-Control", who+cacheAbsent)
	default:
		h.Set("Cache-Control", cacheNothing)
	}
}
