package accept

import "testing"

// FuzzReading: whatever is written as a reading is compiled or refused, and judges any text; the example of a reading
// is an accepted one.
func FuzzReading(f *testing.F) {
	values := []string{"", " ", "0", "07", "4407", "4407 ", "-", "+", "+91-22-6789", "+0-1", "X", "X*", "XX12", "**9",
		"OTP", "NRIs", "ओटीपी", "A1", "é", "@", ".", "1800", "18001", "2026-08-15", "0-0", "0-0-0", "08-15 short",
		"15:30", "25:61", ":", "1.", ".5", "1.50", "99999999999999999999", "1-2", "2 1", "INR 5.25", "INR", "kg 5",
		"5 kg", "www.x.in/a", "क.in", "s", "Ss"}
	for kind := range kinds {
		for _, value := range values {
			f.Add("<"+kind+" "+value+">", "ओ टी पी चार four")
		}
	}
	for kind := range connectors {
		f.Add("A <"+kind+"> é {क|}", "ए")
	}
	f.Fuzz(func(t *testing.T, reading, spoken string) {
		if len(reading) > 200 || len(spoken) > 400 {
			return // a reading is tried at each word of what is spoken
		}
		Same(reading, spoken)
		for _, l := range []Language{English, Hindi, Hinglish} {
			r, err := Compile(reading, l)
			if err != nil {
				continue
			}
			for _, s := range []string{spoken, reading} {
				if !r.Accepts(s) {
					r.Stop(s)
				}
			}
			if example := r.Example(); !r.Accepts(example) {
				t.Errorf("%q in %s: its example %q is not accepted", reading, l, example)
			}
		}
	})
}
