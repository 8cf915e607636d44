module Inner = struct let rec sum f = function [] -> 0 | x :: rest -> f x + sum f rest end
let (+++) a b = Inner.sum (fun x -> x * a) [a; b]
let apply' n = n +++ 2
class counter n = object val mutable c = n method add k = c <- c + k; c end
