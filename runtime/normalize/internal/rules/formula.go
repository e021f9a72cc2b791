package rules

import marks "github.com/swar-tts/swar/runtime/normalize/internal/markup"

// mathsWord is what w is called in the language of the sentence.
func mathsWord(r *Reader, w marks.Word) string {
	if r.English {
		return englishMaths[w]
	}
	return hindiMaths[w]
}

// hindiLast are the relations whose word comes behind what they relate to.
var hindiLast = [marks.Words]bool{
	marks.Unequal: true, marks.Less: true, marks.More: true, marks.AtMost: true, marks.AtLeast: true, marks.Identical: true, marks.Similar: true,
	marks.Proportional: true, marks.In: true, marks.NotIn: true, marks.Subset: true, marks.SubsetOrEqual: true, marks.Superset: true,
	marks.Parallel: true, marks.Perpendicular: true, marks.Tends: true,
}

// hindiMaths and englishMaths are the words of formulas. Of says nothing where the upper bound ends by itself.
var hindiMaths = [marks.Words]string{
	marks.Done: "हो गया", marks.Plus: "प्लस", marks.Minus: "माइनस", marks.PlusMinus: "प्लस माइनस", marks.Times: "गुणा", marks.DividedBy: "भाग",
	marks.Over: "बटा", marks.Root: "वर्गमूल", marks.CubeRoot: "घनमूल", marks.NthRoot: "वाँ मूल", marks.Squared: "का वर्ग", marks.Cubed: "का घन",
	marks.Power: "की घात", marks.Prime: "प्राइम", marks.Factorial: "फ़ैक्टोरियल", marks.Absolute: "मॉड", marks.Choose: "सी", marks.Equals: "बराबर",
	marks.Unequal: "के बराबर नहीं", marks.Less: "से कम", marks.More: "से ज़्यादा", marks.AtMost: "से कम या बराबर", marks.AtLeast: "से ज़्यादा या बराबर",
	marks.About: "लगभग", marks.Identical: "के सर्वसम", marks.Similar: "के समरूप", marks.Proportional: "के समानुपाती", marks.In: "का सदस्य",
	marks.NotIn: "का सदस्य नहीं", marks.Subset: "का उपसमुच्चय", marks.SubsetOrEqual: "का उपसमुच्चय", marks.Superset: "का अधिसमुच्चय",
	marks.Parallel: "के समांतर", marks.Perpendicular: "पर लंब", marks.Tends: "की ओर", marks.Implies: "इसलिए", marks.Equivalent: "यदि और केवल यदि",
	marks.Union: "संघ", marks.Intersection: "सर्वनिष्ठ", marks.EmptySet: "रिक्त समुच्चय", marks.Infinity: "अनंत", marks.Sum: "योग", marks.Product: "गुणनफल",
	marks.Integral: "इंटीग्रल", marks.Limit: "लिमिट", marks.From: "", marks.UpTo: "से", marks.Of: "तक", marks.Base: "आधार", marks.Partial: "डेल",
	marks.Nabla: "नैब्ला", marks.Angle: "कोण", marks.Triangle: "त्रिभुज", marks.Therefore: "इसलिए", marks.Because: "क्योंकि", marks.ForAll: "हर",
	marks.Exists: "मौजूद है", marks.SuchThat: "जहाँ", marks.And: "और", marks.Or: "या", marks.Not: "नहीं", marks.Vector: "सदिश", marks.Bar: "बार",
	marks.Hat: "हैट", marks.Sine: "साइन", marks.Cosine: "कॉस", marks.Tangent: "टैन", marks.Cotangent: "कॉट", marks.Secant: "सेक",
	marks.Cosecant: "कोसेक", marks.Log: "लॉग", marks.NaturalLog: "नैचुरल लॉग", marks.Reals: "वास्तविक संख्याएँ", marks.Naturals: "प्राकृत संख्याएँ",
	marks.Integers: "पूर्णांक", marks.Rationals: "परिमेय संख्याएँ", marks.Alpha: "अल्फ़ा", marks.Beta: "बीटा", marks.Gamma: "गामा", marks.Delta: "डेल्टा",
	marks.Epsilon: "एप्सिलॉन", marks.Eta: "ईटा", marks.Theta: "थीटा", marks.Lambda: "लैम्डा", marks.Mu: "म्यू", marks.Nu: "न्यू", marks.Pi: "पाई",
	marks.Rho: "रो", marks.Sigma: "सिग्मा", marks.Tau: "टाऊ", marks.Phi: "फ़ाई", marks.Chi: "काई", marks.Psi: "साई", marks.Omega: "ओमेगा",
	marks.Kappa: "कप्पा",
}

var englishMaths = [marks.Words]string{
	marks.Done: "done", marks.Plus: "plus", marks.Minus: "minus", marks.PlusMinus: "plus minus", marks.Times: "times", marks.DividedBy: "divided by",
	marks.Over: "by", marks.Root: "square root of", marks.CubeRoot: "cube root of", marks.NthRoot: "th root of", marks.Squared: "squared",
	marks.Cubed: "cubed", marks.Power: "to the power", marks.Prime: "prime", marks.Factorial: "factorial", marks.Absolute: "mod", marks.Choose: "choose",
	marks.Equals: "equals", marks.Unequal: "not equal to", marks.Less: "less than", marks.More: "more than", marks.AtMost: "less than or equal to",
	marks.AtLeast: "greater than or equal to", marks.About: "approximately", marks.Identical: "identical to", marks.Similar: "similar to",
	marks.Proportional: "proportional to", marks.In: "belongs to", marks.NotIn: "does not belong to", marks.Subset: "is a subset of",
	marks.SubsetOrEqual: "is a subset of", marks.Superset: "is a superset of", marks.Parallel: "parallel to", marks.Perpendicular: "perpendicular to",
	marks.Tends: "tends to", marks.Implies: "implies", marks.Equivalent: "if and only if", marks.Union: "union", marks.Intersection: "intersection",
	marks.EmptySet: "empty set", marks.Infinity: "infinity", marks.Sum: "sum", marks.Product: "product", marks.Integral: "integral", marks.Limit: "limit",
	marks.From: "from", marks.UpTo: "to", marks.Of: "of", marks.Base: "base", marks.Partial: "partial", marks.Nabla: "nabla", marks.Angle: "angle",
	marks.Triangle: "triangle", marks.Therefore: "therefore", marks.Because: "because", marks.ForAll: "for all", marks.Exists: "there exists",
	marks.SuchThat: "such that", marks.And: "and", marks.Or: "or", marks.Not: "not", marks.Vector: "vector", marks.Bar: "bar", marks.Hat: "hat",
	marks.Sine: "sine", marks.Cosine: "cosine", marks.Tangent: "tan", marks.Cotangent: "cot", marks.Secant: "secant", marks.Cosecant: "cosecant",
	marks.Log: "log", marks.NaturalLog: "natural log", marks.Reals: "real numbers", marks.Naturals: "natural numbers", marks.Integers: "integers",
	marks.Rationals: "rational numbers", marks.Alpha: "alpha", marks.Beta: "beta", marks.Gamma: "gamma", marks.Delta: "delta", marks.Epsilon: "epsilon",
	marks.Eta: "eta", marks.Theta: "theta", marks.Lambda: "lambda", marks.Mu: "mu", marks.Nu: "nu", marks.Pi: "pi", marks.Rho: "rho",
	marks.Sigma: "sigma", marks.Tau: "tau", marks.Phi: "phi", marks.Chi: "chi", marks.Psi: "psi", marks.Omega: "omega", marks.Kappa: "kappa",
}
