#pragma once
extern volatile int sink;
int entry_b(int);
int crossing(int);
struct Shared {
	int twice(int);
};
