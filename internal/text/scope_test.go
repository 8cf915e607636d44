package text

import "testing"

func TestLastPart(t *testing.T) {
	for name, want := range map[string]string{
		"T":       "T",
		"a::b::T": "T",
		"core::pin::Pin<&mut core::pin::Pin<alloc::boxed::Box<(dyn a::F<Output=u32> + b::Send), c::Global>>>": "Pin<&mut core::pin::Pin<alloc::boxed::Box<(dyn a::F<Output=u32> + b::Send), c::Global>>>",
		"a::Option<fn(b::T) -> c::U>":            "Option<fn(b::T) -> c::U>",
		"a::f::{closure_env#0}<b::T>":            "{closure_env#0}<b::T>",
		"<a::T as b::U>::f::{async_block_env#1}": "{async_block_env#1}",
		"":                                       "",
		"a::b<c::d>::E<f::g>":                    "E<f::g>",
		"a::":                                    "",
	} {
		if got := LastPart(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}
