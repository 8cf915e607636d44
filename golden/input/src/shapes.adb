package body Shapes is
   function "+" (A, B : Point) return Point is ((A.X + B.X, A.Y + B.Y));
   function Area (Side : Integer) return Integer is (Area (Side, Side));
   function Area (Width, Height : Integer) return Integer is
      function Clamped (N : Integer) return Integer is
      begin
         if N < 0 then return -Width; end if;
         return N;
      end Clamped;
   begin
      return Clamped (Width) * Clamped (Height);
   end Area;
   package body Deep is
      function Turn (A : Point) return Point is ((-A.Y, A.X));
      function Best (A, B : Item) return Item is
      begin
         if Better (A, B) then return A; end if;
         return B;
      end Best;
   end Deep;
   task body Worker is
      Sum : Integer := 0;
   begin
      accept Start (N : Integer) do Sum := Sum + N; end Start;
   end Worker;
   protected body Counter is
      procedure Add (N : Integer) is begin Total := Total + N; end Add;
      function Get return Integer is (Total);
   end Counter;
   function Larger (A, B : Integer) return Boolean is (A > B);
   function Most is new Deep.Best (Integer, Larger);
   Start : constant Integer := Most (Area (3), 2);
begin
   if Start < 0 then raise Constraint_Error; end if;
end Shapes;
