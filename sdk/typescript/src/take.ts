import type { Answer } from "./http.js";

/** What a complete answer says of itself. */
export interface Trailers {
  audioS: number;
  frames: number;
  wallMs: number;
  rtf: number;
  sha256: string;
}

/** One utterance, read as it is spoken: its bytes are what the server sends. Cancelling it stops the server, and its bill. */
export class Take extends ReadableStream<Uint8Array> {
  readonly requestId: string;
  /** Speaks the same again. */
  readonly seed: number;
  readonly voice: string;
  readonly model: string;
  readonly contentType: string;
  /** Characters that the model cannot speak and left out. */
  readonly unspoken: string;
  /** Only of an answer with `stream: false`: `fetch` shows nobody the trailers of a streamed one. */
  readonly trailers: Trailers | undefined;
  #answer: Answer;

  constructor(answer: Answer) {
    super(
      {
        async pull(controller) {
          const bytes = await answer.read();
          if (bytes) controller.enqueue(bytes);
          else controller.close();
        },
        cancel: () => answer.close(),
      },
      { highWaterMark: 0 }, // nothing is read before it is asked for
    );
    const header = (name: string) => answer.header(name);
    this.#answer = answer;
    this.requestId = header("x-request-id");
    this.seed = Number(header("x-seed"));
    this.voice = header("x-voice");
    this.model = header("x-model");
    this.contentType = header("content-type");
    this.unspoken = decodeURIComponent(header("x-unspoken"));
    if (header("x-frames")) {
      this.trailers = {
        audioS: Number(header("x-audio-s")),
        frames: Number(header("x-frames")),
        wallMs: Number(header("x-wall-ms")),
        rtf: Number(header("x-rtf")),
        sha256: header("x-audio-sha256"),
      };
    }
  }

  /** Yields audio as it comes. Leaving the loop stops the server. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, undefined> {
    const reader = this.getReader();
    try {
      for (;;) {
        const { value } = await reader.read();
        if (!value) return;
        yield value;
      }
    } finally {
      await reader.cancel().catch(() => {}); // of a take that failed there is nothing to cancel
      reader.releaseLock();
    }
  }

  /** Reads all of it. A WAV states its length then. */
  async bytes(): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    for await (const piece of this) pieces.push(piece);
    return withLengths(joined(pieces));
  }

  /** Reads all of it, for an audio element for instance. */
  async blob(): Promise<Blob> {
    return new Blob([(await this.bytes()) as BlobPart], { type: this.contentType });
  }

  /** Closes the connection at once, also while somebody reads. */
  close(): void {
    this.#answer.close();
  }
}

export function joined(pieces: Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

export const wavHeader = 44;

/** Writes the lengths into the header of a streamed WAV, which has 0xFFFFFFFF in their place. `size` is that of the whole file. */
export function withLengths(bytes: Uint8Array, size = bytes.length): Uint8Array {
  const head = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const isWav = bytes.length >= wavHeader && head.getUint32(0) === 0x52494646 && head.getUint32(36) === 0x64617461; // RIFF, data
  if (isWav) {
    head.setUint32(4, size - 8, true);
    head.setUint32(40, size - wavHeader, true);
  }
  return bytes;
}
