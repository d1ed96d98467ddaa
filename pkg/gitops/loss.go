package gitops

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// Loss is a policy that a target does not honour, or not wholly.
type Loss struct {
	Form     string `json:"form"`
	Resource string `json:"resource,omitempty"` // its id; "" is the form as a whole
	Policy   string `json:"policy"`             // as the form has it: "conflictPolicy: Stuck"
	Instead  string `json:"instead"`            // what will happen instead
}

// mark is what the index keeps of a loss that was told: the form, for a run that has
// only some of them, and a hash of all that people were told.
func (l *Loss) mark(t Target) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{string(t), l.Resource, l.Policy, l.Instead}, "\x00")))
	return l.Form + ":" + hex.EncodeToString(sum[:6])
}

// Untold are the losses that people were not told of by earlier runs on a tree, and
// the marks of those that they then will have been told of. Forms that take no part
// keep theirs; a loss that went and came back is new.
func (x *Index) Untold(t Target, forms []string, losses []Loss) (untold []Loss, told []string) {
	for _, mark := range x.Told {
		if form, _, _ := strings.Cut(mark, ":"); !slices.Contains(forms, form) {
			told = append(told, mark)
		}
	}
	for _, l := range losses {
		mark := l.mark(t)
		if !slices.Contains(x.Told, mark) {
			untold = append(untold, l)
		}
		told = append(told, mark)
	}
	slices.Sort(told)
	return untold, slices.Compact(told)
}
