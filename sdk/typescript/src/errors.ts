/** What is known of a failure besides its message. */
export interface Failure {
  status?: number;
  code?: string;
  requestId?: string;
  retryAfter?: number;
  cause?: unknown;
}

/** A request that failed. */
export class SwarError extends Error {
  override name = "SwarError";
  /** Of HTTP; 0 where no server answered. */
  readonly status: number;
  /** Names the failure for programs, as in `text_too_long`; "" where the server named none. */
  readonly code: string;
  readonly requestId: string;
  /** Seconds after which another try makes sense. */
  readonly retryAfter: number | undefined;

  constructor(message: string, about: Failure = {}) {
    super(message, about.cause === undefined ? undefined : { cause: about.cause });
    this.status = about.status ?? 0;
    this.code = about.code ?? "";
    this.requestId = about.requestId ?? "";
    this.retryAfter = about.retryAfter;
  }
}

/** The server has no worker free, or is starting. Nothing was billed; try again. */
export class BusyError extends SwarError {
  override name = "BusyError";
}

/** The key is missing, wrong or revoked. */
export class AuthError extends SwarError {
  override name = "AuthError";
}

/** The text cannot be spoken: it is empty, too long, or nothing in it can be pronounced. */
export class TextError extends SwarError {
  override name = "TextError";
}

/** The voice is unknown, or the key may not use it. */
export class VoiceError extends SwarError {
  override name = "VoiceError";
}

/** The audio ended early. What was read is good; the rest is missing. */
export class CutError extends SwarError {
  override name = "CutError";
}

const byCode: Record<string, typeof SwarError> = {
  text_empty: TextError,
  text_too_long: TextError,
  too_many_chunks: TextError,
  nothing_to_say: TextError,
  bad_text: TextError,
  unknown_voice: VoiceError,
  voice_not_allowed: VoiceError,
  missing_key: AuthError,
  invalid_key: AuthError,
  busy: BusyError,
  warming_up: BusyError,
  portal_unavailable: BusyError,
};
const byStatus: Record<number, typeof SwarError> = { 401: AuthError, 403: AuthError, 429: BusyError, 503: BusyError };

/** Makes an error of the class that fits: by code, else by status, since a proxy in between knows no codes. */
export function errorOf(message: string, about: Failure): SwarError {
  const kind = byCode[about.code ?? ""] ?? byStatus[about.status ?? 0] ?? SwarError;
  return new kind(message, about);
}

/** Reads an HTTP answer that is no success: 503 with `{"error": "busy"}` becomes `BusyError("busy")`. */
export async function errorOfAnswer(answer: Response): Promise<SwarError> {
  const body = await answer.text().catch(() => "");
  let message = body.slice(0, 200).trim() || `the server answered ${answer.status}`;
  try {
    message = String((JSON.parse(body) as { error: string }).error);
  } catch {
    // a proxy answered, with a page of its own
  }
  const wait = Number(answer.headers.get("retry-after") ?? NaN);
  return errorOf(message, {
    status: answer.status,
    code: answer.headers.get("x-error-code") ?? "",
    requestId: answer.headers.get("x-request-id") ?? "",
    retryAfter: wait >= 0 ? wait : undefined,
  });
}
