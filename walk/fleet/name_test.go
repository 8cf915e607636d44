package fleet

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFunctionName(t *testing.T) {
	for name, want := range map[string]string{
		"main":                               "main",
		"crash(int)":                         "crash",
		"Foo::bar(std::string const&) const": "Foo::bar",
		"void std::vector<int, std::allocator<int> >::push_back(int const&)": "std::vector<T>::push_back",
		"std::map<std::string, std::vector<int> >::operator[](int)":          "std::map<T>::operator[]",
		"bool operator< <int>(A<int> const&, A<int> const&)":                 "operator< <T>",
		"A::operator<<(int)":                                       "A::operator<<",
		"A::operator->() const":                                    "A::operator->",
		"A::operator()(int) const":                                 "A::operator()",
		"A::operator bool() const":                                 "A::operator bool",
		"operator new(unsigned long)":                              "operator new",
		"myoperator<int>(int)":                                     "myoperator<T>",
		"(anonymous namespace)::work(int)":                         "(anonymous namespace)::work",
		"int (anonymous namespace)::work<3>(int)":                  "(anonymous namespace)::work<T>",
		"`anonymous namespace'::work":                              "`anonymous namespace'::work",
		"static void `anonymous namespace'::A::work(int)":          "`anonymous namespace'::A::work",
		"void `unclosed quote(int)":                                "quote",
		"foo(int) [clone .cold]":                                   "foo",
		"foo(int) [clone .part.0] [clone .cold]":                   "foo",
		"A::f(int) &&":                                             "A::f",
		"f<(Kind)3>(int)":                                          "f<T>",
		"f<&A::operator->>(int)":                                   "f<T>",
		"main::{lambda(int, char)#1}::operator()(int, char) const": "main::{lambda#1}::operator()",
		"non-virtual thunk to A::f()":                              "A::f",
		"<name omitted>":                                           "<name omitted>",
		"<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop":      "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop",
		"core::ptr::drop_in_place<alloc::string::String>":          "core::ptr::drop_in_place<T>",
		"app::run::{{closure}}::h0123456789abcdef":                 "app::run::{{closure}}",
		"app::h0123456789abcdeg":                                   "app::h0123456789abcdeg",
		"core::ops::function::FnOnce::call_once{{vtable.shim}}::h0123456789abcdef": "core::ops::function::FnOnce::call_once{{vtable.shim}}",
		"main.(*Store).Get":      "main.(*Store).Get",
		"main.Map[...].Get":      "main.Map[...].Get",
		"copy.part.0.cold":       "copy",
		"main.run.func1":         "main.run.func1",
		"(":                      "(",
		"f(":                     "f",
		"a<b":                    "a<T>",
		"":                       "",
		"isconst constant(int)":  "constant",
		"A const& get(int)":      "get",
		"unsigned long f<a b>()": "f<T>",
	} {
		if got := functionName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// A name of megabytes costs as much as a name of kilobytes.
func TestFunctionNameLong(t *testing.T) {
	long := "f" + strings.Repeat("é<(", 1<<20)
	if got := functionName(long); len(got) > maxFunction || !utf8.ValidString(got) {
		t.Errorf("%d bytes", len(got))
	}
}

func FuzzFunctionName(f *testing.F) {
	for _, seed := range []string{"a<b>(c) const", "operator<<", "{lambda(", "x::h0123456789abcdef", "(anonymous namespace)::f", "a b <c d"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got := functionName(name)
		if name != "" && got == "" || len(got) > maxFunction+len(name) {
			t.Errorf("%q: %q", name, got)
		}
	})
}
