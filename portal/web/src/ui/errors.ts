// What to say of a failure: a sentence in the language of the page where it has one for the code, else what the server says.

import type { Failure } from "../lib/api";
import { known, words } from "../lib/language";

const en = {
  unreached: "Can't reach the server. Your text is safe.",
  other_browser: "This link was requested in another browser. Enter the code from the e-mail here instead.",
  too_many_tries: "Too many attempts. Wait a few minutes, then request a new code.",
  too_many_mails: "We already sent several e-mails to this address. Check spam, or wait 15 minutes.",
  bad_email: "Enter a valid e-mail address.",
  bad_request: "The server couldn't understand this. Check what you entered.",
  not_invited: "This address isn't invited. Ask an owner of your organisation for an invitation.",
  other_identity:
    "This address joined with another sign-in method. Use that one, or ask an owner to remove and invite you again.",
  needs_tls: "This sign-in method needs https. Open the page with its https address.",
  provider_away: "Can't reach the sign-in provider. Try again, or use another method.",
  provider_refused: "The sign-in provider refused.",
  email_unverified: "Your e-mail address isn't verified at the sign-in provider. Verify it there, then sign in again.",
  invalid_token:
    "The server rejected this sign-in. Sign in again; if that doesn't help, its administrator finds the reason in the log (debug). Your text is safe.",
  owners_only: "Only owners can do this.",
  viewer: "You have read-only access.",
  not_member: "You aren't a member of this organisation.",
  removed: "An owner removed you from the organisation. Your text is safe.",
  last_owner: "An organisation needs an owner. Make someone else an owner first.",
  last_owner_demoted: "An organisation needs an owner. Make someone else an owner first.",
  too_many_keys: "You have 50 active keys, the maximum. Revoke one first.",
  too_many_requests: "Too many requests. Wait a moment.",
  internal_error: "Server error. The administrator can find the cause by the request ID.",
  unavailable: "The database isn't responding. Nothing was changed; existing keys and streams keep working.",
  not_stored: "The key is blocked, but the change couldn't be saved yet. Try again.",
  timeout: "The server took too long. Try again.",
  bad_range: "The end must be after the start, at most 400 days later.",
  bad_name: "Names have 1 to 80 characters.",
  not_requester: "Only the requester or an owner can withdraw it.",
  not_found: "Not found, or you don't have access to it.",
  busy: "All workers are busy. Nothing was billed.",
} as const;

const t = words(en, {
  unreached: "सर्वर से संपर्क नहीं हो रहा। आपका टेक्स्ट सुरक्षित है।",
  other_browser: "यह लिंक किसी दूसरे ब्राउज़र से मँगवाया गया था। ईमेल में आया कोड यहाँ लिखें।",
  too_many_tries: "बहुत बार कोशिश हुई। कुछ मिनट रुककर नया कोड मँगवाएँ।",
  too_many_mails: "इस पते पर कई मेल भेजी जा चुकी हैं। स्पैम देखें, या 15 मिनट रुकें।",
  bad_email: "सही ईमेल पता लिखें।",
  bad_request: "सर्वर इसे समझ नहीं पाया। जो लिखा है उसे जाँचें।",
  not_invited: "यह पता आमंत्रित नहीं है। अपने संगठन के मालिक से आमंत्रण माँगें।",
  other_identity: "यह पता किसी दूसरे साइन-इन तरीके से जुड़ा है। उसी से साइन इन करें, या मालिक से कहें कि हटाकर फिर आमंत्रित करें।",
  needs_tls: "इस तरह साइन इन करने के लिए https चाहिए। पेज को https पते से खोलें।",
  provider_away: "साइन-इन प्रदाता से संपर्क नहीं हो रहा। फिर कोशिश करें, या दूसरा तरीका चुनें।",
  provider_refused: "साइन-इन प्रदाता ने मना कर दिया।",
  email_unverified: "साइन-इन प्रदाता पर आपका ईमेल पता सत्यापित नहीं है। वहाँ सत्यापित करें, फिर साइन इन करें।",
  invalid_token:
    "सर्वर ने यह साइन इन अस्वीकार किया। फिर साइन इन करें; तब भी न हो तो एडमिन को कारण लॉग (debug) में मिलेगा। आपका टेक्स्ट सुरक्षित है।",
  owners_only: "यह सिर्फ़ मालिक कर सकते हैं।",
  viewer: "आपको सिर्फ़ देखने का एक्सेस है।",
  removed: "मालिक ने आपको संगठन से हटा दिया है। आपका टेक्स्ट सुरक्षित है।",
  not_member: "आप इस संगठन के सदस्य नहीं हैं।",
  last_owner: "संगठन में एक मालिक ज़रूरी है। पहले किसी और को मालिक बनाएँ।",
  last_owner_demoted: "संगठन में एक मालिक ज़रूरी है। पहले किसी और को मालिक बनाएँ।",
  too_many_keys: "50 कुंजियाँ चालू हैं, यही सीमा है। पहले एक रद्द करें।",
  too_many_requests: "बहुत सारे अनुरोध हुए। थोड़ा रुकें।",
  internal_error: "सर्वर में त्रुटि हुई। एडमिन अनुरोध की आईडी से कारण खोज सकते हैं।",
  unavailable: "डेटाबेस जवाब नहीं दे रहा। कुछ बदला नहीं गया; मौजूदा कुंजियाँ और स्ट्रीम चलती रहेंगी।",
  not_stored: "कुंजी रोक दी गई, पर बदलाव अभी सहेजा नहीं जा सका। फिर कोशिश करें।",
  timeout: "सर्वर को बहुत देर लगी। फिर कोशिश करें।",
  bad_range: "अंत शुरुआत के बाद हो, ज़्यादा से ज़्यादा 400 दिन बाद।",
  bad_name: "नाम में 1 से 80 अक्षर होते हैं।",
  not_requester: "इसे अनुरोध करने वाला या मालिक ही वापस ले सकता है।",
  not_found: "नहीं मिला, या आपको इसका एक्सेस नहीं है।",
  busy: "सभी वर्कर व्यस्त हैं। कोई पैसा नहीं लगा।",
});

export function sentence(f: Failure | undefined): string {
  if (!f) return "";
  return known(t, en, f.code) || f.text || f.code;
}
