/** Hinglish speech from a Swar server for LiveKit Agents. */

export { ChunkedStream, SynthesizeStream, TTS, type TTSOptions, type VoiceOptions } from "./tts.js";
