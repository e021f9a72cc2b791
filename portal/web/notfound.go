package web

// notFoundPage needs no files, so that it is right also for programs without some of them.
const notFoundPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Page not found</title>
<h1>Page not found</h1>
<p>There is no page at this address. Go to the <a href="/">start page</a> or the <a href="/docs/">documentation</a>.</p>
<p lang="hi">इस पते पर कोई पेज नहीं है। <a href="/">मुखपृष्ठ</a> या <a href="/docs/">दस्तावेज़</a> पर जाएँ।</p>
</html>
`
