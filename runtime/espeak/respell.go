package espeak

var respelled = map[string]string{"बचपन": "बच्पन"}
