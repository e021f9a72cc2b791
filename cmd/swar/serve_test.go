package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/swar-tts/swar/client"
	"github.com/swar-tts/swar/cmd/internal/launch"
)

func TestExitCodesAndWhatIsSaid(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free.Close() // nobody listens there now
	nobody := "http://" + free.Addr().String()
	whole := launch.FindCPUs().Whole()
	tooMany := fmt.Sprint(whole + 1)

	tests := map[string]struct {
		args []string
		env  string
		code int
		text string
	}{
		"no command":                   {[]string{}, "", 0, ""},
		"a command that is none":       {[]string{"sing"}, "", 2, `unknown command "sing" for "swar"`},
		"a command that is almost one": {[]string{"sya", "hello"}, "", 2, "(perhaps say); see `swar --help`"},
		"a flag that is none":          {[]string{"say", "--loud", "hello"}, "", 2, "there is no flag --loud; see `swar say --help`"},
		"a flag without its value":     {[]string{"say", "hello", "--voice"}, "", 2, "--voice wants a value"},
		"a seed that is a word":        {[]string{"say", "--seed", "x", "hello"}, "", 2, `--seed "x": want a whole number; see`},
		"a setting that is not a number": {
			[]string{"say", "-o", "x.wav", "hello"}, "SWAR_TEMPERATURE=hot", 2,
			`SWAR_TEMPERATURE: "hot": want a number such as 0.5`,
		},
		"a format that is none":         {[]string{"say", "-o", "x.wav", "--format", "mp3", "hello"}, "", 2, `--format "mp3": want wav, opus, pcm16`},
		"a format, but nothing written": {[]string{"say", "--format", "opus", "hello"}, "", 2, "--format requires -o"},
		"an ending that is none":        {[]string{"say", "-o", "x.mp3", "hello"}, "", 2, "must end in .wav"},
		"no ending":                     {[]string{"say", "-o", "x", "hello"}, "", 2, "must end in .wav"},
		"a folder":                      {[]string{"say", "-o", "/", "--format", "wav", "hello"}, "", 1, "/ is a folder"},
		"a folder that is not there":    {[]string{"say", "-o", "no/x.wav", "hello"}, "", 1, "creating no/x.wav: no such file"},
		"an address that is none":       {[]string{"say", "--server", "ftp://localhost", "-o", "x.wav", "hello"}, "", 2, `--server "ftp://localhost": want an address such as tts.example.com, `},
		"an address with a password":    {[]string{"voices", "--server", "me:secret@localhost"}, "", 2, "want an address such as"},
		"no address":                    {[]string{"signin", "--server", "", "a@example.org"}, "", 2, `--server "": want an address`},
		"no server":                     {[]string{"say", "--server", nobody, "-o", "x.wav", "hello"}, "", 3, "no server answers at " + nobody + " (connection refused); start one with `swar serve`"},
		"no server without a scheme":    {[]string{"say", "--server", strings.TrimPrefix(nobody, "http://"), "-o", "x.wav", "hello"}, "", 3, "no server answers at " + nobody + " (connection refused); start one with `swar serve`, name another with --server, or without a server: `swar say --local`"},
		"no server far away":            {[]string{"stream", "--server", "tts.invalid", "hello"}, "", 3, "no server answers at https://tts.invalid ("},
		"nothing to say":                {[]string{"say", "--server", nobody, " "}, "", 4, "text is empty"},
		"nothing to say of two":         {[]string{"stream", "--server", nobody, "hello", ""}, "", 4, "text is empty"},
		"too lively for a server":       {[]string{"say", "--server", nobody, "--temperature", "2.1", "-o", "x.wav", "hello"}, "", 4, "temperature must be in [0, 2]"},
		"too lively to stream":          {[]string{"stream", "--server", nobody, "--temperature", "-0.1", "hello"}, "", 4, "temperature must be in [0, 2]"},
		"no server to stream from":      {[]string{"stream", "--server", nobody, "hello"}, "", 3, "no server answers at " + nobody},
		"no server to ask":              {[]string{"voices", "--server", nobody}, "", 3, "no server answers at " + nobody},
		"no server to normalise":        {[]string{"normalize", "--server", nobody, "hello"}, "", 3, "no server answers at " + nobody},
		"no speech program":             {[]string{"say", "--local", "-o", "x.wav", "hello"}, "", 1, "espeak-ng is not installed: install it with `apt-get install espeak-ng`"},
		"no speech program to normalise": {
			[]string{"normalize", "hello"}, "", 1, "espeak-ng is not installed: ",
		},
		"no speech program to serve":        {[]string{"serve", "--listen", "127.0.0.1:0"}, "", 1, "espeak-ng is not installed: "},
		"nothing to normalise":              {[]string{"normalize", " "}, "", 4, "text is empty"},
		"too much to normalise":             {[]string{"normalize", strings.Repeat("a", 4001)}, "", 4, "text longer than 4000 characters; split the text"},
		"text that is not a text":           {[]string{"normalize", "a\xffb"}, "", 4, "text: not valid UTF-8"},
		"too lively":                        {[]string{"say", "--local", "--temperature", "2.1", "-o", "x.wav", "hello"}, "", 4, "temperature must be in [0, 2]"},
		"an argument that nobody wants":     {[]string{"voices", "raj"}, "", 2, `swar voices takes no argument, but there is "raj"; see`},
		"another one":                       {[]string{"serve", "8080"}, "", 2, "8080"},
		"no workers":                        {[]string{"serve", "--workers", "0"}, "", 2, "--workers 0: want at least 1"},
		"more workers than CPUs":            {[]string{"serve", "--workers", tooMany}, "", 2, "--workers " + tooMany + " exceeds the "},
		"the same from the environment":     {[]string{"serve"}, "SWAR_WORKERS=" + tooMany, 2, "or allow it with --oversubscribe"},
		"less than no queue":                {[]string{"serve", "--queue", "-1"}, "", 2, "--queue -1: want 0 or more"},
		"a spool without a size":            {[]string{"serve", "--spool", "much"}, "", 2, "want a size such as 256MiB or 64MB, or 0"},
		"less than no cache":                {[]string{"serve", "--prefill-cache-mb", "-1"}, "", 2, "--prefill-cache-mb -1: want 0 or more"},
		"an address without a port":         {[]string{"serve", "--listen", "8080"}, "", 2, `--listen "8080": want HOST:PORT`},
		"a port that is taken":              {[]string{"serve", "--listen", taken.Addr().String()}, "", 1, "listens on " + taken.Addr().String() + " already; choose another address with --listen"},
		"a host that is not ours":           {[]string{"serve", "--api-key", "k", "--listen", "192.0.2.1:80"}, "", 1, "cannot listen on 192.0.2.1:80"},
		"open to the world by accident":     {[]string{"serve", "--portal", "off", "--listen", ":0"}, "", 2, "--listen :0 is reached by other machines; give an --api-key, or --open"},
		"the same with an address":          {[]string{"serve", "--portal", "off", "--listen", "0.0.0.0:0"}, "", 2, "is reached by other machines"},
		"open and closed":                   {[]string{"serve", "--portal", "off", "--open", "--api-key", "k"}, "", 2, "--open and --api-key contradict each other"},
		"profiles for the world":            {[]string{"serve", "--pprof", "0.0.0.0:6060"}, "", 2, "only a loopback address"},
		"a log level that is none":          {[]string{"serve", "--log-level", "loud"}, "", 2, "want one of info, debug, warn, error"},
		"open with the portal":              {[]string{"serve", "--open"}, "", 2, "--open needs --portal off: a server with the portal is never open"},
		"a portal that is none":             {[]string{"serve", "--portal", "maybe"}, "", 2, "want one of on, off"},
		"the neural engine, but no model":   {[]string{"serve", "--engine", "onnx"}, "", 2, "--engine onnx needs a model; name one with --model (`swar model pull` downloads it) or a folder with --bundle; see `swar serve --help`"},
		"the same to normalise":             {[]string{"normalize", "--engine", "onnx", "hello"}, "", 2, "--engine onnx needs a model"},
		"the engine by the environment":     {[]string{"serve"}, "SWAR_ENGINE=onnx", 2, "--engine onnx needs a model"},
		"the same to list voices":           {[]string{"voices", "--engine", "onnx"}, "", 2, "--engine onnx needs a model"},
		"a model for the other engine":      {[]string{"serve", "--engine", "espeak", "--bundle", "."}, "", 2, "--engine espeak and --bundle contradict each other"},
		"the same to say":                   {[]string{"say", "--engine", "espeak", "--bundle", ".", "-o", "x.wav", "hello"}, "", 2, "--engine espeak and --bundle contradict each other"},
		"an engine that is none":            {[]string{"serve", "--engine", "festival"}, "", 2, "want one of auto, espeak, onnx"},
		"a model and a server":              {[]string{"say", "--server", nobody, "--bundle", ".", "hello"}, "", 2, "--server and --bundle or --engine contradict each other"},
		"a server and a model of a script":  {[]string{"voices", "--server", nobody}, "SWAR_BUNDLE=no", 3, "no server answers at " + nobody},
		"a model that is not there":         {[]string{"serve", "--listen", "127.0.0.1:0", "--bundle", "no"}, "", 1, "there is no folder no"},
		"the same to speak":                 {[]string{"say", "--bundle", "no", "-o", "x.wav", "hello"}, "", 1, "there is no folder no"},
		"a model that is a file":            {[]string{"serve", "--listen", "127.0.0.1:0", "--bundle", program}, "", 1, program + " is a file; name the folder of a bundle"},
		"a folder that is not a model":      {[]string{"serve", "--listen", "127.0.0.1:0", "--bundle", "."}, "", 1, ". is not a bundle: it has no manifest.json; `swar bundle convert` makes one"},
		"the same to normalise with":        {[]string{"normalize", "--bundle", ".", "hello"}, "", 1, ". is not a bundle"},
		"nothing to inspect":                {[]string{"bundle", "inspect"}, "", 2, "want one folder: swar bundle inspect DIR; see `swar bundle inspect --help`"},
		"a folder that is not a bundle":     {[]string{"bundle", "inspect", "."}, "", 1, ". is not a bundle"},
		"nothing to verify":                 {[]string{"bundle", "verify"}, "", 2, "want one folder, the bundle to check, or --vectors"},
		"too much to verify":                {[]string{"bundle", "verify", "a", "b"}, "", 2, "want one folder"},
		"what is not there":                 {[]string{"bundle", "verify", "no"}, "", 1, "there is no folder no"},
		"a precision without vectors":       {[]string{"bundle", "verify", "--precision", "int8", "x"}, "", 2, "a bundle has its own"},
		"vectors of no such precision":      {[]string{"bundle", "verify", "--vectors", "no", "--precision", "int4"}, "", 2, "\"int4\", want fp32 or int8"},
		"vectors that are not there":        {[]string{"bundle", "verify", "--vectors", "no"}, "", 1, "there is no folder no"},
		"a size that is none":               {[]string{"bundle", "synth-random", "--size", "huge", "-o", "x"}, "", 2, `--size "huge": want tiny, lite or base`},
		"a precision that is none":          {[]string{"bundle", "synth-random", "--precision", "int4", "-o", "x"}, "", 2, `--precision "int4": want fp32 or int8`},
		"nowhere to put it":                 {[]string{"bundle", "synth-random"}, "", 2, "-o is missing; name the folder of the new bundle"},
		"nothing to convert":                {[]string{"bundle", "convert", "-o", "x"}, "", 2, "--config is missing; name the yaml file of the model"},
		"nowhere to convert to":             {[]string{"bundle", "convert", "--config", "x.yaml"}, "", 2, "-o is missing"},
		"a voice without a name":            {[]string{"bundle", "convert", "--config", "x.yaml", "-o", "x", "--voice", "raj.safetensors"}, "", 2, `--voice "raj.safetensors": want NAME=FILE`},
		"a voice without a file":            {[]string{"bundle", "convert", "--config", "x.yaml", "-o", "x", "--voice", "raj="}, "", 2, `--voice "raj=": want NAME=FILE`},
		"a voice twice":                     {[]string{"bundle", "convert", "--config", "x.yaml", "-o", "x", "--voice", "raj=a", "--voice", "raj=b"}, "", 2, "--voice raj is given twice"},
		"a precision for nobody":            {[]string{"bundle", "convert", "--config", "x.yaml", "-o", "x", "--voice", "raj=a", "--precision", "bf16"}, "", 2, `--precision "bf16": want fp32 or int8`},
		"an activation that is none":        {[]string{"bundle", "convert", "--config", "x.yaml", "-o", "x", "--voice", "raj=a", "--gelu", "relu"}, "", 2, `--gelu "relu": want tanh or erf`},
		"no steps":                          {[]string{"bundle", "convert", "--config", "x.yaml", "-o", "x", "--voice", "raj=a", "--steps", "0"}, "", 2, "--steps 0: want 1 to 64"},
		"too many steps":                    {[]string{"bundle", "convert", "--config", "x.yaml", "-o", "x", "--voice", "raj=a", "--steps", "65"}, "", 2, "--steps 65: want 1 to 64"},
		"a configuration that is not there": {[]string{"bundle", "convert", "--config", "no.yaml", "-o", "x", "--voice", "raj=a"}, "", 1, "no.yaml: no such file or directory"},
		"a command of bundles that is none": {[]string{"bundle", "eat"}, "", 2, `unknown command "eat" for "swar bundle"`},
		"no server to administer":           {[]string{"keys", "list"}, "", 3, "no server with a portal works on the folder ./data (no such file or directory); start one with `swar serve`"},
		"a server without a token":          {[]string{"orgs", "list", "--server", nobody}, "", 2, "--server needs --token; `swar signin E-MAIL` gets one"},
		"a token and a folder":              {[]string{"usage", "--token", "t", "--data", "data"}, "", 2, "--data and --token contradict each other"},
		"nobody takes the token":            {[]string{"keys", "list", "--token", "t", "--server", nobody}, "", 3, "no server answers at " + nobody},
		"an e-mail address that is none":    {[]string{"signin", "a.example.org", "--server", nobody}, "", 2, `"a.example.org" is not an e-mail address`},
		"nobody to invite":                  {[]string{"orgs", "invite"}, "", 2, "swar orgs invite wants E-MAIL; see `swar orgs invite --help`"},
		"a role that is none":               {[]string{"orgs", "role", "a@example.org", "boss"}, "", 2, `role "boss": want one of owner, member, viewer`},
		"an invited role that is none":      {[]string{"orgs", "invite", "a@example.org", "--role", "boss"}, "", 2, `--role "boss": want one of`},
		"a kind of keys that is none":       {[]string{"keys", "list", "--kind", "dead"}, "", 2, `--kind "dead": want one of live, playground`},
		"a name without quotes":             {[]string{"orgs", "create", "Asha", "Foods"}, "", 2, "swar orgs create wants NAME, and got 2 arguments (quote arguments with spaces)"},
		"a key without its new name":        {[]string{"keys", "rename", "key_x"}, "", 2, "swar keys rename wants KEY NAME, and got 1 argument; see"},
		"nobody to sign in to":              {[]string{"signin", "a@example.org", "--server", nobody}, "", 3, "no server answers at " + nobody},
		"nothing to back up":                {[]string{"backup", "x.db"}, "", 1, "data/swar.db does not exist; name the server's folder with --data"},
		"nothing to restore":                {[]string{"restore", "x.db"}, "", 1, "there is no file x.db"},
		"a move to where it is":             {[]string{"migrate", "--to", "sqlite"}, "", 2, "--from and --to are the same"},
		"a move without a project":          {[]string{"migrate"}, "", 2, "name the Google Cloud project of the database with --project"},
		"a move of nothing":                 {[]string{"migrate", "--project", "p"}, "", 1, "data/swar.db does not exist"},
		"Firestore":                         {[]string{"serve", "--store", "firestore"}, "", 2, "--store firestore needs --project, the Google Cloud project of the database"},
		"a project":                         {[]string{"serve", "--project", "p"}, "", 2, "--project is for --store firestore"},
		"a mail server without a sender":    {[]string{"serve", "--smtp", "mail.example.org"}, "", 2, "--smtp needs a sender; name it with --mail-from"},
		"a mail server that is none":        {[]string{"serve", "--smtp", "a:b:c", "--mail-from", "a@example.org"}, "", 2, `--smtp "a:b:c": want HOST or HOST:PORT`},
		"a mail server without its port":    {[]string{"serve", "--smtp", "mail:0", "--mail-from", "a@example.org"}, "", 2, `--smtp "mail:0": want HOST or HOST:PORT`},
		"a port that is none":               {[]string{"serve", "--listen", "127.0.0.1:65536"}, "", 2, `"65536" is not a port; want 0 to 65535`},
		"a port that is a word":             {[]string{"serve", "--pprof", "127.0.0.1:nowhere"}, "", 2, `--pprof "127.0.0.1:nowhere": "nowhere" is not a port`},
		"a sender without a mail server":    {[]string{"serve", "--mail-from", "a@example.org"}, "", 2, "need a mail server; name it with --smtp HOST"},
		"tokens of nobody knows whom":       {[]string{"serve", "--firebase", "demo-x", "--firebase-emulator", "127.0.0.1:9099"}, "", 2, "and --accept-unsigned-tokens, because anyone can create its tokens"},
		"unsigned tokens of nobody":         {[]string{"serve", "--accept-unsigned-tokens"}, "", 2, "--accept-unsigned-tokens is for --firebase-emulator"},
		"no sign-in mails":                  {[]string{"serve", "--sign-in-mails", "0"}, "", 2, "--sign-in-mails 0: want 1 to 20000"},
		"more of them than can be counted":  {[]string{"serve", "--sign-in-mails", "20001"}, "", 2, "--sign-in-mails 20001: want 1 to 20000"},
		"a domain for everybody":            {[]string{"serve", "--domain", "example.org"}, "", 2, "--domain requires --invited-only"},
		"a proxy that is not a network":     {[]string{"serve", "--trust-proxy", "10.0.0.1"}, "", 2, `--trust-proxy "10.0.0.1": want a network such as 10.0.0.0/8`},
		"the portal from the environment":   {[]string{"serve", "--open"}, "SWAR_PORTAL=on", 2, "--open needs --portal off"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := bareShell(t, tt.env)
			r := s.run(tt.args...)
			if r.code != tt.code || !strings.Contains(r.err, tt.text) {
				t.Errorf("exit code %d, %q; want %d and %q", r.code, r.err, tt.code, tt.text)
			}
			if tt.code != 0 && (strings.Count(r.err, "\n") != 1 || !strings.HasPrefix(r.err, "swar: ")) {
				t.Errorf("it says %q, want one line", r.err)
			}
			if got := s.files(); got != "" {
				t.Errorf("it left %s", got)
			}
		})
	}
}

func TestWhatAServerRefuses(t *testing.T) {
	s := newShell(t)
	base := s.serve("--workers", "1", "--api-key", "all", "--api-key", "one=raj").base
	tests := map[string]struct {
		args []string
		text string
	}{
		"no key":                     {[]string{"hello"}, "the server requires an API key; pass it with --key or SWAR_KEY"},
		"a wrong key":                {[]string{"--key", "wrong", "hello"}, "the server does not know this API key"},
		"a voice that the key lacks": {[]string{"--key", "one", "hello"}, "voice anjura not allowed for this key; `swar voices` lists"},
		"a voice that nobody has":    {[]string{"--key", "all", "--voice", "rani", "hello"}, "unknown voice 'rani'; see /v1/voices; `swar voices` lists"},
		"nothing":                    {[]string{"--key", "all", " "}, "text is empty"},
		"nothing pronounceable":      {[]string{"--key", "all", "..."}, "nothing to say after normalisation"},
		"too much":                   {[]string{"--key", "all", strings.Repeat("a", 4001)}, "text longer than 4000 characters; split the text"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := s.run(append([]string{"say", "--server", base, "-o", "x.wav"}, tt.args...)...)
			if r.code != 4 || !strings.Contains(r.err, tt.text) {
				t.Errorf("exit code %d, %q; want 4 and %q", r.code, r.err, tt.text)
			}
		})
	}
	s.ok("say", "--server", base, "-o", "x.wav", "--key", "one", "--voice", "raj", "hello")
	if r := s.run("stream", "--server", base, "--key", "wrong", "hello"); r.code != 4 {
		t.Errorf("stream with a wrong key: exit code %d, %q", r.code, r.err)
	}
}

func TestKeysComeFromTheEnvironmentToo(t *testing.T) {
	s := newShell(t)
	s.env = append(s.env, "SWAR_API_KEY=first=raj,anjura\n\tsecond=raj", "SWAR_WORKERS=1", "SWAR_QUEUE=0")
	v := s.serve()
	for key, want := range map[string]int{"first": 0, "second": 4, "raj": 4} {
		if r := s.run("say", "--server", v.base, "--key", key, "-o", "x.wav", "hello"); r.code != want {
			t.Errorf("key %q: exit code %d, want %d: %s", key, r.code, want, r.err)
		}
	}
	h := get(t, v.base+"/healthz")
	if !strings.Contains(h, `"workers":1`) || !strings.Contains(h, `"queue_limit":0`) {
		t.Errorf("health = %s", h)
	}
}

func get(t testing.TB, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(resp.StatusCode, " ", string(b))
}

func TestBadKeysAreNotShown(t *testing.T) {
	s := newShell(t)
	for _, key := range []string{"geheim=rani", "geheim=", "geh eim", "geheim\x7f"} {
		r := s.run("serve", "--listen", "127.0.0.1:0", "--api-key", key)
		if r.code != 2 || !strings.Contains(r.err, "api key 1") || strings.Contains(r.err, "geh") {
			t.Errorf("%q: exit code %d, %q", key, r.code, r.err)
		}
	}
}

func TestTheLogHoldsNoSecrets(t *testing.T) {
	for _, format := range []string{"json", "text"} {
		t.Run(format, func(t *testing.T) {
			s := newShell(t)
			v := s.serve("--workers", "1", "--api-key", "topsecret", "--log-level", "debug", "--log-format", format)
			s.ok("say", "--server", v.base, "--key", "topsecret", "-o", "x.wav", "Geheimnis 482913")
			s.ok("stream", "--server", v.base, "--key", "topsecret", "Geheimnis 482913")
			s.ok("normalize", "--server", v.base, "--key", "topsecret", "Geheimnis 482913")
			s.run("say", "--server", v.base, "--key", "wrongsecret", "-o", "x.wav", "Geheimnis 482913")
			get(t, v.base+"/v1/tts/stream?api_key=topsecret")
			v.signal(syscall.SIGTERM)
			if code := v.end(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			log := v.log()
			for _, secret := range []string{"topsecret", "wrongsecret", "Geheimnis", "482913", "चार आठ"} {
				if strings.Contains(log, secret) {
					t.Errorf("%q is in the log:\n%s", secret, log)
				}
			}
			if got := strings.Count(log, "endpoint"); got < 5 {
				t.Errorf("%d requests were logged, want 5:\n%s", got, log)
			}
			if format != "json" {
				return
			}
			for line := range strings.Lines(log) {
				if !json.Valid([]byte(line)) {
					t.Errorf("%q is not JSON", line)
				}
			}
		})
	}
}

func TestAnOpenServerSaysSo(t *testing.T) {
	s := newShell(t)
	v := s.serve("--workers", "1", "--listen", ":0", "--open")
	v.await(func(line string) bool {
		return strings.Contains(line, `"level":"WARN"`) && strings.Contains(line, "open server")
	})
	v.await(func(line string) bool { return strings.HasPrefix(line, "This server is open: ") })
	curl := v.await(func(line string) bool { return strings.Contains(line, "curl") })
	if !strings.Contains(curl, " http://127.0.0.1:") {
		t.Errorf("%q cannot be called", curl)
	}
}

func TestTheReadyLineFitsTheKey(t *testing.T) {
	s := newShell(t)
	v := s.serve("--workers", "1", "--api-key", "k=raj")
	curl := v.await(func(line string) bool { return strings.Contains(line, "curl") })
	say := v.await(func(line string) bool { return strings.Contains(line, " say ") })
	if !strings.Contains(curl, "-H 'x-api-key: YOUR_KEY'") || !strings.Contains(curl, `"voice":"raj"`) {
		t.Errorf("it says %q", curl)
	}
	if !strings.HasPrefix(say, "SWAR_KEY='YOUR_KEY' ") || !strings.Contains(say, "--voice raj") {
		t.Errorf("it says %q", say)
	}
	if strings.Contains(v.log(), "is open") {
		t.Error("it says to be open")
	}
}

func TestWorkers(t *testing.T) {
	s := newShell(t)
	whole := launch.FindCPUs().Whole()
	for name, tt := range map[string]struct {
		args []string
		want int
	}{
		"the default is every whole CPU": {nil, whole},
		"as many as there are CPUs":      {[]string{"--workers", fmt.Sprint(whole)}, whole},
		"more, if that is wanted":        {[]string{"--workers", fmt.Sprint(whole + 1), "--oversubscribe"}, whole + 1},
	} {
		t.Run(name, func(t *testing.T) {
			h := get(t, s.serve(tt.args...).base+"/healthz")
			if want := fmt.Sprintf(`"workers":%d,"workers_ready":%d,`, tt.want, tt.want); !strings.Contains(h, want) {
				t.Errorf("health = %s, want %s", h, want)
			}
		})
	}
}

func TestMetricsAndProfilesElsewhere(t *testing.T) {
	s := newShell(t)
	metrics, profiles := freeAddress(t), freeAddress(t)
	v := s.serve("--workers", "1", "--metrics-listen", metrics, "--pprof", profiles)
	if got := get(t, "http://"+metrics+"/metrics"); !strings.HasPrefix(got, "200 ") ||
		!strings.Contains(got, "tts_streams_active 0") {
		t.Errorf("metrics = %.200s", got)
	}
	if got, want := get(t, v.base+"/metrics"), `404 {"error":"not found"}`; got != want {
		t.Errorf("metrics on the main address = %.200s, want %s", got, want)
	}
	if got := get(t, "http://"+profiles+"/debug/pprof/heap?debug=1"); !strings.HasPrefix(got, "200 heap profile") {
		t.Errorf("profile = %.200s", got)
	}
	if got := get(t, "http://"+profiles+"/debug/pprof/cmdline"); !strings.HasPrefix(got, "403 ") {
		t.Errorf("command line = %.200s", got)
	}
	if got := get(t, v.base+"/debug/pprof/"); !strings.HasPrefix(got, "404 ") {
		t.Errorf("profiles on the main address = %.200s", got)
	}
	if r := s.run("serve", "--listen", "127.0.0.1:0", "--metrics-listen", metrics); r.code != 1 ||
		!strings.Contains(r.err, "listens on "+metrics) {
		t.Errorf("two on one address: exit code %d, %q", r.code, r.err)
	}
	v.signal(syscall.SIGTERM)
	if code := v.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, v.log())
	}

	plain := s.serve("--workers", "1")
	if got := get(t, plain.base+"/metrics"); !strings.HasPrefix(got, "200 ") {
		t.Errorf("metrics = %.200s", got)
	}
}

func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// long is a text whose audio is more than the sockets between a server and a client that does not read can hold.
var long = strings.TrimSpace(strings.Repeat("Namaste, aapka order kal tak deliver ho jayega aur aapko message milega. ",
	54))

// speakLong begins to speak and reads only the beginning.
func speakLong(t testing.TB, base string) *client.Audio {
	t.Helper()
	c, err := client.New(base, client.Options{HTTPClient: &http.Client{Transport: &http.Transport{
		DialContext: (&net.Dialer{Control: smallBuffer}).DialContext,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	audio, err := c.Speak(t.Context(), client.Request{Text: long, Format: client.PCM16})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { audio.Close() })
	if _, err := io.ReadFull(audio, make([]byte, 3840)); err != nil {
		t.Fatal(err)
	}
	return audio
}

// smallBuffer makes the client's end of a connection hold little.
func smallBuffer(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) { syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) })
}

func TestTheFirstSignalDrains(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			s := newShell(t)
			v := s.serve("--workers", "1")
			audio := speakLong(t, v.base)
			c, err := client.New(v.base, client.Options{})
			if err != nil {
				t.Fatal(err)
			}
			idle, err := c.Stream(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer idle.Close()

			v.signal(signal)
			v.await(func(line string) bool { return line == "swar: finishing 1 utterance; a second signal stops at once\n" })
			if _, err := idle.Next(); err == nil || !strings.Contains(err.Error(), "1001") {
				t.Errorf("an idle socket ended with %v, want close code 1001", err)
			}
			if err := c.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "draining") {
				t.Errorf("readiness while draining: %v", err)
			}
			_, err = c.Speak(t.Context(), client.Request{Text: "naya"})
			if e, ok := errors.AsType[*client.Error](err); !ok || e.Status != http.StatusServiceUnavailable ||
				e.Text != "busy" {
				t.Errorf("a new request while draining: %v, want busy", err)
			}
			n, err := io.Copy(io.Discard, audio)
			if err != nil {
				t.Errorf("the running stream: %v", err)
			}
			if p, ok := audio.Proof(); !ok || int64(p.Frames)*client.FrameBytes != n+client.FrameBytes {
				t.Errorf("proof = %+v, %v after %d bytes", p, ok, n)
			}
			if code := v.end(); code != 0 {
				t.Errorf("exit code %d, want 0\n%s", code, v.log())
			}
			if log := v.log(); !strings.Contains(log, `"msg":"drained"`) {
				t.Errorf("the log is\n%s", log)
			}
		})
	}
}

func TestTheSecondSignalStopsAtOnce(t *testing.T) {
	s := newShell(t)
	v := s.serve("--workers", "1")
	audio := speakLong(t, v.base)
	v.signal(syscall.SIGTERM)
	v.await(func(line string) bool { return strings.HasPrefix(line, "swar: finishing 1 utterance") })
	for done := false; !done; { // until the first signal is long enough ago for another one to count
		select {
		case <-v.over:
			done = true
		case <-time.After(20 * time.Millisecond):
			v.Process.Signal(syscall.SIGINT)
		}
	}
	if code := v.end(); code != 130 {
		t.Errorf("exit code %d, want 130\n%s", code, v.log())
	}
	if log := v.log(); !strings.HasSuffix(log, "swar: stopped at once by a second signal (interrupt)\n") {
		t.Errorf("the log is\n%s", log)
	}
	if _, err := io.Copy(io.Discard, audio); err == nil {
		t.Error("the running stream ended as if it were complete")
	}
}

func TestVersionAndHelp(t *testing.T) {
	s := bareShell(t)
	got, want := s.ok("version").out, "swar v0.0-test, "+runtime.Version()+", "+runtime.GOOS+"/"+runtime.GOARCH
	if !strings.HasPrefix(got, want) {
		t.Errorf("version = %q, want %q…", got, want)
	}
	var b struct{ Version, Go, Platform string }
	if err := json.Unmarshal([]byte(s.ok("version", "--json").out), &b); err != nil || b.Version != "v0.0-test" ||
		b.Go != runtime.Version() {
		t.Errorf("version = %+v, %v", b, err)
	}
	codes := s.ok("help", "exit-codes").out
	for _, code := range []string{"    0  ", "    1  ", "    2  ", "    3  ", "    4  ", "  130  "} {
		if !strings.Contains(codes, code) {
			t.Errorf("%q is not explained in\n%s", code, codes)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if out := s.ok("completion", shell).out; !strings.Contains(out, "swar") {
			t.Errorf("completion %s = %.100q", shell, out)
		}
	}
	top := s.ok().out
	for _, command := range []string{"serve", "say", "stream", "normalize", "voices", "keys", "orgs", "usage",
		"voice-requests", "signin", "signing-keys", "backup", "restore", "migrate", "bundle", "doctor", "check",
		"version", "completion", "exit-codes"} {
		if !strings.Contains(top, "\n  "+command) && !strings.Contains(top, "swar "+command) {
			t.Errorf("%s is missing in\n%s", command, top)
		}
		if out := s.ok("help", command).out; len(out) < 100 {
			t.Errorf("help %s = %q", command, out)
		}
	}
}

// TestALogThatCannotBeWritten: /dev/full takes nothing. The server works, and says on /metrics what is lost.
func TestALogThatCannotBeWritten(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("there is no full device here: %v", err)
	}
	defer full.Close()
	s := newShell(t)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	cmd := s.command("serve", "--portal", "off", "--workers", "1", "--listen", address)
	cmd.Stderr = full
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	}()
	eventually(t, "lines are lost, and counted", func() bool {
		resp, err := http.Get("http://" + address + "/metrics")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		_, count, found := strings.Cut(string(body), "\ntts_log_lost_lines_total ")
		return err == nil && found && !strings.HasPrefix(count, "0\n")
	})
}
