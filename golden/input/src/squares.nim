type Shape = object
  side: int
proc area(s: Shape): int = s.side * s.side
proc `+`(a, b: Shape): Shape = Shape(side: a.side + b.side)
iterator upto(n: int): int {.closure.} =
  for i in 0 .. n: yield i
# Nim is compiled to C, whose names it makes.
echo area(Shape(side: 2) + Shape(side: 3))
for i in upto(3): echo i
