package markup

// Word is what a sign of a formula, or a mark, says. How it is said is up to the language.
type Word uint8

// The words of signs.
const (
	NoWord Word = iota
	Done        // the box of a task that is done

	Plus
	Minus
	PlusMinus
	Times
	DividedBy
	Over // the stroke of a fraction
	Root // square root of
	CubeRoot
	NthRoot // behind its degree
	Squared
	Cubed
	Power // to the power
	Prime
	Factorial
	Absolute // mod
	Choose   // of n objects k

	// Relations: in some languages their word comes behind what they relate to. See [Word.IsRelation].

	Equals
	Unequal
	Less
	More
	AtMost
	AtLeast
	About
	Identical
	Similar
	Proportional
	In
	NotIn
	Subset
	SubsetOrEqual
	Superset
	Parallel
	Perpendicular
	Tends // x → 0
	Implies
	Equivalent // if and only if

	Union
	Intersection
	EmptySet
	Infinity
	Sum
	Product
	Integral
	Limit
	From // before the lower bound
	UpTo // between the bounds
	Of   // behind the upper one
	Base // of a logarithm
	Partial
	Nabla
	Angle
	Triangle
	Therefore
	Because
	ForAll
	Exists
	SuchThat
	And
	Or
	Not
	Vector
	Bar
	Hat
	Sine
	Cosine
	Tangent
	Cotangent
	Secant
	Cosecant
	Log
	NaturalLog
	Reals
	Naturals
	Integers
	Rationals

	Yes  // the check mark that fills a cell
	No   // the cross that does
	Star // x^*
	CommandKey
	OptionKey
	ShiftKey

	Alpha
	Beta
	Gamma
	Delta
	Epsilon
	Eta
	Theta
	Lambda
	Mu
	Nu
	Pi
	Rho
	Sigma
	Tau
	Phi
	Chi
	Psi
	Omega
	Kappa
	Words // how many there are
)

// IsRelation reports whether w says how what stands before it relates to what stands behind it.
func (w Word) IsRelation() bool { return Equals <= w && w <= Equivalent }

// signs are the signs beyond ASCII that say a word wherever they stand.
var signs = map[rune]Word{
	'∈': In, '∉': NotIn, '⊂': Subset, '⊆': SubsetOrEqual, '⊃': Superset, '∪': Union, '∩': Intersection, '∅': EmptySet,
	'∞': Infinity,
	'∑': Sum, '∏': Product, '∫': Integral, '∂': Partial, '∇': Nabla, '∠': Angle, '∥': Parallel, '⊥': Perpendicular,
	'∀': ForAll,
	'∃': Exists, '∴': Therefore, '∵': Because, '∝': Proportional, '≡': Identical, '∧': And, '∨': Or, '∛': CubeRoot,
	'⇔': Equivalent,
	'⟺': Equivalent, '⋅': Times, '⌘': CommandKey, '⌥': OptionKey, '⇧': ShiftKey,
}

// checks are the marks that say yes or no where they fill a cell of a table.
var checks = map[rune]Word{
	'✅': Yes, '✔': Yes, '✓': Yes, '☑': Yes, '❌': No, '✗': No, '✘': No, '✖': No, '❎': No,
}

// mathsSigns are the signs that say another word, or any, in a formula only.
var mathsSigns = map[rune]Word{
	'×': Times, '÷': DividedBy, '±': PlusMinus, '≤': AtMost, '≥': AtLeast, '≠': Unequal, '≈': About, '√': Root,
	'·': Times, '−': Minus, '–': Minus,
	'→': Tends, '⇒': Implies, '∣': SuchThat, '∼': Similar, '≅': Identical, '¬': Not, 'ℝ': Reals, 'ℕ': Naturals,
	'ℤ': Integers, 'ℚ': Rationals,
	'²': Squared, '³': Cubed, '△': Triangle, '′': Prime,
}

// asciiSigns are those of ASCII in a formula.
var asciiSigns = [128]Word{'+': Plus, '-': Minus, '*': Times, '/': Over, '=': Equals, '<': Less, '>': More, '\'': Prime}

// commands are those of LaTeX that say a word.
var commands = map[string]Word{
	"times": Times, "cdot": Times, "ast": Times, "div": DividedBy, "pm": PlusMinus, "mp": PlusMinus, "leq": AtMost, "le": AtMost, "leqslant": AtMost, "geq": AtLeast,
	"ge": AtLeast, "geqslant": AtLeast, "neq": Unequal, "ne": Unequal, "lt": Less, "gt": More, "approx": About, "simeq": About, "equiv": Identical, "cong": Identical,
	"sim": Similar, "propto": Proportional, "in": In, "notin": NotIn, "subset": Subset, "subseteq": SubsetOrEqual, "supset": Superset, "parallel": Parallel,
	"perp": Perpendicular, "to": Tends, "rightarrow": Tends, "longrightarrow": Tends, "implies": Implies, "Rightarrow": Implies, "Longrightarrow": Implies,
	"iff": Equivalent, "Leftrightarrow": Equivalent, "cup": Union, "cap": Intersection, "emptyset": EmptySet, "varnothing": EmptySet, "infty": Infinity,
	"partial": Partial, "nabla": Nabla, "angle": Angle, "triangle": Triangle, "therefore": Therefore, "because": Because, "forall": ForAll, "exists": Exists,
	"mid": SuchThat, "land": And, "wedge": And, "lor": Or, "vee": Or, "lnot": Not, "neg": Not, "prime": Prime, "sin": Sine, "cos": Cosine, "tan": Tangent,
	"cot": Cotangent, "sec": Secant, "csc": Cosecant, "cosec": Cosecant, "log": Log, "ln": NaturalLog,
	"alpha": Alpha, "beta": Beta, "gamma": Gamma, "Gamma": Gamma, "delta": Delta, "Delta": Delta, "epsilon": Epsilon, "varepsilon": Epsilon, "eta": Eta, "theta": Theta,
	"Theta": Theta, "vartheta": Theta, "lambda": Lambda, "Lambda": Lambda, "mu": Mu, "nu": Nu, "pi": Pi, "Pi": Pi, "rho": Rho, "sigma": Sigma, "Sigma": Sigma, "tau": Tau,
	"phi": Phi, "Phi": Phi, "varphi": Phi, "chi": Chi, "psi": Psi, "Psi": Psi, "omega": Omega, "Omega": Omega, "kappa": Kappa,
}

// bounded are the commands, and their signs, that have bounds: \sum_{i=1}^{n}.
var bounded = map[string]Word{"sum": Sum, "prod": Product, "int": Integral, "oint": Integral, "iint": Integral,
	"lim": Limit}

// blackboard are the sets that have letters of their own.
var blackboard = map[byte]Word{'R': Reals, 'N': Naturals, 'Z': Integers, 'Q': Rationals}
