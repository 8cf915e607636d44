package symserver

import (
	"net/http"
	"strings"
)

// preconditionFailed answers If-Match and If-Unmodified-Since that do not hold (RFC 9110, section
// 13.2.2), and reports whether it did. The answer has none of the file's header fields:
// net/http's would give the length of a body that does not follow.
func preconditionFailed(w *recorder, r *http.Request, f *file, etag string) bool {
	if tags := r.Header.Values("If-Match"); len(tags) > 0 {
		if matchesTag(tags, etag, sameStrongly) {
			return false
		}
	} else {
		since, err := http.ParseTime(r.Header.Get("If-Unmodified-Since"))
		if err != nil || f.info.ModTime().Unix() <= since.Unix() {
			return false
		}
	}
	w.WriteHeader(http.StatusPreconditionFailed)
	return true
}

// decided returns a request whose conditions net/http understands. net/http reads only the first
// of several lines of a field, while together they are one list (RFC 9110, section 5.3).
// Conditions that preconditionFailed let pass are removed.
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

// notModified answers a conditional request for content that is generated on the fly if it has
// not changed, and reports whether it did.
func notModified(w *recorder, r *http.Request, f *file, etag string) bool {
	switch tags := r.Header.Values("If-None-Match"); {
	case len(tags) > 0:
		if !matchesTag(tags, etag, sameWeakly) {
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

// matchesTag reports whether an entity tag is in the list of If-Match or If-None-Match.
func matchesTag(lines []string, etag string, same func(a, b string) bool) bool {
	for _, line := range lines {
		for tag := range strings.SplitSeq(line, ",") {
			if tag = strings.TrimSpace(tag); tag == "*" || same(tag, etag) {
				return true
			}
		}
	}
	return false
}

// sameStrongly is the comparison of If-Match, for which weak tags are never equal;
// sameWeakly is the comparison of If-None-Match (RFC 9110, section 8.8.3.2).
func sameStrongly(a, b string) bool { return a == b && !strings.HasPrefix(a, "W/") }

func sameWeakly(a, b string) bool {
	return strings.TrimPrefix(a, "W/") == strings.TrimPrefix(b, "W/")
}

// withRanges returns a request whose Range net/http understands as RFC 9110 defines it: a unit
// other than bytes means no Range (14.2), and the last 0 bytes cannot be satisfied (14.1.2). Of
// encoded content at most one range is sent, as a multipart body would not be encoded as the
// header says.
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
