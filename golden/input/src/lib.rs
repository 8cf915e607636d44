// Generics, traits, closures and modules, without std.
#![no_std]
#![allow(static_mut_refs)]

#[panic_handler]
fn stop(_: &core::panic::PanicInfo) -> ! {
    loop {}
}

static mut SINK: i32 = 0;

#[inline(never)]
fn keep(v: i32) -> i32 {
    unsafe {
        core::ptr::write_volatile(&mut SINK, v);
        core::ptr::read_volatile(&SINK)
    }
}

mod shapes {
    pub trait Area {
        fn area(&self) -> i32;
    }
    pub struct Square(pub i32);
    pub struct Pair<A, B>(pub A, pub B);

    impl Area for Square {
        #[inline(never)]
        fn area(&self) -> i32 {
            super::keep(self.0) * self.0
        }
    }
    impl<A: Area, B: Area> Area for Pair<A, B> {
        #[inline(never)]
        fn area(&self) -> i32 {
            self.0.area() + self.1.area()
        }
    }
}
use shapes::{Area, Pair, Square};

#[inline(never)]
fn apply<F: Fn(i32) -> i32, const N: usize>(f: F) -> i32 {
    let mut t = 0;
    for i in 0..N {
        t ^= f(i as i32);
    }
    t
}

#[no_mangle]
pub extern "C" fn entry(a: i32) -> i32 {
    let shapes = Pair(Square(a), Pair(Square(a ^ 1), Square(3)));
    let k = keep(a);
    apply::<_, 3>(|v| keep(v) ^ k) ^ shapes.area()
}

#[inline(never)]
#[export_name = "r#try $weird.name"]
pub fn odd_name(a: &dyn Area) -> i32 {
    a.area()
}

#[no_mangle]
pub fn uses_odd(a: i32) -> i32 {
    odd_name(&Square(a))
}
