package symserver

import (
	"fmt"
	"net/http"
	"time"
)

// Access describes a finished request.
type Access struct {
	Time     time.Time `json:"time"` // when it began
	Remote   string    `json:"remote"`
	Method   string    `json:"method"`
	Path     string    `json:"path"` // as it was sent, with escapes
	Kind     string    `json:"kind"` // as in the metrics
	Status   int       `json:"status"`
	Bytes    int64     `json:"bytes"` // of the body sent
	Millis   float64   `json:"ms"`    // until the end
	Range    string    `json:"range,omitempty"`
	Encoding string    `json:"encoding,omitempty"` // Content-Encoding of the answer
	Frames   int       `json:"frames,omitempty"`   // of a symbolication
	Agent    string    `json:"agent,omitempty"`
	Token    string    `json:"token,omitempty"`   // its name
	Aborted  bool      `json:"aborted,omitempty"` // the answer was not completed
}

// maxLogged is the number of bytes of a client's text that are logged.
const maxLogged = 1 << 10

func clip(text string) string {
	if len(text) > maxLogged {
		return text[:maxLogged] + "..."
	}
	return text
}

// done counts and logs a request.
func (s *Server) done(w *recorder, r *http.Request, to target, began time.Time, aborted bool) {
	status := w.status
	if status == 0 {
		status = 499 // nothing was sent, as in nginx's logs
	}
	if w.missing {
		s.metrics.missing.Add(1)
	}
	took := time.Since(began)
	who := ""
	if w.token != nil {
		who = w.token.name
	}
	s.metrics.observe(to.kind, status, w.bytes, took)
	s.cfg.Access(&Access{
		Time: began.UTC(), Remote: r.RemoteAddr, Method: clip(r.Method), Path: clip(r.URL.EscapedPath()), Kind: to.kind.String(),
		Status: status, Bytes: w.bytes, Millis: float64(took.Microseconds()) / 1e3, Range: clip(r.Header.Get("Range")),
		Encoding: w.Header().Get("Content-Encoding"), Frames: w.frames, Agent: clip(r.UserAgent()), Token: who, Aborted: aborted,
	})
}

// notef logs what is missing.
func (s *Server) notef(format string, args ...any) { s.cfg.Note(fmt.Sprintf(format, args...)) }

// warnf logs problems.
func (s *Server) warnf(format string, args ...any) { s.cfg.Warn(fmt.Sprintf(format, args...)) }
