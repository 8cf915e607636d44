package lint

// Beginnings and parts of the examples of rules.
const (
	// Head is the first line of most examples.
	Head = "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\n"
	// HeadFunc is Head with a FUNC that has a line.
	HeadFunc = Head + "FUNC 1000 40 0 f\n1000 40 1 0\n"
	// Init is call frame information for the function of HeadFunc.
	Init = "STACK CFI INIT 1000 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
	// Inlined is a FUNC with an INLINE and a line, without their numbers' records.
	Inlined = "FUNC 1000 10 0 f\nINLINE 0 5 0 0 1004 4\n1000 10 1 0\n"
)
