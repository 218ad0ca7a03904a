// A neighbour on the same machine, for `npm run bench -- --neighbour MB`: it walks through that much memory, so that the caches and the memory
// bandwidth are shared as on a cloud machine. It does nothing else, and runs on the core of the load.
const megabytes = Number(process.argv[2])
const words = new Int32Array((megabytes * 1024 * 1024) / 4)
// One word of each cache line.
const step = 16
console.log(`walks through ${megabytes} MB`)
for (;;) for (let at = 0; at < words.length; at += step) words[at]++
