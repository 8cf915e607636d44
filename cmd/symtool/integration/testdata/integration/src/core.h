int core_work(int n);
