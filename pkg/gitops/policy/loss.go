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

// Mark is what the index keeps of a loss that was told: the form, for a run that has
// only some of them, and a hash of all that people were told.
func (l *Loss) Mark(t Target) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{string(t), l.Resource, l.Policy, l.Instead}, "\x00")))
	return l.Form + ":" + hex.EncodeToString(sum[:6])
}
