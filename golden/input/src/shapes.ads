--  Ada: packages in packages, a generic, operators, tasks, overloading.
package Shapes is
   type Point is record X, Y : Integer; end record;
   function "+" (A, B : Point) return Point;
   function Area (Side : Integer) return Integer;
   function Area (Width, Height : Integer) return Integer;
   package Deep is
      function Turn (A : Point) return Point;
      generic
         type Item is private;
         with function Better (A, B : Item) return Boolean;
      function Best (A, B : Item) return Item;
   end Deep;
   task type Worker is
      entry Start (N : Integer);
   end Worker;
   protected type Counter is
      procedure Add (N : Integer);
      function Get return Integer;
   private
      Total : Integer := 0;
   end Counter;
end Shapes;
