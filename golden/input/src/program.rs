// A program of generics, closures, traits and threads, with std, for the comparison of every line and inline with
// other tools. Not a fixture of its own, its debug information is megabytes. Edition 2021, from rustc 1.63 on.
use std::any::Any;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet, VecDeque};
use std::fmt::{self, Debug, Display, Write as _};
use std::future::Future;
use std::io::{self, BufRead, Write as _};
use std::ops::{Add, AddAssign, Index, Mul, Neg};
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{mpsc, Arc, Mutex, RwLock};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

mod algebra {
    use super::*;

    pub trait Ring: Copy + Add<Output = Self> + Mul<Output = Self> + Neg<Output = Self> + PartialEq + Debug {
        const ZERO: Self;
        const ONE: Self;
        fn power(self, n: u32) -> Self {
            match n {
                0 => Self::ONE,
                n if n % 2 == 0 => (self * self).power(n / 2),
                n => self * self.power(n - 1),
            }
        }
    }

    macro_rules! rings {
        ($($t:ty => $zero:expr, $one:expr;)*) => {
            $(impl Ring for $t { const ZERO: Self = $zero; const ONE: Self = $one; })*
        };
    }
    rings! { i32 => 0, 1; i64 => 0, 1; f64 => 0.0, 1.0; }

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Matrix<T, const R: usize, const C: usize>(pub [[T; C]; R]);

    impl<T: Ring, const R: usize, const C: usize> Add for Matrix<T, R, C> {
        type Output = Self;
        fn add(mut self, other: Self) -> Self {
            for (row, theirs) in self.0.iter_mut().zip(other.0.iter()) {
                for (a, b) in row.iter_mut().zip(theirs) {
                    *a = *a + *b;
                }
            }
            self
        }
    }
    impl<T: Ring, const R: usize, const K: usize, const C: usize> Mul<Matrix<T, K, C>> for Matrix<T, R, K> {
        type Output = Matrix<T, R, C>;
        fn mul(self, other: Matrix<T, K, C>) -> Matrix<T, R, C> {
            let mut out = [[T::ZERO; C]; R];
            for (r, row) in out.iter_mut().enumerate() {
                for (c, cell) in row.iter_mut().enumerate() {
                    *cell = (0..K).map(|k| self.0[r][k] * other.0[k][c]).fold(T::ZERO, |a, b| a + b);
                }
            }
            Matrix(out)
        }
    }
    impl<T: Ring, const R: usize, const C: usize> Neg for Matrix<T, R, C> {
        type Output = Self;
        fn neg(self) -> Self {
            Matrix(self.0.map(|row| row.map(|v| -v)))
        }
    }
    impl<T: Ring, const N: usize> Ring for Matrix<T, N, N> {
        const ZERO: Self = Matrix([[T::ZERO; N]; N]);
        const ONE: Self = {
            let mut m = [[T::ZERO; N]; N];
            let mut i = 0;
            while i < N {
                m[i][i] = T::ONE;
                i += 1;
            }
            Matrix(m)
        };
    }

    #[derive(Clone, Default)]
    pub struct Polynomial<T>(pub Vec<T>);

    impl<T: Ring> Polynomial<T> {
        pub fn at(&self, x: T) -> T {
            self.0.iter().rev().fold(T::ZERO, |sum, &c| sum * x + c)
        }
    }
    impl<T> Index<usize> for Polynomial<T> {
        type Output = T;
        fn index(&self, i: usize) -> &T {
            &self.0[i]
        }
    }
    impl<T: Ring> AddAssign<&Polynomial<T>> for Polynomial<T> {
        fn add_assign(&mut self, other: &Polynomial<T>) {
            if self.0.len() < other.0.len() {
                self.0.resize(other.0.len(), T::ZERO);
            }
            self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a = *a + *b);
        }
    }
    impl<T: Ring + Display> Display for Polynomial<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let terms = self.0.iter().enumerate().filter(|(_, c)| **c != T::ZERO);
            for (n, (i, c)) in terms.enumerate() {
                if n > 0 {
                    f.write_str(" + ")?;
                }
                match i {
                    0 => write!(f, "{c}")?,
                    1 => write!(f, "{c}x")?,
                    _ => write!(f, "{c}x^{i}")?,
                }
            }
            Ok(())
        }
    }
}
use algebra::{Matrix, Polynomial, Ring};

mod tree {
    use super::*;

    /// A treap: recursion over boxes, ordering by a trait object.
    pub struct Treap<K, V> {
        root: Option<Box<Node<K, V>>>,
        seed: u64,
        compare: Box<dyn Fn(&K, &K) -> std::cmp::Ordering + Send>,
    }
    struct Node<K, V> {
        key: K,
        value: V,
        weight: u64,
        left: Option<Box<Node<K, V>>>,
        right: Option<Box<Node<K, V>>>,
    }

    impl<K, V> Treap<K, V> {
        pub fn new(compare: impl Fn(&K, &K) -> std::cmp::Ordering + Send + 'static) -> Self {
            Treap { root: None, seed: 88172645463325252, compare: Box::new(compare) }
        }
        pub fn insert(&mut self, key: K, value: V) {
            self.seed ^= self.seed << 13;
            self.seed ^= self.seed >> 7;
            self.seed ^= self.seed << 17;
            let node = Box::new(Node { key, value, weight: self.seed, left: None, right: None });
            self.root = Some(Self::put(self.root.take(), node, &*self.compare));
        }
        fn put(at: Option<Box<Node<K, V>>>, node: Box<Node<K, V>>, compare: &dyn Fn(&K, &K) -> std::cmp::Ordering) -> Box<Node<K, V>> {
            let mut at = match at {
                None => return node,
                Some(at) => at,
            };
            if compare(&node.key, &at.key).is_lt() {
                let mut left = Self::put(at.left.take(), node, compare);
                if left.weight > at.weight {
                    at.left = left.right.take();
                    left.right = Some(at);
                    return left;
                }
                at.left = Some(left);
            } else {
                let mut right = Self::put(at.right.take(), node, compare);
                if right.weight > at.weight {
                    at.right = right.left.take();
                    right.left = Some(at);
                    return right;
                }
                at.right = Some(right);
            }
            at
        }
        pub fn walk<'a>(&'a self, visit: &mut impl FnMut(&'a K, &'a V)) {
            fn go<'a, K, V>(n: &'a Option<Box<Node<K, V>>>, visit: &mut impl FnMut(&'a K, &'a V)) {
                if let Some(n) = n {
                    go(&n.left, visit);
                    visit(&n.key, &n.value);
                    go(&n.right, visit);
                }
            }
            go(&self.root, visit)
        }
    }

    pub struct Family {
        pub name: String,
        pub parent: RefCell<Weak<Family>>,
        pub children: RefCell<Vec<Rc<Family>>>,
    }
    thread_local!(static DROPPED: Cell<usize> = Cell::new(0));
    impl Drop for Family {
        fn drop(&mut self) {
            DROPPED.with(|d| d.set(d.get() + self.name.len()));
        }
    }
    pub fn dropped() -> usize {
        DROPPED.with(Cell::get)
    }
    impl Family {
        pub fn new(name: &str) -> Rc<Self> {
            Rc::new(Family { name: name.to_owned(), parent: RefCell::new(Weak::new()), children: RefCell::default() })
        }
        pub fn adopt(self: &Rc<Self>, child: Rc<Family>) {
            *child.parent.borrow_mut() = Rc::downgrade(self);
            self.children.borrow_mut().push(child);
        }
        pub fn path(&self) -> String {
            match self.parent.borrow().upgrade() {
                Some(p) => p.path() + "/" + &self.name,
                None => self.name.clone(),
            }
        }
    }
}
use tree::{Family, Treap};

mod language {
    use super::*;

    #[derive(Debug, Clone, PartialEq)]
    pub enum Token<'a> {
        Number(f64),
        Name(&'a str),
        Sign(char),
    }
    #[derive(Debug)]
    pub enum Failure {
        Unexpected { at: usize, found: String },
        End,
        Number(std::num::ParseFloatError),
    }
    impl From<std::num::ParseFloatError> for Failure {
        fn from(e: std::num::ParseFloatError) -> Self {
            Failure::Number(e)
        }
    }
    impl Display for Failure {
        fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
            match self {
                Failure::Unexpected { at, found } => write!(f, "unexpected {found:?} at {at}"),
                Failure::End => f.write_str("unexpected end"),
                Failure::Number(e) => Display::fmt(e, f),
            }
        }
    }
    impl std::error::Error for Failure {}

    pub struct Lexer<'a> {
        text: &'a str,
        at: usize,
    }
    impl<'a> Iterator for Lexer<'a> {
        type Item = Result<(usize, Token<'a>), Failure>;
        fn next(&mut self) -> Option<Self::Item> {
            let skipped = self.text[self.at..].trim_start();
            self.at = self.text.len() - skipped.len();
            let first = skipped.chars().next()?;
            let from = self.at;
            let run = |f: fn(char) -> bool| skipped.find(|c| !f(c)).unwrap_or(skipped.len());
            let token = if first.is_ascii_digit() {
                let n = run(|c| c.is_ascii_digit() || c == '.');
                self.at += n;
                match skipped[..n].parse() {
                    Ok(v) => Token::Number(v),
                    Err(e) => return Some(Err(e.into())),
                }
            } else if first.is_alphabetic() {
                let n = run(char::is_alphanumeric);
                self.at += n;
                Token::Name(&skipped[..n])
            } else {
                self.at += first.len_utf8();
                Token::Sign(first)
            };
            Some(Ok((from, token)))
        }
    }

    pub trait Expr: Debug + Send + Sync {
        fn eval(&self, names: &HashMap<String, f64>) -> Option<f64>;
        fn depth(&self) -> usize {
            1
        }
    }
    #[derive(Debug)]
    struct Constant(f64);
    #[derive(Debug)]
    struct Variable(String);
    struct Binary<F> {
        sign: char,
        f: F,
        sides: [Box<dyn Expr>; 2],
    }
    impl Expr for Constant {
        fn eval(&self, _: &HashMap<String, f64>) -> Option<f64> {
            Some(self.0)
        }
    }
    impl Expr for Variable {
        fn eval(&self, names: &HashMap<String, f64>) -> Option<f64> {
            names.get(&self.0).copied()
        }
    }
    impl<F> Debug for Binary<F> {
        fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.debug_tuple("Binary").field(&self.sign).field(&self.sides).finish()
        }
    }
    impl<F: Fn(f64, f64) -> f64 + Send + Sync> Expr for Binary<F> {
        fn eval(&self, names: &HashMap<String, f64>) -> Option<f64> {
            let [a, b] = &self.sides;
            Some((self.f)(a.eval(names)?, b.eval(names)?))
        }
        fn depth(&self) -> usize {
            1 + self.sides.iter().map(|s| s.depth()).max().unwrap_or(0)
        }
    }

    pub struct Parser<'a> {
        tokens: std::iter::Peekable<Lexer<'a>>,
    }
    impl<'a> Parser<'a> {
        pub fn parse(text: &'a str) -> Result<Box<dyn Expr>, Failure> {
            let mut p = Parser { tokens: Lexer { text, at: 0 }.peekable() };
            let e = p.sum()?;
            match p.tokens.next().transpose()? {
                None => Ok(e),
                Some((at, t)) => Err(Failure::Unexpected { at, found: format!("{t:?}") }),
            }
        }
        fn sign(&mut self, any: &[char]) -> Option<char> {
            match self.tokens.peek() {
                Some(Ok((_, Token::Sign(c)))) if any.contains(c) => {
                    let c = *c;
                    self.tokens.next();
                    Some(c)
                }
                _ => None,
            }
        }
        fn sum(&mut self) -> Result<Box<dyn Expr>, Failure> {
            let mut left = self.product()?;
            while let Some(sign) = self.sign(&['+', '-']) {
                let sides = [left, self.product()?];
                left = match sign {
                    '+' => Box::new(Binary { sign, f: |a, b| a + b, sides }),
                    _ => Box::new(Binary { sign, f: |a, b| a - b, sides }),
                };
            }
            Ok(left)
        }
        fn product(&mut self) -> Result<Box<dyn Expr>, Failure> {
            let mut left = self.atom()?;
            while let Some(sign) = self.sign(&['*', '/', '^']) {
                let sides = [left, self.atom()?];
                left = match sign {
                    '*' => Box::new(Binary { sign, f: |a, b| a * b, sides }),
                    '/' => Box::new(Binary { sign, f: |a, b| a / b, sides }),
                    _ => Box::new(Binary { sign, f: f64::powf, sides }),
                };
            }
            Ok(left)
        }
        fn atom(&mut self) -> Result<Box<dyn Expr>, Failure> {
            let (at, token) = self.tokens.next().ok_or(Failure::End)??;
            match token {
                Token::Number(v) => Ok(Box::new(Constant(v))),
                Token::Name(n) => Ok(Box::new(Variable(n.into()))),
                Token::Sign('(') => {
                    let e = self.sum()?;
                    self.sign(&[')']).map(|_| e).ok_or(Failure::End)
                }
                Token::Sign(c) => Err(Failure::Unexpected { at, found: c.into() }),
            }
        }
    }
}
use language::{Failure, Parser};

/// Workers that take boxed closures from one queue.
struct Pool {
    send: Option<mpsc::Sender<Box<dyn FnOnce() + Send>>>,
    threads: Vec<thread::JoinHandle<usize>>,
}
impl Pool {
    fn new(n: usize) -> Self {
        let (send, receive) = mpsc::channel::<Box<dyn FnOnce() + Send>>();
        let receive = Arc::new(Mutex::new(receive));
        let threads = (0..n)
            .map(|_| {
                let receive = Arc::clone(&receive);
                thread::spawn(move || {
                    let mut done = 0;
                    loop {
                        let job = receive.lock().unwrap().recv();
                        match job {
                            Ok(job) => job(),
                            Err(_) => return done,
                        }
                        done += 1;
                    }
                })
            })
            .collect();
        Pool { send: Some(send), threads }
    }
    fn run<T: Send + 'static>(&self, f: impl FnOnce() -> T + Send + 'static) -> mpsc::Receiver<T> {
        let (answer, wait) = mpsc::sync_channel(1);
        let job = move || {
            let _ = answer.send(f());
        };
        self.send.as_ref().unwrap().send(Box::new(job)).unwrap();
        wait
    }
    fn finish(mut self) -> usize {
        drop(self.send.take());
        self.threads.drain(..).map(|t| t.join().unwrap_or(0)).sum()
    }
}

/// A future that is ready at the third poll.
struct Third(u32);
impl Future for Third {
    type Output = u32;
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<u32> {
        self.0 += 1;
        if self.0 < 3 {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(self.0)
    }
}
struct Count(AtomicUsize);
impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
fn block_on<F: Future>(future: F) -> (F::Output, usize) {
    let count = Arc::new(Count(AtomicUsize::new(0)));
    let waker = Waker::from(count.clone());
    let mut cx = Context::from_waker(&waker);
    let mut future = Box::pin(future);
    loop {
        if let Poll::Ready(out) = future.as_mut().poll(&mut cx) {
            return (out, count.0.load(Ordering::Relaxed));
        }
    }
}
async fn add_up(n: u32) -> u32 {
    let mut sum = 0;
    for i in 0..n {
        sum += Third(i % 3).await * async { i + 1 }.await;
    }
    sum
}

fn compose<A, B, C>(f: impl Fn(A) -> B, g: impl Fn(B) -> C) -> impl Fn(A) -> C {
    move |a| g(f(a))
}
fn numbers<'a>(text: &'a str) -> impl Iterator<Item = i64> + 'a {
    text.split(|c: char| !c.is_ascii_digit() && c != '-').filter_map(|w| w.parse().ok())
}
fn squeeze(text: &str) -> Cow<'_, str> {
    if !text.contains("  ") {
        return text.into();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ").into()
}
fn describe(v: &dyn Any) -> String {
    if let Some(n) = v.downcast_ref::<i64>() {
        return format!("number {n:#x}");
    }
    match v.downcast_ref::<&str>() {
        Some(s) => format!("text {s:>12}"),
        None => "something else".to_string(),
    }
}

/// Shortest ways in a graph.
fn distances<N: Copy + Ord + std::hash::Hash>(edges: &[(N, N, u32)], from: N) -> BTreeMap<N, u32> {
    let mut next: HashMap<N, Vec<(N, u32)>> = HashMap::new();
    for &(a, b, d) in edges {
        next.entry(a).or_default().push((b, d));
        next.entry(b).or_insert_with(Vec::new).push((a, d));
    }
    let mut known = BTreeMap::new();
    let mut heap = BinaryHeap::from([(std::cmp::Reverse(0), from)]);
    while let Some((std::cmp::Reverse(d), n)) = heap.pop() {
        if known.contains_key(&n) {
            continue;
        }
        known.insert(n, d);
        let ways = next.get(&n).into_iter().flatten();
        heap.extend(ways.filter(|(m, _)| !known.contains_key(m)).map(|&(m, more)| (std::cmp::Reverse(d + more), m)));
    }
    known
}

fn threads(words: &[&'static str]) -> (usize, usize) {
    let pool = Pool::new(3);
    let seen = Arc::new(RwLock::new(HashSet::new()));
    let answers: Vec<_> = words
        .iter()
        .map(|&w| {
            let seen = seen.clone();
            pool.run(move || {
                let new = seen.write().unwrap().insert(w.to_uppercase());
                if new {
                    w.bytes().map(usize::from).sum::<usize>()
                } else {
                    seen.read().unwrap().len()
                }
            })
        })
        .collect();
    let sum = answers.iter().map(|a| a.recv().unwrap()).sum();
    let total = AtomicUsize::new(0);
    thread::scope(|s| {
        for chunk in words.chunks(2) {
            let total = &total;
            s.spawn(move || {
                for w in chunk {
                    total.fetch_add(w.len(), Ordering::SeqCst);
                }
            });
        }
    });
    (sum, pool.finish() + total.into_inner())
}

fn formulas(out: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let names: HashMap<_, _> = [("x", 2.5), ("half", 0.5)].iter().map(|&(k, v)| (k.to_string(), v)).collect();
    for text in ["1 + 2 * x", "(x - half) * (x + half) ^ 2", "1 / y"] {
        let e = Parser::parse(text)?;
        match e.eval(&names) {
            Some(v) => writeln!(out, "{text} = {v:.3}, depth {}", e.depth())?,
            None => writeln!(out, "{e:?} has no value")?,
        }
    }
    for bad in ["1 +", "2 $ 3", "1.2.3"] {
        match Parser::parse(bad) {
            Err(e @ (Failure::End | Failure::Unexpected { .. })) => writeln!(out, "{bad}: {e}")?,
            Err(e) => writeln!(out, "{bad}: {}", Box::<dyn std::error::Error>::from(e))?,
            Ok(e) => return Err(format!("{bad} is {e:?}").into()),
        }
    }
    Ok(())
}

fn collections(out: &mut String) -> fmt::Result {
    let mut treap = Treap::new(|a: &String, b: &String| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    for (i, w) in "the quick brown fox jumps over the lazy dog".split(' ').enumerate() {
        treap.insert(w.to_string(), i);
    }
    let mut order = VecDeque::new();
    treap.walk(&mut |k, v| if v % 2 == 0 { order.push_back(k) } else { order.push_front(k) });
    writeln!(out, "{order:?}")?;
    let mut sorted: Vec<_> = order.iter().map(|s| (s.len(), s.as_str())).collect();
    sorted.sort_unstable_by_key(|&(n, s)| (std::cmp::Reverse(n), s));
    sorted.dedup_by(|a, b| a.1 == b.1);
    writeln!(out, "{sorted:?} {:?}", sorted.binary_search_by(|p| (9 - p.0).cmp(&6)))?;
    let root = Family::new("root");
    let child = Family::new("child");
    root.adopt(child.clone());
    child.adopt(Family::new("leaf"));
    let leaf = child.children.borrow().first().map(|l| l.path());
    drop((root, child));
    writeln!(out, "{leaf:?}, {} dropped", tree::dropped())?;
    writeln!(out, "{:?}", distances(&[('a', 'b', 7), ('a', 'c', 1), ('c', 'b', 3), ('b', 'd', 1)], 'a'))
}

fn arithmetic(out: &mut String) -> fmt::Result {
    let fibonacci = Matrix([[1i64, 1], [1, 0]]).power(40);
    let wide = Matrix([[1.5f64, 2.0, -1.0]]) * Matrix([[2.0], [0.5], [4.0]]);
    writeln!(out, "{fibonacci:?} {wide:?} {:?}", -(fibonacci + Matrix::ONE))?;
    let mut p = Polynomial(vec![1, 0, 3]);
    p += &Polynomial(vec![4, 5, 6, 7]);
    writeln!(out, "{p} at 2: {}, third {}", p.at(2), p[2])?;
    let f = compose(|x: i32| x + 1, |x| x.wrapping_mul(x));
    let twice = compose(&f, &f);
    let by_name: [(&str, &dyn Fn(i32) -> i32); 2] = [("f", &f), ("twice", &twice)];
    for (name, g) in by_name {
        write!(out, "{name} {:?} ", (1..6).map(g).filter(|n| n % 2 == 0).collect::<Vec<_>>())?;
    }
    let total: i64 = numbers("12, -7 and 30; 4x5").inspect(|n| assert!(*n < 100)).sum();
    writeln!(out, "{total} {}", squeeze("a  b   c"))
}

fn main() {
    let mut out = String::new();
    arithmetic(&mut out).unwrap();
    collections(&mut out).unwrap();
    formulas(&mut out).unwrap_or_else(|e| eprintln!("{e}"));
    writeln!(out, "{:?}", block_on(add_up(9))).unwrap();
    writeln!(out, "{:?}", threads(&["one", "two", "three", "One", "two"])).unwrap();
    let things: Vec<Box<dyn Any>> = vec![Box::new(255i64), Box::new("words"), Box::new(1.5f32)];
    things.iter().for_each(|t| out.push_str(&(describe(t.as_ref()) + "\n")));
    let caught = std::panic::catch_unwind(|| numbers("1 0").reduce(|a, b| a / b));
    writeln!(out, "{}", caught.is_err()).unwrap();
    let stdin = io::stdin();
    let lines = stdin.lock().lines().map_while(Result::ok).filter(|l| !l.is_empty()).count();
    writeln!(out, "{lines} lines").unwrap();
    io::stdout().write_all(out.as_bytes()).unwrap();
}
