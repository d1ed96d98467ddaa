package inventory

// Trouble is a problem that lasts until a user fixes it. watch does everything else
// meanwhile.
type Trouble struct {
	Reason TroubleReason `json:"reason"`
	// Message is for people. It has no values of rows.
	Message string `json:"message"`
}

// TroubleReason names a Trouble in one word for scripts.
type TroubleReason string

// These are the reasons.
const (
	TroubleSource TroubleReason = "SourceUnreadable" // watch uses the rows that it read last
	TroubleInputs TroubleReason = "InputsInvalid"    // watch uses the last valid files
)

// maxTroubleMessage limits the bytes of a message in a hub record.
const maxTroubleMessage = 512

// NewTrouble returns a Trouble with a message that fits a hub record.
func NewTrouble(reason TroubleReason, message string) Trouble {
	return Trouble{Reason: reason, Message: cut(message, maxTroubleMessage)}
}
