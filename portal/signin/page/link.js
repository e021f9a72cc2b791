// The token leaves the address at once, so that it stays in no history, and is sent when a person presses the button.
const token = location.hash.slice(1);
history.replaceState(null, '', location.pathname);

addEventListener('hashchange', () => location.reload()); // another link, opened in the same tab

const text = document.getElementById('text');
const go = document.getElementById('go');
const askAgain = document.getElementById('again');

function say(hi, en) {
  const span = document.createElement('span');
  span.lang = 'en';
  span.textContent = ' ' + en;
  text.replaceChildren(hi, span);
}

const refusals = {
  other_browser: ['यह वह ब्राउज़र नहीं है जिसमें लिंक माँगा गया था। मेल का कोड वहाँ लिखें।',
    'This link was requested in another browser. Enter the code from the e-mail there.'],
  bad_link: ['लिंक पुराना है या इस्तेमाल हो चुका है। नया माँगें।', 'This link has expired or was already used. Request a new one.'],
};
const again = { // the link may still be good
  too_many_tries: ['यहाँ से बहुत बार कोशिश हुई। कुछ मिनट बाद फिर करें।', 'Too many attempts. Try again in a few minutes.'],
};
const unreachable = ['सर्वर से बात नहीं हो सकी। फिर कोशिश करें।', "Can't reach the server. Try again."];

async function signIn() {
  go.disabled = true;
  try {
    const answer = await fetch('/auth/v1/verify', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ token, session: 'cookie' }),
    });
    if (answer.ok) {
      location.replace((await answer.json()).next);
      return;
    }
    const code = answer.headers.get('x-error-code');
    say(...(refusals[code] || again[code] || unreachable));
    go.hidden = code in refusals;
    askAgain.hidden = code !== 'bad_link';
  } catch {
    say(...unreachable);
  }
  go.disabled = false;
}

if (token) {
  go.addEventListener('click', signIn);
  go.hidden = false;
  go.focus();
} else {
  say(...refusals.bad_link);
  askAgain.hidden = false;
}
