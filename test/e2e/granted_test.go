package e2e_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// boundLine matches what kubectl prints for a new binding of a role.
var boundLine = regexp.MustCompile(`(?m)^((?:cluster)?rolebinding)\.rbac\.authorization\.k8s\.io/(\S+) (?:created|configured)$`)

// granted waits until the API server grants what the bindings in kubectl's output say. It
// learns of roles and bindings from watches, so that a request just after them may be denied.
func (s *script) granted(ctx context.Context, output string, args []string) error {
	namespace := s.env.Namespace
	if i := slices.Index(args, "-n"); i >= 0 && i+1 < len(args) {
		namespace = args[i+1]
	}
	for _, bound := range boundLine.FindAllStringSubmatch(output, -1) {
		var binding rbacv1.RoleBinding
		found, err := s.rbac(ctx, bound[1]+"s", namespace, bound[2], &binding)
		if err == nil && found {
			err = s.grants(ctx, &binding)
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", bound[1], bound[2], err)
		}
	}
	return nil
}

// grants waits until each subject of a binding has the last rule of the role.
func (s *script) grants(ctx context.Context, binding *rbacv1.RoleBinding) error {
	var role rbacv1.Role
	plural := map[string]string{"Role": "roles", "ClusterRole": "clusterroles"}[binding.RoleRef.Kind]
	found, err := s.rbac(ctx, plural, binding.Namespace, binding.RoleRef.Name, &role)
	if err != nil || !found || len(role.Rules) == 0 {
		return err
	}
	rule := role.Rules[len(role.Rules)-1]
	if len(rule.Resources) == 0 {
		return nil
	}
	for _, subject := range binding.Subjects {
		if err := s.allowed(ctx, binding.Namespace, &subject, &rule); err != nil {
			return err
		}
	}
	return nil
}

// allowed asks until a subject may do what a rule says.
func (s *script) allowed(ctx context.Context, namespace string, subject *rbacv1.Subject, rule *rbacv1.PolicyRule) error {
	review := authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: subject.Name, ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: rule.Verbs[0], Group: rule.APIGroups[0]},
	}}
	switch subject.Kind {
	case rbacv1.ServiceAccountKind:
		review.Spec.User = "system:serviceaccount:" + subject.Namespace + ":" + subject.Name
	case rbacv1.GroupKind:
		review.Spec.User, review.Spec.Groups = "", []string{subject.Name}
	}
	a := review.Spec.ResourceAttributes
	a.Resource, a.Subresource, _ = strings.Cut(rule.Resources[0], "/")
	if len(rule.ResourceNames) > 0 {
		a.Name = rule.ResourceNames[0]
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&review)
	if err != nil {
		return err
	}
	content["apiVersion"], content["kind"] = "authorization.k8s.io/v1", "SubjectAccessReview"
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for late := time.After(settleWithin); ; {
		answer, err := s.rbacClient("authorization.k8s.io", "subjectaccessreviews").Create(ctx, &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		if allowed, _, _ := unstructured.NestedBool(answer.Object, "status", "allowed"); allowed {
			return nil
		}
		select {
		case <-tick.C:
		case <-late:
			return fmt.Errorf("%s %s may not %s %s", subject.Kind, subject.Name, a.Verb, a.Resource)
		}
	}
}

// rbac reads a role or binding. found is false if it doesn't exist.
func (s *script) rbac(ctx context.Context, plural, namespace, name string, to any) (found bool, err error) {
	client := s.rbacClient("rbac.authorization.k8s.io", plural)
	var o *unstructured.Unstructured
	if plural == "roles" || plural == "rolebindings" {
		o, err = client.Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	} else {
		o, err = client.Get(ctx, name, metav1.GetOptions{})
	}
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, err
	}
	return true, runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, to)
}

func (s *script) rbacClient(group, plural string) dynamic.NamespaceableResourceInterface {
	return s.env.Dynamic.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: plural})
}
