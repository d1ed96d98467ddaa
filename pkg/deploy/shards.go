package deploy

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Shards are runs of apply side by side, in a Job, or with a schedule in a CronJob.
type Shards struct {
	Options
	Count int
	// Parallelism is the number of shards that run at a time.
	Parallelism int
	Schedule    string
}

// Manifests returns manifests for kubectl apply.
func (s *Shards) Manifests() (string, error) {
	_, bad := lynq.NewShard(0, s.Count)
	if s.Parallelism < 1 || s.Parallelism > s.Count {
		bad = errors.Join(bad, fmt.Errorf("1 to %d shards can run at a time, not %d", s.Count, s.Parallelism))
	}
	if err := errors.Join(s.check(s.Kind()), bad, CheckSchedule(s.Schedule)); err != nil {
		return "", err
	}
	return s.print("shards.yaml", &printed{
		Kind: s.Kind(), Component: "apply", Arguments: s.Arguments(), Pods: s.Count, Parallelism: s.Parallelism, Schedule: s.Schedule,
	})
}

// Kind returns the kind of the object that runs the shards.
func (s *Shards) Kind() Kind {
	if s.Schedule != "" {
		return CronJob
	}
	return Job
}

// Arguments returns the container's arguments.
func (s *Shards) Arguments() []string { return s.arguments("apply", "--shards="+strconv.Itoa(s.Count)) }

// CheckSchedule refuses a text that can't be a schedule. "" means no schedule.
func CheckSchedule(schedule string) error {
	if schedule == "" || strings.HasPrefix(schedule, "@") || len(strings.Fields(schedule)) == 5 {
		return nil
	}
	return fmt.Errorf("%q is no schedule (write MINUTE HOUR DAY MONTH WEEKDAY, for example '0 3 * * *', or @daily)", schedule)
}
