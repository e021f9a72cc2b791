package rules

import (
	marks "github.com/swar-tts/swar/runtime/normalize/internal/markup"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// mathsWord is what w is called in the language of the sentence.
func mathsWord(r *Reader, w marks.Word) string {
	switch {
	case w >= marks.Alpha:
		return r.Lang.Greek[1+w-marks.Alpha]
	case w == marks.From && r.English:
		return "from" // Hindi says what is behind the lower bound: से
	}
	return r.Lang.Words[mathsWords[w]]
}

// hindiLast are the relations whose word comes behind what they relate to.
var hindiLast = [marks.Words]bool{
	marks.Unequal: true, marks.Less: true, marks.More: true, marks.AtMost: true, marks.AtLeast: true,
	marks.Identical: true, marks.Similar: true,
	marks.Proportional: true, marks.In: true, marks.NotIn: true, marks.Subset: true, marks.SubsetOrEqual: true,
	marks.Superset: true,
	marks.Parallel: true, marks.Perpendicular: true, marks.Tends: true,
}

// mathsWords are the words of formulas; Greek letters are named by the language.
var mathsWords = [marks.Words]words.Connector{
	marks.Done: words.WordDone, marks.Plus: words.WordPlus, marks.Minus: words.WordMinus,
	marks.PlusMinus: words.WordPlusMinus, marks.Times: words.WordTimes, marks.DividedBy: words.WordDivided,
	marks.Over: words.WordOver, marks.Root: words.WordRoot, marks.CubeRoot: words.WordCubeRoot,
	marks.NthRoot: words.WordNthRoot, marks.Squared: words.WordSquared, marks.Cubed: words.WordCubed,
	marks.Power: words.WordPower, marks.Prime: words.WordPrime, marks.Factorial: words.WordFactorial,
	marks.Absolute: words.WordAbsolute, marks.Choose: words.WordChoose, marks.Equals: words.WordEquals,
	marks.Unequal: words.WordFormulaUnequal, marks.Less: words.WordLess, marks.More: words.WordMore,
	marks.AtMost: words.WordAtMost, marks.AtLeast: words.WordAtLeast, marks.About: words.WordAbout,
	marks.Identical: words.WordIdentical, marks.Similar: words.WordSimilar, marks.Proportional: words.WordProportional,
	marks.In: words.WordIn, marks.NotIn: words.WordNotIn, marks.Subset: words.WordSubset,
	marks.SubsetOrEqual: words.WordSubsetOrEqual, marks.Superset: words.WordSuperset,
	marks.Parallel: words.WordParallel, marks.Perpendicular: words.WordPerpendicular, marks.Tends: words.WordTends,
	marks.Implies: words.WordImplies, marks.Equivalent: words.WordEquivalent, marks.Union: words.WordUnion,
	marks.Intersection: words.WordIntersection, marks.EmptySet: words.WordEmptySet, marks.Infinity: words.WordInfinity,
	marks.Sum: words.WordSum, marks.Product: words.WordProduct, marks.Integral: words.WordIntegral,
	marks.Limit: words.WordLimit, marks.UpTo: words.WordTo, marks.Of: words.WordOf, marks.Base: words.WordBase,
	marks.Partial: words.WordPartial, marks.Nabla: words.WordNabla, marks.Angle: words.WordAngle,
	marks.Triangle: words.WordTriangle, marks.Therefore: words.WordTherefore, marks.Because: words.WordBecause,
	marks.ForAll: words.WordForAll, marks.Exists: words.WordExists, marks.SuchThat: words.WordSuchThat,
	marks.And: words.WordAnd, marks.Or: words.WordOr, marks.Not: words.WordNot, marks.Vector: words.WordVector,
	marks.Bar: words.WordBar, marks.Hat: words.WordHat, marks.Sine: words.WordSine, marks.Cosine: words.WordCosine,
	marks.Tangent: words.WordTangent, marks.Cotangent: words.WordCotangent, marks.Secant: words.WordSecant,
	marks.Cosecant: words.WordCosecant, marks.Log: words.WordLog, marks.NaturalLog: words.WordNaturalLog,
	marks.Reals: words.WordReals, marks.Naturals: words.WordNaturals, marks.Integers: words.WordIntegers,
	marks.Rationals: words.WordRationals,
	marks.Yes:       words.WordYes, marks.No: words.WordNo,
	marks.Star: words.WordStar, marks.CommandKey: words.WordCommandKey, marks.OptionKey: words.WordOptionKey,
	marks.ShiftKey: words.WordShiftKey,
}
