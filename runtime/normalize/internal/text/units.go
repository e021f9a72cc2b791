package text

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// SignCurrency is the currency of a sign, 0 for none.
func SignCurrency(ch byte) int { return int(currencySigns[ch]) }

// currencySigns are the places of currencies by the marks of their signs.
var currencySigns = func() (places [256]uint8) {
	for place, c := range words.Currencies {
		for _, sign := range c.Signs {
			mark, ok := signs[sign]
			if !ok {
				mark = byte(sign)
			}
			places[mark] = uint8(place)
		}
	}
	return places
}()

// SignUnits are the units that are signs: ¢ and ‰.
var SignUnits = [256]*words.Unit{cent: words.Units["~cent"], perMille: words.Units["~permille"]}
