package deploy

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
)

// Options say what runs, and under which names.
type Options struct {
	// Namespace and Name are those of all objects, except for the roles.
	Namespace, Name string
	Image           string
	// Inputs and Tombstones are files. The pods find each of both in a directory.
	Inputs, Tombstones []File
	// Args are further arguments of the command.
	Args []string
	// Password is the key with the password of the database, zero for none.
	Password SecretKey
	// Roles are YAML documents, with bindings to the ServiceAccount.
	Roles string
	// Notes are comments for people.
	Notes []string
}

// File is a file with its content.
type File struct {
	Name, Text string
	// Path is where the pods find it below the directory of the inputs. If it is "", they find
	// it in that directory, with a name from Name.
	Path string
}

// SecretKey names a key of a Secret in the namespace of the pods.
type SecretKey struct{ Name, Key string }

// check refuses what Kubernetes would refuse.
func (o *Options) check(kind Kind) error {
	var errs []error
	if !naming.IsDNS1123Label(o.Namespace) {
		errs = append(errs, fmt.Errorf("namespace %q isn't valid in Kubernetes", o.Namespace))
	}
	if !kind.Named(o.Name) {
		errs = append(errs, fmt.Errorf("a %s can't have the name %q (use at most %d lowercase letters, digits, and '-')", kind, o.Name, kind.longestName()))
	}
	if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@-]*$`).MatchString(o.Image) {
		errs = append(errs, fmt.Errorf("image %q isn't valid (write REGISTRY/NAME:TAG)", o.Image))
	}
	return errors.Join(errs...)
}

// Version returns the tag of the image if it can be a label, and "" otherwise.
func (o *Options) Version() string {
	image, _, _ := strings.Cut(o.Image, "@")
	i := strings.LastIndex(image, ":")
	if i < 0 || strings.Contains(image[i:], "/") || !regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$`).MatchString(image[i+1:]) {
		return ""
	}
	return image[i+1:]
}

// arguments returns the container's arguments, with the mounted inputs. The kubelet turns $$ into
// $, and replaces $(NAME).
func (o *Options) arguments(command string, own ...string) []string {
	args := []string{command, "--filename=" + inputsPath}
	if len(o.Tombstones) > 0 {
		args = append(args, "--tombstones="+tombstonesPath)
	}
	args = append(args, own...)
	for _, arg := range o.Args {
		args = append(args, strings.ReplaceAll(arg, "$", "$$"))
	}
	return args
}

// Where pods find files.
const (
	inputsPath     = "/inputs"
	tombstonesPath = "/tombstones"
)
