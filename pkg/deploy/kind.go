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

// longestName leaves room for the suffixes in names of pods: ten digits for the time of a
// CronJob, and four for the index of a Job.
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

// Flag returns the flag that names the object.
func (k Kind) Flag() string {
	if k == Deployment {
		return "--deployment"
	}
	return "--job"
}
