// `npm run docs:site`: makes the documentation site in dist/docs, a folder of static files.
import { installWhenNeeded } from './lib/install.mjs'

await installWhenNeeded()
const { makeDocsSite } = await import('./docs-site/make.mjs')
await makeDocsSite()
console.log('Wrote dist/docs: open dist/docs/index.html, or serve the folder anywhere.')
