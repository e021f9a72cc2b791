package signin

import (
	"html/template"
	"strings"
	"unicode"
)

// The HTML of mails has no image, script or style sheet, so that reading a mail sends no request.
var mailHTML = template.Must(template.New("mail").Parse(`<!doctype html>
<html lang="hi"><head><meta charset="utf-8"><title>{{.Subject}}</title></head>
<body style="font-family:sans-serif;font-size:16px;line-height:1.5;color:#1a1a1a;max-width:34em;margin:1.5em">
{{- range .Parts}}
<div lang="{{.Lang}}">{{range .Lines}}<p>{{.}}</p>
{{end}}{{if $.Link}}<p><a href="{{$.Link}}" style="display:inline-block;padding:.6em 1.2em;background:#1d4ed8;color:#fff;text-decoration:none;border-radius:6px">{{.Action}}</a></p>
{{end}}{{if $.Code}}<p>{{.Type}}</p>
<p style="font-family:monospace;font-size:24px;letter-spacing:2px">{{$.Code}}</p>
{{end}}<p style="color:#555">{{.Note}}</p></div>
{{- end}}
</body></html>
`))

// message is a mail in several languages.
type message struct {
	Subject string
	Link    string
	Code    string
	Parts   []part
}

type part struct {
	Lang   string
	Lines  []string
	Action string // what the link does
	Type   string // what to do with the code
	Note   string
}

// linkMail is the mail with which a person signs in.
func linkMail(service, email, link, code string) Mail {
	return message{
		Subject: service + ": साइन इन · Sign in",
		Link:    link,
		Code:    showCode(code),
		Parts: []part{{
			Lang: "hi",
			Lines: []string{service +
				" में साइन इन करने के लिए यह लिंक उसी ब्राउज़र में खोलें जहाँ आपने इसे माँगा था।"},
			Action: "साइन इन करें",
			Type:   "या वहाँ यह कोड लिखें:",
			Note:   "लिंक और कोड 15 मिनट तक और एक ही बार चलते हैं। आपने नहीं माँगा तो कुछ न करें, और कोड किसी को न बताएँ।",
		}, {
			Lang:   "en",
			Lines:  []string{"To sign in to " + service + ", open this link in the browser where you requested it."},
			Action: "Sign in",
			Type:   "Or enter this code there:",
			Note:   "The link and the code work once and expire in 15 minutes. If you did not request them, ignore this e-mail and do not share the code.",
		}},
	}.to(email)
}

// inviteMail is the mail of an invitation.
func inviteMail(service, email, orgName, invitedBy, page string) Mail {
	hi, en := "एक संगठन", "an organisation"
	if isPlainName(orgName) {
		hi, en = "“"+orgName+"”", "“"+orgName+"”"
	}
	return message{
		Subject: service + ": निमंत्रण · Invitation",
		Link:    page,
		Parts: []part{{
			Lang:   "hi",
			Lines:  []string{invitedBy + " ने आपको " + service + " पर " + hi + " में बुलाया है।"},
			Action: "साइन इन पेज खोलें",
			Note:   "इसी ईमेल पते से साइन इन करें। जिसने बुलाया है उसे नहीं जानते तो कुछ न करें।",
		}, {
			Lang:   "en",
			Lines:  []string{invitedBy + " has invited you to " + en + " on " + service + "."},
			Action: "Open the sign-in page",
			Note:   "Sign in with this e-mail address. If you do not know this person, ignore this e-mail.",
		}},
	}.to(email)
}

// isPlainName reports whether mail programs will not turn a name into a link; an attacker can choose the name in a mail
// to any address.
func isPlainName(s string) bool {
	afterDot := false
	for _, r := range s {
		if strings.ContainsRune("/\\@:", r) || afterDot && !unicode.IsSpace(r) {
			return false
		}
		afterDot = strings.ContainsRune(".。．｡", r)
	}
	return s != ""
}

func (m message) to(email string) Mail {
	var text, html strings.Builder
	for i, p := range m.Parts {
		if i > 0 {
			text.WriteString("\n-- --\n\n")
		}
		for _, line := range p.Lines {
			text.WriteString(line + "\n\n")
		}
		text.WriteString(p.Action + ":\n" + m.Link + "\n\n")
		if m.Code != "" {
			text.WriteString(p.Type + "\n" + m.Code + "\n\n")
		}
		text.WriteString(p.Note + "\n")
	}
	if err := mailHTML.Execute(&html, m); err != nil {
		panic(err) // the template fits the type, and a builder takes everything
	}
	return Mail{To: email, Subject: m.Subject, Text: text.String(), HTML: html.String()}
}
