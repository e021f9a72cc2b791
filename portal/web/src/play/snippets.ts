// The request on the page as code. Texts are quoted by the rules of each language; the key is always $SWAR_KEY, never its value.

import { body, type Settings } from "./wire";

const HIDDEN = /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

export const LANGUAGES = ["curl", "Go", "Python", "JavaScript", "wscat"] as const;
export type Language = (typeof LANGUAGES)[number];

export function snippet(l: Language, api: string, text: string, s: Settings): string {
  switch (l) {
    case "curl":
      return curl(api, text, s);
    case "Go":
      return golang(api, text, s);
    case "Python":
      return python(api, text, s);
    case "JavaScript":
      return javascript(api, text, s);
    case "wscat":
      return wscat(api, text, s);
  }
}

/** One word for a POSIX shell: nothing is special between single quotes but the quote itself. */
export function shell(s: string): string {
  return "'" + s.replaceAll("'", `'\\''`) + "'";
}

/** A literal of Go, JavaScript or Python: all three read the escapes of JSON. */
export function literal(s: string): string {
  return visible(JSON.stringify(wellFormed(s)));
}

// Half a surrogate pair has no meaning: the server reads it as U+FFFD, and Go does not compile it.
function wellFormed(s: string): string {
  return s.replace(/[\ud800-\udfff]/gu, "\ufffd");
}

// Code shows what it holds: marks that cannot be seen, or that turn the text around, are written as escapes.
function visible(json: string): string {
  return json.replace(HIDDEN, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

/** A file is written when all of it is there: then its head states its true length. */
const WHOLE = { stream: false };

function json(text: string, s: Settings, more: Record<string, unknown> = {}): string {
  return visible(body(wellFormed(text), s, more));
}

function curl(api: string, text: string, s: Settings): string {
  return [
    `curl -sS ${shell(api + "/v1/tts")} \\`,
    `  -H "x-api-key: $SWAR_KEY" \\`,
    `  -d ${shell(json(text, s, WHOLE))} \\`,
    `  -o take.wav`,
  ].join("\n");
}

function golang(api: string, text: string, s: Settings): string {
  const fields = [
    `Text: ${literal(text)},`,
    `Voice: ${literal(s.voice)},`,
    `Temperature: new(${goFloat(s.temperature)}),`,
    "Buffered: true,",
  ];
  if (s.seed) fields.push(`Seed: new(int64(${s.seed})),`);
  if (s.enDigits) fields.push("EnDigits: true,");
  if (s.raw) fields.push("Raw: true,");
  return `// Go 1.26 or later. The client is in Swar's sources, which lie in ../swar here. Beside this file, once:
//   go mod init take && go mod edit -replace github.com/swar-tts/swar=../swar && go mod tidy
package main

import (
	"context"
	"io"
	"log"
	"os"

	"github.com/swar-tts/swar/client"
)

func main() {
	c, err := client.New(${literal(api)}, client.Options{Key: os.Getenv("SWAR_KEY"), Retry: true})
	if err != nil {
		log.Fatal(err)
	}
	audio, err := c.Speak(context.Background(), client.Request{
${fields.map((f) => "\t\t" + f).join("\n")}
	})
	if err != nil {
		log.Fatal(err)
	}
	defer audio.Close()
	f, err := os.Create("take.wav")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := io.Copy(f, audio); err != nil {
		log.Fatal(err)
	}
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
}`;
}

function goFloat(n: number): string {
  return Number.isInteger(n) ? n + ".0" : String(n); // new(1) would be an int
}

function python(api: string, text: string, s: Settings): string {
  const fields = [`"text": ${literal(text)},`, `"voice": ${literal(s.voice)},`, `"temperature": ${s.temperature},`];
  if (s.seed) fields.push(`"seed": ${s.seed},`);
  if (s.enDigits) fields.push(`"en_digits": True,`);
  if (s.raw) fields.push(`"raw": True,`);
  fields.push(`"stream": False,`);
  return `import json, os, urllib.request

request = urllib.request.Request(
    ${literal(api + "/v1/tts")},
    headers={"x-api-key": os.environ["SWAR_KEY"]},
    data=json.dumps({
${fields.map((f) => "        " + f).join("\n")}
    }).encode(),
)
with urllib.request.urlopen(request) as answer, open("take.wav", "wb") as f:
    f.write(answer.read())`;
}

function javascript(api: string, text: string, s: Settings): string {
  return `import { writeFile } from "node:fs/promises";

const answer = await fetch(${literal(api + "/v1/tts")}, {
  method: "POST",
  headers: { "x-api-key": process.env.SWAR_KEY },
  body: ${literal(json(text, s, WHOLE))}, // as text: a seed may be larger than a number can hold
});
if (!answer.ok) throw new Error(await answer.text());
await writeFile("take.wav", new Uint8Array(await answer.arrayBuffer()));`;
}

function wscat(api: string, text: string, s: Settings): string {
  const address = api.replace(/^http/, "ws") + "/v1/tts/stream";
  return `wscat -H "x-api-key: $SWAR_KEY" -c ${shell(address)} \\\n  -x ${shell(json(text, s, { request_id: "a" }))} -w 3`;
}
