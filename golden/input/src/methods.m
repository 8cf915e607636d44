/* Objective-C: instance and class methods, a category, a protocol, C functions, a block of selectors with colons. */
typedef signed char BOOL_;
@protocol Drawing
- (int)drawAt:(int)x and:(int)y;
@end
__attribute__((objc_root_class)) @interface Shape <Drawing> { int side; }
+ (int)count;
- (int)area;
- (int)drawAt:(int)x and:(int)y;
@end
@interface Shape (Extra)
- (int)twice:(int)n;
@end
static int helper(int n) { return n * 3; }
@implementation Shape
+ (int)count { return helper(2); }
- (int)area { return side * side; }
- (int)drawAt:(int)x and:(int)y { return x + y + side; }
@end
@implementation Shape (Extra)
- (int)twice:(int)n { return helper(n) * 2 + side; }
@end
