{ Pascal: a unit with overloads, a class, a nested procedure, an operator, a generic. }
unit units;
{$mode delphi}
interface
type
  TPoint = record
    x, y: Integer;
    class operator Add(a, b: TPoint): TPoint;
  end;
  TShape = class
    side: Integer;
    constructor Create(n: Integer);
    destructor Destroy; override;
    function Area: Integer; virtual;
  end;
  TBox<T> = class
    item: T;
    procedure Put(const value: T);
  end;
  TIntBox = TBox<Integer>;
function Total(a: Integer): Integer; overload;
function Total(a, b: Integer): Integer; overload;
implementation
class operator TPoint.Add(a, b: TPoint): TPoint;
begin
  Result.x := a.x + b.x; Result.y := a.y + b.y;
end;
constructor TShape.Create(n: Integer);
begin
  inherited Create; side := n;
end;
destructor TShape.Destroy;
begin
  side := 0; inherited Destroy;
end;
function TShape.Area: Integer;
begin
  Result := side * side;
end;
procedure TBox<T>.Put(const value: T);
begin
  item := value;
end;
function Total(a: Integer): Integer;
begin
  Total := Total(a, 1);
end;
function Total(a, b: Integer): Integer;
  function Inner(n: Integer): Integer;
  begin
    Inner := n + a;
  end;
begin
  Total := Inner(b);
end;
initialization
  Total(1);
end.
