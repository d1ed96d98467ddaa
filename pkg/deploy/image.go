package deploy

import (
	"fmt"
	"regexp"
	"strings"
)

// releaseImage is the repository of releases.
const releaseImage = "ghcr.io/lynqctl/lynqctl"

// ImageOf returns the image of a release, because another one may have other flags and need
// other rights.
func ImageOf(version string) (string, error) {
	if !regexp.MustCompile(`^v\d+\.\d+\.\d+(-[a-z]+(\.\d+)*)?$`).MatchString(version) {
		return "", fmt.Errorf("this lynqctl (%s) is a development build, which has no published image: set one with --image", version)
	}
	return releaseImage + ":" + strings.TrimPrefix(version, "v"), nil
}
