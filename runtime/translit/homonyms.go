package translit

// lungi reads the verb of a woman who will take something at the end of a clause, else the cloth.
func (s *sentence) lungi(i int) string {
	before, after := s.before(i), s.after(i)
	ends := after == none || after.reads("ना न तो और अगर लेकिन मगर पर वरना क्योंकि जब")
	if ends && !before.reads("की मेरी तेरी तुम्हारी उसकी उनकी अपनी एक नई") {
		return "लूँगी"
	}
	return s.words[i].hindi
}

// sikh reads the faith beside another or beside what belongs to one, else the verb that learns.
func (s *sentence) sikh(i int) string {
	listed := i > 0 && s.words[i-1].reads("हिंदू मुस्लिम मुसलमान ईसाई") // also before a comma
	if listed || s.after(i).reads("धर्म समाज समुदाय गुरु ईसाई परिवार पंथ सैनिक") {
		return "सिख"
	}
	return s.words[i].hindi
}
