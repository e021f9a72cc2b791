package dialect

import (
	"cmp"
	"net/url"
)

// Fault is an error as the native API would answer it, and what dialects say in addition.
type Fault struct {
	Code      string // of the header x-error-code
	Text      string
	Status    int // natively
	Field     string
	RequestID string
}

// faultShape is how one vendor puts a fault. Zero values mean: as natively.
type faultShape struct {
	status int
	code   string
}

// fault is one row of the table of errors.
type fault struct {
	openAI, deepgram, elevenLabs, sarvam, cartesia faultShape
}

const (
	deepgramBad   = "Bad Request"
	deepgramQuery = "INVALID_QUERY_PARAMETER"
	sarvamBad     = "invalid_request_error"
)

// badRequest is what is wrong with the body itself, or with the request around it, such as 426.
var badRequest = fault{
	faultShape{0, ""}, faultShape{0, deepgramBad}, faultShape{0, "invalid_request"}, faultShape{0, sarvamBad},
	faultShape{0, "invalid_request"},
}

// tooLong, busy and broken are what several native codes become.
var (
	tooLong = fault{
		faultShape{400, "string_too_long"}, faultShape{413, "PAYLOAD_TOO_LARGE"},
		faultShape{400, "max_character_limit_exceeded"}, faultShape{400, sarvamBad},
		faultShape{400, "transcript_too_long"},
	}
	busy = fault{
		faultShape{503, "busy"}, faultShape{429, "TOO_MANY_REQUESTS"}, faultShape{429, "system_busy"},
		faultShape{429, "rate_limit_exceeded_error"},
		faultShape{429, "concurrency_limited"},
	}
	broken = fault{
		faultShape{500, ""}, faultShape{500, "INTERNAL_SERVER_ERROR"}, faultShape{500, "internal_server_error"},
		faultShape{500, "internal_server_error"},
		faultShape{500, "internal_server_error"},
	}
)

// faults is the table of errors, by native code.
var faults = map[string]fault{
	"missing_key": {
		faultShape{401, "invalid_api_key"}, faultShape{401, "INVALID_AUTH"}, faultShape{401, "needs_authorization"},
		faultShape{403, "invalid_api_key_error"},
		faultShape{401, "unauthorized"},
	},
	"invalid_key": {
		faultShape{401, "invalid_api_key"}, faultShape{401, "INVALID_AUTH"}, faultShape{401, "invalid_api_key"},
		faultShape{403, "invalid_api_key_error"},
		faultShape{401, "unauthorized"},
	},
	"voice_not_allowed": {
		faultShape{403, ""}, faultShape{403, "INSUFFICIENT_PERMISSIONS"}, faultShape{403, "voice_access_denied"},
		faultShape{403, "forbidden_error"},
		faultShape{403, "forbidden"},
	},
	"unknown_voice": {
		faultShape{400, ""}, faultShape{400, deepgramQuery}, faultShape{404, "voice_not_found"},
		faultShape{400, sarvamBad}, faultShape{400, "voice_not_found"},
	},
	"text_empty":      {faultShape{400, ""}, faultShape{400, deepgramBad}, faultShape{400, "input_text_empty"}, faultShape{400, sarvamBad}, faultShape{400, ""}},
	"nothing_to_say":  {faultShape{400, ""}, faultShape{400, deepgramBad}, faultShape{400, "nothing_to_say"}, faultShape{400, sarvamBad}, faultShape{400, ""}},
	"text_too_long":   tooLong,
	"too_many_chunks": tooLong,
	"bad_format": {
		faultShape{400, ""}, faultShape{400, deepgramQuery}, faultShape{400, "invalid_output_format"},
		faultShape{400, sarvamBad}, faultShape{400, "invalid_output_format"},
	},
	"bad_sample_rate": {
		faultShape{400, ""}, faultShape{400, deepgramQuery}, faultShape{400, "invalid_output_format"},
		faultShape{400, sarvamBad}, faultShape{400, "invalid_output_format"},
	},
	"bad_speed": {
		faultShape{400, ""}, faultShape{400, deepgramQuery}, faultShape{400, "invalid_voice_settings"},
		faultShape{400, sarvamBad}, faultShape{400, "invalid_speed"},
	},
	"unsupported_parameter": {
		faultShape{400, ""}, faultShape{400, deepgramQuery}, faultShape{400, "invalid_output_format"},
		faultShape{400, sarvamBad}, faultShape{400, "invalid_output_format"},
	},
	"bad_text":        badRequest,
	"bad_temperature": badRequest,
	"unknown_lexicon": badRequest,
	"bad_request":     badRequest,
	"busy":            busy,
	"warming_up":      busy,
	"engine_error":    broken,
	"worker_gone":     broken,
}

// FaultStatus returns the status and the code of a fault in a dialect. A dialect without its own uses those of the
// native API.
func (n Name) FaultStatus(f Fault) (status int, code string) {
	row := faults[f.Code]
	own := map[Name]faultShape{
		OpenAI: row.openAI, Deepgram: row.deepgram, ElevenLabs: row.elevenLabs, Sarvam: row.sarvam,
		Cartesia: row.cartesia,
	}[n]
	return cmp.Or(own.status, f.Status), cmp.Or(own.code, f.Code)
}

// FaultBody returns the status and the body of a fault in a dialect. A dialect without its own shape uses that of the
// native API.
func (n Name) FaultBody(f Fault) (status int, body []byte) {
	status, code := n.FaultStatus(f)
	switch n {
	case OpenAI:
		return status, JSON(map[string]any{"error": openAIError(f, code, status)})
	case Deepgram:
		return status, JSON(map[string]any{"err_code": code, "err_msg": f.Text, "request_id": f.RequestID})
	case ElevenLabs:
		return status, JSON(map[string]any{"detail": map[string]any{"status": code, "message": f.Text}})
	case Sarvam:
		return status,
			JSON(map[string]any{"error": map[string]any{"message": f.Text, "code": code, "request_id": f.RequestID}})
	case Cartesia:
		return status, JSON(map[string]any{
			"error_code": code, "title": titles[status], "message": f.Text, "request_id": f.RequestID,
		})
	}
	return f.Status, JSON(map[string]any{"error": f.Text})
}

// openAIFields are the members that native codes are about, where the request does not say.
var openAIFields = map[string]string{
	"voice_not_allowed": "voice", "unknown_voice": "voice",
	"text_empty": "input", "nothing_to_say": "input", "text_too_long": "input", "too_many_chunks": "input", "bad_text": "input",
	"bad_format": "response_format", "bad_sample_rate": "sample_rate", "bad_speed": "speed",
}

func openAIError(f Fault, code string, status int) map[string]any {
	kind := "invalid_request_error"
	switch {
	case status == 403:
		kind = "permission_error"
	case status >= 500:
		kind = "server_error"
	}
	var param any // null, but always there
	if field := f.Field; field != "" {
		param = field
	} else if field, ok := openAIFields[f.Code]; ok {
		param = field
	}
	return map[string]any{"message": f.Text, "type": kind, "param": param, "code": code}
}

// Title is what Cartesia calls a status.
func Title(status int) string { return titles[status] }

// titles are the error titles of Cartesia.
var titles = map[int]string{
	400: "Bad request", 401: "Unauthorized", 403: "Forbidden", 404: "Not found", 405: "Method not allowed",
	408: "Request timeout",
	413: "Payload too large", 415: "Unsupported media type", 429: "Too many requests", 500: "Internal server error",
	503: "Service unavailable", 504: "Timeout",
}

// HeaderValue makes client input safe for a response header. Printable ASCII stays, anything else is percent-encoded,
// and the result has at most 256 bytes: "a é" → "a %C3%A9".
func HeaderValue(text string) string {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			text = url.QueryEscape(text)
			break
		}
	}
	return text[:min(len(text), maxHeaderValue)]
}

const maxHeaderValue = 256 // bytes

// Ignored is the value of the header x-ignored: the names of members that change nothing.
func Ignored(names []string) string {
	var value []byte
	for _, name := range names {
		name = url.QueryEscape(name)
		if len(value)+len(name)+len(", ") > maxHeaderValue {
			break
		}
		if len(value) > 0 {
			value = append(value, ", "...)
		}
		value = append(value, name...)
	}
	return string(value)
}
