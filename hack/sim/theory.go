package main

import "time"

// erlangC returns what queueing theory says of servers with exponential service times, at which requests arrive at
// random and wait in one queue without an end: how likely a request has to wait, and for how long on average (M/M/c,
// Erlang 1917).
func erlangC(servers int, load float64, service time.Duration) (waits float64, mean time.Duration) {
	offered := load * float64(servers)
	blocked := 1.0 // Erlang B, by its recursion
	for n := 1; n <= servers; n++ {
		blocked = offered * blocked / (float64(n) + offered*blocked)
	}
	waits = blocked / (1 - load*(1-blocked))
	return waits, time.Duration(waits * float64(service) / (float64(servers) * (1 - load)))
}

// markovian is the run that theory can tell the outcome of.
func markovian(load float64, length time.Duration) config {
	return config{
		pods: 4, slots: slotCount, routers: 1, load: load, queueLen: 1 << 20, noLimit: true, exponential: true,
		warmUp: 200 * time.Second, length: length,
	}
}
