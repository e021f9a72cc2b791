package main

const introduction = `# Capacity of a fleet

Made by ` + "`make sim`" + `, which simulates routers and worker pods in virtual time. Decisions are made by
the code that the programs run (` + "`runtime/fleet/route`, `runtime/queue`, `controllers/scaler`" + `); slots, the network,
Kubernetes and clients are modelled. The same seed gives the same bytes.

Where nothing else is said: 50 pods of 8 slots, 8 routers with 8 places to wait for 1.95 s each, messages of 2 ms one
way, changes told at most every 5 ms. Streams arrive at random (Poisson) and hold a slot for 4 s on average
(log-normal, deviation 4 s). A load of 1 is as many streams as there are slots. Who is refused does not come back, and
nobody hangs up. The first 30 s of a run do not count.
`

const aboutFaults = `
## Pods and routers that die

At a load of 0.8 one pod is killed, then one router, then a pod hangs for 20 s, and then every pod is replaced, one
each 4 s; each is back after 5 s.
`

const aboutViews = `
## How right views are

Each router's belief about each pod's free slots, compared with the truth every millisecond.
`

const aboutLoads = `
## Refusals against load

` + "`all-knowing`" + ` is one router without any delay, with as many places to wait as the eight have together;
` + "`no grants`" + ` are eight routers that race for what they see free.
`

const aboutScaling = `
## A size that follows clients

What the operator decides is decided by its code (` + "`controllers/scaler`" + `), as is which pods go. Four routers; a pod
speaks 40 to 50 s after it was ordered; a client that is refused tries three times in all, 1 to 1.25 s later each, and is
lost then. All sizes aim at slots that are used to 80 % and empty pods before they are removed, and all but the KPA-like
one read what the operator measures.

- own loop: on demand in slots, each 2 s
- HPA on demand: an external metric, the demand in slots (AverageValue), with the HPA's defaults
- HPA on queue: the same with ` + "`tts_queue_depth`" + `, two a pod
- KPA-like: on what is spoken and waits, as Knative counts, with its target of 70 % and its panic
- oracle: knows what clients will ask for while a pod starts, but not what will fail

The scenarios:

`

const aboutEstimates = `
## Demand, as the operator finds it

Ten pods that stay ten, and what the operator thinks is asked for, more or less than what is. It presumes clients that try
three times, as the API recommends. What is too much there are those who wait: up to 32, beside 80 slots.
`

const aboutDelays = `
## Between routers and pods

One way, on average; each message takes 0.75 to 1.25 of it.
`

const aboutHits = `
## Texts found prepared

%d texts, asked for by Zipf's law; each pod keeps the %d that it spoke last, so that all pods together could keep each
text once. Caches fill for 450 s before it counts.
`

const aboutLadder = `
## From 10 to 10,000 pods

%d pods are %d cells of 1,000 that know nothing of one another; clients come to each alike.
`

const aboutTheory = `
## Compared with theory

One router without delay, 32 slots, service times and arrivals as M/M/c has them. The load is the one that was drawn.
`

const reading = `
## What this says, and what not

- Grants make the fleet nearly as good as one router that knows all. What is left comes from the places to wait, eight
  for each router, of which some are full while others are empty: without any delay eight routers refuse 0.16 % at 0.95.
  Single runs of ten minutes differ from the all-knowing router by 0.07 to 0.21 points. Below 0.9 all policies are alike.
- Near and above full load a race multiplies attempts and refuses more, because slots are taken before one gets there.
- At 0.95, where the fleet is full at one moment and not at the next, slow messages cost attempts even with grants: 1.10
  for each stream with 5 ms. The goal of 1.05 is met with 2 ms, and above full load with any delay that grants bear.
- Grants hold for 50 ms. Where messages take 20 ms many come too late, and from 25 ms on none can be used, so that the
  fleet refuses far more than it had to. Routers belong within 5 ms of their pods.
- Who has waited longest comes first over all routers, so that clients of one with more traffic wait no longer.
- Texts meet the pod that has them prepared while there is room: near full load any free pod has to do.
- A thousand pods are told of those who wait only each 50 ms, and eight places are few beside 8,000 slots: at 0.95 some of
  ten such cells refused, and others nothing, in the 15 s that were played. That is too short to tell more.
- The own loop loses little more than what has to be lost while the first pods start. The queue alone says
  nothing once it is full: an HPA on it stays at 16 pods, one for each two of 32 places to wait, whatever is asked for.
- An HPA on demand comes next: it looks each 15 s and doubles, where the own loop looks each 2 s and takes four times.
- A zone's pods count as there for minutes after it is lost. The own loop replaces what routers cannot reach.
- Pods are paid for five minutes longer than they are needed, so that the next burst finds them. The oracle need not.
- Streams are not alike in the evening as they are here, and texts are not alike in length. Plan with the worst minute.
- No message is lost, and a pod speaks eight streams as fast as one. What a slot can do is measured in
  [benchmarks.md](benchmarks.md).

To repeat it: ` + "`make sim`" + ` writes this page; ` + "`go run ./hack/sim -quick`" + ` prints the first tables
from fewer and shorter runs in half a minute; ` + "`-seed`" + ` takes other clients. The simulator plays about a million events a
second on one core of a 2.5 GHz Xeon.
`
