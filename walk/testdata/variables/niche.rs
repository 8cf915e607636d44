// A program that crashes with enums whose discriminants are in niches, collections and pointers that share.
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, VecDeque};
use std::hint::black_box;
use std::rc::{Rc, Weak};
use std::sync::{Arc, Mutex};

#[derive(Debug, Clone)]
enum Shape {
    Unit,
    Circle(f64),
    Named { name: String, id: u32 },
    Nested(Box<Shape>, Option<char>),
}
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i8)]
enum Level {
    Low = -3,
    High = 7,
}
enum Never {}
#[derive(Debug)]
struct Node {
    value: i32,
    parent: RefCell<Weak<Node>>,
    children: RefCell<Vec<Rc<Node>>>,
}
trait Speak {
    fn speak(&self, n: u32) -> usize;
}
struct Dog {
    name: &'static str,
    age: Cell<u8>,
}
impl Speak for Dog {
    #[inline(never)]
    fn speak(&self, n: u32) -> usize {
        self.age.set(self.age.get() + 1);
        self.name.len() * n as usize
    }
}
struct Marker<T>(std::marker::PhantomData<T>, u16);
union Bits {
    f: f32,
    u: u32,
}

#[inline(never)]
fn crash(shape: &Shape, maybe: Option<Box<i32>>, none: Option<Box<i32>>, speaker: &dyn Speak, slice: &[u16], text: &str, level: Option<Level>) -> usize {
    let big: u128 = 1 << 100 | 7;
    let negative: i128 = -(1 << 90);
    let letter = 'é';
    let emoji: Option<char> = Some('😀');
    let tuple = (1u8, "two", 3.5f32, (true, ()));
    let nested: Option<Option<bool>> = Some(None);
    let result: Result<String, std::num::ParseIntError> = "12x".parse::<i32>().map(|n| n.to_string());
    let fine: Result<u8, String> = Ok(3);
    let never: Result<u32, Never> = Ok(5);
    let bits = Bits { f: 1.5 };
    let raw: *const i32 = std::ptr::null();
    let function: fn(i32) -> i32 = double;
    let marker = Marker::<String>(std::marker::PhantomData, 77);
    let spoken = speaker.speak(slice.len() as u32);
    black_box((&big, &negative, &letter, &emoji, &tuple, &nested, &result, &fine, &never, &bits, &function, &marker, &maybe, &none, &level));
    let value = unsafe { std::ptr::read_volatile(black_box(raw)) };
    black_box((&maybe, &none, shape));
    spoken + text.len() + value as usize
}

fn double(x: i32) -> i32 {
    x * 2
}

#[inline(never)]
fn collect(words: &[&str]) -> usize {
    let mut counts: HashMap<String, usize> = HashMap::new();
    let mut order: BTreeMap<u32, String> = BTreeMap::new();
    let mut tree: BTreeSet<i16> = BTreeSet::new();
    let mut set = HashSet::new();
    for (i, w) in words.iter().enumerate() {
        *counts.entry(w.to_string()).or_default() += i;
        order.insert(w.len() as u32 * 10 + i as u32, w.to_uppercase());
        set.insert(w.chars().next());
    }
    for i in 0..30 {
        tree.insert(i * 7 % 31);
    }
    let queue: VecDeque<u8> = (1..5).collect();
    let heap: BinaryHeap<i32> = [3, 1, 2].into_iter().collect();
    let leaf = Rc::new(Node { value: 3, parent: RefCell::new(Weak::new()), children: RefCell::new(vec![]) });
    let branch = Rc::new(Node { value: 5, parent: RefCell::new(Weak::new()), children: RefCell::new(vec![Rc::clone(&leaf)]) });
    *leaf.parent.borrow_mut() = Rc::downgrade(&branch);
    let shared = Arc::new(Mutex::new(vec![1.5, 2.5]));
    let boxed: Box<dyn Speak> = Box::new(Dog { name: "Rex", age: Cell::new(3) });
    let shapes = vec![Shape::Unit, Shape::Circle(2.5), Shape::Named { name: "box".to_string(), id: 9 }, Shape::Nested(Box::new(Shape::Circle(1.0)), Some('x'))];
    let array = [[1u8, 2], [3, 4]];
    let add = |n: usize| n + counts.len() + shapes.len();
    let owned = { let label = String::from("moved"); move |x: u32| label.len() as u32 + x };
    let total = add(2) + owned(3) as usize;
    black_box((&queue, &heap, &branch, &shared, &array, &set, &order, &tree, &counts));
    let r = crash(&shapes[3], Some(Box::new(-4)), None, boxed.as_ref(), &[10, 20, 30], words[1], Some(Level::High));
    black_box((&leaf, &boxed, &owned));
    total + r
}

fn main() {
    let words: Vec<&str> = "the quick brown fox jumps".split(' ').collect();
    let total = collect(&words);
    println!("{total} {:?}", Level::Low);
}
