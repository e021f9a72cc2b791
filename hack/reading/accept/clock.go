package accept

import (
	"fmt"
	"strconv"
	"strings"
)

// A clock is a time as it is written.
type clock struct {
	hour, minute int64
	half         string // am or pm where it is written
	zero         bool   // the hour is written with a zero before it
}

// readTime reads 9:30, 9:30pm, 18:45 and 05:30. Where am or pm is written, or the hour is above 12, twelve hours need a
// part of the day.
func readTime(value string, l Language) (node, error) {
	var c clock
	rest := value
	for _, half := range []string{"am", "pm"} {
		if s, ok := strings.CutSuffix(rest, half); ok {
			rest, c.half = s, half
		}
	}
	h, m, ok := strings.Cut(rest, ":")
	hour, err1 := strconv.ParseInt(h, 10, 64)
	minute, err2 := strconv.ParseInt(m, 10, 64)
	if !ok || err1 != nil || err2 != nil || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
		c.half != "" && (hour > 12 || hour == 0) {
		return nil, fmt.Errorf("%q is not a time", value)
	}
	c.hour, c.minute, c.zero = hour, minute, strings.HasPrefix(h, "0")
	if _, written := c.afternoon(); l == Hinglish && !written { // eight baje
		return choice{c.hindi(), c.english(), sequence{englishClock(c.twelve(), c.minute), oneOf(baje)}}, nil
	}
	return byLanguage(l, c.english(), c.hindi()), nil
}

// twelve returns the hour of a clock with twelve hours.
func (c clock) twelve() int64 { return (c.hour+11)%12 + 1 }

// afternoon says whether the time is after noon, and whether that is written at all.
func (c clock) afternoon() (after, written bool) {
	if c.half != "" {
		return c.half == "pm", true
	}
	return c.hour > 12, c.hour > 12 || c.hour == 0
}

func (c clock) english() node {
	after, written := c.afternoon()
	half := choice{nothing}
	if written {
		half = choice{spelled(map[bool]string{true: "PM", false: "AM"}[after])}
		half = append(half, phrases(map[bool][]string{
			true:  {"in the afternoon", "in the evening", "at night", "evening"},
			false: {"in the morning", "morning", "at night"},
		}[after]...))
	}
	way := choice{sequence{englishClock(c.twelve(), c.minute), half}}
	if c.minute == 0 && c.twelve() == 12 {
		way = append(way, phrases("noon", "twelve noon", "twelve o clock noon", "twelve oclock noon", "midnight",
			"twelve midnight"))
	}
	if c.half == "" {
		way = append(way, c.railway())
	}
	return way
}

// englishClock reads hour and minute without the part of the day.
func englishClock(hour, minute int64) node {
	h := englishBelow100(hour)
	switch {
	case minute == 0:
		return choice{h, sequence{h, phrases("o clock", "oclock")}}
	case minute < 10:
		return choice{sequence{h, oneOf{"oh", "zero", "o"}, englishBelow100(minute)},
			sequence{englishBelow100(minute), phrases("past", "minutes past"), h}}
	}
	c := choice{sequence{h, englishBelow100(minute)},
		sequence{englishBelow100(minute), phrases("past", "minutes past"), h}}
	next := englishBelow100(hour%12 + 1)
	switch minute {
	case 15:
		c = append(c, sequence{phrases("quarter past", "a quarter past"), h})
	case 30:
		c = append(c, sequence{phrases("half past"), h})
	case 45:
		c = append(c, sequence{phrases("quarter to", "a quarter to"), next})
	}
	return c
}

// railway reads a clock of 24 hours as stations do.
func (c clock) railway() node {
	h := choice{englishBelow100(c.hour)}
	if c.zero && c.hour > 0 {
		h = append(h, sequence{oneOf{"zero", "oh"}, englishBelow100(c.hour)})
	}
	if c.minute == 0 {
		return sequence{h, choice{phrases("hours", "hundred hours", "hundred"), railwayBare(c)}}
	}
	m := choice{englishBelow100(c.minute)}
	if c.minute < 10 {
		m = choice{sequence{oneOf{"zero", "oh", "o"}, englishBelow100(c.minute)}}
	}
	return sequence{h, m, phrases("", "hours")}
}

// railwayBare lets an hour above twelve stand alone.
func railwayBare(c clock) node {
	if c.hour > 12 || c.hour == 0 {
		return phrases("", "zero zero")
	}
	return choice{}
}

// hindi reads the time with बजे and बजकर, with quarters, and without either as in the announcements of stations.
func (c clock) hindi() node {
	after, written := c.afternoon()
	twelve := hindiClock(c.twelve(), c.minute)
	if !written {
		return choice{twelve, c.station(c.hour)}
	}
	day := phrases(daytimes(c.twelve(), after)...)
	half := spelled(map[bool]string{true: "PM", false: "AM"}[after])
	of := phrases("", "के", "ke", "को")
	way := choice{sequence{day, of, twelve}, sequence{twelve, day}}
	for _, bare := range []node{twelve, c.station(c.twelve()), englishClock(c.twelve(), c.minute)} {
		way = append(way, sequence{bare, half}, sequence{day, of, bare})
	}
	if c.half == "" {
		way = append(way, hindiClock(c.hour, c.minute), c.station(c.hour))
	}
	return way
}

// daytimes are the words for the part of the day in which an hour lies.
func daytimes(hour int64, after bool) []string {
	switch {
	case !after && (hour == 12 || hour < 4):
		return []string{"रात", "आधी रात", "raat", "सुबह", "subah", "तड़के"}
	case !after:
		return []string{"सुबह", "subah", "सवेरे", "savere", "तड़के", "प्रातः", "दिन में", "दिन"}
	case hour == 12 || hour < 4:
		return []string{"दोपहर", "dopahar", "dopehar", "दिन", "दिन में"}
	case hour < 7:
		return []string{"शाम", "shaam", "सायं", "दोपहर"}
	}
	return []string{"रात", "raat", "शाम", "shaam"}
}

// station reads hour and minute one after the other, बजे maybe after them.
func (c clock) station(hour int64) node {
	h := choice{oneOf(hindiBelow100[hour])}
	if c.zero && hour > 0 {
		h = append(h, sequence{oneOf(hindiBelow100[0]), oneOf(hindiBelow100[hour])})
	}
	if c.minute == 0 {
		return sequence{h, choice{oneOf(baje),
			sequence{oneOf(hindiBelow100[0]), oneOf(hindiBelow100[0]), phrases("", "बजे")}}}
	}
	m := choice{oneOf(hindiBelow100[c.minute])}
	if c.minute < 10 {
		m = append(m, sequence{oneOf(hindiBelow100[0]), oneOf(hindiBelow100[c.minute])})
	}
	return sequence{h, m, phrases("", "बजे", "baje")}
}

var baje = []string{"बजे", "baje", "बजा"}

func hindiClock(hour, minute int64) node {
	h := oneOf(hindiBelow100[hour])
	if minute == 0 {
		return sequence{h, oneOf(baje)}
	}
	c := choice{
		sequence{h, phrases("बजकर", "बज कर", "बजके", "बज के", "bajkar", "bajke"), oneOf(hindiBelow100[minute]),
			phrases("मिनट", "minute", "मिनट पर")},
		sequence{h, oneOf(baje), oneOf(hindiBelow100[minute]), phrases("मिनट", "minute")},
	}
	quarter := map[int64]int64{15: 1, 30: 2, 45: 3}[minute]
	if quarter == 0 {
		return c
	}
	if q := hindiQuarters(4*hour + quarter); q != nil {
		c = append(choice{sequence{q, oneOf(baje)}}, c...)
	}
	if hour == 12 && quarter == 3 {
		c = append(c, sequence{phrases("पौने", "paune"), oneOf(hindiBelow100[1]), oneOf(baje)},
			sequence{phrases("पौन", "पौने", "paun"), oneOf(baje)})
	}
	return c
}
