// Package wyomingtest has a client of the Wyoming protocol for tests.
package wyomingtest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"testing"
	"time"
)

// Client is a client of the protocol.
type Client struct {
	net.Conn

	t  testing.TB
	in *bufio.Reader
}

// Event is what a server has sent.
type Event struct {
	Type    string
	Data    map[string]any
	Payload []byte
}

// patience is for how long a test waits for an event.
const patience = 20 * time.Second

// Dial connects to a server until the test ends.
func Dial(t testing.TB, address string) *Client {
	t.Helper()
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &Client{conn, t, bufio.NewReader(conn)}
}

// Send sends an event as the Python library does: with its data behind the line.
func (c *Client) Send(kind string, data map[string]any) {
	c.t.Helper()
	body, err := json.Marshal(data)
	if err != nil {
		c.t.Fatal(err)
	}
	if data == nil {
		body = nil
	}
	if _, err := fmt.Fprintf(c, `{"type": %q, "version": "1.10.2", "data_length": %d}`+"\n%s", kind, len(body),
		body); err != nil {
		c.t.Fatal(err)
	}
}

// Next returns the next event, or why there is none.
func (c *Client) Next() (e Event, err error) {
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return e, err
	}
	line, err := c.in.ReadBytes('\n')
	if err != nil {
		return e, err
	}
	var header struct {
		Type    string         `json:"type"`
		Data    map[string]any `json:"data"`
		Length  int            `json:"data_length"`
		Payload int            `json:"payload_length"`
	}
	if err := json.Unmarshal(line, &header); err != nil {
		return e, err
	}
	e = Event{header.Type, map[string]any{}, make([]byte, header.Payload)}
	maps.Copy(e.Data, header.Data)
	body := make([]byte, header.Length)
	if _, err := io.ReadFull(c.in, body); err != nil {
		return e, err
	}
	if len(body) > 0 {
		if err := json.Unmarshal(body, &e.Data); err != nil {
			return e, err
		}
	}
	_, err = io.ReadFull(c.in, e.Payload)
	return e, err
}

// Turn reads events until one of the types in last, and returns their types, those of audio once, and all audio.
func (c *Client) Turn(last ...string) (types []string, audio []byte, end Event) {
	c.t.Helper()
	for {
		e, err := c.Next()
		if err != nil {
			c.t.Fatalf("after %v: %v", types, err)
		}
		if n := len(types); n == 0 || types[n-1] != e.Type {
			types = append(types, e.Type)
		}
		audio = append(audio, e.Payload...)
		for _, of := range last {
			if e.Type == of {
				return types, audio, e
			}
		}
	}
}
