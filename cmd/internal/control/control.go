package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/cmd/internal/call"
	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/cmd/internal/portal"
)

// control is the portal that a command changes: the local one with operator rights, or a remote one with the rights of
// the signed-in user.
type control struct {
	data   string
	server string
	token  string
	asJSON bool

	http    *http.Client
	base    string
	without string // how to do without the server
	agent   string // User-Agent
	start   string // the command that starts a server
}

func (c *control) flags(f *pflag.FlagSet) {
	portal.DataFlag(f, &c.data)
	f.StringVar(&c.server, "server", call.DefaultServer, "with --token: `address` of another server")
	f.StringVar(&c.token, "token", "",
		"ID `token` of a signed-in user, see swar signin; without one, the command uses the server of --data")
	f.BoolVar(&c.asJSON, "json", false, "print what the portal answers")
}

// localFlags defines the flags of a command that only the operator may use.
func (c *control) localFlags(f *pflag.FlagSet) {
	portal.DataFlag(f, &c.data)
	f.BoolVar(&c.asJSON, "json", false, "print what the server answers")
}

// local reports whether the command works on this machine, as the operator.
func (c *control) local() bool { return c.token == "" }

// open finds the portal. It connects to nothing.
func (c *control) open(a *Commands, cmd *cobra.Command) error {
	if c.local() {
		if a.OnCommandLine("server") {
			return launch.BadUsage(cmd, "--server needs --token; `swar signin E-MAIL` gets one")
		}
		c.useSocket(a)
		return nil
	}
	c.use(a)
	if a.OnCommandLine("data") {
		return launch.BadUsage(cmd, "--data and --token contradict each other: --data means the server of this machine")
	}
	var err error
	c.base, err = call.Address(cmd, c.server)
	c.without = "leave --server and --token out for the server of this machine"
	return err
}

// use sets the program name and version that requests carry.
func (c *control) use(a *Commands) {
	c.http = &http.Client{Timeout: time.Minute}
	c.agent, c.start = a.Name+"/"+a.Version, a.Start
}

// useSocket leads to the server that works on the folder of this machine.
func (c *control) useSocket(a *Commands) {
	c.use(a)
	path := portal.SocketIn(c.data)
	dialer := new(net.Dialer)
	c.base = "http://swar" // the host is ignored: requests go to the socket
	c.http.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, "unix", path)
	}}
}

// do asks the portal, and reads its answer into v unless that is nil. It returns the answer as it came.
func (c *control) do(ctx context.Context, method, path string, body, v any) ([]byte, error) {
	return c.doOnce(ctx, "", method, path, body, v)
}

// doOnce is do with an idempotency key: the same key runs the request once. An empty once means no key.
func (c *control) doOnce(ctx context.Context, once, method, path string, body, v any) ([]byte, error) {
	var header http.Header
	if once != "" {
		header = http.Header{"Idempotency-Key": {once}}
	}
	return c.doWith(ctx, header, method, path, body, v)
}

// doWith is do with more headers.
func (c *control) doWith(ctx context.Context, header http.Header, method, path string, body, v any) ([]byte, error) {
	var content io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, content)
	if err != nil {
		return nil, err
	}
	if header != nil {
		req.Header = header.Clone()
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	req.Header.Set("User-Agent", c.agent)
	answer, err := call.Exchange(c.http, req)
	if err != nil {
		return nil, launch.Interrupted(ctx, c.explain(err))
	}
	if v != nil {
		if err := call.Understand(answer, v); err != nil {
			return nil, err
		}
	}
	return answer, nil
}

// explain turns an error of an unreachable portal into one that says what to do.
func (c *control) explain(err error) error {
	if !c.local() {
		return call.Reached(c.base, c.without, err)
	}
	if _, away := errors.AsType[*call.UnreachableError](call.Reached(c.data, "", err)); away {
		return &noPortalError{c.data, c.start, err}
	}
	return err
}

// noPortalError is a folder whose server does not run.
type noPortalError struct {
	data  string
	start string // the command that starts one
	err   error
}

func (e *noPortalError) Error() string {
	return fmt.Sprintf("no server with a portal works on the folder %s (%s); start one with `%s`, "+
		"name its folder with --data, or another server with --server and --token", e.data, launch.Reason(e.err), e.start)
}
func (e *noPortalError) Unwrap() error { return e.err }

// print shows an answer: as it came with --json, else as show does.
func (c *control) print(a *Commands, answer []byte, show func() error) error {
	if !c.asJSON {
		return show()
	}
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(answer), "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := b.WriteTo(a.Out)
	return err
}

// orgs lists organisations: all of them for the operator, else those of the signed-in user.
func (c *control) orgs(ctx context.Context) (all portal.OrgList, err error) {
	if !c.local() {
		_, err := c.do(ctx, http.MethodGet, "/portal/v1/me", nil, &all)
		return all, err
	}
	for after := ""; ; {
		var page portal.OrgList
		if _, err := c.do(ctx, http.MethodGet, "/operator/v1/orgs?after="+url.QueryEscape(after), nil,
			&page); err != nil {
			return all, err
		}
		all.Orgs = append(all.Orgs, page.Orgs...)
		if after = page.Next; after == "" {
			return all, nil
		}
	}
}

// when formats a time for a table, in local time.
func when(t time.Time, never string) string {
	if t.IsZero() {
		return never
	}
	return t.Local().Format("2006-01-02 15:04")
}
