package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"github.com/gorilla/websocket"

	"github.com/swar-tts/swar/client"
)

// Save an utterance as a file.
func Example() {
	address, stop := server() // yours is something like https://tts.example.com
	defer stop()

	c, err := client.New(address, client.Options{Key: os.Getenv("SWAR_KEY"), Retry: true})
	if err != nil {
		log.Fatal(err)
	}
	audio, err := c.Speak(context.Background(), client.Request{
		Text:     "Namaste! Aapka order kal tak deliver ho jayega, total ₹499 hai.",
		Buffered: true, // so that the WAV states its length
	})
	if err != nil {
		log.Fatal(err)
	}
	defer audio.Close()

	name := filepath.Join(os.TempDir(), "namaste.wav")
	defer os.Remove(name)
	f, err := os.Create(name)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	n, err := io.Copy(f, audio)
	if err != nil {
		log.Fatal(err) // also when the audio was cut
	}
	fmt.Println(n, "bytes of", audio.ContentType)
	// Output: 3884 bytes of audio/wav
}

// Play while the server still speaks. A player is slower than the server, so the rest waits in memory.
func ExampleAudio_ReadAhead() {
	address, stop := server()
	defer stop()
	c, err := client.New(address, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	audio, err := c.Speak(context.Background(), client.Request{
		Text: "Aapka OTP 4-0-7 hai.", Voice: "raj", Format: client.PCM16, Temperature: new(0.5), Seed: new(int64(42)),
	})
	if err != nil {
		log.Fatal(err)
	}
	samples := audio.ReadAhead()
	defer samples.Close()

	player := io.Discard // in your program, something that sounds
	if _, err := io.Copy(player, samples); err != nil {
		log.Fatal(err)
	}
	if proof, ok := audio.Proof(); ok {
		fmt.Println("all of it:", proof.Length)
	}
	// Output: all of it: 80ms
}

// Speak several utterances over one connection.
func ExampleClient_Stream() {
	address, stop := server()
	defer stop()
	c, err := client.New(address, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := c.Stream(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()

	for _, text := range []string{"Namaste!", "Kya haal hai?"} {
		if _, err := conn.Send(client.Request{Text: text}); err != nil {
			log.Fatal(err)
		}
	}
	for waiting := 2; waiting > 0; {
		e, err := conn.Next()
		if err != nil {
			log.Fatal(err)
		}
		switch e := e.(type) {
		case *client.StartEvent:
			fmt.Println("speaking:", e.Normalized)
		case *client.AudioEvent:
			fmt.Println("audio:", len(e.Data), "bytes")
		case *client.EndEvent:
			fmt.Println("complete:", e.Length)
			waiting--
		case *client.ErrorEvent:
			fmt.Println("refused:", e.Err)
			waiting--
		}
	}
	// Output:
	// speaking: Namaste!
	// audio: 3840 bytes
	// complete: 80ms
	// speaking: Kya haal hai?
	// audio: 3840 bytes
	// complete: 80ms
}

// Decide by the code of an error.
func ExampleError() {
	address, stop := server()
	defer stop()
	c, err := client.New(address, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	_, err = c.Speak(context.Background(), client.Request{Text: " "})
	e, ok := errors.AsType[*client.Error](err)
	switch {
	case ok && e.Code == client.CodeBusy:
		fmt.Println("try again in", e.RetryAfter)
	case ok && e.Code == client.CodeTextTooLong:
		fmt.Println("split the text")
	case ok:
		fmt.Println("refused:", e.Text)
	default:
		fmt.Println("the network:", err)
	}
	// Output: refused: text is empty
}

// Try again by your own rules, for instance to log it.
func ExampleBackoff() {
	address, stop := server()
	defer stop()
	c, err := client.New(address, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for b := (client.Backoff{}); ; {
		voices, err := c.Voices(context.Background())
		if err == nil {
			fmt.Println(voices.Model, "has", len(voices.Voices), "voices")
			return
		}
		wait, again := b.Next(err)
		if !again {
			log.Fatal(err)
		}
		log.Printf("again in %v: %v", wait, err)
		time.Sleep(wait)
	}
	// Output: example has 2 voices
}

// server stands for a Swar server: it says one frame of silence to everything.
func server() (address string, stop func()) {
	frame := make([]byte, client.FrameBytes)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/tts", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if string(body) == `{"text":" "}` {
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, `{"error":"text is empty"}`)
			return
		}
		h := w.Header()
		h.Set("Content-Type", "audio/wav")
		h.Set("X-Frames", "1")
		h.Set("X-Audio-Sha256", "99c7de5c007112a6bf3f41c97b4b8fa93d7dffed015af0c5fc2cf877443a3d7f")
		w.Write(make([]byte, 44))
		w.Write(frame)
	})
	mux.HandleFunc("GET /v1/voices", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"voices":[{"name":"anjura"},{"name":"raj"}],"model":"example"}`)
	})
	mux.HandleFunc("GET /v1/tts/stream", func(w http.ResponseWriter, r *http.Request) {
		up := websocket.Upgrader{}
		ws, err := up.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer ws.Close()
		for {
			var m struct {
				ID   string `json:"request_id"`
				Text string `json:"text"`
			}
			if ws.ReadJSON(&m) != nil {
				return
			}
			ws.WriteJSON(map[string]any{"type": "start", "request_id": m.ID, "normalized": m.Text})
			ws.WriteMessage(websocket.BinaryMessage, frame)
			ws.WriteJSON(map[string]any{"type": "end", "request_id": m.ID, "frames": 1, "audio_s": 0.08})
		}
	})
	s := httptest.NewServer(mux)
	return s.URL, s.Close
}
