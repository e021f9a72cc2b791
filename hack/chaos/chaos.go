// Package chaos kills, stops and restarts the processes of a fleet while clients speak through it, and checks what each
// client saw and what the portal bills, frame by frame. The programs are the real ones, with an engine that is paced,
// or with Kokoro (ENGINE=kokoro). `make chaos` runs it.
package chaos
