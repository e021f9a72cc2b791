// Words that many pages share.

import { words } from "../lib/language";

export const t = words({
  again: "Try again", copy: "Copy", copied: "Copied", copyHere: "Press Ctrl+C to copy.", close: "Close", cancel: "Cancel", save: "Save", csv: "CSV", loading: "Loading",
  failed: "This could not be read", requestID: "Copy the request id", owner: "owner", member: "member", viewer: "viewer", ownersOnly: "Owners only", ownersAsk: "Owners only. Ask {who}.",
  viewersRead: "Viewers may read only", all: "All", every: "every voice", allProjects: "All projects", project: "Project", name: "Name", email: "E-mail", actions: "Actions for {name}", more: "More",
  never: "never", downloaded: "The file {name} is there.", older: "Show older ones", unknown: "Not found", unknownLead: "There is no such page, or you are not a member of this organisation.", toPlayground: "Open the playground",
}, {
  again: "फिर कोशिश करें", copy: "कॉपी करें", copied: "कॉपी हो गई", copyHere: "कॉपी करने के लिए Ctrl+C दबाएँ।", close: "बंद करें", cancel: "रहने दें", save: "सहेजें", csv: "CSV", loading: "आ रहा है",
  failed: "यह पढ़ा नहीं जा सका", requestID: "अनुरोध की आईडी कॉपी करें", owner: "मालिक", member: "सदस्य", viewer: "दर्शक", ownersOnly: "सिर्फ़ मालिक", ownersAsk: "सिर्फ़ मालिक। {who} से कहिए।",
  viewersRead: "दर्शक सिर्फ़ पढ़ सकते हैं", all: "सब", every: "हर आवाज़", allProjects: "सारे प्रोजेक्ट", project: "प्रोजेक्ट", name: "नाम", email: "ईमेल", actions: "{name} के लिए काम", more: "और",
  never: "कभी इस्तेमाल नहीं", downloaded: "फ़ाइल {name} आ गई।", older: "और पुराने दिखाएँ", unknown: "नहीं मिला", unknownLead: "ऐसा कोई पेज नहीं है, या आप इस संगठन के सदस्य नहीं हैं।", toPlayground: "आज़माइए खोलें",
});
