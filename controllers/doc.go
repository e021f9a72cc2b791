// Package controllers reconciles TTSDeployments. [Reconciler] observes (reads only), lets package plan decide, and
// applies (writes only). Every two seconds [Sizer] decides, from the reports of routers, the number of worker pods, and
// which of them to drain.
package controllers
