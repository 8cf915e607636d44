package walk

import "fmt"

// countLacking counts the last frame if its rules could not be followed because the dump lacks a register, and no
// other rules gave its caller, f. Registers that the walk lost are not counted: after a frame that was found without
// rules, hardly any register is known.
func (u *unwinder) countLacking(f *Frame) {
	if u.lacks == "" || f.Trust == TrustCFI {
		return
	}
	if _, known := u.d.Registers(u.stack.Thread).Get(u.lacks); known {
		return
	}
	for i := range u.lacking {
		if u.lacking[i].register == u.lacks {
			u.lacking[i].frames++
			return
		}
	}
	u.lacking = append(u.lacking, lack{u.lacks, 1})
}

// noteLacking adds a note for each register that the dump lacks.
func (u *unwinder) noteLacking() {
	for _, l := range u.lacking {
		frames := "1 frame needs"
		if l.frames > 1 {
			frames = fmt.Sprintf("%d frames need", l.frames)
		}
		u.stack.Notes = append(u.stack.Notes, fmt.Sprintf(
			"%s the register %s by its rules, and the dump lacks it: callers may be missing", frames, l.register))
	}
}
