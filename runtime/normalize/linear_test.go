package normalize

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// links of chains without spaces: what a rule may begin with, go on with, or look back over.
var links = strings.Fields(`
	Rs. Dr. Mr.Mrs. no. No. a. A. e.g. w.r.t. U.S. H.No. www. www.a. x.y/ a@b. @ UPI@ http:// a:// # & &amp; / : ; , - – — -- ... ' " ( ) [ ] ((1 )1(
	[a]( <a> ** ~ = ^ { | ° ° _ + * ₹ $ % 12.5% 1. 1, 1- 1/ 1: 12:30 12:30: 10am- am 0 9 +91 -1 1– १ $1 1k 1L 1Cr 1e 1x x1 1a A1 a1b2 XX XXXX1 1= 1^2
	kg 5kg m/s km/h °C st 1st II IV Aug- Aug-1 Jan1 Jan- Mon- Mon-Fri 1-Aug क क. रु. रु डॉ. कि.मी. । ।। :) :-) ½ 1½ ² 😀 α é ж अ1 1अ OTP otp- 1-2
	A AB ABC Ab I II. X. | || |- \ \\ \( ~~ == $ $5 $$ { }{ [[ ]] 【 https://x.in/a?b=1 a.in/ @a x@y.in,
	\u200b \u200d a\u200b 1\u200b \u0301 a\u0301 \u093c क\u093c क\u094d \u0951 1\u0301 🙏\u200d ❤\ufe0f 👍🏽 🇮🇳 1\ufe0f\u20e3
	$x= $$ \frac{1} \( [1 [^ A.B == 1== ⁵ 10⁻ 1e- **1* a.rs/ ₱1 ¢ ‰ O- <A 1/1- 1.2.3.4. 1-2- 1/2/ 1.2. 1,2,
`)

// spelled is a link with the characters that its escapes stand for: those have no width.
func spelled(link string) string {
	return strings.NewReplacer(`\u200b`, "\u200b", `\u200d`, "\u200d", `\u0301`, "\u0301", `\u093c`, "\u093c",
		`\u094d`, "\u094d", `\u0951`, "\u0951", `\ufe0f`, "\ufe0f", `\u20e3`, "\u20e3").Replace(link)
}

// chain repeats a link to so many bytes.
func chain(link string, bytes int) string {
	return strings.Repeat(spelled(link), bytes/len(spelled(link)))
}

// TestChainsLeaveNothing: a text that is one long run, as a client sends that has lost its spaces, is read to its end,
// and one in a hundred at most would be read otherwise once more.
func TestChainsLeaveNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	chains := map[string]string{}
	for _, link := range links {
		chains[link] = chain(link, 1500)
		other := links[rng.IntN(len(links))]
		chains[link+" and "+other] = chain(link+other, 1500)
		chains[link+" and a space and "+other] = chain(link+" "+other, 1500)
	}
	var changed []string
	for name, text := range chains {
		for _, o := range options {
			once := Text(text, o)
			if fault := leftover(once); fault != "" {
				t.Errorf("%s: %s in %.200q", name, fault, once)
			}
			if Text(once, o) != once {
				changed = append(changed, name)
			}
		}
	}
	if len(changed)*100 > len(chains)*len(options) {
		t.Errorf("normalising again changes %d of %d: %q", len(changed), len(chains)*len(options), changed)
	}
}
