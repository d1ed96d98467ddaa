package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Loss is a policy that a target does not honour, or not wholly.
type Loss struct {
	Form     string `json:"form"`
	Resource string `json:"resource,omitempty"` // its id; "" is the form as a whole
	Policy   string `json:"policy"`             // as the form has it: "conflictPolicy: Stuck"
	Instead  string `json:"instead"`            // what will happen instead
}

// Mark returns the index's record of a loss that people were told: the form, for a run
// that has only some of them, and a hash of the whole text.
func (l *Loss) Mark(t Target) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{string(t), l.Resource, l.Policy, l.Instead}, "\x00")))
	return l.Form + ":" + hex.EncodeToString(sum[:6])
}
