package text

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// SignCurrency is the currency of a sign, 0 for none.
func SignCurrency(ch byte) int { return int(currencySigns[ch]) }

var currencySigns = [256]uint8{
	rupee: words.Rupees, '$': words.Dollars, euro: words.Euros, pound: words.Pounds, yen: words.Yens, won: words.Wons, lira: words.Liras, taka: words.Takas, naira: words.Nairas, baht: words.Bahts,
	pesoSign:    words.Pesos,
	dongSign:    words.Dongs,
	rubleSign:   words.Rubles,
	shekelSign:  words.Shekels,
	hryvniaSign: words.Hryvnias,
	tengeSign:   words.Tenges,
	cediSign:    words.Cedis,
	kipSign:     words.Kips,
	tugrikSign:  words.Tugriks,
	manatSign:   words.Manats,
	lariSign:    words.Laris,
	guaraniSign: words.Guaranis,
	colonSign:   words.Colones,
	afghaniSign: words.Afghanis,
	rielSign:    words.Riels,
	dramSign:    words.Drams,
	bitcoinSign: words.Bitcoins,
}

// SignUnits are the units that are signs: ¢ and ‰.
var SignUnits = [256]*words.Unit{cent: words.Units["~cent"], perMille: words.Units["~permille"]}
