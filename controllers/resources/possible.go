package resources

import (
	"github.com/swar-tts/swar/api/v1alpha1"
)

// Managed is on every object that an operator looks after, and on nothing else.
var Managed = map[string]string{LabelManagedBy: ManagedBy}

// Possible returns every object that any spec of d could need. Objects that the present spec does not need are found
// by it.
func Possible(r Release, d *v1alpha1.TTSDeployment) []Object {
	all := d.DeepCopy()
	all.Spec.Security.NetworkPolicy = v1alpha1.Enabled
	o := &all.Spec.Observability
	o.PodMonitor, o.PrometheusRule, o.Dashboard = v1alpha1.Enabled, v1alpha1.Enabled, v1alpha1.Enabled
	all.Spec.Router.UsageVolume = nil
	objects := Build(r, all, Facts{})
	all.Spec.Router.UsageVolume = &v1alpha1.UsageVolume{}
	return append(objects, routerService(all), routerStatefulSet(r, all, Facts{}))
}
