// The playground's words; {name} stands for a value.

import { words } from "../lib/language";

export const t = words({
  "play.title": "Playground", "play.lead": "Type Hinglish, see how it will be read, hear it as it is made.", "play.text": "Text", "play.count": "{n} / 4000",
  "play.rewritten": "{n} rewritten", "play.tooLong": "The text is longer than 4000 characters.", "play.examples": "Examples", "play.spoken": "What will be spoken",
  "play.chunks": "chunks: {chunks} · tokens: {tokens} · free preview in {ms} ms", "play.tokens": "{n} of 50 tokens", "play.play": "Play", "play.stop": "Stop",
  "play.resume": "Resume", "play.viewer": "Viewers may read only.", "play.voice": "Voice", "play.sample": "Hear a sample of {voice}", "play.sample.later": "The server has no sample of this voice yet. It makes them when nobody waits.", "play.settings": "Settings",
  "play.reset": "Reset", "play.temperature": "Temperature", "play.browserKey": "Browser key · {h} h {min} min", "play.steady": "steady", "play.varied": "varied", "play.seed": "Seed", "play.seedBad": "A seed is a whole number of 64 bits.", "play.lock": "Lock the seed",
  "play.newSeed": "New seed", "play.enDigits": "English digits", "play.raw": "Raw: speak the text as it is", "play.first": "First sound", "play.server": "Server",
  "play.queue": "queue {ms} ms", "play.prefill": "Prefill", "play.cached": "cached", "play.speed": "Speed", "play.buffer": "Buffer", "play.underruns": "{n} underruns",
  "play.bytes": "{n} bytes", "play.cost": "Cost", "play.paise": "{n} paise", "play.frames": "{n} frames", "play.monthly": "billed as a month", "play.events": "Events",
  "play.events.empty": "Press Play, and what goes over the wire is listed here.", "play.events.copy": "Copy as JSON", "play.events.time": "ms", "play.events.event": "Event",
  "play.events.fields": "Fields", "play.takes": "Takes", "play.takes.empty": "Nothing here yet.", "play.replay": "Play take {n}", "play.opus": "Opus is a new request with the same seed, and is billed.",
  "play.link": "Link to these settings", "play.copy": "Copy", "play.copied": "Copied", "play.copyHere": "Press Ctrl+C to copy.", "play.code": "Code",
  "play.insecure": "This page has no TLS, so sound is scheduled in the page and starts a little later. Open it by https, or as localhost.", "play.wave": "Waveform: {s} s of audio, {played} s played",
  "play.chunkOf": "chunk {n} of {all}", "play.again": "Try again", "play.error.busy": "All workers are busy. Nothing was billed.", "play.error.text_empty": "Type something first.",
  "play.error.nothing_to_say": "Nothing in this text can be spoken.", "play.error.voice_not_allowed": "Your key may not use this voice.", "play.error.engine_error": "The engine failed. What was heard stands; try once more.",
  "play.error.timeout": "It took longer than 120 s.", "play.error.portal_unavailable": "The portal cannot be reached, so no key can be checked.", "play.error.unreached": "The server cannot be reached. Your text is kept.",
  "play.error.invalid_key": "The key of this page has ended.", "play.family.qty": "amounts", "play.family.code": "codes, numbers", "play.family.time": "times", "play.family.name": "letters, signs",
}, {
  "play.title": "आज़माइए", "play.lead": "हिंग्लिश लिखिए, देखिए कैसे पढ़ी जाएगी, और बनते ही सुनिए।", "play.text": "टेक्स्ट", "play.count": "{n} / 4000",
  "play.rewritten": "{n} बदले गए", "play.tooLong": "टेक्स्ट 4000 अक्षरों से लंबा है।", "play.examples": "नमूने", "play.spoken": "क्या बोला जाएगा",
  "play.chunks": "{chunks} टुकड़े · {tokens} टोकन · {ms} ms में, मुफ़्त", "play.tokens": "50 में से {n} टोकन", "play.play": "सुनें", "play.stop": "रोकें",
  "play.resume": "फिर चलाएँ", "play.viewer": "दर्शक सिर्फ़ पढ़ सकते हैं।", "play.voice": "आवाज़", "play.sample": "{voice} का नमूना सुनें", "play.sample.later": "इस आवाज़ का नमूना अभी नहीं बना। सर्वर ख़ाली होने पर बनाता है।", "play.settings": "सेटिंग",
  "play.reset": "पहले जैसा", "play.temperature": "उतार-चढ़ाव", "play.browserKey": "ब्राउज़र की कुंजी · {h} घं {min} मि", "play.steady": "एक-सा", "play.varied": "बदलता", "play.seed": "सीड", "play.seedBad": "सीड 64 बिट की पूर्ण संख्या होती है।", "play.lock": "सीड न बदलें",
  "play.newSeed": "नया सीड", "play.enDigits": "अंग्रेज़ी अंक", "play.raw": "टेक्स्ट जैसा है वैसा बोलें", "play.first": "पहली आवाज़", "play.server": "सर्वर",
  "play.queue": "कतार {ms} ms", "play.prefill": "तैयारी", "play.cached": "पहले से", "play.speed": "रफ़्तार", "play.buffer": "बफ़र", "play.underruns": "{n} बार रुकी",
  "play.bytes": "{n} बाइट", "play.cost": "ख़र्च", "play.paise": "{n} पैसे", "play.frames": "{n} फ़्रेम", "play.monthly": "बिल महीने का बनता है", "play.events": "घटनाएँ",
  "play.events.empty": "सुनें दबाइए, जो आता-जाता है यहाँ दिखेगा।", "play.events.copy": "JSON कॉपी करें", "play.events.time": "ms", "play.events.event": "घटना",
  "play.events.fields": "ब्योरा", "play.takes": "रिकॉर्डिंग", "play.takes.empty": "अभी कुछ नहीं है।", "play.replay": "रिकॉर्डिंग {n} सुनें", "play.opus": "Opus उसी सीड से नया अनुरोध है, और उसका पैसा लगता है।",
  "play.link": "इन सेटिंग का लिंक", "play.copy": "कॉपी करें", "play.copied": "कॉपी हो गई", "play.copyHere": "कॉपी करने के लिए Ctrl+C दबाएँ।", "play.code": "कोड",
  "play.insecure": "इस पेज पर TLS नहीं है, इसलिए आवाज़ थोड़ी देर से शुरू होती है। इसे https या localhost से खोलें।", "play.wave": "तरंग: {s} सेकंड ऑडियो, {played} सेकंड सुना गया",
  "play.chunkOf": "टुकड़ा {n}, कुल {all}", "play.again": "फिर कोशिश करें", "play.error.busy": "सारे वर्कर व्यस्त हैं। कोई पैसा नहीं लगा।", "play.error.text_empty": "पहले कुछ लिखिए।",
  "play.error.nothing_to_say": "इस टेक्स्ट में बोलने लायक कुछ नहीं है।", "play.error.voice_not_allowed": "आपकी कुंजी इस आवाज़ के लिए नहीं है।", "play.error.engine_error": "इंजन रुक गया। जितना सुना उतना ठीक है; फिर कोशिश करें।",
  "play.error.timeout": "120 सेकंड से ज़्यादा लग गए।", "play.error.portal_unavailable": "पोर्टल नहीं मिल रहा, इसलिए कुंजी जाँची नहीं जा सकती।", "play.error.unreached": "सर्वर नहीं मिल रहा। आपका टेक्स्ट सुरक्षित है।",
  "play.error.invalid_key": "इस पेज की कुंजी ख़त्म हो गई।", "play.family.qty": "रकम", "play.family.code": "कोड, नंबर", "play.family.time": "समय", "play.family.name": "अक्षर, चिह्न",
});
