# Waits in a handler of a signal, below sort and eval.
$SIG{USR1} = sub { sleep 1 while 1 };
my @sorted = sort { eval { kill USR1 => $$; 1 } } 3, 1, 2;
