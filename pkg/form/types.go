package form

import (
	"time"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
)

// Inputs are the documents in the files given with -f.
type Inputs struct {
	Hubs  []*Hub  // sorted by name, then namespace
	Forms []*Form // sorted by name, then namespace
	// Secrets are the core/v1 Secrets in the inputs. passwordRef looks here first.
	Secrets []*Secret
	// ClusterScoped has the kinds with scope Cluster. CustomResourceDefinitions in the
	// inputs, or among the forms' resources, declare them.
	ClusterScoped map[GroupKind]bool
	// Plurals are the names of these kinds in URLs.
	Plurals map[GroupKind]string
	// Warnings aren't errors, but users should know them. An example is a skipped
	// document.
	Warnings lynq.Problems
	// builder builds kustomizations and reads charts of forms.
	builder Builder
}

// GroupKind names a kind without its version. Group is "" for the core.
type GroupKind struct{ Group, Kind string }

// Hub is a LynqHub. It names the rows, and the meaning of their columns.
type Hub struct {
	Pos             lynq.Pos
	Name, Namespace string // Namespace is "" if the file has none
	Source          endpoint.Connection
	Password        PasswordSource    // or the token, if the API needs one
	Certificate     CertificateSource // the client's certificate
	SyncInterval    time.Duration     // how often watch reads the rows
	// Mappings are sorted by variable. They have uid, activate and hostOrUrl if these are
	// mapped, and the extra mappings. Without activate, every row is active.
	Mappings []Mapping
	// Expires is the column with the time at which a row becomes inactive. It is zero if
	// there is none. No template variable has it.
	Expires Mapping
	// PreviousUID is the column with a row's previous uid. It is zero if there is none. No
	// template variable has it.
	PreviousUID Mapping
	// Activity says which values of the activation column make a row active.
	Activity lynq.Activity
	// SecretColumns are the columns whose values no output shows.
	SecretColumns []string
	// Lookups give templates more values, which columns of the row choose.
	Lookups []*Lookup
	// Grace is how long lynqctl keeps nodes whose rows are gone. It is nil if the hub
	// doesn't set it.
	Grace *time.Duration
	// NamespaceDefaults are objects that each namespace of the hub's clusters has anyway,
	// in addition to those that lynqctl knows.
	NamespaceDefaults []lynq.NamespaceDefault
	DefaultsAt        []lynq.Pos // their places
	// Exclude has the rules for all forms of the hub.
	Exclude lynq.Exclusions
}

// Mapping gives a template variable the value of a column.
type Mapping struct {
	Variable, Column string
	Pos              lynq.Pos
}

// PasswordSource says where a hub's password is. At most one field is set.
// LYNQCTL_SOURCE_PASSWORD wins over all of them.
type PasswordSource struct {
	Env        string // name of an environment variable
	File       string // path; a relative one starts at the hub's file
	SecretName string
	SecretKey  string
	Command    []string // prints it
	Pos        lynq.Pos
}

// CertificateSource says where a client's certificate and key are, in PEM format. At most
// one of Env, File and SecretName is set.
type CertificateSource struct {
	Env  string // name of an environment variable with both
	File string // path; a relative one starts at the hub's file
	// KeyFile is the path of the key. If it is "", File has both.
	KeyFile    string
	SecretName string // a Secret of type kubernetes.io/tls
	Pos        lynq.Pos
}

// Secret is a core/v1 Secret in the inputs.
type Secret struct {
	Pos             lynq.Pos
	Name, Namespace string
	Data            map[string]endpoint.Secret // decoded; stringData wins over data
}

// Form is a LynqForm. It has the templates of each active row's resources.
type Form struct {
	Pos             lynq.Pos
	Name, Namespace string // Namespace is "" if the file has none
	Generation      int64  // metadata.generation; 0 if absent
	HubID           string
	HubIDPos        lynq.Pos
	Rollout         Rollout
	Exclude         lynq.Exclusions
	// Grace is how long lynqctl keeps nodes whose rows are gone. It is nil if the hub
	// decides.
	Grace *time.Duration
	// RenamedFrom is the form's previous name, or "". The nodes of the previous form
	// become nodes of this form.
	RenamedFrom Text
	// DependForms are forms of the same hub. Each node waits for the node of the same row
	// in these forms. The inputs may lack them.
	DependForms []Text
	Tombstones  []*Tombstone
	// Spec is the form's spec, a Map. Instead of names of files, it has their documents.
	Spec *document.Value
	// Files are the names and patterns of YAML files in the directory of the form's file, or
	// below it. Each of their documents is a resource.
	Files []Text
	// Kustomize is the directory of a kustomization. Each object that it makes is a resource.
	Kustomize Text
	// Charts are Helm charts. Each row gets the objects of one release of each chart.
	Charts []*Chart
	// Resources are in dependency order. Each follows its dependencies. Otherwise
	// Namespaces and CustomResourceDefinitions come first, and then the file's order
	// counts.
	Resources []*Resource
	// entries are the resources in the form itself.
	entries  []*entry
	defaults []*policyDefault
	// texts are the files' texts by their names. Names begin at the directory of the form's
	// file.
	texts map[string][]byte
	// base is what the kustomization makes, and builder builds it.
	base    Base
	builder Builder
}

// Rollout limits how many nodes of a form change at the same time.
type Rollout struct {
	MaxSkew          int // 0 means no limit
	ProgressDeadline time.Duration
	OnFailure        OnFailure
	// Stages are groups of nodes that change one after the other. All other nodes change
	// last. MaxFailed limits the degraded nodes of a stage.
	Stages    []Stage
	MaxFailed int
}

// Stage selects the nodes of rows for which Match renders true, or else the number of
// nodes in lynq.Stage.
type Stage struct {
	Pos   lynq.Pos
	Match Text
	lynq.Stage
}

// OnFailure says whether a rollout stops after failed nodes.
type OnFailure string

// These are the values of onFailure.
const (
	StopOnFailure     OnFailure = "Stop"     // change no further node after MaxSkew of them failed
	ContinueOnFailure OnFailure = "Continue" // continue with the next node
)

// Resource is one entry of a form's section.
type Resource struct {
	Pos        lynq.Pos
	ID         string
	Section    string // "deployments", ..., "manifests"; "files" for one from a file, "kustomize" for one from a kustomization
	APIVersion string // from the manifest; always literal
	Kind       string

	// IncludeWhen is a template that renders true for the rows that get the resource. It
	// is zero if all rows get it.
	IncludeWhen     Text
	NameTemplate    Text // zero if absent
	TargetNamespace Text
	Labels          []Entry // labelsTemplate, sorted by key
	Annotations     []Entry // annotationsTemplate, sorted by key
	// Manifest is the complete object in the form, a Map.
	Manifest *document.Value

	// Chart is the chart that makes the resource for one row, or nil.
	Chart *Chart

	DependIDs    []string
	IgnoreFields []Text // Policy.IgnoreFields with their places
	Policy       lynq.Policy
}

// Text is a string in a form, with its place. It may be a template.
type Text struct {
	Pos  lynq.Pos
	Text string
}

// Entry is a key with a string.
type Entry struct {
	Key  string
	Text Text
}
