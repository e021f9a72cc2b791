// Package operatorbench measures what an operator of five hundred fleets takes: how long it looks at each, what it
// writes when nothing happens, its memory, and how soon it decides when it starts anew. `make bench-operator` runs it.
package operatorbench
