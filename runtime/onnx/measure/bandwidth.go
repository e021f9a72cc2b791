package measure

import "runtime"

// Bandwidth measures how many bytes a second one core reads from memory, in one pass over an array. The array should
// be several times larger than the last cache; one pass of 512 MiB takes about 40 ms.
func Bandwidth(array []uint64) float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := Thread()
	total := sum(array)
	took := Thread() - before
	runtime.KeepAlive(total) // or the compiler might leave the sums out
	return float64(8*len(array)) / took.Seconds()
}

// sum has eight sums at a time, so that adding hardly waits for adding.
func sum(array []uint64) uint64 {
	var a, b, c, d, e, f, g, h uint64
	for len(array) >= 32 {
		s := array[:32:32]
		a += s[0] + s[1] + s[2] + s[3]
		b += s[4] + s[5] + s[6] + s[7]
		c += s[8] + s[9] + s[10] + s[11]
		d += s[12] + s[13] + s[14] + s[15]
		e += s[16] + s[17] + s[18] + s[19]
		f += s[20] + s[21] + s[22] + s[23]
		g += s[24] + s[25] + s[26] + s[27]
		h += s[28] + s[29] + s[30] + s[31]
		array = array[32:]
	}
	for _, v := range array {
		a += v
	}
	return a + b + c + d + e + f + g + h
}
