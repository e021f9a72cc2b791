// Package controllers keeps fleets as their TTSDeployments want them. [Reconciler] observes (reads only), has package
// plan decide, and applies (writes only); [Sizer] decides every two seconds, by what routers tell, how many worker
// pods there are and which of them are to take nothing new.
package controllers
