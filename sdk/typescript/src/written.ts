import type { Word } from "./events.js";

const ahead = 8; // words of a text that may be left out of what is spoken, such as those of an address

type Source = RegExpExecArray; // a word of the text and its place

/**
 * Gives the words of a fed text the times of what is spoken of them: "407" those of "चार शून्य सात".
 *
 * Append the text that an utterance is fed with, and give it the words of each `words` event. Words whose end is not clear
 * yet come with a later event, or with `rest` behind the last one. Places are those in the string `text`.
 */
export class Written {
  text = "";
  #place = 0; // behind the last word that was given
  #spoken: Word[] = []; // what was given for no word yet

  append(text: string): void {
    this.text += text;
  }

  /** Returns the words that end with what is spoken by now. */
  words(spoken: Word[]): Word[] {
    this.#spoken.push(...spoken);
    const source = this.#source().slice(0, this.#spoken.length + ahead);
    const found: Word[] = [];
    let [i, j] = [0, 0];
    for (const [a, b] of common(source.map((m) => letters(m[0])), this.#spoken.map((w) => letters(w.word)))) {
      const same = this.#spoken[b]!;
      found.push(...shared(source.slice(i, a), this.#spoken.slice(j, b), same.start_s), timed(source[a]!, same.start_s, same.end_s));
      [i, j] = [a + 1, b + 1];
    }
    return this.#given(found, j);
  }

  /** Returns the words that are left when all was spoken. */
  rest(): Word[] {
    const last = this.#spoken.at(-1);
    return last ? this.#given(shared(this.#source(), this.#spoken, last.end_s), this.#spoken.length) : [];
  }

  #source(): Source[] {
    const word = /\S+/g;
    word.lastIndex = this.#place;
    const all: Source[] = [];
    for (let m = word.exec(this.text); m; m = word.exec(this.text)) if (letters(m[0]) || hasSymbol(m[0])) all.push(m);
    return all;
  }

  #given(words: Word[], spoken: number): Word[] {
    this.#spoken.splice(0, spoken);
    this.#place = words.at(-1)?.char_end ?? this.#place;
    return words;
  }
}

/** Finds the longest row of words that two texts have in common, as pairs of places. */
function common(a: string[], b: string[]): [number, number][] {
  const width = b.length + 1;
  const length = new Uint16Array((a.length + 1) * width); // of the row behind each pair of places
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const [down, right] = [length[(i + 1) * width + j]!, length[i * width + j + 1]!];
      length[i * width + j] = a[i] === b[j] ? length[(i + 1) * width + j + 1]! + 1 : Math.max(down, right);
    }
  }
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (length[(i + 1) * width + j]! >= length[i * width + j + 1]!) i++;
    else j++;
  }
  return pairs;
}

/** Shares the time of spoken words among words by their length; without any, they take no time. */
function shared(source: Source[], spoken: Word[], otherwise: number): Word[] {
  const start = spoken[0]?.start_s ?? otherwise;
  const end = spoken.at(-1)?.end_s ?? otherwise;
  const all = source.reduce((sum, m) => sum + m[0].length, 0);
  let until = 0;
  return source.map((m) => {
    const from = until;
    until += m[0].length;
    return timed(m, start + ((end - start) * from) / all, start + ((end - start) * until) / all);
  });
}

function timed(m: Source, start_s: number, end_s: number): Word {
  return { word: m[0], char_start: m.index, char_end: m.index + m[0].length, start_s, end_s };
}

function letters(word: string): string {
  return word.replace(/[^\p{L}\p{N}\p{M}]/gu, "").toLowerCase();
}

/** Whether a sign is spoken: ₹, % and +, and no emoji. */
function hasSymbol(word: string): boolean {
  return (word.match(/\p{S}/gu) ?? []).some((c) => c.codePointAt(0)! < 0x2190);
}
