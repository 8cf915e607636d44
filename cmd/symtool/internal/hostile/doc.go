// Package hostile tests the program with damaged files, and with inputs made to be costly.
//
// TestHostile damages real files; TestHostileKinds measures commands on families of inputs that grow. `make hostile`
// runs both. The functions that make a format's inputs are in the file named after it.
package hostile
