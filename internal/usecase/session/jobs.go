package session

import (
	"net/url"
	"strings"
)

// jobURL returns the page of the CI job that runs this process, or "" if the environment
// names none.
func jobURL(getenv func(string) string) string {
	if getenv == nil {
		return ""
	}
	joined := func(between ...string) string {
		var b strings.Builder
		for i, part := range between {
			if i%2 == 0 {
				if part = getenv(part); part == "" {
					return ""
				}
			}
			b.WriteString(part)
		}
		return b.String()
	}
	for _, page := range []string{
		joined("GITHUB_SERVER_URL", "/", "GITHUB_REPOSITORY", "/actions/runs/", "GITHUB_RUN_ID"),
		joined("CI_JOB_URL"), // GitLab
		joined("BUILDKITE_BUILD_URL", "#", "BUILDKITE_JOB_ID"),
		joined("CIRCLE_BUILD_URL"),
		joined("SYSTEM_COLLECTIONURI", "", "SYSTEM_TEAMPROJECT", "/_build/results?buildId=", "BUILD_BUILDID"), // Azure
		joined("BUILD_URL"), // Jenkins
	} {
		if page != "" {
			return withoutUser(page)
		}
	}
	return ""
}

// maxURL limits the length of an address that a history records, in bytes.
const maxURL = 500

// withoutUser returns the address of a web page without user and password, or "" for
// anything else.
func withoutUser(page string) string {
	u, err := url.Parse(page)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	u.User = nil
	if page = u.String(); len(page) > maxURL {
		return ""
	}
	return page
}
