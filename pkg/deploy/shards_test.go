package deploy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/deploy"
)

func shards() *deploy.Shards {
	return &deploy.Shards{Options: options(), Count: 16, Parallelism: 4}
}

// A Job has a pod for each shard, which is tried again where that may help, and no ports.
func TestJob(t *testing.T) {
	t.Parallel()
	all := objects(t, shards())
	if len(all["ServiceAccount"]) != 1 || len(all["Role"]) != 1 || len(all["ConfigMap"]) != 2 || len(all["Job"]) != 1 || len(all) != 4 {
		t.Fatalf("%d kinds", len(all))
	}
	job := all["Job"][0]
	pod := at(job, "spec", "template", "spec")
	for _, c := range []struct{ got, want any }{
		{at(job, "metadata", "labels", "app.kubernetes.io/component"), "apply"},
		{at(job, "spec", "completionMode"), "Indexed"},
		{at(job, "spec", "completions"), 16.0},
		{at(job, "spec", "parallelism"), 4.0},
		{at(job, "spec", "podReplacementPolicy"), "Failed"},
		{at(job, "spec", "podFailurePolicy", "rules", 0, "onExitCodes", "values"), []any{2.0, 3.0}},
		{at(job, "spec", "podFailurePolicy", "rules", 0, "onExitCodes", "containerName"), at(pod, "containers", 0, "name")},
		{at(pod, "restartPolicy"), "Never"},
		{at(pod, "containers", 0, "args"), []any{"apply", "--filename=/inputs", "--tombstones=/tombstones", "--shards=16", "--max-delete=10%"}},
		{at(pod, "containers", 0, "ports"), nil},
		{at(pod, "containers", 0, "livenessProbe"), nil},
		{at(pod, "containers", 0, "env", 1, "valueFrom", "secretKeyRef"), map[string]any{"name": "db", "key": "password"}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	// Pods are as those of watch, but for what a run that ends doesn't have.
	watched := at(objects(t, watch())["Deployment"][0], "spec", "template", "spec")
	for _, same := range [][]any{{"securityContext"}, {"containers", 0, "securityContext"}, {"containers", 0, "volumeMounts"}, {"volumes"}, {"serviceAccountName"}} {
		if diff := cmp.Diff(at(watched, same...), at(pod, same...)); diff != "" {
			t.Errorf("%v (-watch +job):\n%s", same, diff)
		}
	}
}

// A CronJob has the same Job.
func TestCronJob(t *testing.T) {
	t.Parallel()
	s := shards()
	s.Schedule = "0 3 * * *"
	cron := objects(t, s)["CronJob"][0]
	if at(cron, "spec", "schedule") != "0 3 * * *" || at(cron, "spec", "concurrencyPolicy") != "Forbid" {
		t.Errorf("spec: %v", at(cron, "spec"))
	}
	if diff := cmp.Diff(at(objects(t, shards())["Job"][0], "spec"), at(cron, "spec", "jobTemplate", "spec")); diff != "" {
		t.Errorf("(-job +cronjob):\n%s", diff)
	}
}

// What Kubernetes would not take, or would make nothing of, is refused.
func TestRefusedShards(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*deploy.Shards){
		"must be 1 to 1024, not 0":         func(s *deploy.Shards) { s.Count, s.Parallelism = 0, 0 },
		"1 to 16 shards can run at a time": func(s *deploy.Shards) { s.Parallelism = 17 },
		"at a time, not 0":                 func(s *deploy.Shards) { s.Parallelism = 0 },
		`"daily" is no schedule`:           func(s *deploy.Shards) { s.Schedule = "daily" },
		"a Job can't have the name \"" + strings.Repeat("a", 48) + "\" (use at most 47": func(s *deploy.Shards) { s.Name = strings.Repeat("a", 48) },
		"print a Job for each part (--job nam":                                          func(s *deploy.Shards) { s.Inputs[0].Text = strings.Repeat("a", 1<<20+1) },
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()

			s := shards()
			change(s)
			if _, err := s.Manifests(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error is %v, want one with %s", err, want)
			}
		})
	}
}
