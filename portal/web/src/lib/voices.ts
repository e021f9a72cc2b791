import { api } from "./here";
import type { Answer } from "./api";

/** The voices that a key may use, "" being none, which an open server takes; undefined for a key that the server does not take. */
export async function voicesOf(key: string): Promise<Answer<string[]> | undefined> {
  let answer: Response;
  try {
    answer = await fetch(api + "/v1/voices", { headers: key ? { "x-api-key": key } : {} });
  } catch {
    return { failed: true, code: "unreached", text: "", requestID: "" };
  }
  if (answer.status === 401) return undefined;
  if (!answer.ok)
    return { failed: true, code: answer.headers.get("x-error-code") ?? String(answer.status), text: "", requestID: "" };
  return ((await answer.json()) as { voices: { name: string }[] }).voices.map((v) => v.name);
}
