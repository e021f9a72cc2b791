// What to say of a failure: a sentence in the language of the page where it has one for the code, else what the server says.

import type { Failure } from "../lib/api";
import { known, words } from "../lib/language";

const en = {
  unreached: "The server cannot be reached. What you have typed is kept.",
  other_browser: "The link was asked for in another browser. Type the code of the mail here instead.",
  too_many_tries: "Too many tries. Wait a few minutes, then ask for a new code.",
  too_many_mails:
    "This address has got several mails already. Look into the spam folder, or wait a quarter of an hour.",
  bad_email: "This is no e-mail address.",
  bad_request: "The server did not understand this. Look at what you have typed.",
  not_invited: "This address is not invited. Ask an owner of your organisation for an invitation.",
  other_identity:
    "This address has joined with another way of signing in. Use that one, or ask an owner to remove and invite you again.",
  needs_tls: "This way of signing in needs https. Open the page under its https address.",
  provider_away: "The other server cannot be reached. Try again, or sign in in another way.",
  provider_refused: "The other server did not sign you in.",
  email_unverified: "The other server has not verified your e-mail address. Verify it there, then sign in again.",
  invalid_token:
    "The server does not accept this sign-in. Sign in again; if that is not enough, its operator finds the reason in its log (debug). What you have typed is kept.",
  owners_only: "Only owners may do this.",
  viewer: "Viewers may read only.",
  not_member: "You are not a member of this organisation.",
  removed: "An owner has removed you from the organisation. What you have typed is kept.",
  last_owner: "The last owner cannot be removed. Make somebody else an owner first.",
  last_owner_demoted: "The last owner cannot be demoted. Make somebody else an owner first.",
  too_many_keys: "There are 50 active keys, which is the limit. Revoke one first.",
  too_many_requests: "Too many requests. Wait a moment.",
  internal_error: "The server failed. Its operator finds the reason by the request id.",
  unavailable: "The store did not answer. Nothing was half done; keys and streams go on.",
  not_stored: "The key is refused from now on, but that is not stored yet. Try again.",
  timeout: "The server took too long. Try again.",
  bad_range: "A range ends after it begins, and has at most 400 days.",
  bad_name: "A name has 1 to 80 characters.",
  not_requester: "Only who has asked for a voice, or an owner, may withdraw it.",
  not_found: "There is no such thing, or it is not yours.",
  busy: "All workers are busy. Nothing was billed.",
} as const;

const t = words(en, {
  unreached: "सर्वर नहीं मिल रहा। आपका लिखा सुरक्षित है।",
  other_browser: "लिंक किसी दूसरे ब्राउज़र से मँगवाया गया था। मेल में आया कोड यहाँ लिखिए।",
  too_many_tries: "बहुत बार कोशिश हुई। कुछ मिनट रुककर नया कोड मँगवाइए।",
  too_many_mails: "इस पते पर कई मेल जा चुकी हैं। स्पैम देखिए, या पंद्रह मिनट रुकिए।",
  bad_email: "यह ईमेल पता नहीं है।",
  bad_request: "सर्वर इसे समझ नहीं पाया। जो लिखा है उसे जाँचिए।",
  not_invited: "इस पते को बुलाया नहीं गया है। अपने संगठन के मालिक से बुलावा माँगिए।",
  other_identity: "यह पता किसी दूसरे तरीके से जुड़ा है। उसी से साइन इन कीजिए, या मालिक से कहिए कि हटाकर फिर बुलाएँ।",
  needs_tls: "इस तरह साइन इन करने के लिए https चाहिए। पेज को https पते से खोलिए।",
  provider_away: "दूसरा सर्वर नहीं मिल रहा। फिर कोशिश कीजिए, या किसी और तरीके से साइन इन कीजिए।",
  provider_refused: "दूसरे सर्वर ने साइन इन नहीं किया।",
  email_unverified: "दूसरे सर्वर ने आपका ईमेल पता जाँचा नहीं है। वहाँ उसे जँचवाइए, फिर साइन इन कीजिए।",
  invalid_token:
    "सर्वर ने यह साइन इन नहीं माना। फिर साइन इन कीजिए; तब भी न हो तो सर्वर चलाने वाले को कारण उसके लॉग (debug) में मिलेगा। आपका लिखा सुरक्षित है।",
  owners_only: "यह सिर्फ़ मालिक कर सकते हैं।",
  viewer: "दर्शक सिर्फ़ पढ़ सकते हैं।",
  removed: "मालिक ने आपको संगठन से हटा दिया है। आपका लिखा सुरक्षित है।",
  not_member: "आप इस संगठन के सदस्य नहीं हैं।",
  last_owner: "आख़िरी मालिक को हटाया नहीं जा सकता। पहले किसी और को मालिक बनाइए।",
  last_owner_demoted: "आख़िरी मालिक की भूमिका घटाई नहीं जा सकती। पहले किसी और को मालिक बनाइए।",
  too_many_keys: "50 चालू कुंजियाँ हैं, यही सीमा है। पहले एक रद्द कीजिए।",
  too_many_requests: "बहुत सारे अनुरोध हुए। थोड़ा रुकिए।",
  internal_error: "सर्वर में गड़बड़ हुई। अनुरोध की आईडी से इसका कारण मिल जाएगा।",
  unavailable: "स्टोर ने जवाब नहीं दिया। कुछ भी अधूरा नहीं हुआ; कुंजियाँ और आवाज़ें चलती रहेंगी।",
  not_stored: "कुंजी अब नहीं चलेगी, पर यह अभी लिखा नहीं गया। फिर कोशिश कीजिए।",
  timeout: "सर्वर को बहुत देर लगी। फिर कोशिश कीजिए।",
  bad_range: "अवधि का अंत शुरुआत के बाद हो, और वह ज़्यादा से ज़्यादा 400 दिन की हो।",
  bad_name: "नाम में 1 से 80 अक्षर होते हैं।",
  not_requester: "आवाज़ की माँग वही वापस ले सकता है जिसने की, या मालिक।",
  not_found: "ऐसा कुछ नहीं है, या वह आपका नहीं है।",
  busy: "सारे वर्कर व्यस्त हैं। कोई पैसा नहीं लगा।",
});

export function sentence(f: Failure | undefined): string {
  if (!f) return "";
  return known(t, en, f.code) || f.text || f.code;
}
