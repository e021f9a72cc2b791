package web

//go:generate go run ../../hack/webtypes ../rest/openapi.json src/lib/portal.gen.ts
//go:generate ../../hack/web.sh
