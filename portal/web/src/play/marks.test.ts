import assert from "node:assert/strict";
import { test } from "node:test";
import { countPoints, familyOf, sourcePieces, spokenPieces, trimmed, unitsOf } from "./marks";
import type { Span } from "./wire";

const span = (start: number, end: number, out_start = start, out_end = end): Span => ({
  start,
  end,
  kind: "number",
  spoken: "",
  out_start,
  out_end,
});

test("text is trimmed as the server trims it", () => {
  assert.deepEqual(trimmed("  a b \n"), { text: "a b", cut: 2 });
  assert.deepEqual(trimmed("\u0085\u3000a\u0001"), { text: "a", cut: 2 });
  assert.deepEqual(trimmed("\ufeffa"), { text: "\ufeffa", cut: 0 }); // String.trim would cut it
  assert.deepEqual(trimmed(" \t"), { text: "", cut: 2 });
});

test("positions are code points there and UTF-16 units here", () => {
  assert.equal(countPoints("₹🙂क"), 3);
  assert.deepEqual([...unitsOf("₹🙂क")], [0, 1, 3, 4]);
  assert.deepEqual([...unitsOf("")], [0]);
});

test("pieces of what was typed are the text, unit for unit", () => {
  const typed = "  🙂 ₹500 kal";
  const pieces = sourcePieces(typed, [span(2, 6)]); // counted from the trimmed text
  assert.equal(pieces.map((p) => p.text).join(""), typed);
  assert.deepEqual(
    pieces.map((p) => [p.text, p.index]),
    [
      ["  🙂 ", -1],
      ["₹500", 0],
      [" kal", -1],
    ],
  );
});

test("spans that overlap, are empty or lie outside lose nothing", () => {
  const typed = "abcdef";
  for (const spans of [[span(1, 4), span(2, 5)], [span(3, 3)], [span(4, 99)], [span(-3, 2)], [span(9, 12)]]) {
    assert.equal(
      sourcePieces(typed, spans)
        .map((p) => p.text)
        .join(""),
      typed,
    );
  }
});

test("a span over the end of a chunk has a piece in both", () => {
  const chunk = (char_start: number, char_end: number) => ({ text: "", tokens: 1, char_start, char_end });
  const pieces = spokenPieces({
    normalized: "ek do teen",
    chars: 10,
    input_chars: 10,
    chunks: [chunk(0, 4), chunk(4, 10)],
    spans: [span(0, 1, 3, 6)],
  });
  assert.deepEqual(
    pieces.map((chunk) => chunk.filter((p) => p.index === 0).map((p) => p.text)),
    [["d"], ["o "]],
  );
  assert.equal(pieces.flatMap((chunk) => chunk.map((p) => p.text)).join(""), "ek do teen");
});

test("a kind that is not known is drawn as letters are", () => {
  assert.equal(familyOf("amount"), "qty");
  assert.equal(familyOf("from next year"), "name");
  assert.equal(familyOf("constructor"), "name");
});
