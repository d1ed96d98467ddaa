package inventory

// Trouble is a state of a hub that lasts until a person ends it, while a watch does
// everything else.
type Trouble struct {
	Reason TroubleReason `json:"reason"`
	// Message is for people. It holds no value of a row.
	Message string `json:"message"`
}

// TroubleReason names a Trouble, in a word that scripts may compare.
type TroubleReason string

// The reasons of troubles.
const (
	TroubleSource TroubleReason = "SourceUnreadable" // the rows that were read last count
	TroubleInputs TroubleReason = "InputsInvalid"    // the last good inputs count
)

// maxTroubleMessage is how many bytes of a message the record of a hub has room for.
const maxTroubleMessage = 512

// NewTrouble makes a Trouble that a hub's record has room for.
func NewTrouble(reason TroubleReason, message string) Trouble {
	return Trouble{Reason: reason, Message: cut(message, maxTroubleMessage)}
}
