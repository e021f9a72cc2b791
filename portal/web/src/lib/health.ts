// How the server is doing, which it tells without a key.

import { failed, send, type Answer } from "./api";
import { api } from "./here";

export interface Health {
  workers: number;
  workers_ready: number;
  workers_busy: number;
  queue_depth: number;
}

export async function health(): Promise<Answer<Health>> {
  const answer = await send(api + "/healthz");
  return failed(answer) ? answer : ((await answer.json()) as Health);
}
