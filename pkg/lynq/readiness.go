package lynq

import (
	"fmt"
	"slices"
	"strings"
)

// Readiness lists the conditions that an object must meet to be ready, beside those of
// its kind.
type Readiness struct {
	// ObservedGeneration is set if its controller reports one, perhaps later.
	ObservedGeneration bool
	// ReadyCondition is set if it gets a condition Ready, which is unknown while absent.
	ReadyCondition bool
	// Conditions must be True.
	Conditions []string
	// Values have the format of kubectl wait --for=jsonpath: {.status.phase}=Running, or
	// {.status.phase} for a field that must exist.
	Values []string
}

// The hints of the annotation.
const (
	hintObservedGeneration = "has-observed-generation"
	hintReadyCondition     = "has-ready-condition"
	hintConditions         = "conditions="
	hintValues             = "values="
)

// IsZero reports whether it has no condition.
func (r *Readiness) IsZero() bool {
	return !r.ObservedGeneration && !r.ReadyCondition && len(r.Conditions) == 0 && len(r.Values) == 0
}

// Completes reports whether an object that meets the conditions has done its work. One of them
// must be a condition or a value that controllers set at the end of work.
func (r *Readiness) Completes() bool {
	return r != nil && (slices.ContainsFunc(r.Conditions, completion) || slices.ContainsFunc(r.Values, func(text string) bool {
		return completion(ParseReadyValue(text).Want)
	}))
}

// completion reports whether a condition or phase says that work ended well.
func completion(word string) bool {
	switch word {
	case "Complete", "Completed", "Succeeded", "Finished":
		return true
	}
	return false
}

// String returns the text of the annotation: hints with commas, conditions and values with
// semicolons. The values come last, because they may have commas.
func (r *Readiness) String() string {
	var hints []string
	if r.ObservedGeneration {
		hints = append(hints, hintObservedGeneration)
	}
	if r.ReadyCondition {
		hints = append(hints, hintReadyCondition)
	}
	if len(r.Conditions) > 0 {
		hints = append(hints, hintConditions+strings.Join(r.Conditions, ";"))
	}
	if len(r.Values) > 0 {
		hints = append(hints, hintValues+strings.Join(r.Values, ";"))
	}
	return strings.Join(hints, ",")
}

// ParseReadiness reads the text of the annotation.
func ParseReadiness(text string) (*Readiness, error) {
	r := &Readiness{}
	for rest := strings.TrimSpace(text); rest != ""; {
		if values, ok := strings.CutPrefix(rest, hintValues); ok {
			r.Values = strings.Split(values, ";")
			break
		}
		var hint string
		hint, rest, _ = strings.Cut(rest, ",")
		hint, rest = strings.TrimSpace(hint), strings.TrimSpace(rest)
		conditions, isConditions := strings.CutPrefix(hint, hintConditions)
		switch {
		case hint == hintObservedGeneration:
			r.ObservedGeneration = true
		case hint == hintReadyCondition:
			r.ReadyCondition = true
		case isConditions:
			r.Conditions = strings.Split(conditions, ";")
		default:
			return nil, fmt.Errorf("%q is none of %s, %s, %sA;B and %s{.status.phase}=Running",
				hint, hintObservedGeneration, hintReadyCondition, hintConditions, hintValues)
		}
	}
	if r.IsZero() || slices.Contains(r.Conditions, "") || slices.Contains(r.Values, "") {
		return nil, fmt.Errorf("%q has an empty hint", text)
	}
	return r, nil
}

// ReadyValue is a value that an object must have.
type ReadyValue struct {
	Path string // a JSONPath template: {.status.phase}
	Want string // the value that it must have
	Any  bool   // any value will do
}

// ParseReadyValue reads one of the values of Readiness as kubectl wait does. The text may lack
// the braces and the first dot, and may quote the value.
func ParseReadyValue(text string) ReadyValue {
	at := -1
	for i := 0; i < len(text); i++ {
		if strings.HasPrefix(text[i:], "==") { // of a filter: [?(@.type=="Ready")]
			i++
		} else if text[i] == '=' {
			at = i
			break
		}
	}
	v := ReadyValue{Path: text, Any: true}
	if at >= 0 {
		v = ReadyValue{Path: text[:at], Want: strings.Trim(strings.TrimSpace(text[at+1:]), `'"`)}
	}
	v.Path = strings.TrimSpace(v.Path)
	if !strings.HasPrefix(v.Path, "{") {
		v.Path = "{." + strings.TrimPrefix(v.Path, ".") + "}"
	}
	return v
}
