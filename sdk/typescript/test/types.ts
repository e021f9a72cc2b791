// Only compiled: how the types are used.
import { Swar, type SwarEvent } from "@swar/client";
import { play } from "@swar/client/browser";
import { WebSocket } from "ws";

export const swar = new Swar({ WebSocket });

export function told(e: SwarEvent): string | number {
  switch (e.type) {
    case "audio":
      return e.pcm.length;
    case "words":
      return e.words.map((w) => w.word).join(" ");
    case "cancelled":
      return e.billed_frames;
    case "flushed":
      return e.char_end;
    case "start":
    case "chunk":
    case "chunk_end":
    case "first_audio_ms":
    case "end":
      return e.request_id;
    default:
      return e satisfies never;
  }
}

export async function played(): Promise<number> {
  const stream: ReadableStream<Uint8Array> = await swar.speak({ text: "Namaste!", voice: "raj", format: "pcm16" });
  await stream.cancel();
  const socket = await swar.connect();
  const player = await play(socket.say("Namaste!", { timestamps: "words" }));
  // @ts-expect-error a socket has no files
  socket.say("Namaste!", { format: "wav" });
  return player.stop();
}
