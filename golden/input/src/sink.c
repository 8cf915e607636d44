volatile int sink;
