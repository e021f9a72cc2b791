package usage

// Update tells the tests of package usage_test to rewrite the files of testdata.
var Update = update
