// A library of Go for C.
package main

import "C"

//export Waits
func Waits() { select {} }

func main() {}
