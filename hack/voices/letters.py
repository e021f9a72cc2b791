"""Compares what a recogniser writes with what was to be said.

English is compared by letters. Hindi is compared by its consonants, because the recogniser writes it much better in the
letters of Urdu, which have no short vowels and others for the long ones. Aspiration and the places of t and d do not
count: it hardly hears them.
"""

import re
import unicodedata

DEVANAGARI = {
    **dict.fromkeys("कख", "k"),
    **dict.fromkeys("गघ", "g"),
    **dict.fromkeys("चछ", "c"),
    **dict.fromkeys("जझ", "j"),
    **dict.fromkeys("टठतथ", "t"),
    **dict.fromkeys("डढदध", "d"),
    **dict.fromkeys("ङञणनंँ", "n"),
    **dict.fromkeys("शष", "S"),
    **dict.fromkeys("बभ", "b"),
    **{"प": "p", "फ": "f", "म": "m", "र": "r", "ल": "l", "ळ": "l", "स": "s"},
}
URDU = {
    **dict.fromkeys("کكقخ", "k"),
    **dict.fromkeys("گغ", "g"),
    **dict.fromkeys("جزذضظژ", "j"),
    **dict.fromkeys("تطٹ", "t"),
    **dict.fromkeys("دڈ", "d"),
    **dict.fromkeys("نں", "n"),
    **dict.fromkeys("سصث", "s"),
    **dict.fromkeys("رڑ", "r"),
    **{"چ": "c", "ش": "S", "ب": "b", "پ": "p", "ف": "f", "م": "m", "ل": "l"},
}
LATIN = {**dict(zip("bdfgjklmnprst", "bdfgjklmnprst")), "c": "k", "q": "k", "z": "j", "x": "ks"}
SOUNDS = {**DEVANAGARI, **URDU, **LATIN}


def letters(text):
    """Returns text without spaces and marks, in small letters."""
    return re.sub(r"[^a-z]", "", text.lower())


def consonants(text, words=()):
    """Returns the consonants of text in any of the three scripts, doubled ones once.

    Latin words that are in words are replaced.
    """
    text = text.lower()
    for latin, written in words:
        text = re.sub(rf"\b{re.escape(latin)}\b", written, text)
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", text))
    text = re.sub(r"[डढ]\u093c", "र", text)
    text = re.sub("[ंँ](?=[पफबभम])", "म", text)
    text = text.replace("پھ", "ف").replace("ph", "f").replace("sh", "श").replace("ch", "च")
    sounds = "".join(SOUNDS.get(c, "") for c in text)
    return re.sub(r"(.)\1+", r"\1", sounds.replace("nm", "m").replace("nb", "mb").replace("np", "mp"))


def distance(a, b):
    """Returns how many signs must be changed, left out or put in to make b of a."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for k, y in enumerate(b, 1):
            before, row[k] = row[k], min(row[k] + 1, row[k - 1] + 1, before + (x != y))
    return row[-1]


def error_rate(language, wanted, written, words=()):
    """Returns the errors for each letter, or each consonant, that is wanted."""
    if language == "en":
        wanted, written = letters(wanted), letters(written)
    else:
        wanted, written = consonants(wanted, words), consonants(written, words)
    return distance(wanted, written) / len(wanted)
