// The words of the pages. Both languages have the same keys; {name} stands for a value.
import { en as playEn, hi as playHi } from "./play/words";

const en = {
  ...playEn,
  "app.language": "हिन्दी", "app.docs": "API description", "app.key": "API key", "app.key.why": "This server wants a key. It stays in this page, and is gone when you close it.",
  "app.key.use": "Use the key", "app.key.make": "Whoever runs the server makes one with", "app.key.wrong": "The server does not take this key.",
  "app.away": "The server cannot be reached.", "app.noVoices": "This key may use no voice.", "app.again": "Try again",
  "app.email": "E-mail", "app.setup.lead": "You are the first. Whose address stands here owns this server's organisation.", "app.setup.go": "Start",
  "app.signin.lead": "Sign in with your e-mail.", "app.signin.send": "Send the code", "app.signin.mail": "Check the mail of {email}.",
  "app.signin.code": "Code of eight characters", "app.signin.go": "Sign in", "app.signin.other": "Another address",
  "app.error.bad_link": "This link or code is used, or too old. Ask for another one.", "app.error.too_many_tries": "Too many tries. Wait a minute.",
  "app.error.bad_email": "This is no e-mail address.", "app.error.unreached": "The server cannot be reached.",
};

const hi: Record<keyof typeof en, string> = {
  ...playHi,
  "app.language": "English", "app.docs": "API का ब्योरा", "app.key": "API कुंजी", "app.key.why": "इस सर्वर को कुंजी चाहिए। वह सिर्फ़ इसी पेज में रहती है, और बंद करने पर मिट जाती है।",
  "app.key.use": "यह कुंजी लगाएँ", "app.key.make": "सर्वर चलाने वाला इससे कुंजी बनाता है:", "app.key.wrong": "सर्वर यह कुंजी नहीं मानता।",
  "app.away": "सर्वर नहीं मिल रहा।", "app.noVoices": "इस कुंजी के लिए कोई आवाज़ नहीं है।", "app.again": "फिर कोशिश करें",
  "app.email": "ईमेल", "app.setup.lead": "आप पहले हैं। जिसका पता यहाँ लिखा जाए, इस सर्वर का संगठन उसी का होगा।", "app.setup.go": "शुरू करें",
  "app.signin.lead": "अपने ईमेल से साइन इन करें।", "app.signin.send": "कोड भेजें", "app.signin.mail": "{email} की मेल देखें।",
  "app.signin.code": "आठ अक्षरों का कोड", "app.signin.go": "साइन इन करें", "app.signin.other": "दूसरा पता",
  "app.error.bad_link": "यह लिंक या कोड इस्तेमाल हो चुका या पुराना है। दूसरा मँगवाइए।", "app.error.too_many_tries": "बहुत बार कोशिश हुई। एक मिनट रुकिए।",
  "app.error.bad_email": "यह ईमेल पता नहीं है।", "app.error.unreached": "सर्वर नहीं मिल रहा।",
};

export const languages = { en, hi };
export type Language = keyof typeof languages;

/** The language that was chosen, else the first that the browser wants and there is. */
export function wanted(): Language {
  const stored = localStorage.getItem("swar.language");
  const all = stored ? [stored] : navigator.languages;
  const found = all.map((l) => l.slice(0, 2)).find((l): l is Language => l in languages);
  return found ?? "en";
}

export function translate(language: Language) {
  return (key: string, values: Record<string, string | number> = {}) => {
    const text = (languages[language] as Record<string, string>)[key] ?? key;
    return text.replace(/\{(\w+)\}/g, (all, name: string) => String(values[name] ?? all));
  };
}
