package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Loss is a policy that a target doesn't honor completely.
type Loss struct {
	Form     string `json:"form"`
	Resource string `json:"resource,omitempty"` // its id; "" is the form as a whole
	Policy   string `json:"policy"`             // as the form has it: "conflictPolicy: Stuck"
	Instead  string `json:"instead"`            // the result with this target
}

// Mark returns the mark of a reported loss for the index. It has the form, because a run
// may have only some of them, and a hash of the text.
func (l *Loss) Mark(t Target) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{string(t), l.Resource, l.Policy, l.Instead}, "\x00")))
	return l.Form + ":" + hex.EncodeToString(sum[:6])
}
