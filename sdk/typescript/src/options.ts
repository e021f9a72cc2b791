/** What the client needs of a WebSocket: that of the platform has it, and that of the package `ws`. */
export interface WebSocketLike {
  binaryType: string;
  onopen: any;
  onmessage: any;
  onerror: any;
  onclose: any;
  send(data: string): void;
  close(): void;
  /** Where a WebSocket can stop reading, it does so while much is unread. */
  pause?(): void;
  resume?(): void;
}

export interface SwarOptions {
  /** Of the server; otherwise SWAR_SERVER, or http://127.0.0.1:8080. `tts.example.com` is https, loopback http. */
  baseUrl?: string;
  /** Otherwise SWAR_KEY. */
  apiKey?: string;
  /** How often a request is sent again that failed before its first byte; 2. */
  maxRetries?: number;
  /** Milliseconds in which something must come; 120,000, what the server takes at most. */
  timeout?: number;
  /** In place of the platform's. */
  fetch?: typeof fetch;
  /** In place of the platform's, which Node has from version 22 on. */
  WebSocket?: new (url: string, protocols: string[]) => WebSocketLike;
}

/** Where and how to send requests. */
export interface Target {
  server: string;
  key: string;
  retries: number;
  timeout: number;
  fetch: typeof fetch;
  WebSocket: SwarOptions["WebSocket"];
}

export type Format = "wav" | "pcm16" | "opus";

/** How a text is spoken. */
export interface VoiceOptions {
  voice?: string;
  format?: Format;
  /** The same seed, text and voice give the same audio. */
  seed?: number;
  /** 0 to 2; 0.3 by default. */
  temperature?: number;
  /** Digits are read in English. */
  enDigits?: boolean;
  /** `none` leaves the lexicon of the project out. */
  lexicon?: string;
  /** A label of your own, of visible ASCII characters. */
  requestId?: string;
  /** Stops the server, and its bill, at once. */
  signal?: AbortSignal;
}

/** How a text that is sent as a whole is read. */
export interface TextOptions {
  /** The text is spoken as it is, without the normaliser. */
  raw?: boolean;
  /** `ssml`: the text is a document of a part of SSML. */
  inputType?: "text" | "ssml";
}

export interface SpeakOptions extends VoiceOptions, TextOptions {
  text: string;
  /** False: the answer comes when everything is spoken, and has `trailers`. */
  stream?: boolean;
}

export interface UtteranceOptions extends VoiceOptions {
  format?: "pcm16" | "opus";
  /** Words come with their times. */
  timestamps?: "words" | "none";
}

export function targetOf(o: SwarOptions): Target {
  const env = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env;
  const key = o.apiKey ?? env?.["SWAR_KEY"] ?? "";
  if (/[^\x20-\x7e]/.test(key)) throw new TypeError("apiKey: must consist of visible ASCII characters");
  return {
    server: addressOf(o.baseUrl || env?.["SWAR_SERVER"] || "http://127.0.0.1:8080"),
    key,
    retries: o.maxRetries ?? 2,
    timeout: o.timeout ?? 120_000,
    fetch: o.fetch ?? ((input, init) => fetch(input, init)),
    WebSocket: o.WebSocket,
  };
}

/** tts.example.com → https://tts.example.com; loopback is http. */
function addressOf(given: string): string {
  let address = given.trim();
  if (!address.includes("://")) {
    const near = /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?(\/|$)/.test(address);
    address = (near ? "http://" : "https://") + address;
  }
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash) {
    throw new TypeError(`baseUrl ${given}: want an address such as https://tts.example.com`);
  }
  return address.replace(/\/+$/, "");
}

/** Names fields as the server does, and leaves out what was not given, so that its defaults hold. */
export function fieldsOf(o: Partial<SpeakOptions> | (UtteranceOptions & TextOptions)): Record<string, unknown> {
  const { enDigits, inputType, requestId, signal: _, ...same } = o;
  return { ...same, en_digits: enDigits, input_type: inputType, request_id: requestId };
}
