package code

import "strings"

// neverReturning reports whether a function of a library is known not to return, by its linkage name.
func neverReturning(name string) bool {
	name, _, _ = strings.Cut(name, "@")
	if neverReturns[name] {
		return true
	}
	for _, p := range neverReturn {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return strings.HasPrefix(name, "_ZSt") && strings.Contains(name[:min(len(name), 16)], "__throw_")
}

// exits reports whether the function of a name never returns in any binary that has one.
func exits(name string) bool { return neverReturns[name] }

// neverReturns has the functions of C, C++, and of the libraries of other languages that are declared so.
var neverReturns = map[string]bool{
	"abort": true, "exit": true, "_exit": true, "_Exit": true, "quick_exit": true, "thrd_exit": true, "pthread_exit": true,
	"longjmp": true, "_longjmp": true, "siglongjmp": true, "__longjmp_chk": true,
	"err": true, "errx": true, "verr": true, "verrx": true,
	"__stack_chk_fail": true, "__stack_chk_fail_local": true, "__fortify_fail": true, "__chk_fail": true,
	"__assert_fail": true, "__assert": true, "__assert_perror_fail": true, "__libc_start_main": true, "_dl_signal_error": true,
	"__cxa_throw": true, "__cxa_rethrow": true, "__cxa_bad_cast": true, "__cxa_bad_typeid": true, "__cxa_call_unexpected": true,
	"__cxa_call_terminate": true, "__cxa_pure_virtual": true, "__cxa_deleted_virtual": true, "__cxa_throw_bad_array_new_length": true,
	"__cxa_throw_bad_array_length": true, "_Unwind_Resume": true, "__clang_call_terminate": true,
	"_ZSt9terminatev": true, "_ZSt10unexpectedv": true, "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE": true,
	"_ZSt21__glibcxx_assert_failPKciS0_S0_": true,
	"rust_begin_unwind":                     true, "__rust_alloc_error_handler": true,
	"g_assertion_message": true, "g_assertion_message_expr": true, "g_assertion_message_error": true, "g_assertion_message_cmpstr": true,
	"Py_FatalError": true, "_Py_FatalErrorFunc": true, "_Py_FatalErrorFormat": true,
	"_d_throw_exception": true, "_d_throwc": true, "_d_throwdwarf": true, "_d_assertp": true, "_d_assert": true, "_d_assert_msg": true,
	"_d_arraybounds": true, "_d_arraybounds_slice": true, "_d_arraybounds_index": true, "_d_unittestp": true,
}

var neverReturn = []string{
	"__gnat_rcheck_", "__gnat_raise_", "ada__exceptions__raise_", "ada__exceptions__reraise_",
	"_gfortran_runtime_error", "_gfortran_os_error", "_gfortran_stop_", "_gfortran_error_stop_",
	"_ZN4core9panicking", "_ZN3std9panicking", "_ZN4core6option13expect_failed", "_ZN4core6option13unwrap_failed",
	"_ZN4core6result13unwrap_failed", "_ZN5alloc5alloc18handle_alloc_error", "_ZN5alloc7raw_vec17capacity_overflow", "_ZN5alloc7raw_vec12handle_error",
}
