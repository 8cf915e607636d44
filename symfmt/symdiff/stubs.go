package symdiff

import "io"

func WriteJSON(w io.Writer, r *Result) error                { return nil }
func WriteHTML(w io.Writer, r *Result) error                { return nil }
func WriteRaw(w io.Writer, r *Result, o TextOptions) error  { return nil }
func WriteStat(w io.Writer, r *Result, o TextOptions) error { return nil }
