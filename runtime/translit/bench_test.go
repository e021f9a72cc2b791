package translit

import "testing"

// message is a chat message of 150 characters, as a bank's bot would send it.
const message = "Namaste Rahul ji, aapka order kal shaam tak deliver ho jayega. Kripya apna O T P delivery partner ko batayein, aur payment U P I se kar dein, dhanyavad!"

func BenchmarkMessage(b *testing.B) {
	tables()
	b.SetBytes(int64(len(message)))
	b.ReportAllocs()
	for b.Loop() {
		Devanagari(message, Options{KeepEnglish: true})
	}
}

func BenchmarkEnglishMessage(b *testing.B) {
	const text = "Dear customer, your order has been shipped and will be delivered by tomorrow evening. Please share the O T P with the delivery partner. Thank you, team"
	tables()
	b.ReportAllocs()
	for b.Loop() {
		Devanagari(text, Options{})
	}
}

func BenchmarkUnknownWords(b *testing.B) {
	const text = "Vishwanathapuram mein thiruvallurkar ki jagmagahat aur phenomenological microplanning se Harshavardhana khatkhatayenge, tamtamayenge, chhatpatayenge!!!"
	tables()
	b.ReportAllocs()
	for b.Loop() {
		Devanagari(text, Options{})
	}
}

func BenchmarkDevanagari(b *testing.B) {
	const text = "आपका ऑर्डर कल शाम तक डिलीवर हो जाएगा, कृपया अपना ओ टी पी डिलीवरी पार्टनर को बताएँ।"
	b.ReportAllocs()
	for b.Loop() {
		Devanagari(text, Options{})
	}
}

func BenchmarkLoadTables(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		load(files)
	}
}
