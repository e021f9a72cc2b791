package accept

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

var months = [12]unitNames{
	{[]string{"January"}, []string{"जनवरी"}}, {[]string{"February"}, []string{"फ़रवरी"}}, {[]string{"March"}, []string{"मार्च"}},
	{[]string{"April"}, []string{"अप्रैल"}}, {[]string{"May"}, []string{"मई"}}, {[]string{"June"}, []string{"जून"}},
	{[]string{"July"}, []string{"जुलाई"}}, {[]string{"August"}, []string{"अगस्त"}}, {[]string{"September"}, []string{"सितंबर", "सितम्बर"}},
	{[]string{"October"}, []string{"अक्टूबर", "अक्तूबर"}}, {[]string{"November"}, []string{"नवंबर", "नवम्बर"}}, {[]string{"December"}, []string{"दिसंबर", "दिसम्बर"}},
}

// readDate reads 2026-08-15, 08-15 and 2026-08: the day before or after the month, as a number or an ordinal. numeric
// says that the month was written as a number, which may then be read as one; short that of the year only two digits
// stood there.
func readDate(value string, l Language) (node, error) {
	fields := strings.Fields(value)
	if len(fields) == 0 {
		return nil, errors.New("no date")
	}
	var d dateParts
	for _, flag := range fields[1:] {
		d.numeric = d.numeric || flag == "numeric"
		d.short = d.short || flag == "short"
		if flag != "numeric" && flag != "short" {
			return nil, fmt.Errorf("%q is neither numeric nor short", flag)
		}
	}
	parts := strings.Split(fields[0], "-")
	var numbers []int64
	for _, p := range parts {
		n, err := strconv.ParseInt(p, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a date", fields[0])
		}
		numbers = append(numbers, n)
	}
	if len(parts[0]) == 4 {
		d.year = numbers[0]
		numbers = numbers[1:]
	}
	if len(numbers) == 0 || len(numbers) > 2 || d.year == 0 && len(numbers) < 2 || numbers[0] < 1 || numbers[0] > 12 {
		return nil, fmt.Errorf("%q is not a date", fields[0])
	}
	d.month = numbers[0]
	if len(numbers) == 2 {
		d.day = numbers[1]
		if d.day < 1 || d.day > 31 {
			return nil, fmt.Errorf("%q has no such day", fields[0])
		}
	}
	return d.node(l), nil
}

type dateParts struct {
	year, month, day int64
	numeric, short   bool
}

func (d dateParts) node(l Language) node {
	year := d.yearNode(l)
	if d.day == 0 {
		c := choice{sequence{d.monthName(l), year}}
		if d.numeric {
			c = append(c, sequence{smallNumber(d.month, l), between(), year})
		}
		return c
	}
	c := choice{sequence{d.dayNode(l), choice{nothing, ofTheMonth(l)}, d.monthName(l), year}}
	if l != Hindi { // August 15th
		day := choice{englishOrdinal(d.day), englishCardinal(d.day)}
		c = append(c, sequence{d.monthName(l), choice{nothing, oneOf{"the"}}, day, year})
	}
	if d.numeric {
		c = append(c, sequence{smallNumber(d.day, l), between(), smallNumber(d.month, l), between(), year})
	}
	return c
}

// between is what may be said for the sign between the numbers of a date.
func between() node {
	return phrases("", "slash", "स्लैश", "dash", "डैश", "बटा", "by", "dot", "डॉट")
}

func ofTheMonth(l Language) node {
	if l == Hindi {
		return nothing
	}
	return oneOf{"of"}
}

// monthName is the name in the sentence's language; a Hindi sentence also takes the English one in its own script.
func (d dateParts) monthName(l Language) node {
	m := months[d.month-1]
	names := func(words []string) node {
		var n oneOf
		for _, w := range words {
			n = append(n, strings.ToLower(w))
		}
		return n
	}
	if l == English {
		return names(m.english)
	}
	return choice{names(m.hindi), names(m.english), plain(strings.ToLower(m.english[0]))}
}

func (d dateParts) dayNode(l Language) node {
	english := sequence{choice{nothing, oneOf{"the"}}, choice{englishOrdinal(d.day), englishCardinal(d.day)}}
	hindi := choice{oneOf(hindiBelow100[d.day]), hindiOrdinal(d.day)}
	return byLanguage(l, english, hindi)
}

func smallNumber(n int64, l Language) node {
	return byLanguage(l, choice{englishCardinal(n), sequence{oneOf{"zero", "oh"}, englishCardinal(n)}},
		oneOf(hindiBelow100[n]))
}

func (d dateParts) yearNode(l Language) node {
	if d.year == 0 {
		return nothing
	}
	c := choice{year(d.year, l)}
	if d.short {
		c = append(c, smallNumber(d.year%100, l))
	}
	return c
}

func readYear(value string, l Language) (node, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 1000 || n > 2999 {
		return nil, fmt.Errorf("%q is not a year", value)
	}
	return year(n, l), nil
}

// year reads 1947 as nineteen forty seven or उन्नीस सौ सैंतालीस, 2026 as twenty twenty six or दो हज़ार छब्बीस.
func year(n int64, l Language) node {
	english := choice{englishCardinal(n)}
	if n%1000 >= 10 {
		pair := sequence{englishBelow100(n / 100), englishBelow100(n % 100)}
		if n%100 < 10 {
			pair = sequence{englishBelow100(n / 100), oneOf{"oh", "zero"}, englishBelow100(n % 100)}
		}
		if n%100 == 0 {
			pair = sequence{englishBelow100(n / 100), oneOf{"hundred"}}
		}
		english = append(choice{pair}, english...)
	}
	hindi := choice{hindiCardinal(n)}
	if n < 2000 {
		hindi = append(choice{sequence{oneOf(hindiBelow100[n/100]), oneOf(hindiScale[100]), hindiRest(n % 100)}},
			hindi...)
	}
	return byLanguage(l, english, hindi)
}
