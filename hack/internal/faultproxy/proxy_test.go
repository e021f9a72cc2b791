package faultproxy

import (
	"bytes"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bubble joins two pipes by a proxy. The test has their other ends.
func bubble(t *testing.T, test func(t *testing.T, p *Proxy, client, target net.Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := newProxy()
		client, toProxy := net.Pipe()
		fromProxy, target := net.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			p.join(toProxy, fromProxy)
		}()
		test(t, p, client, target)
		p.Cut()
		client.Close()
		target.Close()
		<-done
	})
}

func write(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := c.Write([]byte(text)); err != nil {
		t.Error(err)
	}
}

// wantAfter reads text, and checks how long that takes.
func wantAfter(t *testing.T, c net.Conn, text string, after time.Duration) {
	t.Helper()
	began, got := time.Now(), make([]byte, len(text))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != text {
		t.Errorf("read %q, %v, want %q", got, err, text)
	}
	if took := time.Since(began); took != after {
		t.Errorf("%s came after %v, want %v", text, took, after)
	}
}

func TestAGoodNetwork(t *testing.T) {
	bubble(t, func(t *testing.T, _ *Proxy, client, target net.Conn) {
		write(t, client, "ask")
		wantAfter(t, target, "ask", 0)
		write(t, target, "answer")
		wantAfter(t, client, "answer", 0)
	})
}

func TestDelay(t *testing.T) {
	bubble(t, func(t *testing.T, p *Proxy, client, target net.Conn) {
		p.Set(Faults{Delay: time.Second}, Faults{Delay: time.Minute})
		write(t, client, "a")
		time.Sleep(100 * time.Millisecond)
		write(t, client, "b") // on its way beside a
		wantAfter(t, target, "a", 900*time.Millisecond)
		wantAfter(t, target, "b", 100*time.Millisecond)
		write(t, target, "c")
		time.AfterFunc(10*time.Second, func() { p.Set(Faults{}, Faults{Delay: 20 * time.Second}) })
		wantAfter(t, client, "c", 20*time.Second)
		write(t, client, "d")
		wantAfter(t, target, "d", 0)
	})
}

func TestRate(t *testing.T) {
	bubble(t, func(t *testing.T, p *Proxy, client, target net.Conn) {
		p.Set(Faults{Rate: maxPiece}, Faults{})
		text := string(bytes.Repeat([]byte("x"), maxPiece))
		go func() {
			for range 10 {
				_, _ = client.Write([]byte(text))
			}
		}()
		wantAfter(t, target, text, 0)
		for range 8 {
			wantAfter(t, target, text, time.Second)
		}
		time.AfterFunc(time.Second/4, func() { p.Set(Faults{}, Faults{}) })
		wantAfter(t, target, text, time.Second/4)
		write(t, target, "the other direction")
		wantAfter(t, client, "the other direction", 0)
	})
}

func TestStall(t *testing.T) {
	bubble(t, func(t *testing.T, p *Proxy, client, target net.Conn) {
		p.Set(Faults{Stall: true}, Faults{})
		write(t, client, "taken")
		client.Close() // which waits behind it
		time.AfterFunc(time.Hour, func() { p.Set(Faults{}, Faults{}) })
		wantAfter(t, target, "taken", time.Hour)
		if _, err := target.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("read %v, want the end", err)
		}
	})
}

func TestACutEndsWhatIsStalled(t *testing.T) {
	bubble(t, func(t *testing.T, p *Proxy, client, target net.Conn) {
		p.Set(Faults{Stall: true}, Faults{Delay: time.Hour})
		write(t, client, "lost")
		write(t, target, "lost")
		synctest.Wait()
		if n := p.Cut(); n != 1 {
			t.Errorf("cut %d, want 1", n)
		}
		for _, c := range []net.Conn{client, target} {
			if n, err := c.Read(make([]byte, 1)); err == nil {
				t.Errorf("read %d bytes after the cut", n)
			}
		}
	})
}

// server accepts one connection after another for the test.
func server(t *testing.T) (address string, accepted <-chan net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	conns := make(chan net.Conn, 8)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns <- c
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return l.Addr().String(), conns
}

func dial(t *testing.T, p *Proxy) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestTCP(t *testing.T) {
	address, accepted := server(t)
	p, err := Listen(address)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	client := dial(t, p)
	target := <-accepted
	defer target.Close()

	sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	go func() {
		_, _ = client.Write(sent)
		_ = client.(*net.TCPConn).CloseWrite()
	}()
	if got, err := io.ReadAll(target); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("the target got %d bytes, %v, want all %d", len(got), err, len(sent))
	}
	if _, err := target.Write(sent); err != nil { // one half is closed, the other is not
		t.Error(err)
	}
	target.Close()
	if got, err := io.ReadAll(client); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("the client got %d bytes, %v, want all %d", len(got), err, len(sent))
	}
}

func TestACutIsAReset(t *testing.T) {
	address, accepted := server(t)
	p, err := Listen(address)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	client := dial(t, p)
	target := <-accepted
	defer target.Close()
	write(t, client, "x")
	if _, err := io.ReadFull(target, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if n := p.Cut(); n != 1 {
		t.Errorf("cut %d, want 1", n)
	}
	for _, c := range []net.Conn{client, target} {
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("read %v, want a reset", err)
		}
	}
	again := dial(t, p) // later ones pass
	second := <-accepted
	defer second.Close()
	write(t, again, "y")
	if _, err := io.ReadFull(second, make([]byte, 1)); err != nil {
		t.Error(err)
	}
}

func TestATargetThatIsAway(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	p, err := Listen(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c, err := net.Dial("tcp", p.Addr())
	if err == nil { // the reset may also come before dial returns
		defer c.Close()
		_, err = c.Read(make([]byte, 1))
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %v, want a reset", err)
	}
}
