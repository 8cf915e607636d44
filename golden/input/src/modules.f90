! Fortran: module procedures, a submodule's, internal ones, operators, common blocks.
module shapes
   implicit none
   type :: point
      integer :: x, y
   contains
      procedure :: turn => turn_point
   end type
   interface operator(+)
      module procedure add
   end interface
   interface
      module integer function later(n)
         integer, intent(in) :: n
      end function
   end interface
contains
   function add(a, b) result(c)
      type(point), intent(in) :: a, b
      type(point) :: c
      c = point(a%x + b%x, a%y + b%y)
   end function
   subroutine turn_point(self)
      class(point), intent(inout) :: self
      integer :: x
      x = self%x
      self%x = -self%y
      self%y = swapped(x)
   contains
      integer function swapped(n)
         integer, intent(in) :: n
         swapped = n * self%x
      end function
   end subroutine
end module

submodule (shapes) rest
contains
   module procedure later
      later = n + 1
   end procedure
end submodule

integer function OUTSIDE(n)
   integer, intent(in) :: n
   OUTSIDE = n + 1
end function

integer function named_by_c(n) bind(c, name='NamedByC')
   use iso_c_binding
   integer(c_int), value :: n
   named_by_c = n * 2
end function

program prog
   use shapes
   type(point) :: p
   integer, external :: outside
   p = point(1, 2) + point(3, 4)
   call p%turn()
   if (later(outside(p%x)) == 0) stop 1
contains
   subroutine unused(n)
      integer :: n
      n = 1
   end subroutine
end program
