package deploy

import (
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
)

// Kind is the kind of the object that runs pods.
type Kind string

// The kinds.
const (
	Deployment Kind = "Deployment"
	Job        Kind = "Job"
	CronJob    Kind = "CronJob"
)

// longestName leaves room in names of pods for what is added to a name: of a CronJob a
// time of ten digits, and of each Job an index of four.
func (k Kind) longestName() int {
	if k == Deployment {
		return 52
	}
	return 47
}

// Named reports whether an object of the kind may have that name.
func (k Kind) Named(name string) bool {
	return naming.IsDNS1123Label(name) && len(name) <= k.longestName()
}

// Flag is the flag that names the object.
func (k Kind) Flag() string {
	if k == Deployment {
		return "--deployment"
	}
	return "--job"
}
