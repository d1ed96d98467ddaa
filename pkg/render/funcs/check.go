package funcs

import "github.com/Masterminds/semver/v3"

// CheckLiteral finds a mistake in a text that a form gives to a function as its first
// argument.
func CheckLiteral(function, text string) error {
	var err error
	switch function {
	case "regexMatch", "regexFind", "regexFindAll", "regexSplit", "regexReplaceAll", "regexReplaceAllLiteral",
		"mustRegexMatch", "mustRegexFind", "mustRegexFindAll", "mustRegexSplit", "mustRegexReplaceAll", "mustRegexReplaceAllLiteral":
		_, err = Pattern(text)
	case "dateModify", "date_modify", "mustDateModify", "must_date_modify":
		_, err = parseDuration(text)
	case "semverCompare":
		if _, e := semver.NewConstraint(text); e != nil {
			err = notA(text, "a constraint of versions, such as >=1.2.0")
		}
	case "genPrivateKey":
		switch text {
		case "", "rsa", "dsa", "ecdsa", "ed25519":
		default:
			err = notA(text, "a type of key (rsa, dsa, ecdsa, ed25519)")
		}
	}
	return err
}
