package walk

// byWin uses the STACK WIN records of the symbol file.
func byWin(u *unwinder, f *Frame) outcome { return nothing }
