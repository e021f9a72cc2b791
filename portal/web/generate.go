package web

//go:generate ../../hack/web.sh
