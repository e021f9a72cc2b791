package externalmetrics

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/sets"
)

// selected returns the TTSDeployment that a selector names. A metric is of one fleet: a sum over several would scale
// each of them by what all have to do.
func selected(selector string) (name string, err error) {
	parsed, err := labels.Parse(selector)
	if err != nil {
		return "", refuseSelector(selector)
	}
	requirements, _ := parsed.Requirements()
	if len(requirements) != 1 {
		return "", refuseSelector(selector)
	}
	r := requirements[0]
	isEquality := sets.New(selection.Equals, selection.DoubleEquals, selection.In).Has(r.Operator())
	if r.Key() != Label || !isEquality || r.Values().Len() != 1 || r.Values().Has("") {
		return "", refuseSelector(selector)
	}
	return r.Values().UnsortedList()[0], nil
}

func refuseSelector(selector string) error {
	return refuse(http.StatusBadRequest, metav1.StatusReasonBadRequest,
		"the selector %.100q does not name one TTSDeployment: give the metric the selector {matchLabels: {%s: NAME}} "+
			"and no other label",
		selector, Label)
}
