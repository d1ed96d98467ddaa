package doctest

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// isRecipe reports whether a file is a recipe for a CI system.
func isRecipe(name string) bool {
	return path.Dir(name) == ".github/workflows" || path.Base(name) == ".gitlab-ci.yml"
}

// Recipe returns the steps of a job of GitHub Actions or GitLab CI as one script. It leaves
// out steps that need more than the job's own machine. The file must have exactly one job.
func Recipe(text string) (string, error) {
	jobs, err := jobsOf(text)
	if err != nil {
		return "", err
	}
	if len(jobs) != 1 {
		return "", fmt.Errorf("a recipe has one job, not %d", len(jobs))
	}
	var steps []string
	for _, j := range jobs {
		for _, s := range j.Steps {
			if s.Run != "" {
				steps = append(steps, s.Run)
			}
		}
		steps = append(steps, slices.Concat(j.BeforeScript, j.Script, j.AfterScript)...)
	}
	outside := regexp.MustCompile(`^(gh|curl) `)
	var script strings.Builder
	for _, step := range steps {
		if outside.MatchString(step) {
			continue
		}
		if strings.Contains(step, "${{") {
			return "", fmt.Errorf("an expression within a script, which a value could break out of: put it into env\n%s", step)
		}
		script.WriteString(strings.TrimSuffix(step, "\n") + "\n")
	}
	if !strings.Contains(script.String(), "lynqctl") {
		return "", errors.New("no step of the recipe calls lynqctl")
	}
	return script.String(), nil
}

// job has the fields that both systems share.
type job struct {
	Steps                             []struct{ Run string }
	BeforeScript, Script, AfterScript []string
}

// jobsOf returns the jobs of a file: below "jobs", or each mapping of GitLab CI.
func jobsOf(text string) (map[string]job, error) {
	var github struct{ Jobs map[string]job }
	if err := yaml.Unmarshal([]byte(text), &github); err != nil {
		return nil, err
	}
	if len(github.Jobs) > 0 {
		return github.Jobs, nil
	}
	var gitlab map[string]struct {
		BeforeScript []string `json:"before_script"`
		Script       []string `json:"script"`
		AfterScript  []string `json:"after_script"`
	}
	if err := yaml.Unmarshal([]byte(text), &gitlab); err != nil {
		return nil, err
	}
	jobs := map[string]job{}
	for name, j := range gitlab {
		if strings.HasPrefix(name, ".") {
			continue // only jobs that extend it run
		}
		jobs[name] = job{BeforeScript: j.BeforeScript, Script: j.Script, AfterScript: j.AfterScript}
	}
	return jobs, nil
}

// recipe writes the script of a recipe to NAME.sh and runs it, as CI systems do. It must
// succeed.
func (p Place) recipe(ctx context.Context, name, text string) error {
	script, err := Recipe(text)
	if err != nil {
		return err
	}
	if err := p.write(name+".sh", script); err != nil {
		return err
	}
	said, code, err := p.shell(ctx, "bash -e "+name+".sh")
	if err == nil && code != 0 {
		err = fmt.Errorf("exit code %d of the recipe:\n%s", code, said)
	}
	return err
}

// recipeEnv returns the variables of CI systems that recipes use. Recipes push to the
// remote "origin".
func recipeEnv(dir string) []string {
	return []string{"RUNNER_TEMP=" + dir, "GITHUB_ENV=" + filepath.Join(dir, "github-env"), "CI_COMMIT_BRANCH=main", "PUSH_URL=origin"}
}
