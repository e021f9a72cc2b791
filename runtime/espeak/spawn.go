package espeak

import "runtime"

// spawner starts processes from an OS thread of its own. The death signal of Linux follows that thread, not the whole
// program: a thread that the runtime lets go would take the processes that it started with it.
type spawner struct {
	jobs    chan func()
	stopped chan struct{}
}

func newSpawner() *spawner {
	s := &spawner{jobs: make(chan func(), 1), stopped: make(chan struct{})}
	go func() {
		defer close(s.stopped)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for job := range s.jobs {
			job()
		}
	}()
	return s
}

// launch is a process that is being started.
type launch struct {
	voice   *voice
	process *process // valid, like err, once ready is closed
	err     error
	ready   chan struct{}
}

// launch starts a process for v, without waiting for it.
func (s *spawner) launch(e *Engine, v *voice) *launch {
	l := &launch{voice: v, ready: make(chan struct{})}
	s.jobs <- func() {
		defer close(l.ready)
		l.process, l.err = startProcess(e.program, v.args(e.hindi), e.limits.stall)
	}
	return l
}

// wait returns the process. It must be called once for every launch.
func (l *launch) wait() (*process, error) {
	<-l.ready
	return l.process, l.err
}

// close ends the thread.
func (s *spawner) close() {
	close(s.jobs)
	<-s.stopped
}
