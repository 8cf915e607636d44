// Threads of Java wait in monitors, queues and sockets.
import java.net.*;
import java.util.concurrent.*;

public class Server {
	static int waits(int n) throws Exception {
		if (n > 0) return waits(n - 1) + 1;
		synchronized (Server.class) { Server.class.wait(); }
		return 0;
	}

	public static void main(String[] args) throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(3);
		pool.submit(() -> waits(30));
		pool.submit(() -> new LinkedBlockingQueue<Integer>().take());
		pool.submit(() -> new ServerSocket(0).accept());
	}
}
