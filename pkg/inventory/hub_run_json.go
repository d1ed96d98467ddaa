package inventory

import (
	"encoding/json"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// formFields is the JSON form of a form in hub records.
type formFields struct {
	Form          string `json:"form"`
	FormNamespace string `json:"formNamespace,omitempty"`
}

func formFieldsOf(k lynq.FormKey) formFields { return formFields{k.Name, k.Namespace} }

func (f formFields) key() lynq.FormKey {
	return lynq.FormKey{Namespace: f.FormNamespace, Name: f.Form}
}

type absentFields struct {
	formFields
	Nodes int `json:"nodes"`
}

type rolloutFields struct {
	formFields
	Phase   RolloutPhase `json:"phase"`
	Updated int          `json:"updated"`
	Total   int          `json:"total"`
	Stage   int          `json:"stage,omitempty"`
	Stages  int          `json:"stages,omitempty"`
}

type unrenderedFields struct {
	Node      string `json:"node"`
	Namespace string `json:"namespace"`
	formFields
	UID     string `json:"uid"`
	Message string `json:"message"`
}

// text returns JSON for a Marshaler, in the style of hub records.
func text(v any) ([]byte, error) {
	s, err := phrase.JSON(v)
	return []byte(s), err
}

// MarshalJSON implements json.Marshaler.
func (f AbsentForm) MarshalJSON() ([]byte, error) {
	return text(absentFields{formFieldsOf(f.Form), f.Nodes})
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *AbsentForm) UnmarshalJSON(b []byte) error {
	var w absentFields
	err := json.Unmarshal(b, &w)
	*f = AbsentForm{w.key(), w.Nodes}
	return err
}

// MarshalJSON implements json.Marshaler.
func (r Rollout) MarshalJSON() ([]byte, error) {
	return text(rolloutFields{formFieldsOf(r.Form), r.Phase, r.Updated, r.Total, r.Stage, r.Stages})
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *Rollout) UnmarshalJSON(b []byte) error {
	var w rolloutFields
	err := json.Unmarshal(b, &w)
	*r = Rollout{w.key(), w.Phase, w.Updated, w.Total, w.Stage, w.Stages}
	return err
}

// MarshalJSON implements json.Marshaler. It omits the hub, because the record belongs to
// it.
func (u Unrendered) MarshalJSON() ([]byte, error) {
	return text(unrenderedFields{u.Node.Name, u.Node.Namespace, formFieldsOf(u.Node.Form), u.Node.UID, u.Message})
}

// UnmarshalJSON implements json.Unmarshaler.
func (u *Unrendered) UnmarshalJSON(b []byte) error {
	var w unrenderedFields
	err := json.Unmarshal(b, &w)
	*u = Unrendered{lynq.NodeID{Form: w.key(), UID: w.UID, Namespace: w.Namespace, Name: w.Node}, w.Message}
	return err
}
