package form

import (
	"time"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
)

// Inputs is everything that was found in the files given with -f.
type Inputs struct {
	Hubs  []*Hub  // sorted by name, then namespace
	Forms []*Form // sorted by name, then namespace
	// Secrets are the core/v1 Secrets in the inputs: passwordRef looks here first.
	Secrets []*Secret
	// ClusterScoped has the kinds that CustomResourceDefinitions in the inputs, or
	// among the resources of forms, declare with scope Cluster.
	ClusterScoped map[GroupKind]bool
	// Plurals are the names in URLs of the kinds that these declare.
	Plurals map[GroupKind]string
	// Warnings are no errors, yet worth a look: documents that were left out.
	Warnings lynq.Problems
}

// GroupKind names a kind without its version. Group is "" for the core.
type GroupKind struct{ Group, Kind string }

// Hub is a LynqHub: where the rows are and which column means what.
type Hub struct {
	Pos             lynq.Pos
	Name, Namespace string // Namespace "" where the file has none
	Source          endpoint.Connection
	Password        PasswordSource    // or the token, where an API takes one
	Certificate     CertificateSource // of a client
	SyncInterval    time.Duration     // of use to the operator only
	// Mappings, sorted by variable, hold uid and activate, hostOrUrl where it
	// is mapped, and the extra mappings.
	Mappings []Mapping
	// Expires is the column with the time from which a row counts as inactive, zero for
	// none. No variable of templates has it.
	Expires Mapping
	// PreviousUID is the column with the uid that a row had before, zero for none. No variable
	// of templates has it.
	PreviousUID Mapping
	// Activity says which values of the activation column make a row active.
	Activity lynq.Activity
	// SecretColumns are the columns whose values no output shows.
	SecretColumns []string
	// Grace is how long nodes are kept after their rows have gone, nil where the hub does
	// not say.
	Grace *time.Duration
	// NamespaceDefaults are what is in namespaces by itself on the hub's clusters,
	// beside what lynqctl knows.
	NamespaceDefaults []lynq.NamespaceDefault
	// Exclude are the rules for all of its forms.
	Exclude lynq.Exclusions
}

// Mapping gives a template variable the value of a column.
type Mapping struct {
	Variable, Column string
	Pos              lynq.Pos
}

// PasswordSource says where a hub's password is to be had, beside
// LYNQCTL_SOURCE_PASSWORD, which goes before all of these. At most one of
// them is set.
type PasswordSource struct {
	Env        string // name of an environment variable
	File       string // path; relative ones start at the hub's file
	SecretName string
	SecretKey  string
	Pos        lynq.Pos
}

// CertificateSource says where a client's certificate and its key are to be had, as PEM. At
// most one of Env, File and SecretName is set.
type CertificateSource struct {
	Env  string // name of an environment variable that has both
	File string // path; relative ones start at the hub's file
	// KeyFile is the path of the key's file; "" is that File has both.
	KeyFile    string
	SecretName string // of type kubernetes.io/tls
	Pos        lynq.Pos
}

// Secret is a core/v1 Secret in the inputs.
type Secret struct {
	Pos             lynq.Pos
	Name, Namespace string
	Data            map[string]endpoint.Secret // decoded; stringData wins over data
}

// Form is a LynqForm: templates of the resources that every active row gets.
type Form struct {
	Pos             lynq.Pos
	Name, Namespace string // Namespace "" where the file has none
	Generation      int64  // metadata.generation, 0 where the file has none
	HubID           string
	HubIDPos        lynq.Pos
	Rollout         Rollout
	Exclude         lynq.Exclusions
	// Grace is how long nodes are kept after their rows have gone, nil where the hub says
	// it.
	Grace *time.Duration
	// RenamedFrom is the name that the form had before, "" for none: its nodes go on as nodes
	// of this form.
	RenamedFrom Text
	// DependForms are forms of the same hub: nodes of this one wait for the node of the
	// same row in those. They need not be in the inputs.
	DependForms []Text
	Tombstones  []*Tombstone
	// Spec is all that the form says, a Map.
	Spec *document.Value
	// Resources in dependency order: after all they depend on, Namespaces and
	// CustomResourceDefinitions first, else as in the file.
	Resources []*Resource
}

// Rollout limits how many nodes of a form change at once.
type Rollout struct {
	MaxSkew          int // 0: no limit
	ProgressDeadline time.Duration
	OnFailure        OnFailure
	// Stages are the parts of the nodes that change one after the other; all other nodes are
	// the last one. MaxFailed is how many nodes of a stage may be degraded.
	Stages    []Stage
	MaxFailed int
}

// Stage chooses nodes: those of the rows for which Match gives true, or else those that
// lynq.Stage counts.
type Stage struct {
	Pos   lynq.Pos
	Match Text
	lynq.Stage
}

// OnFailure says whether a rollout stops when nodes of it fail.
type OnFailure string

// The ways.
const (
	StopOnFailure     OnFailure = "Stop"     // no further node once MaxSkew of them are broken
	ContinueOnFailure OnFailure = "Continue" // goes on with the next
)

// Resource is one entry of one of a form's sections.
type Resource struct {
	Pos        lynq.Pos
	ID         string
	Section    string // "deployments", ..., "manifests"
	APIVersion string // of the manifest; always literal
	Kind       string

	// IncludeWhen says of which rows' nodes the resource is a part: a template that
	// gives true or false, zero for all.
	IncludeWhen     Text
	NameTemplate    Text // zero where the entry has none
	TargetNamespace Text
	Labels          []Entry // labelsTemplate, sorted by key
	Annotations     []Entry // annotationsTemplate, sorted by key
	// Manifest is the whole object as the form has it, a Map.
	Manifest *document.Value

	DependIDs    []string
	IgnoreFields []Text // Policy.IgnoreFields with their places
	Policy       lynq.Policy
}

// Text is a string in a form, template or not, and where it stands.
type Text struct {
	Pos  lynq.Pos
	Text string
}

// Entry is a key with a string.
type Entry struct {
	Key  string
	Text Text
}
