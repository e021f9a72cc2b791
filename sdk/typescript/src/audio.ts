import type { SwarEvent } from "./events.js";
import { joined } from "./take.js";

const taps = 145; // of the filter, 60 dB down at 4 kHz
const frameBytes = 160; // 20 ms of 8 kHz
const silence = 0xff;

let filter: Float64Array | undefined;

/** A low-pass filter for 24 kHz that keeps what 8 kHz can carry: a sinc under Kaiser's window. */
function lowPass(): Float64Array {
  if (filter) return filter;
  const beta = 5.65;
  const bessel = (x: number) => {
    let sum = 1;
    for (let k = 1, term = 1; k < 30; k++) sum += (term *= (x / 2 / k) ** 2);
    return sum;
  };
  const middle = (taps - 1) / 2;
  const h = Float64Array.from({ length: taps }, (_, i) => {
    const x = ((i - middle) * 2 * 3700) / 24000;
    const sinc = x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
    return sinc * bessel(beta * Math.sqrt(1 - ((i - middle) / middle) ** 2));
  });
  const sum = h.reduce((a, b) => a + b);
  return (filter = h.map((v) => v / sum));
}

/** Makes 24 kHz into µ-law of 8 kHz, piece by piece, without delay: the first sample out is the first one in. */
class Telephone {
  #samples: number[] = new Array<number>((taps - 1) / 2).fill(0); // what the next output still needs
  #odd = new Uint8Array(); // half a sample, at the end of a piece
  #in = 0;
  #out = 0;

  push(pcm: Uint8Array): Uint8Array {
    const bytes = this.#odd.length ? joined([this.#odd, pcm]) : pcm;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const whole = bytes.length >> 1;
    for (let i = 0; i < whole; i++) this.#samples.push(view.getInt16(2 * i, true));
    this.#odd = bytes.slice(2 * whole);
    this.#in += whole;
    return this.#filtered();
  }

  /** Gives what is still to come of the samples that were pushed. */
  end(): Uint8Array {
    const missing = Math.ceil(this.#in / 3) - this.#out;
    for (let i = 0; i < taps + 3; i++) this.#samples.push(0);
    return this.#filtered().subarray(0, missing);
  }

  #filtered(): Uint8Array {
    const h = lowPass();
    const count = Math.max(0, Math.floor((this.#samples.length - taps) / 3) + 1);
    const out = new Uint8Array(count);
    for (let n = 0; n < count; n++) {
      let sum = 0;
      for (let k = 0; k < taps; k++) sum += h[k]! * this.#samples[3 * n + k]!;
      out[n] = mulaw(Math.max(-32768, Math.min(32767, Math.round(sum))));
    }
    this.#samples.splice(0, 3 * count);
    this.#out += count;
    return out;
  }
}

/** One sample of 16 bits as G.711 has it, decided as Sun's encoder does: 0 → 0xFF. */
export function mulaw(sample: number): number {
  const short = sample >> 2;
  const mask = short < 0 ? 0x7f : 0xff;
  const size = Math.min(Math.abs(short) + 33, 8191);
  const segment = 26 - Math.clz32(size);
  return ((segment << 4) | ((size >> (segment + 1)) & 15)) ^ mask;
}

/** Makes 16 bits of 24 kHz into µ-law of 8 kHz, for telephones: a whole utterance. */
export function toMulaw(pcm24: Uint8Array): Uint8Array {
  const telephone = new Telephone();
  return joined([telephone.push(pcm24), telephone.end()]);
}

/** Makes audio of 24 kHz into frames of 20 ms of µ-law at 8 kHz, 160 bytes each, as it comes. The last one is filled with silence. */
export async function* frames20ms(audio: AsyncIterable<SwarEvent | Uint8Array>): AsyncGenerator<Uint8Array, undefined> {
  const telephone = new Telephone();
  let rest: Uint8Array = new Uint8Array();
  for await (const piece of audio) {
    const pcm = piece instanceof Uint8Array ? piece : piece.type === "audio" && piece.pcm;
    if (!pcm) continue;
    rest = joined([rest, telephone.push(pcm)]);
    for (; rest.length >= frameBytes; rest = rest.subarray(frameBytes)) yield rest.slice(0, frameBytes);
  }
  rest = joined([rest, telephone.end()]);
  for (; rest.length > 0; rest = rest.subarray(frameBytes)) {
    const frame = new Uint8Array(frameBytes).fill(silence);
    frame.set(rest.subarray(0, frameBytes));
    yield frame;
  }
}
