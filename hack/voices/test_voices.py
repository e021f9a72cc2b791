"""Tests of what voices.py computes by itself: python -m unittest discover hack/voices, with numpy and onnxruntime."""

import os
import struct
import tempfile
import unittest
import zlib

import letters
import numpy as np
import sound
import spectrogram


def tone(hertz, level, seconds=5):
    return level * np.sin(2 * np.pi * hertz * np.arange(int(seconds * sound.RATE)) / sound.RATE)


class Loudness(unittest.TestCase):
    def test_of_tones(self):
        # BS.1770: a tone of 997 Hz at full scale in one channel is -3.01 LUFS.
        self.assertAlmostEqual(sound.loudness(tone(997, 1.0)), -3.01, delta=0.05)
        self.assertAlmostEqual(sound.loudness(tone(997, 0.1)), -23.01, delta=0.05)
        self.assertLess(sound.loudness(tone(30, 0.1)), -27)
        self.assertGreater(sound.loudness(tone(5000, 0.1)), -21)

    def test_silence_does_not_count(self):
        x = np.concatenate([tone(997, 0.1, 10), np.zeros(20 * sound.RATE)])
        self.assertAlmostEqual(sound.loudness(x), -23.01, delta=0.2)
        self.assertEqual(sound.loudness(np.zeros(sound.RATE)), -np.inf)


class Samples(unittest.TestCase):
    def test_edges(self):
        x = np.concatenate([np.zeros(2400), tone(400, 0.5, 1), np.zeros(4800)])
        front, end = sound.edges(x)
        self.assertAlmostEqual(front, 0.1, delta=0.001)
        self.assertAlmostEqual(end, 0.2, delta=0.002)
        self.assertEqual(sound.edges(np.zeros(2400)), (0.1, 0.0))

    def test_clipped(self):
        self.assertEqual(sound.clipped(np.array([32766, 32767, -32767, -32768, 0], np.int16)), 2)

    def test_resampling(self):
        for hertz in (100, 1000, 6000):
            y = sound.at_16k(tone(hertz, 0.5, 1))
            want = 0.5 * np.sin(2 * np.pi * hertz * np.arange(len(y)) / 16000)
            self.assertLess(np.max(np.abs(y - want)[300:-300]), 1e-3)
        self.assertLess(np.max(np.abs(sound.at_16k(tone(9000, 0.5, 1))[300:-300])), 1e-3)


    def test_pitch(self):
        for hertz in (90, 180, 330):
            x = sum(tone(k * hertz, 0.3 / k, 1) for k in range(1, 9))
            self.assertAlmostEqual(sound.pitch(x), hertz, delta=0.02 * hertz)
            self.assertAlmostEqual(sound.pitch(np.concatenate([np.zeros(9000), x])), hertz, delta=0.02 * hertz)
        noise = np.random.default_rng(1).standard_normal(sound.RATE)
        self.assertEqual((sound.pitch(noise), sound.pitch(np.zeros(sound.RATE)), sound.pitch(np.zeros(0))), (0, 0, 0))


class Pictures(unittest.TestCase):
    def test_a_tone_is_a_line(self):
        grey = spectrogram.image(tone(2000, 0.5, 1))
        column = grey[: spectrogram.HEIGHT, 100]
        self.assertAlmostEqual(int(np.argmax(column)), spectrogram.HEIGHT - 1 - 2000 * spectrogram.HEIGHT // spectrogram.TOP, delta=1)
        self.assertEqual((column[10], column[-10]), (0, 0))

    def test_png(self):
        for columns in (6, 7):
            grey = (np.arange(4 * columns).reshape(4, columns) % 16 * 17).astype(np.uint8)
            data = spectrogram.png(grey)
            width, height, bits = struct.unpack(">IIB", data[16:25])
            self.assertEqual((data[:8], width, height, bits), (b"\x89PNG\r\n\x1a\n", columns, 4, 4))
            packed = zlib.decompress(data[41 : data.index(b"IEND") - 8])
            row = [n for byte in packed[1 : 1 + (columns + 1) // 2] for n in (byte >> 4, byte & 15)][:columns]
            self.assertEqual(row, [int(v) // 17 for v in grey[0]])


class Letters(unittest.TestCase):
    def test_error_rate(self):
        for name, language, wanted, written, want in [
            ("marks, spaces and case", "en", "Thank you, sir!", "thankyou Sir", 0),
            ("one letter of four", "en", "abcd", "abxd", 0.25),
            ("nothing", "en", "abcd", "", 1),
            ("twice as much", "en", "ab", "abab", 1),
            ("Hindi in the letters of Urdu", "hi", "आज मेरी तबीयत ठीक नहीं है", "آج میری تبیت تھیک نہیں ہے", 0),
            ("aspirates, doubles and flaps", "hi", "अच्छे बूढ़े ने पतंग उड़ाई", "اچھے بورے نے پتنگ اڑائی", 0),
            ("nasals before lips", "hi", "मुंबई मुम्बई संपर्क", "ممبئی ممبئی سنپرک", 0),
            ("letters for z and f", "hi", "ज़रूर फ़ोन फल", "ضرور فون پھل", 0),
            ("Devanagari without its dots", "hi", "फ़ीस ज़्यादा", "फीस ज्यादा", 0),
            ("an English word", "hinglish", "आपका ऑर्डर", "آپ کا order", 0),
            ("an English word that is given", "hinglish", "पुणे में टाइम", "پنے میں time", 0),
            ("one of four consonants", "hi", "कमलप", "کملب", 0.25),
        ]:
            with self.subTest(name):
                self.assertAlmostEqual(letters.error_rate(language, wanted, written, [("time", "टाइम")]), want)


class Sentences(unittest.TestCase):
    def test_sixty(self):
        import voices

        rows = list(voices.sentences(1))
        for language in voices.LANGUAGES:
            self.assertEqual(sum(row[1] == language for row in rows), 20, language)
        for name, _, text, reading, words in rows:
            self.assertNotRegex(text, r"\d", name)
            for latin, written in words:
                self.assertIn(latin, text.lower(), name)
                self.assertIn(written, reading, name)

    def test_rows_are_replaced(self):
        import voices

        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "page.md")
            with open(page, "w", encoding="utf-8") as f:
                f.write("a\n" + voices.BEGIN + voices.END + "\nb\n")
            rest = ["1"] * (len(voices.COLUMNS) - 1)
            voices.write(page, [["x y", *rest], ["x z", *rest]])
            voices.write(page, [["x y", "2", *rest[1:]]])
            with open(page, encoding="utf-8") as f:
                lines = f.read().splitlines()
            table = [line.split(" | ")[:2] for line in lines if line.startswith("| x")]
            self.assertEqual(table, [["| x y", "2"], ["| x z", "1"]])
            self.assertEqual((lines[0], lines[-1]), ("a", "b"))


if __name__ == "__main__":
    unittest.main()
