package damage_test

import (
	"errors"
	"fmt"

	"github.com/symtool/symtool/symfmt/damage"
)

// This example finds the place of damage in a reader's error.
func ExampleError() {
	err := fmt.Errorf("libapp.so: %w", &damage.Error{Section: ".sframe", Msg: "truncated header: 3 bytes, want 28"})
	var at *damage.Error
	if errors.As(err, &at) {
		fmt.Printf("%s, offset %d: %s\n", at.Section, at.Offset, at.Msg)
	}
	// Output:
	// .sframe, offset 0: truncated header: 3 bytes, want 28
}
