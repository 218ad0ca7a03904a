// `npm run request-members`: what becomes of every member of the newest SDKs' request types in each other dialect, as a table in
// Markdown: carried, named (in the receipt) or refused. `silent`: neither the
// written request nor the receipt shows that the member was there.
// The packages of test/package.json have to be installed.
import { rowsOf } from '../test/wire-types/request-members.ts'
import { dialects } from '../test/wire-types/request-samples.ts'
import { withRequestTypes } from '../test/wire-types/request-types.ts'

const only = process.argv[2]

for (const from of dialects.filter((dialect) => only === undefined || dialect === only)) {
  const others = dialects.filter((to) => to !== from)
  console.log(`\n## ${from}\n\n| member | ${others.join(' | ')} |\n|---${'|---'.repeat(others.length)}|`)
  for (const { path, fates } of withRequestTypes((types) => rowsOf(types, from)))
    console.log(`| \`${path}\` | ${others.map((to) => fates[to] ?? '–').join(' | ')} |`)
}
