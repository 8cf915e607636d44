package coroutine

import (
	"github.com/symtool/symtool/symfmt/vars"
	"github.com/symtool/symtool/walk/dump"
)

// Layout is what the type of a frame says about it. Offsets and sizes are in bytes.
type Layout struct {
	Size      uint64
	Promise   dump.Range // relative to the frame
	Index     dump.Range // the number of the suspension point, which has no size if the frame has none
	IndexStep uint64     // from the number of a suspension point to that of the next
	Self      uint64     // where GCC's frame has its own address; 0 if it has not
}

// LayoutOf returns the layout of the frames that a function resumes, or false if the debug information does not have
// the type of the frames.
func LayoutOf(info *vars.Info, f *vars.Func, ptrSize int) (Layout, bool) {
	if f == nil {
		return Layout{}, false
	}
	root := f.Tree(info)
	if root == nil || int(root.Group) >= len(info.Groups) {
		return Layout{}, false
	}
	for _, id := range info.Groups[root.Group] {
		t, _ := info.Plain(info.Vars[id].Type)
		if t != nil && t.Kind == vars.Pointer {
			t, _ = info.Plain(t.Elem)
		}
		if l, ok := layoutOf(info, t, ptrSize); ok {
			return l, true
		}
	}
	return Layout{}, false
}

// layoutOf returns the layout of a type, if it is that of a frame. The promise is what follows the two functions, in
// both compilers' frames.
func layoutOf(info *vars.Info, t *vars.Type, ptrSize int) (l Layout, ok bool) {
	if t == nil || t.Kind != vars.Struct || !t.HasSize || len(t.Members) < 2 || t.Members[0].Offset != 0 {
		return l, false
	}
	index, step := "", uint64(0)
	switch t.Members[0].Name {
	case "_Coro_resume_fn": // GCC's; odd numbers destroy
		index, step = "_Coro_resume_index", 2
	case "__resume_fn": // clang's
		index, step = "__coro_index", 1
	default:
		return l, false
	}
	l.Size, l.IndexStep = t.Size, step
	promise := (*vars.Member)(nil)
	for i := range t.Members {
		m := &t.Members[i]
		if m.Offset >= uint64(2*ptrSize) && (promise == nil || m.Offset < promise.Offset) {
			promise = m
		}
		if m.Name == "_Coro_self_handle" {
			l.Self = m.Offset
		}
		if size, known := info.SizeOf(m.Type, ptrSize); m.Name == index && known && size <= 8 {
			l.Index = dump.Range{Addr: m.Offset, Size: size}
		}
	}
	if promise != nil {
		size, _ := info.SizeOf(promise.Type, ptrSize)
		l.Promise = dump.Range{Addr: promise.Offset, Size: size}
	}
	return l, true
}
