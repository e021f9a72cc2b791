package main

const introduction = `# Capacity of a fleet

Made by ` + "`make sim`" + `, which plays routers and worker pods in a time of its own. What is decided is decided by the code that the
programs run (` + "`runtime/fleet/route`, `runtime/queue`" + `); slots, the network and clients are modelled. The same seed gives the same bytes.

Where nothing else is said: 50 pods of 8 slots, 8 routers with 8 places to wait for 1.95 s each, messages of 2 ms one way, changes
told at most every 5 ms. Streams arrive at random (Poisson) and hold a slot for 4 s on average (log-normal, deviation 4 s). A load of 1 is
as many streams as there are slots. Who is refused does not come back, and nobody hangs up. The first 30 s of a run do not count.
`

const reading = `
## What this says, and what not

- Grants make the fleet nearly as good as one router that knows all: what is left comes from the places to wait, eight for each router,
  of which some are full while others are empty, and hardly from messages that take time. Below 0.9 all policies are alike.
- Near and above full load a race multiplies attempts, and refuses more: three pods in a row may have been taken by others.
- A router with more traffic than others waits no longer, because slots go to who has waited longest; but its places are full more often,
  so that it refuses more.
- Grants hold for 50 ms. Where messages take 20 ms many of them come too late, and above 25 ms none can be used: then the fleet refuses
  much more than it had to. Routers belong near their pods, within 5 ms.
- Streams are not all alike in the evening as they are here, calls come in waves, and clients come back. Plan with the worst minute, and
  for a load of 0.8.
- No message is lost, and a pod speaks eight streams as fast as one. What a slot can do is measured in [benchmarks.md](benchmarks.md).
- With 1,000 pods each router takes in some thousands of messages a second. Above that, cells cost nothing that can be seen here, because each is
  large enough by itself.

To repeat it: ` + "`make sim`" + ` writes this page; ` + "`go run ./hack/sim -quick`" + ` prints the first three tables in half a minute, from shorter runs;
` + "`-seed`" + ` takes other clients. The simulator plays about a million events a second on one core of a 2.5 GHz Xeon.
`
