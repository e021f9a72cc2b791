package controllers

// Contains reports whether an object is as another one says.
var Contains = contains
