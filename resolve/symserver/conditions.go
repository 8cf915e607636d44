package symserver

import (
	"net/http"
	"strings"
)

// preconditionFailed answers If-Match and If-Unmodified-Since that do not hold (RFC 9110,
// section 13.2.2). The answer has nothing of the file's header: net/http's own would say
// how long the body is that does not follow, and that it may be kept for days.
func preconditionFailed(w *recorder, r *http.Request, f *file, etag string) bool {
	if tags := r.Header.Values("If-Match"); len(tags) > 0 {
		if matchesStrongly(strings.Join(tags, ","), etag) {
			return false
		}
	} else {
		since, err := http.ParseTime(r.Header.Get("If-Unmodified-Since"))
		if err != nil || f.info.ModTime().Unix() <= since.Unix() {
			return false
		}
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusPreconditionFailed)
	return true
}

// decided is a request whose conditions net/http understands: of a field it looks at the
// first line only, while several are one list (RFC 9110, section 5.3). What
// preconditionFailed has let pass it is not to look at again.
func decided(r *http.Request) *http.Request {
	tags := r.Header.Values("If-None-Match")
	if len(tags) < 2 && len(r.Header.Values("If-Match"))+len(r.Header.Values("If-Unmodified-Since")) == 0 {
		return r
	}
	changed := *r
	changed.Header = r.Header.Clone()
	changed.Header.Del("If-Match")
	changed.Header.Del("If-Unmodified-Since")
	if len(tags) > 1 {
		changed.Header.Set("If-None-Match", strings.Join(tags, ", "))
	}
	return &changed
}

// matchesStrongly tells whether an entity tag is in a list of If-Match, where weak ones
// do not count.
func matchesStrongly(list, etag string) bool {
	for tag := range strings.SplitSeq(list, ",") {
		tag = strings.TrimSpace(tag)
		if tag == "*" || tag == etag && !strings.HasPrefix(tag, "W/") {
			return true
		}
	}
	return false
}

// notModified answers a conditional request for what is made on the way.
func notModified(w *recorder, r *http.Request, f *file, etag string) bool {
	switch tags := r.Header.Values("If-None-Match"); {
	case len(tags) > 0:
		if !matchesTag(strings.Join(tags, ","), etag) {
			return false
		}
	default:
		since, err := http.ParseTime(r.Header.Get("If-Modified-Since"))
		if err != nil || f.info.ModTime().Unix() > since.Unix() {
			return false
		}
	}
	h := w.Header()
	h.Del("Content-Type")
	h.Del("Content-Encoding")
	w.WriteHeader(http.StatusNotModified)
	return true
}

// matchesTag tells whether an entity tag is in a list of If-None-Match, where weak ones
// count, too.
func matchesTag(list, etag string) bool {
	etag = strings.TrimPrefix(etag, "W/")
	for tag := range strings.SplitSeq(list, ",") {
		tag = strings.TrimSpace(tag)
		if tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
			return true
		}
	}
	return false
}

// withRanges is a request whose Range net/http understands as RFC 9110 has it: a unit
// other than bytes counts as no Range (14.2), the last 0 bytes as none that is there
// (14.1.2). Of encoded content at most one range is sent: several are a multipart body,
// which is not encoded as the header would say.
func withRanges(r *http.Request, size int64, encoded bool) *http.Request {
	field := r.Header.Get("Range")
	if field == "" {
		return r
	}
	set, ok := strings.CutPrefix(field, "bytes=")
	var kept []string
	if ok {
		for one := range strings.SplitSeq(set, ",") {
			one = strings.Trim(one, " \t")
			if last, suffix := strings.CutPrefix(one, "-"); !suffix || last == "" || strings.Trim(last, "0") != "" {
				kept = append(kept, one)
			}
		}
	}
	switch {
	case !ok || encoded && len(kept) > 1:
		field = ""
	case len(kept) == 0:
		field = "bytes=" + itoa64(size) + "-"
	default:
		field = "bytes=" + strings.Join(kept, ",")
	}
	changed := *r
	changed.Header = r.Header.Clone()
	if changed.Header.Del("Range"); field != "" {
		changed.Header.Set("Range", field)
	}
	return &changed
}
