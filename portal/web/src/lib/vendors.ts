/** The APIs of other services, by the endpoint of their requests. */
export const VENDORS: Record<string, string> = {
  openai: "OpenAI",
  deepgram: "Deepgram",
  elevenlabs: "ElevenLabs",
  sarvam: "Sarvam",
  cartesia: "Cartesia",
  vapi: "Vapi",
  jambonz: "jambonz",
  bridge: "Bridge",
  wyoming: "Wyoming",
};
