// Precompresses files: next to each file a `.br` and a `.gz`, which the server sends to browsers that accept them.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

/** Files that fit into one packet are not compressed. */
const smallestBytes = 1000

/** @param {string} folder whose scripts, styles, pages and data are compressed, with those of its subfolders */
export async function packFiles(folder) {
  const names = (await readdir(folder, { recursive: true })).filter((name) => /\.(?:js|css|html|json|md)$/.test(name))
  await Promise.all(names.map((name) => packFile(join(folder, name))))
}

async function packFile(path) {
  const bytes = await readFile(path)
  if (bytes.length < smallestBytes) return
  const [small, smaller] = await Promise.all([
    promisify(gzip)(bytes, { level: 9 }),
    promisify(brotliCompress)(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
  ])
  await Promise.all([writeFile(`${path}.gz`, small), writeFile(`${path}.br`, smaller)])
}
