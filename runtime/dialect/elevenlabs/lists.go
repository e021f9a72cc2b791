package elevenlabs

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
)

type voiceShape struct {
	ID       string `json:"voice_id"`
	Name     string `json:"name"`
	Category string `json:"category"`
	Labels   labels `json:"labels"`
	Preview  string `json:"preview_url"`
}

type labels struct {
	Language string `json:"language"`
	Gender   string `json:"gender,omitzero"`
}

func shapeVoice(v speech.Voice) voiceShape {
	return voiceShape{v.Name, v.Name, "premade", labels{v.Language, dialect.Gender(v.Name)},
		"/samples/" + v.Name + ".wav"}
}

func allVoices(c dialect.Call) []voiceShape {
	all := []voiceShape{}
	for _, v := range c.Model.Voices {
		if c.Allows(v.Name) {
			all = append(all, shapeVoice(v))
		}
	}
	return all
}

// listVoices answers GET /v1/voices.
func listVoices(c dialect.Call) (any, error) {
	return struct {
		Voices []voiceShape `json:"voices"`
	}{allVoices(c)}, nil
}

// listPage answers GET /v2/voices, always with all of them.
func listPage(c dialect.Call) (any, error) {
	all := allVoices(c)
	return struct {
		Voices []voiceShape `json:"voices"`
		More   bool         `json:"has_more"`
		Total  int          `json:"total_count"`
		Next   *string      `json:"next_page_token"`
	}{all, false, len(all), nil}, nil
}

// voice answers GET /v1/voices/{voice}.
func voice(c dialect.Call) (any, error) {
	name, ok := dialect.Voice(dialect.ElevenLabs, c.Model, c.Var("voice"))
	if v, found := c.Model.Voice(name); ok && found {
		if !c.Allows(name) {
			return nil, speech.VoiceNotAllowed(name)
		}
		return shapeVoice(v), nil
	}
	return nil, &dialect.NotFoundError{Code: "voice_not_found",
		Text: fmt.Sprintf("unknown voice '%.64s'; see /v1/voices", c.Var("voice"))}
}

type language struct {
	ID   string `json:"language_id"`
	Name string `json:"name"`
}

var languages = map[string]string{"hi": "Hindi", "en": "English"}

// listModels answers GET /v1/models.
func listModels(c dialect.Call) (any, error) {
	spoken := []language{}
	seen := map[string]bool{}
	for _, v := range c.Model.Voices {
		for tag := range strings.SplitSeq(v.Language, "+") {
			id, _, _ := strings.Cut(tag, "-")
			if name := languages[id]; name != "" && !seen[id] {
				seen[id] = true
				spoken = append(spoken, language{id, name})
			}
		}
	}
	type model struct {
		ID        string     `json:"model_id"`
		Name      string     `json:"name"`
		Speaks    bool       `json:"can_do_text_to_speech"`
		Converts  bool       `json:"can_do_voice_conversion"`
		MaxChars  int        `json:"maximum_text_length_per_request"`
		Languages []language `json:"languages"`
	}
	return []model{{"swar-1", "Swar", true, false, maxText, spoken}}, nil
}

// plan is what a subscription cannot do without: the client for Node looks at it. What a project may use is known to
// the portal alone.
const plan = `"tier":"swar","character_count":0,"character_limit":1000000000,"status":"active",` +
	`"max_credit_limit_extension":0,"can_extend_character_limit":false,"allowed_to_extend_character_limit":false,` +
	`"voice_slots_used":0,"professional_voice_slots_used":0,"professional_voice_slots_used_in_workspace":0,` +
	`"voice_limit":0,"voice_add_edit_counter":0,"professional_voice_limit":0,"can_extend_voice_limit":false,` +
	`"can_use_instant_voice_cloning":false,"can_use_professional_voice_cloning":false,` +
	`"current_overage":{"amount":"0","currency":"inr"}`

// subscription answers GET /v1/user/subscription.
func subscription(dialect.Call) (any, error) {
	return jsontext.Value(`{` + plan + `,"open_invoices":[],"has_open_invoices":false}`), nil
}

// user answers GET /v1/user.
func user(dialect.Call) (any, error) {
	return jsontext.Value(`{"user_id":"swar","workspace_id":"swar","subscription":{` + plan + `},"is_new_user":false,` +
		`"can_use_delayed_payment_methods":false,"is_onboarding_completed":true,"is_onboarding_checklist_completed":true,` +
		`"created_at":1795564800,"seat_type":"workspace_member"}`), nil
}
