package serve

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// recipes has, for each program in the section "Recipes" of docs/clients.md, what the program sends when it is set up
// as its block says. The requests were read in the sources of the programs in November 2026.
var recipes = map[string]func(t *testing.T, block string) []recipeCall{
	"Open WebUI":  openWebUICalls,
	"LibreChat":   libreChatCalls,
	"n8n":         n8nCalls,
	"SillyTavern": sillyTavernCalls,
	"Dograh":      dograhCalls,
}

// recipeCall is one request of a program, and what it needs of the answer.
type recipeCall struct {
	method, url string
	headers     []string
	body        any
	status      int
	contentType string
	voice       string // the voice that speaks, where one does
}

const recipeText = "Namaste! Aapka OTP 482913 hai. कल मिलेंगे।"

// TestRecipes sets each program up as docs/clients.md says, and replays what it sends then.
func TestRecipes(t *testing.T) {
	blocks := recipeBlocks(t)
	if got, want := slices.Sorted(maps.Keys(blocks)), slices.Sorted(maps.Keys(recipes)); !slices.Equal(got, want) {
		t.Fatalf("docs/clients.md has recipes for %q, tried are those for %q", got, want)
	}
	g := newRig(t, &script{}, withDialects)
	for name, block := range blocks {
		t.Run(name, func(t *testing.T) {
			for _, call := range recipes[name](t, block) {
				path, ok := strings.CutPrefix(call.url, "http://127.0.0.1:8080")
				if !ok {
					t.Fatalf("the address is %q, want one of http://127.0.0.1:8080", call.url)
				}
				body := ""
				if call.body != nil {
					encoded, err := json.Marshal(call.body)
					if err != nil {
						t.Fatal(err)
					}
					body = string(encoded)
				}
				got := g.do(call.method, path, body, append([]string{"X-Api-Key", ""}, call.headers...)...)
				if got.StatusCode != call.status || got.cut != nil || len(got.body) == 0 {
					t.Errorf("%s %s %s: %s, %.200s (%v), want %d", call.method, path, body, got.Status, got.body,
						got.cut, call.status)
				}
				if h := got.Header; h.Get("Content-Type") != call.contentType || h.Get("X-Voice") != call.voice {
					t.Errorf("%s %s: %s by %q, want %s by %q", call.method, path, h.Get("Content-Type"),
						h.Get("X-Voice"), call.contentType, call.voice)
				}
			}
		})
	}
}

// recipeBlocks returns the one block of code that each program's part of the section has.
func recipeBlocks(t *testing.T) map[string]string {
	text, err := os.ReadFile("../../docs/clients.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Recipes\n")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := map[string]string{}
	for _, part := range strings.Split(section, "\n### ")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		found := regexp.MustCompile("(?s)```[a-z]+\n(.*?)```").FindAllStringSubmatch(rest, -1)
		if len(found) != 1 {
			t.Fatalf("the recipe for %s has %d blocks, want one", name, len(found))
		}
		blocks[name] = strings.ReplaceAll(found[0][1], "YOUR_KEY", testKey)
	}
	return blocks
}

// setting returns what stands behind a name in a block of lines such as `NAME=value`, `name: "value"` or `Name: value`.
func setting(t *testing.T, block, name string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^[ -]*` + regexp.QuoteMeta(name) +
		`[:=] *"?([^"\n]*)"?$`).FindStringSubmatch(block)
	if found == nil {
		t.Fatalf("the block has no %s:\n%s", name, block)
	}
	return found[1]
}

// speechOf is what each of the programs wants: audio of a type, by a voice.
func speechOf(url, key, contentType, voice string, body map[string]any, headers ...string) recipeCall {
	headers = append(headers, "Authorization", "Bearer "+key, "Content-Type", "application/json")
	return recipeCall{http.MethodPost, url, headers, body, http.StatusOK, contentType, voice}
}

// openWebUICalls lists voices and models without a key, and offers names of OpenAI when that is refused.
func openWebUICalls(t *testing.T, block string) []recipeCall {
	base, voice := setting(t, block, "AUDIO_TTS_OPENAI_API_BASE_URL"), setting(t, block, "AUDIO_TTS_VOICE")
	key, model := setting(t, block, "AUDIO_TTS_OPENAI_API_KEY"), setting(t, block, "AUDIO_TTS_MODEL")
	if engine := setting(t, block, "AUDIO_TTS_ENGINE"); engine != "openai" {
		t.Errorf("the engine is %q", engine)
	}
	calls := []recipeCall{
		{http.MethodGet, base + "/audio/voices", nil, nil, http.StatusUnauthorized, "application/json", ""},
		{http.MethodGet, base + "/audio/models", nil, nil, http.StatusUnauthorized, "application/json", ""},
	}
	for asked, heard := range map[string]string{voice: voice, "nova": "anjura", "onyx": "raj"} {
		body := map[string]any{"input": recipeText, "voice": asked, "model": model}
		calls = append(calls, speechOf(base+"/audio/speech", key, "audio/mpeg", heard, body,
			"X-OpenWebUI-User-Name", "A"))
	}
	return calls
}

// libreChatCalls has a key from the environment, and no format. It connects to no private address that it is not told.
func libreChatCalls(t *testing.T, block string) []recipeCall {
	url, key, model := setting(t, block, "url"), setting(t, block, "apiKey"), setting(t, block, "model")
	if key != "${SWAR_KEY}" {
		t.Errorf("the key is %q, want a variable", key)
	}
	if allowed := listOf(t, block, "allowedAddresses"); len(allowed) != 1 ||
		!strings.Contains(url, "://"+allowed[0]+"/") {
		t.Errorf("the addresses %q are allowed, want that of %s", allowed, url)
	}
	var calls []recipeCall
	for _, voice := range listOf(t, block, "voices") {
		body := map[string]any{"input": recipeText, "model": model, "voice": voice}
		calls = append(calls, speechOf(url, testKey, "audio/mpeg", voice, body, "Accept",
			"application/json, text/plain, */*"))
	}
	return calls
}

// listOf returns the texts of a list in one line of YAML.
func listOf(t *testing.T, block, name string) (all []string) {
	t.Helper()
	found := regexp.MustCompile(name + `: (\[.*\])`).FindStringSubmatch(block)
	if found == nil {
		t.Fatalf("the block has no list %s", name)
	}
	if err := json.Unmarshal([]byte(found[1]), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// n8nCalls tries the node that the block pastes, the node "OpenAI" with its defaults, and how n8n tries credentials.
func n8nCalls(t *testing.T, block string) []recipeCall {
	var workflow struct {
		Nodes []struct {
			Type       string
			Parameters struct {
				Method, URL, Authentication, NodeCredentialType string
				BodyParameters                                  struct {
					Parameters []struct{ Name, Value string }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(block), &workflow); err != nil {
		t.Fatal(err)
	}
	node := workflow.Nodes[0]
	if p := node.Parameters; node.Type != "n8n-nodes-base.httpRequest" || p.Method != http.MethodPost ||
		p.NodeCredentialType != "openAiApi" {
		t.Fatalf("the node is a %s: %+v", node.Type, p)
	}
	body := map[string]any{}
	for _, field := range node.Parameters.BodyParameters.Parameters {
		body[field.Name] = strings.ReplaceAll(field.Value, "={{ $json.text }}", recipeText)
	}
	base := strings.TrimSuffix(node.Parameters.URL, "/audio/speech")
	defaults := map[string]any{"model": "tts-1", "input": recipeText, "voice": "alloy",
		"response_format": "mp3", "speed": 1}
	voice, _ := body["voice"].(string)
	return []recipeCall{
		{http.MethodGet, base + "/models", []string{"Authorization", "Bearer " + testKey}, nil, http.StatusOK, "application/json", ""},
		speechOf(node.Parameters.URL, testKey, "audio/mpeg", voice, body, "OpenAI-Organization", ""),
		speechOf(base+"/audio/speech", testKey, "audio/mpeg", "anjura", defaults, "OpenAI-Organization", ""),
	}
}

func sillyTavernCalls(t *testing.T, block string) []recipeCall {
	url, key, model := setting(t, block, "Provider Endpoint"), setting(t, block, "API Key"), setting(t, block, "Model")
	var calls []recipeCall
	for voice := range strings.SplitSeq(setting(t, block, "Available Voices"), ",") {
		body := map[string]any{"input": recipeText, "response_format": "mp3", "voice": voice, "speed": 1,
			"model": model}
		calls = append(calls, speechOf(url, key, "audio/mpeg", voice, body))
		tooFast := speechOf(url, key, "application/json", "", maps.Clone(body)) // its slider goes from 0.25 to 4
		tooFast.body.(map[string]any)["speed"], tooFast.status = 2.05, http.StatusBadRequest
		calls = append(calls, tooFast)
	}
	return calls
}

// dograhCalls are those of its provider Speaches, which sends the name of the voice as it is set.
func dograhCalls(t *testing.T, block string) []recipeCall {
	base, key, voice := setting(t, block, "Base URL"), setting(t, block, "API Key"), setting(t, block, "Voice")
	body := map[string]any{"input": recipeText, "model": setting(t, block, "Model"), "voice": voice,
		"response_format": "pcm", "speed": 1.0}
	return []recipeCall{speechOf(base+"/audio/speech", key, "audio/pcm", voice, body,
		"User-Agent", "AsyncOpenAI/Python 3.51.0", "Accept", "application/octet-stream", "x-stainless-raw-response", "stream")}
}
